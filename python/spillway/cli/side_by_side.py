"""Variants and seeds of a scenario, run and shown side by side."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group

from spillway.base.errors import Interrupted, ScenarioError
from spillway.base.progress import ProgressBar
from spillway.cli.common import exit_for, note_empty, recorded
from spillway.cli.output import console, display, say
from spillway.experiment.asking import experiment
from spillway.experiment.engines import start
from spillway.scenario.scenario import Scenario


def run_all(
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
    """Runs the variants of a scenario, shows them side by side, and ends as they did."""
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
