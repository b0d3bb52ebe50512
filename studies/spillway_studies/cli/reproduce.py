"""spillway reproduce."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.options import JobsOption, JsonOption, SeedsOption
from spillway.cli.output import INTERRUPTED, console, display, say

if TYPE_CHECKING:
    from spillway_studies.claims.harness import Plan
    from spillway_studies.claims.results import Results


class ScaleName(enum.StrEnum):
    """How much is run."""

    quick = "quick"
    page = "page"
    full = "full"


@app.command()
def reproduce(
    figure: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER/FIGURE",
            help="A figure, such as [bold]credence/figure6[/bold]; or a paper, for all of its "
            "figures; or [bold]list[/bold].",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the figures that there are.")] = False,
    scale: Annotated[
        ScaleName,
        typer.Option(
            help="quick: minutes, 200 queries a point at least; page: what the papers' pages of "
            "the documentation show; full: the paper's size."
        ),
    ] = ScaleName.quick,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write data, plots and claims to DIR/PAPER/FIGURE."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace figures that --out has there, and with --publish what pages show of "
            "another scale or other seeds.",
        ),
    ] = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish", help="Keep what pages show in the studies' own folders, as data."
        ),
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where points that are done are kept. Without it $SPILLWAY_CACHE, or the user's "
            "own cache.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run figures of papers again: data, plots, and a verdict on every claim."""
    from spillway.base.arguments import seeds_of
    from spillway_studies import catalogue
    from spillway_studies.claims import Cache, default_folder, harness, tables, write

    if list_ or figure == "list":
        every = catalogue.every()
        document = {
            "figures": [
                {"figure": each.name, "title": each.title, "source": each.source} for each in every
            ]
        }
        display(document, tables.figures(every), as_json)
        return
    if figure is None:
        hint = "`spillway reproduce --list` names the figures that there are"
        raise ScenarioError("no figure is given", hint)
    figures = catalogue.find(figure)
    if out is not None:
        from spillway.base.folder import OutputFolder

        for each in figures:
            OutputFolder(out / each.name, force).check()
    kept = Cache(cache or default_folder())
    kept.check()
    planned = harness.plan(figures, scale, seeds_of(seeds) if seeds is not None else None)
    if publish:
        write.check_clone()
        for each, chosen in zip(planned.figures, planned.seeds, strict=True):
            if not force:
                write.check(each, scale, chosen)
    try:
        found = _compute(planned, kept, jobs)
    except harness.Unfinished as unfinished:
        say(
            f"{unfinished.done} of {unfinished.total} points are kept: the same command goes on "
            "from there"
        )
        raise typer.Exit(INTERRUPTED) from None
    documents: list[dict[str, Any]] = []
    parts = []
    for results in found:
        summary = write.document(results, scale)
        if publish:
            more = f" --seeds {seeds}" if seeds is not None else ""
            command = f"spillway reproduce {results.figure.name} --scale {scale}{more}"
            write.publish(results, summary, command)
        folder = None if out is None else write.write(results, summary, out, force)
        documents.append({**summary, "folder": None if folder is None else str(folder)})
        parts.append(tables.claims(summary, folder))
    if len(documents) > 1:
        parts.append(tables.verdicts(documents))
    display({"figures": documents}, Group(*parts), as_json)


def _compute(planned: Plan, cache: Any, jobs: int | None) -> list[Results]:
    """Computes missing points; a terminal shows bars, anything else gets a line for every point."""
    from spillway.base.progress import ProgressBar
    from spillway_studies.claims import harness

    left = sum(not cache.has(key) for key in planned.tasks)
    errors = console(sys.stderr)
    done = len(planned.tasks) - left
    if done:
        errors.print(f"{done} of {len(planned.tasks)} points are there already", style="dim")
    if damaged := cache.damaged:
        lines = "a line is" if damaged == 1 else f"{damaged} lines are"
        where = cache.folder / "segments"
        say(f"note: {lines} damaged in {where}; what was there is computed again")
    with ProgressBar(errors, left) as bar:
        return harness.compute(planned, cache, jobs=jobs, follow=bar.follow, done=bar.finished)
