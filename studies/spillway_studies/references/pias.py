"""Comparison with PIAS's own program for ns-2: short flows on connections that were used before."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.run.run import run_whole
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references.agreement import (
    PERCENTILES,
    Bounds,
    Row,
    bootstrap,
    bounds,
    percentile,
)
from spillway_studies.references.pias_files import Reference, runs
from spillway_studies.references.pias_runs import DIFFERENCES, FIRST_NS, scenario

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from spillway.scenario.scenario import Scenario

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]

_LONG_BYTES = 1_000_000


@dataclass(frozen=True)
class Class:
    """Flows that are not compared, for information: percentiles of their slowdowns."""

    flows: str
    count: int
    reference: list[float]
    ours: list[float]


@dataclass(frozen=True)
class Run:
    """One run of ours."""

    fct_ns: Floats
    """Completion times at the senders, in the order of the reference's flows; infinite if a flow is
    not complete."""
    drops: int
    marks: int
    timeouts: int


@dataclass(frozen=True)
class Comparison:
    """One run of the reference, and ours."""

    run: str
    count: int
    """The number of flows that are compared."""
    rows: list[Row]
    others: list[Class]
    counts: dict[str, int]
    """Our drops, marks and timeouts."""
    differences: dict[str, list[float]]
    """The compared percentiles with one setting changed, by the change."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        rows = [
            asdict(row) | {"difference": row.difference, "verdict": row.verdict}
            for row in self.rows
        ]
        others = [asdict(each) for each in self.others]
        return asdict(self) | {"rows": rows, "others": others}


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation."""

    comparisons: list[Comparison]
    left_out: list[str]
    """Files with flows that are no runs of PIAS."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON, by the name of the run."""
        by_run = {found.run: found.document for found in self.comparisons}
        return by_run | {"left_out": self.left_out, "bounds": asdict(self.bounds)}

    @property
    def bounds(self) -> Bounds:
        """The bounds of all compared percentiles."""
        return bounds(
            (f"{found.run} {row.name}", row.difference, row.verdict)
            for found in self.comparisons
            for row in found.rows
        )


def pias(folder: Path, *, paths: int = 0, jobs: int = 2, differences: bool = False) -> Validation:
    """PIAS's program (HKUST-SING/PIAS-NS2): 24 hosts, strict priorities, DCTCP, sprayed packets.

    `folder` holds the flows of runs with their times, `flows_WORKLOAD_pias_LOAD_ID.parquet`.
    Compared are the completion times of flows under 100 KB on connections that were used before.
    `paths` is the number of further runs with other random paths; `differences` adds one run for
    each setting that is changed.
    """
    references, left_out = runs(folder)
    with TemporaryDirectory() as place:
        comparisons = []
        for reference in references:
            given = scenario(reference, Path(place))
            drawn = [given.set({"seed": seed}) for seed in range(2, paths + 2)]
            changes = DIFFERENCES if differences else {}
            changed = [given.set(change) for change in changes.values()]
            ours, *others = all_of(_run, [given, *drawn, *changed], jobs)
            comparisons.append(
                Comparison(
                    reference.name,
                    int(_compared(reference).sum()),
                    _rows(reference, ours, others[:paths]),
                    _others(reference, ours),
                    {"drops": ours.drops, "marks": ours.marks, "timeouts": ours.timeouts},
                    {
                        change: [value for *_, value in _percentiles(reference, run)]
                        for change, run in zip(changes, others[paths:], strict=True)
                    },
                )
            )
    return Validation(comparisons, left_out)


def _run(scenario: Scenario, report: Report) -> Run:
    """Our times of the reference's flows."""
    import numpy as np
    import pyarrow.compute as pc

    result = run_whole(scenario, report)
    flows = result.flows
    flows = flows.filter(pc.greater_equal(flows["start_ps"], 1000 * FIRST_NS)).sort_by("flow_id")
    fct = flows["acked_ps"].cast("double").fill_null(np.inf).to_numpy() / 1e3
    summary = result.summary
    timeouts = int(flows["timeouts"].to_numpy().sum())
    return Run(fct, sum(summary["drops"].values()), summary["marks"], timeouts)


def _compared(reference: Reference) -> Booleans:
    """Short flows on connections that were used before."""
    compared: Booleans = reference.is_short & ~reference.is_first
    return compared


def _measures(reference: Reference, fct_ns: Floats) -> dict[str, Floats]:
    """Slowdowns, and completion times in us, of the compared flows."""
    compared = _compared(reference)
    slowdown = fct_ns / reference.ideal_ns
    return {"slowdown": slowdown[compared], "time": fct_ns[compared] / 1e3}


def _percentiles(reference: Reference, run: Run) -> list[tuple[str, float, float]]:
    measures = _measures(reference, run.fct_ns).items()
    return [(name, p, percentile(values, p)) for name, values in measures for p in PERCENTILES]


def _rows(reference: Reference, ours: Run, drawn: list[Run]) -> list[Row]:
    there = _measures(reference, reference.fct_ns)
    here = [_percentiles(reference, run) for run in (ours, *drawn)]
    rows = []
    for place, (name, p, value) in enumerate(here[0]):
        others = [found[place][2] for found in here[1:]]
        rows.append(
            Row(
                name,
                p,
                percentile(there[name], p),
                bootstrap(there[name], p),
                value,
                (min(others), max(others)) if others else None,
            )
        )
    return rows


def _others(reference: Reference, ours: Run) -> list[Class]:
    """The flows that are not compared."""
    short, first = reference.is_short, reference.is_first
    long = reference.size_bytes >= _LONG_BYTES
    classes = {
        "under 100 KB, first": short & first,
        "up to 1 MB, first": ~short & ~long & first,
        "up to 1 MB, others": ~short & ~long & ~first,
        "from 1 MB, first": long & first,
        "from 1 MB, others": long & ~first,
    }
    found = []
    for name, members in classes.items():
        if members.any():
            there, here = (
                [percentile((fct / reference.ideal_ns)[members], p) for p in PERCENTILES]
                for fct in (reference.fct_ns, ours.fct_ns)
            )
            found.append(Class(name, int(members.sum()), there, here))
    return found
