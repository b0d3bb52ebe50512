"""spillway bench."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.options import JsonOption
from spillway.cli.output import console, display


@app.command()
def bench(
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Measure only this one, such as leaf-spine-128. Repeatable."
        ),
    ] = None,
    growth: Annotated[
        bool, typer.Option("--growth", help="128, 1,024 and 8,192 hosts, filled and nearly empty.")
    ] = False,
    aqms: Annotated[bool, typer.Option("--aqms", help="Every AQM, in leaf-spine-128.")] = False,
    policies: Annotated[
        bool, typer.Option("--policies", help="Every sharing policy, in credence.")
    ] = False,
    tagging: Annotated[
        bool, typer.Option("--tagging", help="Taggers and priorities, in leaf-spine-128.")
    ] = False,
    threads: Annotated[
        bool,
        typer.Option("--threads", help="What several threads gain, and could gain on more cores."),
    ] = False,
    runs: Annotated[int, typer.Option(metavar="N", min=1, help="Runs of each, in turns.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Short runs, for a first look.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how fast it runs on this machine: CPU time, instructions, memory."""
    from spillway.run import bench, bench_threads

    groups = {
        "--growth": (growth, bench.GROWTH),
        "--aqms": (aqms, bench.AQMS),
        "--policies": (policies, bench.POLICIES),
        "--tagging": (tagging, bench.TAGGERS),
        "--threads": (threads, bench_threads.NETWORKS),
    }
    sets = {option: is_asked for option, (is_asked, _) in groups.items()}
    sets["--scenario"] = bool(scenario)
    if len(asked := [option for option, is_asked in sets.items() if is_asked]) > 1:
        raise ScenarioError(f"{asked[0]} has scenarios of its own", f"leave {asked[1]} away")
    asked_cases = [cases for is_asked, cases in groups.values() if is_asked]
    cases = asked_cases[0] if asked_cases else bench.CASES
    chosen = bench.named(cases, scenario) if scenario else cases
    measured = bench_threads if threads else bench
    with console(sys.stderr).status("") as status:
        say = status.update if sys.stderr.isatty() else lambda _: None
        found = measured.measure(chosen, runs=runs, quick=quick, say=say)
    display(found, measured.table(found), as_json)
