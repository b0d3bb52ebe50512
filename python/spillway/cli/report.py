"""spillway report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.options import ForceOption, JsonOption
from spillway.cli.output import display


@app.command()
def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Folders with results in them: of reproduce, run and compare.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write to this file, not to DIR/report.html; needed with several folders.",
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Gather results into one HTML page that needs nothing else."""
    from spillway.show import report as pages

    if out is None and len(folders) > 1:
        raise ScenarioError(
            f"a page about {len(folders)} folders has no place of its own",
            "name the page's file: --out FILE.html",
        )
    written = pages.write(folders, out or folders[0] / "report.html", force)
    parts = [
        f"{n} {section.one if n == 1 else section.kind}"
        for section in pages.sections()
        if (n := written[section.kind])
    ]
    display(written, Text(f"{', '.join(parts)}: written to {written['report']}", "dim"), as_json)
