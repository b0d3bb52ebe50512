"""Several seeds and variants of a scenario, run at once: a thin name for `spillway.experiment`."""

from __future__ import annotations

from pathlib import Path

from spillway.base.arguments import Assignments, Seeds, Vary
from spillway.base.progress import Follow
from spillway.experiment.asking import experiment
from spillway.experiment.experiment import Experiment
from spillway.plugins import Plugins
from spillway.result.metrics import Chosen
from spillway.scenario.scenario import Source

Sweep = Experiment


def sweep(
    source: Source,
    *,
    vary: Vary = (),
    seeds: Seeds | None = None,
    set: Assignments = (),
    plugins: Plugins = (),
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    keep: bool = True,
    follow: Follow | None = None,
    metrics: Chosen = (),
) -> Experiment:
    """`spillway.experiment(...).run(...)`, with tables unless `keep` is false.

    Args:
        source: The scenario; this and what follows as `spillway.experiment` takes it.
        vary: The keys that are varied, and their values.
        seeds: The seeds of every variant.
        set: Changes of the scenario for all variants.
        plugins: Classes that scenarios name by their ids.
        jobs: Runs at a time; by default one for each processor.
        out: A folder in which the experiment is kept.
        force: Replace what is in `out`.
        keep: Keep the tables of every run: in `out`, or without it in memory.
        follow: Called when a run begins, as by `Experiment.run`.
        metrics: What tables, plots and reports show.

    Raises:
        Interrupted: Ctrl-C; its `result` is the experiment, with the runs that are complete.
        ScenarioError: An argument is wrong; nothing was run.
        PluginError: A plug-in has failed.
        OSError: The folder cannot be written to.
    """
    asked = experiment(
        source,
        vary=vary,
        seeds=seeds,
        set=set,
        plugins=plugins,
        out=out,
        force=force,
        tables=keep,
        metrics=metrics,
    )
    return asked.run(jobs=jobs, follow=follow)
