"""Spillway: a packet-level simulator of datacenter switches.

    >>> import spillway
    >>> result = spillway.run("leaf-spine-128", set=["duration=1ms"])
    >>> result.status
    'complete'

`run` runs one scenario, `sweep` several seeds and variants of it side by side. A scenario is a
path, the name of one that comes with the program, a dict, or a `Scenario`. `spillway.plugins` has
the classes that algorithms of one's own derive from.
"""

from spillway._core import __version__
from spillway.errors import (
    Interrupted,
    PluginError,
    ScenarioError,
    ScenarioWarning,
    SpillwayError,
    UncheckedWarning,
)
from spillway.result import Result
from spillway.run import run
from spillway.scenario import Scenario
from spillway.sweep import Sweep, sweep

__all__ = [
    "Interrupted",
    "PluginError",
    "Result",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "SpillwayError",
    "Sweep",
    "UncheckedWarning",
    "__version__",
    "run",
    "sweep",
]
