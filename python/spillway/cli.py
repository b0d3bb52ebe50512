"""The command line."""

from __future__ import annotations

import enum
import json
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from spillway import _core
from spillway.errors import Interrupted, ScenarioError, ScenarioWarning, SpillwayError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from spillway.result import Result
    from spillway.scenario import Scenario

app = typer.Typer(
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A packet-level simulator of datacenter switches: how they share their buffer, mark and "
    "drop, schedule, and what that does to flow completion times.",
)

_FAILED, _WRONG, _INTERRUPTED = 1, 2, 130

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A TOML file, a result's folder, or the name of a scenario that comes along "
        "(see [bold]spillway list scenarios[/bold]).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change any key of the scenario, by its dotted path: "
        "[bold]switch.sharing=lqd[/bold], [bold]traffic.incast.burst=75%[/bold]. Repeatable.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write tables, scenario and summary to this folder."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what --out has there.")]
SeedsOption = Annotated[
    str | None,
    typer.Option("--seeds", metavar="A..B", help="Run with several seeds: 1..5, or 1,2,7."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", metavar="N", help="Run with this seed.")]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Runs at a time. Without it, one for each processor.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, all else aside.")
]


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"spillway {_core.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    scenario: ScenarioArgument,
    set: SetOption = None,
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
    """Run a scenario and print what came of it."""
    from spillway import tables

    chosen = _scenario(scenario, set)
    record = {
        "decisions": decisions,
        "decisions_flow": decisions_flow,
        "decisions_switch": _switch_number(chosen, decisions_switch),
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
        _sweep(chosen, [], wanted, jobs, out, force, as_json)
        return
    if wanted is not None:
        chosen = chosen.set(f"seed={wanted[0]}")
    result = _run(chosen, out, force)
    _show(result.summary, tables.run(result), as_json)
    _note_empty([result])
    if result.status == "interrupted":
        raise typer.Exit(_INTERRUPTED)


@app.command()
def compare(
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=A,B,...",
            help="Run with each of these values: [bold]switch.sharing=dt,lqd[/bold]. Several "
            "--vary multiply.",
        ),
    ],
    set: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the comparison to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run variants of a scenario and print them side by side."""
    if plot is not None:
        from spillway.plots import check

        check(plot)
    chosen = _scenario(scenario, set)
    _sweep(chosen, vary, _seeds(seed, seeds), jobs, out, force, as_json, plot)


@app.command()
def show(
    scenario: ScenarioArgument,
    set: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a scenario with every value written out, and what follows from it."""
    import tomllib

    from rich.console import Group
    from rich.syntax import Syntax
    from rich.text import Text

    from spillway import tables
    from spillway.scenario import facts

    read = _scenario(scenario, set).read()
    found = facts(read)
    document = {
        "scenario": tomllib.loads(read.resolved),
        "facts": found,
        "warnings": read.warnings,
    }
    text = Syntax(read.resolved.strip(), "toml", theme="ansi_dark", background_color="default")
    _show(document, Group(tables.facts(found), text, Text()), as_json)


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
    as_json: JsonOption = False,
) -> None:
    """List every plug-in with its parameters and its source, and the scenarios that come along."""
    import difflib

    from rich.console import Group
    from rich.text import Text

    from spillway import tables

    entries: dict[str, Any] = json.loads(_core.catalogue())
    shipped = dict(_core.shipped())
    names = [*tables.ROOMS, "scenarios"]
    if room is not None and room not in names:
        near = difflib.get_close_matches(room, names, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"valid here: {', '.join(names)}"
        raise ScenarioError(f"there is nothing to list called {room!r}", hint)
    chosen = names if room is None else [room]
    parts = [tables.catalogue(entries, [name for name in chosen if name in tables.ROOMS])]
    if "scenarios" in chosen:
        heading = Text.assemble(("scenarios", "bold cyan"), ("  spillway run NAME", "dim"), "\n")
        parts = [*(parts if room is None else []), Group(heading, tables.scenarios(shipped))]
    document = {name: entries[name] for name in chosen if name in entries}
    if "traffic" in chosen:
        document["sizes"] = entries["sizes"]
    if "scenarios" in chosen:
        document["scenarios"] = list(shipped)
    _show(document, Group(*parts), as_json)


@app.command()
def flows(
    scenario: ScenarioArgument,
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write them to this file: .parquet or .csv."),
    ],
    set: SetOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the flows that a scenario would send; traffic of kind `flows` reads them again."""
    from spillway import flow_export, tables

    chosen = _scenario(scenario, set)
    if seed is not None:
        chosen = chosen.set(f"seed={seed}")
    written = flow_export.write(chosen.read(), out, force=force)
    _show(written, tables.flows(written), as_json)


class Reference(enum.StrEnum):
    """What `validate` compares with."""

    credence = "credence"


@app.command()
def validate(
    name: Annotated[Reference, typer.Argument(help="The reference.")],
    folder: Annotated[Path, typer.Argument(help="The folder with its flows and its output.")],
    paths: Annotated[
        int,
        typer.Option(
            "--paths", metavar="N", min=0, help="Also run N times with paths drawn by our own hash."
        ),
    ] = 0,
    differences: Annotated[
        bool, typer.Option("--differences", help="Also change one setting at a time.")
    ] = False,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run another simulator's flows, and compare with its output."""
    from spillway import validate as validation
    from spillway.sweep import processors

    assert name is Reference.credence
    found = validation.credence(
        folder,
        paths=paths,
        jobs=jobs or processors(),
        differences=differences,
    )
    _show(found.document, validation.table(found), as_json)


@app.command()
def bench(
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Measure only leaf-spine-128, credence or incast-star. Repeatable."
        ),
    ] = None,
    growth: Annotated[
        bool, typer.Option("--growth", help="128, 1,024 and 8,192 hosts at 10, 100 and 400 Gbps.")
    ] = False,
    runs: Annotated[int, typer.Option(metavar="N", min=1, help="Runs of each, in turns.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Short runs, for a first look.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how fast it runs on this machine: CPU time, instructions, memory."""
    from spillway import bench

    if growth and scenario:
        raise ScenarioError("--growth has scenarios of its own", "leave --scenario away")
    cases = bench.GROWTH if growth else bench.CASES
    with _console(sys.stderr).status("") as status:
        say = status.update if sys.stderr.isatty() else lambda _: None
        found = bench.measure(
            bench.named(cases, scenario) if scenario else cases, runs=runs, quick=quick, say=say
        )
    _show(found, bench.table(found), as_json)


def _scenario(source: str, assignments: Iterable[str] | None) -> Scenario:
    from spillway.scenario import Scenario

    return Scenario.load(source).set(*(assignments or ()))


def _switch_number(scenario: Scenario, name: str | None) -> int | None:
    if name is None or name.isdecimal():
        return None if name is None else int(name)
    from difflib import get_close_matches

    switches = scenario.read().switches
    if name in switches:
        return switches.index(name)
    near = get_close_matches(name, switches, n=1) or switches[:1]
    raise ScenarioError(f"there is no switch {name!r}", f"there is {near[0]}, for one")


def _numbers(option: str, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        hint = f"for one: {option} 0,1,2"
        raise ScenarioError(f"{option} {text!r} is not a list of numbers", hint) from None


def _seeds(seed: int | None, seeds: str | None) -> list[int] | None:
    from spillway.sweep import seeds_of

    if seed is not None and seeds is not None:
        raise ScenarioError("--seed and --seeds are both there", "choose one of them")
    if seeds is not None:
        return seeds_of(seeds)
    return None if seed is None else [seed]


def _run(scenario: Scenario, out: Path | None, force: bool) -> Result:
    from spillway.progress import ProgressBar
    from spillway.run import run_to

    with ProgressBar(_console(sys.stderr), 1) as bar:
        report, _ = bar.follow("running")
        return run_to(out, scenario, keep=False, force=force, progress=report)


def _sweep(
    scenario: Scenario,
    vary: list[str],
    seeds: list[int] | None,
    jobs: int | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    plot: Path | None = None,
) -> None:
    from spillway import tables
    from spillway.progress import ProgressBar
    from spillway.sweep import Sweep, sweep, variants

    result: Result | Sweep
    runs = len(variants(vary)) * len(seeds or [0])
    is_interrupted = False
    with ProgressBar(_console(sys.stderr), runs) as bar:
        try:
            result = sweep(
                scenario,
                vary=vary,
                seeds=seeds,
                jobs=jobs,
                out=out,
                force=force,
                keep=False,
                follow=bar.follow,
            )
        except Interrupted as interrupted:
            result, is_interrupted = interrupted.result, True
    assert isinstance(result, Sweep)
    _show(result.summary, tables.sweep(result), as_json)
    _note_empty([run for _, runs in result.results for run in runs])
    if plot is not None:
        from spillway.plots import comparison

        comparison(result, plot)
        _console(sys.stderr).print(f"drawn to {plot}", style="dim", highlight=False)
    if is_interrupted:
        raise typer.Exit(_INTERRUPTED)


def _note_empty(results: Iterable[Result]) -> None:
    """Says which tables were asked for and have come out empty."""
    from spillway.result import ALWAYS, recorded_tables

    empty: dict[str, list[Path]] = {}
    for result in results:
        if result.folder is None:
            continue
        import pyarrow.parquet as pq

        for name in recorded_tables(result.scenario):
            file = result.folder / f"{name}.parquet"
            if name not in ALWAYS and not pq.read_metadata(file).num_rows:
                empty.setdefault(name, []).append(file)
    for name, files in empty.items():
        more = f", nor have those of {len(files) - 1} more" if len(files) > 1 else ""
        print(f"note: no {name} were recorded: {files[0]} has no rows{more}", file=sys.stderr)


def _console(file: TextIO) -> Console:
    from rich.console import Console

    console = Console(file=file, highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 140
    return console


def _show(document: Mapping[str, Any], people: RenderableType, as_json: bool) -> None:
    """Prints what a command has found out: to people, and as JSON where that is asked for."""
    _console(sys.stderr if as_json else sys.stdout).print(people)
    if as_json:
        print(json.dumps(document, indent=2, ensure_ascii=False))


def main() -> NoReturn:
    """Runs the command line and exits: 0 done, 1 failed, 2 wrong input, 130 interrupted."""
    sys.exit(invoke(sys.argv[1:]))


def invoke(arguments: list[str]) -> int:
    """Runs a command and returns its exit status."""
    warnings.simplefilter("once", ScenarioWarning)
    warnings.showwarning = _show_warning
    try:
        status = app(arguments, prog_name="spillway", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = "spillway" if context is None else context.command_path
        return _complain(_WRONG, error.format_message(), f"`{command} --help` says how it is used")
    except ScenarioError as error:
        return _complain(_WRONG, str(error), error.hint or _where_to_look(error.path))
    except SpillwayError as error:
        return _complain(_FAILED, str(error), error.hint)
    except OSError as error:
        return _complain(_FAILED, str(error), "is there room on the disk, and may you write there?")
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        hint = "this is a mistake in Spillway: please report it, with the scenario"
        return _complain(_FAILED, f"the run has failed: {error}", hint)
    if status == _INTERRUPTED:
        print("interrupted", file=sys.stderr)
    return status if isinstance(status, int) else 0


def _complain(status: int, text: str, hint: str | None) -> int:
    print(f"error: {text}", file=sys.stderr)
    if hint:
        print(f"\nhint: {hint}", file=sys.stderr)
    return status


def _where_to_look(path: str) -> str | None:
    """What tells more about the key at this path, if it is one."""
    if not path:
        return None
    steps = path.split(".")
    for room in ("sharing", "aqm", "scheduling", "topology", "transport", "traffic"):
        if room in steps:
            return f"`spillway list {room}` tells what its keys take"
    return "`spillway show leaf-spine-128` shows a whole scenario, every key written out"


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {message}", file=sys.stderr)
