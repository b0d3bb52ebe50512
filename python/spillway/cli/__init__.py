"""The command line: a module for every command, or for a group of them.

Other distributions add theirs as entry points of the group `spillway.commands`: modules that
register commands when they are imported.
"""

from importlib.metadata import entry_points

from spillway.cli import (
    acc,
    bench,
    bounds,
    exchange,
    fluid,
    oracle,
    report,
    run,
    scenarios,
    slotted,
    thresholds,
    tune,
)
from spillway.cli.app import app, invoke, missing

STUDIES = ("reproduce", "validate")
"""The commands of the extra `papers`."""

_added = {entry.name: entry.load() for entry in entry_points(group="spillway.commands")}
for _name in STUDIES:
    if _name not in _added:
        missing(_name, "papers")

__all__ = [
    "STUDIES",
    "acc",
    "app",
    "bench",
    "bounds",
    "exchange",
    "fluid",
    "invoke",
    "oracle",
    "report",
    "run",
    "scenarios",
    "slotted",
    "thresholds",
    "tune",
]
