"""The command line: a module for each command, group of commands, or subject.

Other distributions add theirs as entry points of the group `spillway.commands`: modules that
register commands when they are imported. What cannot be imported is told of, and left out.
"""

from spillway.base.extensions import loaded
from spillway.cli import (
    acc,
    arena,
    bench,
    bounds,
    exchange,
    fluid,
    listing,
    oracle,
    report,
    run,
    scenarios,
    schema,
    slotted,
    thresholds,
    tune,
)
from spillway.cli.app import app, invoke, missing, names
from spillway.cli.output import say

STUDIES = ("reproduce", "validate")
"""The commands of the extra `papers`."""

_all = loaded("spillway.commands", lambda text: say(f"warning: {text}"), taken=names())
for _name in STUDIES:
    if _name not in _all:
        missing(_name)

__all__ = [
    "STUDIES",
    "acc",
    "app",
    "arena",
    "bench",
    "bounds",
    "exchange",
    "fluid",
    "invoke",
    "listing",
    "oracle",
    "report",
    "run",
    "scenarios",
    "schema",
    "slotted",
    "thresholds",
    "tune",
]
