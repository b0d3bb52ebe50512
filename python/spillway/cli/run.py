"""spillway run, compare and work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group

from spillway.base.errors import Interrupted, ScenarioError
from spillway.base.progress import ProgressBar
from spillway.cli.app import app
from spillway.cli.common import (
    check_sbatch,
    exit_for,
    note_empty,
    recorded,
    scenario_of,
    seeds_of_options,
)
from spillway.cli.options import (
    EngineOption,
    ForceOption,
    JobsOption,
    JsonOption,
    OutOption,
    PluginOption,
    SbatchOption,
    ScenarioArgument,
    SeedOption,
    SeedsOption,
    SetOption,
    TablesOption,
    ThreadsOption,
    WorkersOption,
)
from spillway.cli.output import console, display, interruptible, say
from spillway.experiment.asking import experiment, to_do
from spillway.experiment.engines import start
from spillway.result import tables
from spillway.run.run import run_to
from spillway.scenario.scenario import Scenario


@app.command()
def run(
    scenario: ScenarioArgument,
    set: SetOption = None,
    plugin: PluginOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario and print a summary of its results."""
    chosen = scenario_of(scenario, set, plugin)
    others = [each for each in set or () if not each.startswith("record.")]
    if out is None and len(others) < len(set or ()):
        before = recorded(scenario_of(scenario, others, plugin))
        if lost := [name for name in recorded(chosen) if name not in before]:
            raise ScenarioError(
                f"{', '.join(lost)} would not be kept: tables go into the folder of --out",
                f"name a folder: --out DIR, which then has {lost[0]}.parquet",
            )
    wanted = seeds_of_options(seed, seeds)
    if wanted is not None and len(wanted) > 1:
        _run_all(
            chosen,
            vary=[],
            seeds=wanted,
            jobs=jobs,
            threads=threads,
            out=out,
            force=force,
            has_tables=True,
            as_json=as_json,
        )
        return
    if wanted is not None:
        chosen = chosen.set(f"seed={wanted[0]}")
    with ProgressBar(console(sys.stderr), 1) as bar:
        report, _ = bar.follow("running")
        result = run_to(out, chosen, keep=False, force=force, threads=threads, progress=report)
    display(result.summary, tables.run(result.summary, result.folder), as_json)
    note_empty([result])
    exit_for(result.status)


@app.command()
def compare(
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=A,B,...",
            help="Run with each of these values: [bold]switch.sharing=dt,lqd[/bold]. Several "
            "--vary multiply. Keys with a / between them are varied together: "
            "[bold]switch.sharing=dt,abm/switch.aqm=none,ecn[/bold] is two variants.",
        ),
    ],
    set: SetOption = None,
    plugin: PluginOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the runs in this folder. The same again goes on with what is missing; more "
            "seeds and variants are added.",
        ),
    ] = None,
    has_tables: TablesOption = False,
    force: ForceOption = False,
    seed: SeedOption = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    threads: ThreadsOption = 1,
    on: EngineOption = "local",
    workers: WorkersOption = 8,
    sbatch: SbatchOption = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Show differences from the variant with this value, seed by seed: "
            "[bold]switch.sharing=dt[/bold]. Repeatable.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the comparison to this file: .png, .pdf or .svg."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="What table, plot and report show: slowdowns of a class, or of a section of "
            "traffic, as [bold]short.p99[/bold] or [bold]web.mean[/bold]; [bold]web.flows[/bold], "
            "[bold]web.unfinished[/bold], [bold]web.with_timeout[/bold]; [bold]queries.p99[/bold]; "
            "[bold]buffer.p99.99[/bold]; [bold]goodput[/bold], [bold]goodput.web[/bold]; "
            "[bold]drops[/bold], [bold]marks[/bold], [bold]timeouts[/bold], "
            "[bold]retransmitted_packets[/bold]. docs/results.md explains them.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run variants of a scenario and print them side by side."""
    if plot is not None:
        from spillway.experiment.plots import check
        from spillway.scenario.variants import variants

        check(plot, len(variants(vary)))
        if out is not None and plot.absolute() == out.absolute():
            raise ScenarioError(
                f"--out and --plot are both {plot}", "a figure is a file, results are a folder"
            )
    chosen = scenario_of(scenario, set, plugin)
    _run_all(
        chosen,
        vary=vary,
        seeds=seeds_of_options(seed, seeds),
        jobs=jobs,
        threads=threads,
        out=out,
        force=force,
        has_tables=has_tables,
        as_json=as_json,
        on=on,
        workers=workers,
        sbatch=sbatch or (),
        plot=plot,
        metrics=metrics,
        against=against,
    )


def _run_all(
    scenario: Scenario,
    *,
    vary: list[str],
    seeds: list[int] | None,
    jobs: int | None,
    threads: int,
    out: Path | None,
    force: bool,
    has_tables: bool,
    as_json: bool,
    on: str = "local",
    workers: int = 1,
    sbatch: Sequence[str] = (),
    plot: Path | None = None,
    metrics: str | None = None,
    against: list[str] | None = None,
) -> None:
    """Runs the variants of a scenario, shows them side by side, and exits with their status."""
    start.check(on, out)
    check_sbatch(sbatch, on)
    shown = experiment(
        scenario,
        vary=vary,
        seeds=seeds,
        out=out,
        force=force,
        tables=has_tables and out is not None,
        metrics=() if metrics is None else metrics.split(","),
        against=against or (),
    )
    missing = len(shown.missing())
    if missing < shown.total:
        say(f"{shown.total - missing} of {shown.total} runs are there already, in {out}")
    is_interrupted = False
    with ProgressBar(console(sys.stderr), missing) as bar:
        try:
            shown.run(
                jobs=jobs,
                threads=threads,
                follow=bar.follow,
                on=on,
                workers=workers,
                options=sbatch,
                told=say,
            )
        except Interrupted:
            is_interrupted = True
    # The summary has the numbers of every run; for people they need not be read.
    document, parts = shown.document() if as_json else {}, [shown.table()]
    if against is not None and shown.done:
        compared = shown.pairs(against)
        document["pairs"] = compared.document()
        parts.append(compared.table())
    display(document, Group(*parts), as_json)
    if out is not None and not shown.has_tables and (names := recorded(scenario)):
        say(f"note: the tables that are recorded are not kept ({', '.join(names)}): add --tables")
    if has_tables:
        note_empty(run for _, runs in shown.results for run in runs)
    if plot is not None and shown.done:
        from spillway.experiment.plots import comparison

        comparison(shown, plot)
        console(sys.stderr).print(f"drawn to {plot}", style="dim", highlight=False)
    if is_interrupted and out is not None:
        say(f"{shown.done} of {shown.total} runs are kept: the same command goes on from there")
    exit_for("interrupted" if is_interrupted else shown.status)


@app.command()
def work(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `spillway compare --out DIR` has made.")
    ],
    jobs: JobsOption = None,
    threads: ThreadsOption = 1,
    only: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only the runs whose keys are the lines of this file."),
    ] = None,
) -> None:
    """Compute runs of an experiment that nobody has computed or is computing.

    Any number of workers may do so at once, here and on machines that share the folder.
    """
    for found in to_do(folder, only):
        missing = len(found.missing())
        with ProgressBar(console(sys.stderr), missing) as bar, interruptible():
            found.run(jobs=jobs, threads=threads, follow=bar.follow)
        say(f"{found.computed} of {missing} runs that were missing are computed here")
