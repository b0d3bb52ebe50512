"""spillway arena."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from spillway.base.arguments import plain_int
from spillway.base.errors import Interrupted, ScenarioError
from spillway.base.progress import Follow, ProgressBar
from spillway.cli.app import app
from spillway.cli.common import check_sbatch
from spillway.cli.options import (
    EngineOption,
    JobsOption,
    JsonOption,
    PluginOption,
    SbatchOption,
    SetOption,
    WorkersOption,
)
from spillway.cli.output import INTERRUPTED, console, display, say
from spillway.plugins import load


@app.command()
def arena(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCENARIO]...", help="Scenarios. Without any, all bundled ones."),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LEVEL,...",
            help="Only these levels of a factor: [bold]sharing=dt,lqd[/bold]. Factors are sharing, "
            "aqm, levels (scheduling and tagging), transport and recovery, and protection, which "
            "is varied only if it is named. [bold]own[/bold] is what a scenario has; "
            "[bold]dt8:switch.sharing={kind='dt',alpha=8}[/bold] is a level of your own, its keys "
            "with a / between them. Repeatable.",
        ),
    ] = None,
    ranked: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The factor whose levels are ranked. Without it, that of --plugin, or sharing.",
        ),
    ] = None,
    runs: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="About how many runs there are at most, one context at least, or "
            "[bold]all[/bold] combinations. Without it, as many as cover all pairs of levels.",
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="A..B", help="Run every combination with these seeds.")
    ] = "1..3",
    packets: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Shorten scenarios that would send more packets, unless --set has their duration.",
        ),
    ] = 500_000,
    metric: Annotated[
        str, typer.Option(metavar="METRIC", help="What ranks go by; less must be better.")
    ] = "all.p99",
    tuned: Annotated[
        int,
        typer.Option(
            metavar="TRIALS",
            min=0,
            help="Search the keys of each level that is ranked first, in each scenario, with so "
            "many trials. Without it, all have their defaults.",
        ),
    ] = 0,
    design_seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of the design and of searches.")
    ] = 1,
    set: SetOption = None,
    plugin: PluginOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep all runs, their table and a page in this folder. The same command goes on.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Begin the runs in --out anew.")] = False,
    jobs: JobsOption = None,
    on: EngineOption = "local",
    workers: WorkersOption = 8,
    sbatch: SbatchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rank schemes over scenarios, seeds, and everything else of a network."""
    from spillway.contest import tables
    from spillway.contest.arena import PAGE, arena

    check_sbatch(sbatch, on)
    errors = console(sys.stderr)
    bars: list[ProgressBar] = []

    def follow(count: int) -> Follow:
        bars.append(ProgressBar(errors, count))
        return bars[0].__enter__().follow

    try:
        found = arena(
            scenarios or (),
            factors=factor or (),
            ranked=ranked,
            runs=_runs(runs),
            seeds=seeds,
            packets=packets,
            metric=metric,
            tuned=tuned,
            design_seed=design_seed,
            set=set or (),
            plugins=[load(each) for each in plugin or ()],
            out=out,
            force=force,
            jobs=jobs,
            on=on,
            workers=workers,
            options=sbatch or (),
            follow=follow,
            say=lambda text: errors.print(text, style="dim", soft_wrap=True),
        )
    except (Interrupted, KeyboardInterrupt):
        say("the same command goes on from there" if out else "nothing is kept without --out")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for bar in bars:
            bar.__exit__()
    closing = "" if out is None else f"page: {out / PAGE}"
    display(found.summary, tables.shown(found.summary), as_json, closing=closing)


def _runs(given: str | None) -> int | str | None:
    """The number of `--runs`, or `all`."""
    if given is None or given == "all":
        return given
    try:
        return plain_int(given)
    except ValueError:
        raise ScenarioError(
            f"--runs {given!r} is no number", "for one: --runs 500, or --runs all"
        ) from None
