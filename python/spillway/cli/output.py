"""What commands print, and with what status they end."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

FAILED, WRONG, INTERRUPTED = 1, 2, 130


def console(file: TextIO) -> Console:
    from rich.console import Console

    made = Console(file=file, highlight=False, markup=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 140
    return made


def display(document: Mapping[str, Any], people: RenderableType, as_json: bool) -> None:
    """Prints what a command has found out: to people, and as JSON where that is asked for."""
    console(sys.stderr if as_json else sys.stdout).print(people)
    if as_json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
