"""The compiled core, of `crates/spillway-py`: all other modules take it from here."""

from pathlib import Path

from spillway import _core
from spillway._core import *  # noqa: F403
from spillway._core import __version__ as __version__

assert _core.__file__ is not None
FILE = Path(_core.__file__)
"""The file that is loaded."""
