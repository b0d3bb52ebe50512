"""Comparison with the public RDMA simulator: queues, rates, pauses and completion times."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.bounds import MEDIAN_WITHIN, TAIL_WITHIN, Bounds, bounds
from spillway_studies.references.rdma_files import Reference, runs
from spillway_studies.references.rdma_numbers import (
    LEAST_PAUSES,
    PAUSES_WITHIN,
    Comparison,
    compare,
    measures,
)
from spillway_studies.references.rdma_outcome import Outcome, of_reference, run
from spillway_studies.references.rdma_runs import Planned, cannot, changes, plan, written
from spillway_studies.references.rdma_tables import tables
from spillway_studies.references.scenarios import run_each
from spillway_studies.references.validation import Validation

MOVED = 10
"""Runs in which every start is moved by less than a microsecond, and marks are drawn anew."""
_RULE = (
    f"medians, means and goodput within {100 * MEDIAN_WITHIN:g}%, tails and deviations within "
    f"{100 * TAIL_WITHIN:g}%, or in the range of {MOVED} runs with moved starts; pauses within "
    f"{100 * PAUSES_WITHIN:g}% where there are {LEAST_PAUSES}"
)


@dataclass(frozen=True)
class RdmaBounds(Bounds):
    """The bounds of this validation; undecided numbers are those in the range of our runs."""

    wrong_runs: list[str] = field(default_factory=list)
    """Runs that are left out because a file of theirs is wrong."""

    @property
    def is_kept(self) -> bool:
        """Whether nothing differs, and every run could be read."""
        return super().is_kept and not self.wrong_runs

    @property
    def sentence(self) -> str:
        """The result in one line."""
        if not self.wrong_runs:
            return super().sentence
        count, them = len(self.wrong_runs), ", ".join(self.wrong_runs)
        runs = "run is" if count == 1 else "runs are"
        return f"{super().sentence}; {count} {runs} left out for a wrong file ({them})"

    @property
    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        return super().document | {"wrong_runs": self.wrong_runs}


def rdma(folder: Path, *, jobs: int = 2, differences: bool = False) -> Validation[Comparison]:
    """The public simulator of HPCC's authors: DCQCN, lossless priorities, its hosts' NICs.

    `folder` has folders of runs (`A`, `B`, ...), each run with its settings `RUN.config.txt` and
    what it left: `RUN.q`, `.rate`, `.fct`, `.pfc` (Parquet or CSV); and `inputs`, with topologies,
    flows and routes. What is missing is left out, and so are runs that cannot be repeated.
    `differences` adds one run for each setting that is changed.
    """
    found = runs(folder)
    left_out, wrong = found.missing, found.wrong
    comparisons = []
    with TemporaryDirectory() as place:
        for reference in found.read:
            try:
                if reason := cannot(reference):
                    left_out.append(f"{reference.name}: {reason}")
                    continue
                there = of_reference(reference)
                if not any(measures(reference, there)):
                    lacks = "; ".join(reference.lacks)
                    left_out.append(f"{reference.name}: there is nothing to compare: {lacks}")
                    continue
                comparisons.append(_compare(reference, there, Path(place), jobs, differences))
            except ScenarioError as error:
                wrong.append(f"{reference.name}: {error}")
    if not comparisons:
        raise ScenarioError(
            f"{folder}: there is nothing to compare: {'; '.join([*wrong, *left_out])}",
            "see studies/spillway_studies/references/validation.md for what such a folder holds",
        )
    content = {each.run: each.document for each in comparisons}
    judged = (one for each in comparisons for one in each.judged)
    kept = bounds(judged, _RULE, "only in the range of our runs")
    return Validation(
        comparisons,
        content | {"left_out": left_out, "wrong": wrong},
        tables(comparisons, left_out, wrong),
        RdmaBounds(**vars(kept), wrong_runs=[each.split(":", 1)[0] for each in wrong]),
    )


def _compare(
    reference: Reference, there: Outcome, place: Path, jobs: int, differences: bool
) -> Comparison:
    """Runs what is needed, and compares it."""
    planned = plan(reference, place)
    moved = [(_moved(planned, seed, place), seed) for seed in range(1, MOVED + 1)]
    changed = changes(planned) if differences else {}

    def work(each: tuple[Scenario, int | None], report: Report) -> Outcome:
        return run(reference, *each, report)

    found = run_each(
        work,
        (planned.scenario, None),
        moved,
        {name: (scenario, None) for name, scenario in changed.items()},
        jobs,
    )
    return compare(reference, there, found, [*reference.lacks, *planned.lacks])


def _moved(planned: Planned, seed: int, place: Path) -> Scenario:
    """The scenario with starts that are moved by a seed, and marks that are drawn anew."""
    file = written(planned.reference, place, seed)
    return planned.scenario.set({"traffic.flows.file": str(file.resolve()), "seed": seed + 1})
