"""Several seeds and variants of a scenario, run at once: a thin name for `spillway.experiment`."""

from __future__ import annotations

from pathlib import Path

from spillway.arguments import Assignments, Seeds, Vary
from spillway.experiments.asking import experiment
from spillway.experiments.experiment import Experiment
from spillway.metrics import Chosen
from spillway.plugins import Plugins
from spillway.progress import Follow
from spillway.scenario import Source

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

    Its arguments are those of both.
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
