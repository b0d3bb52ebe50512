"""spillway run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from spillway.base.errors import ScenarioError
from spillway.base.progress import ProgressBar
from spillway.cli.app import app
from spillway.cli.common import exit_for, note_empty, recorded, scenario_of, seeds_of_options
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
)
from spillway.cli.output import console, display
from spillway.cli.side_by_side import run_all
from spillway.result import tables
from spillway.result.result import Result
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
    as_json: JsonOption = False,
) -> None:
    """Run a scenario and print a summary of its results."""
    chosen = scenario_of(scenario, set, plugin)
    others = [each for each in set or () if not each.startswith("record.")]
    if out is None and len(others) < len(set or ()):
        before = recorded(scenario_of(scenario, others, plugin))
        _check_kept([name for name in recorded(chosen) if name not in before])
    wanted = seeds_of_options(seed, seeds)
    if wanted is not None and len(wanted) > 1:
        run_all(
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
    display(result.summary, tables.run(result.summary, result.folder), as_json)
    note_empty([result])
    exit_for(result.status)


def _check_kept(tables: Sequence[str]) -> None:
    """Refuses to record tables that have no folder to go to."""
    if tables:
        raise ScenarioError(
            f"{', '.join(tables)} would not be kept: tables go into the folder of --out",
            f"name a folder: --out DIR, which then has {tables[0]}.parquet",
        )


def _run(scenario: Scenario, out: Path | None, force: bool) -> Result:
    with ProgressBar(console(sys.stderr), 1) as bar:
        report, _ = bar.follow("running")
        return run_to(out, scenario, keep=False, force=force, progress=report)
