"""The command `spillway thresholds`: the best thresholds of taggers for a distribution of sizes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from spillway.cli.app import app
from spillway.cli.options import JsonOption
from spillway.cli.output import console, display, interruptible


@app.command()
def thresholds(
    sizes: Annotated[
        str,
        typer.Argument(
            metavar="SIZES",
            help="Sizes of flows, as the key [bold]sizes[/bold] of a traffic section takes them: a "
            "bundled distribution (see [bold]spillway list traffic[/bold]), a file of sizes and "
            "cumulative probabilities, a range, or one size.",
        ),
    ],
    load: Annotated[float, typer.Option(metavar="X", help="The load of the link, below 1.")],
    levels: Annotated[
        int, typer.Option(metavar="K", help="Levels, 2 to 8: one more than thresholds.")
    ] = 8,
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What is minimised: product, left-over, unweighted, flow-count or ml-fcfs.",
        ),
    ] = "product",
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Compare with these published thresholds, such as websearch-0.8. Repeatable. "
            "Without it, with those for the same sizes and the nearest load, or with all.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Thresholds of PIAS and its like for any distribution of flow sizes, beside published ones."""
    from spillway.theory.thresholds import find, tables

    what = "searching" if sys.stderr.isatty() else ""
    with interruptible(), console(sys.stderr).status(what):
        found = find(sizes, load=load, levels=levels, objective=objective, against=against or ())
    display(tables.document(found), tables.shown(found), as_json, closing=found.setting)
