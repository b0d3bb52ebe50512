"""Runs of another program repeated with its flows, and compared by slowdowns of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from rich.table import Table

from spillway_studies.references import tables
from spillway_studies.references.agreement import Agreement
from spillway_studies.references.bounds import Judged, Verdict
from spillway_studies.references.classes import Classed
from spillway_studies.references.percentiles import Row, ends, percentile
from spillway_studies.references.scenarios import Outcomes


@dataclass(frozen=True)
class Run:
    """One of our runs."""

    percentiles: list[float | None]
    """Percentiles of slowdown for every class; None if a class has no flows."""
    flow_by_flow: list[Agreement]
    flows_over_least_timeout: dict[str, int]
    """Flows that took longer than the least timeout, by class."""


AnyRun = TypeVar("AnyRun", bound=Run)


@dataclass(frozen=True)
class Comparison(Generic[AnyRun]):
    """A run of the reference, and ours."""

    name: str
    """What distinguishes the run from the others of the reference."""
    rows: list[Row]
    counts: dict[str, int]
    """The number of the reference's flows of each class, if it is told."""
    flows_over_least_timeout: dict[str, int]
    """In the reference: flows that took longer than the least timeout, by class."""
    ours: AnyRun
    drawn: list[AnyRun]
    """Runs with paths that we have drawn, anew for each."""
    differences: dict[str, AnyRun]
    """Runs with one setting changed, by the change."""

    @property
    def judged(self) -> list[Judged]:
        """All percentiles, as bounds count them."""
        return [row.judged(f"{self.name} {row.name}") for row in self.rows]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return {
            "rows": [self._row(row) for row in self.rows],
            "reference": {"flows_over_least_timeout": self.flows_over_least_timeout},
            "ours": asdict(self.ours),
            "drawn": [asdict(run) for run in self.drawn],
            "differences": {change: asdict(run) for change, run in self.differences.items()},
        }

    def _row(self, row: Row) -> dict[str, Any]:
        return {
            "class": row.flows,
            **({"flows": self.counts[row.flows]} if self.counts else {}),
            "percentile": row.percentile,
            "reference": row.reference,
            "reference_interval": list(row.interval),
            "ours": row.ours,
            "drawn_min_max": None if row.drawn is None else list(row.drawn),
            "difference": row.difference,
            "agrees": row.verdict is Verdict.near,
            "verdict": row.verdict,
        }


def compared(
    name: str,
    reference: Classed,
    places: Sequence[tuple[str, float]],
    runs: Outcomes[AnyRun],
    counts: dict[str, int] | None = None,
) -> Comparison[AnyRun]:
    """Compares the percentiles at these places: those of classes that have flows in our run."""
    rows = []
    for place, (kind, p) in enumerate(places):
        if (ours := runs.ours.percentiles[place]) is None:
            continue
        found = (run.percentiles[place] for run in runs.drawn)
        seen = ends([value for value in found if value is not None])
        there = percentile(reference.slowdowns(kind), p)
        rows.append(Row(kind, p, there, reference.interval(kind, p), ours, seen))
    return Comparison(name, rows, counts or {}, reference.late, runs.ours, runs.drawn, runs.changed)


def percentile_table(distinction: str, comparisons: Sequence[Comparison[AnyRun]]) -> Table:
    """The slowdowns; `distinction` is what the names of the runs tell, such as the transport."""
    has_counts = any(found.counts for found in comparisons)
    rows = [
        ([found.name, row.flows, *([f"{found.counts[row.flows]:,}"] if has_counts else [])], row)
        for found in comparisons
        for row in found.rows
    ]
    names = [distinction, "class", *(["n"] if has_counts else [])]
    return tables.percentiles("Slowdown: the reference and Spillway", names, rows)


def flow_table(distinction: str, comparisons: Sequence[Comparison[AnyRun]]) -> Table:
    """How well flows agree one by one."""
    rows = [([found.name], each) for found in comparisons for each in found.ours.flow_by_flow]
    return tables.flow_by_flow(tables.FLOW_BY_FLOW, [distinction], rows)
