"""Commands that run scenarios, or describe them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spillway import _core
from spillway.base import parquet
from spillway.base.arguments import plain_int
from spillway.base.errors import Interrupted, ScenarioError
from spillway.cli.app import app
from spillway.cli.options import (
    ForceOption,
    JobsOption,
    JsonOption,
    OutOption,
    PluginOption,
    ScenarioArgument,
    SeedOption,
    SeedsOption,
    SetOption,
    TablesOption,
)
from spillway.cli.output import FAILED, INTERRUPTED, console, display, say

if TYPE_CHECKING:
    from spillway.result.result import Result
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
    decisions: Annotated[
        int | None, typer.Option(metavar="N", help="Keep the first N decisions about arrivals.")
    ] = None,
    decisions_flow: Annotated[
        int | None, typer.Option(metavar="ID", help="Only those about this flow's packets.")
    ] = None,
    decisions_switch: Annotated[
        str | None, typer.Option(metavar="S", help="Only this switch's, such as leaf3 or 3.")
    ] = None,
    decisions_port: Annotated[
        int | None, typer.Option(metavar="P", help="Only this port's.")
    ] = None,
    decisions_queue: Annotated[
        int | None, typer.Option(metavar="Q", help="Only those about this queue of a port.")
    ] = None,
    windows: Annotated[
        str | None,
        typer.Option(metavar="ID,ID", help="Sample the congestion windows of these flows."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario and print a summary of its results."""
    from spillway.show import tables

    chosen = _scenario(scenario, set, plugin)
    record = {
        "decisions": decisions,
        "decisions_flow": decisions_flow,
        "decisions_switch": decisions_switch,
        "decisions_port": decisions_port,
        "decisions_queue": decisions_queue,
        "windows": _numbers("--windows", windows),
    }
    given = {key: value for key, value in record.items() if value is not None}
    chosen = chosen.set(*(f"record.{key}={value}" for key, value in given.items()))
    filters = [key for key in given if key.startswith("decisions_")]
    if filters and not chosen.resolved["record"]["decisions"]:
        option = f"--{filters[0].replace('_', '-')}"
        raise ScenarioError(
            f"{option} chooses among no decisions", "say how many: --decisions 1000"
        )
    if given and out is None:
        option, table = f"--{next(iter(given)).replace('_', '-')}", next(iter(given)).split("_")[0]
        raise ScenarioError(
            f"{option} needs --out: the table of {table} goes into the folder of --out",
            f"name a folder: --out DIR, which then has {table}.parquet",
        )
    wanted = _seeds(seed, seeds)
    if wanted is not None and len(wanted) > 1:
        _experiment(
            chosen,
            vary=[],
            seeds=wanted,
            jobs=jobs,
            out=out,
            force=force,
            has_tables=True,
            as_json=as_json,
        )
        return
    if wanted is not None:
        chosen = chosen.set(f"seed={wanted[0]}")
    result = _run(chosen, out, force)
    display(result.summary, tables.run(result), as_json)
    _note_empty([result])
    _exit_for(result.status)


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
    on: Annotated[
        str,
        typer.Option(
            metavar="ENGINE",
            help="Where the runs are computed: local, slurm, ray or ray://HOST:PORT. Elsewhere "
            "than here with --out, to which all workers can write; --jobs are then those of each.",
        ),
    ] = "local",
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many workers there are elsewhere at most.")
    ] = 8,
    sbatch: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="For Slurm: [bold]--time=2:00:00[/bold]. Repeatable."),
    ] = None,
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
        from spillway.scenario.variants import variants
        from spillway.show.plots import check

        check(plot, len(variants(vary)))
        if out is not None and plot.absolute() == out.absolute():
            hint = "a figure is a file, results are a folder"
            raise ScenarioError(f"--out and --plot are both {plot}", hint)
    chosen = _scenario(scenario, set, plugin)
    _experiment(
        chosen,
        vary=vary,
        seeds=_seeds(seed, seeds),
        jobs=jobs,
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


@app.command()
def show(
    scenario: ScenarioArgument,
    set: SetOption = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a scenario with every value written out, and what follows from it."""
    import tomllib

    from rich.console import Group
    from rich.syntax import Syntax
    from rich.text import Text

    from spillway.scenario.scenario import facts
    from spillway.show import tables

    read = _scenario(scenario, set, plugin).read()
    found = facts(read)
    document = {
        "scenario": tomllib.loads(read.resolved),
        "facts": found,
        "warnings": read.warnings,
    }
    text = Syntax(read.resolved.strip(), "toml", theme="ansi_dark", background_color="default")
    display(document, Group(tables.facts(found), text, Text()), as_json)


@app.command("list")
def list_(
    room: Annotated[
        str | None,
        typer.Argument(
            metavar="ROOM",
            help="sharing, aqm, scheduling, transport, tagging, traffic, topology or scenarios; "
            "all of them without it.",
        ),
    ] = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every plug-in with its parameters and its source, and the bundled scenarios."""
    import difflib

    from rich.console import Group
    from rich.text import Text

    from spillway.plugins import describe_all, load
    from spillway.show import tables

    entries: dict[str, Any] = json.loads(_core.catalogue())
    for description in describe_all(map(load, plugin or ())):
        entries[description.room].append(description.row())
    bundled = dict(_core.bundled())
    names = [*tables.ROOMS, "scenarios"]
    if room is not None and room not in names:
        near = difflib.get_close_matches(room, names, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"valid here: {', '.join(names)}"
        raise ScenarioError(f"there is nothing to list called {room!r}", hint)
    chosen = names if room is None else [room]
    parts = [tables.catalogue(entries, [name for name in chosen if name in tables.ROOMS])]
    if "scenarios" in chosen:
        heading = Text.assemble(("scenarios", "bold cyan"), ("  spillway run NAME", "dim"), "\n")
        parts = [*(parts if room is None else []), Group(heading, tables.scenarios(bundled))]
    document = {name: entries[name] for name in chosen if name in entries}
    if "traffic" in chosen:
        document["sizes"] = entries["sizes"]
    if "scenarios" in chosen:
        document["scenarios"] = list(bundled)
    display(document, Group(*parts), as_json)


@app.command()
def flows(
    scenario: ScenarioArgument,
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write them to this file: .parquet or .csv."),
    ],
    set: SetOption = None,
    plugin: PluginOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the flows that a scenario would send; traffic of kind `flows` reads them again."""
    from spillway.scenario import flow_export
    from spillway.show import tables

    chosen = _scenario(scenario, set, plugin)
    if seed is not None:
        chosen = chosen.set(f"seed={seed}")
    written = flow_export.write(chosen.read(), out, force=force)
    display(written, tables.flows(written), as_json)


def _scenario(
    source: str, assignments: Iterable[str] | None, plugins: Iterable[str] | None
) -> Scenario:
    from spillway.plugins import load
    from spillway.scenario.scenario import Scenario

    return Scenario.load(source).plug(*map(load, plugins or ())).set(*(assignments or ()))


def _numbers(option: str, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [plain_int(part) for part in text.split(",")]
    except ValueError:
        hint = f"for one: {option} 0,1,2"
        raise ScenarioError(f"{option} {text!r} is not a list of numbers", hint) from None


def _seeds(seed: int | None, seeds: str | None) -> list[int] | None:
    from spillway.base.arguments import seeds_of

    if seed is not None and seeds is not None:
        raise ScenarioError("--seed and --seeds are both there", "choose one of them")
    if seeds is not None:
        return seeds_of(seeds)
    return None if seed is None else [seed]


def _run(scenario: Scenario, out: Path | None, force: bool) -> Result:
    from spillway.base.progress import ProgressBar
    from spillway.run.run import run_to

    with ProgressBar(console(sys.stderr), 1) as bar:
        report, _ = bar.follow("running")
        return run_to(out, scenario, keep=False, force=force, progress=report)


def _experiment(
    scenario: Scenario,
    *,
    vary: list[str],
    seeds: list[int] | None,
    jobs: int | None,
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
    from rich.console import Group

    from spillway.base.progress import ProgressBar
    from spillway.experiment.asking import experiment
    from spillway.experiment.engines import start
    from spillway.show import tables

    start.check(on, out)
    if sbatch and on != "slurm":
        raise ScenarioError("--sbatch is for Slurm", "add --on slurm, or leave it out")
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
                jobs=jobs, follow=bar.follow, on=on, workers=workers, options=sbatch, told=say
            )
        except Interrupted:
            is_interrupted = True
    # In the summary is every run's: more than need be read for people.
    document, parts = shown.document() if as_json else {}, [tables.experiment(shown)]
    if against is not None and shown.done:
        compared = shown.pairs(against)
        document["pairs"] = compared.document()
        parts.append(tables.pairs(compared))
    display(document, Group(*parts), as_json)
    if out is not None and not shown.has_tables:
        more = sorted(set(scenario.checked().tables).difference(_core.Simulation.always()))
        if more:
            say(
                f"note: the tables that are recorded are not kept ({', '.join(more)}): add --tables"
            )
    if has_tables:
        _note_empty(run for _, runs in shown.results for run in runs)
    if plot is not None and shown.done:
        from spillway.show.plots import comparison

        comparison(shown, plot)
        console(sys.stderr).print(f"drawn to {plot}", style="dim", highlight=False)
    if is_interrupted and out is not None:
        say(f"{shown.done} of {shown.total} runs are kept: the same command goes on from there")
    _exit_for("interrupted" if is_interrupted else shown.status)


def _exit_for(status: str) -> None:
    """Ends the program with the exit status of a run that was interrupted or deadlocked."""
    if status == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if status == "deadlock":
        say(
            "deadlock: ports pause each other for ever; `pauses.deadlock` in the summary names them"
        )
        raise typer.Exit(FAILED)


def _note_empty(results: Iterable[Result]) -> None:
    """Says which tables that were asked for are empty."""
    from spillway._core import Simulation

    empty: dict[str, list[Path]] = {}
    for result in results:
        if result.folder is None:
            continue
        for name in result.names():
            file = result.folder / f"{name}.parquet"
            if name not in Simulation.always() and not parquet.rows(file):
                empty.setdefault(name, []).append(file)
    for name, files in empty.items():
        more = f", nor have those of {len(files) - 1} more" if len(files) > 1 else ""
        say(f"note: nothing to record for {name}: {files[0]} has no rows{more}")
