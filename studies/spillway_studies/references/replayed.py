"""Runs of ABM's and Credence's programs, repeated with their flows and compared by classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from rich.table import Table

from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway_studies.references import tables
from spillway_studies.references.files import Booleans, Floats
from spillway_studies.references.numbers import (
    Json,
    Judged,
    Range,
    Verdict,
    bootstrap,
    ends,
    judged,
    percentile,
    percentile_row,
)
from spillway_studies.references.validation import Outcomes

LEAST_TIMEOUT_MS = 10
LATE = "flows_over_least_timeout"
"""In documents: flows that took longer than the least timeout, by class."""
HASHES = ("hash_seeds=same", "hash_seeds=per-switch")
"""Ways to draw paths ourselves instead of using the program's."""


@dataclass(frozen=True)
class Flows:
    """The flows of a run, the reference's or ours, in classes: by size, and incast apart."""

    sizes: Mapping[str, Callable[[Floats], Booleans]]
    """The classes of the background."""
    class_bytes: Floats
    """The sizes of flows by which they have classes."""
    is_incast: Booleans
    query: Floats
    """What tells queries apart: NaN for the background, and if it is not known."""
    fct_ns: Floats
    slowdown: Floats
    source: str = field(default="", kw_only=True)
    """What is told to have no flows of a class; by default that is no error."""

    def are(self, kind: str) -> Booleans:
        """Which flows belong to a class, or to the background."""
        if kind == "incast":
            return self.is_incast
        background = ~self.is_incast
        return background & self.sizes[kind](self.class_bytes) if kind in self.sizes else background

    @property
    def late(self) -> dict[str, int]:
        """The number of flows of each class that took longer than the least timeout."""
        is_late = self.fct_ns > LEAST_TIMEOUT_MS * 1e6
        return {kind: int((is_late & self.are(kind)).sum()) for kind in (*self.sizes, "incast")}

    def slowdowns(self, kind: str) -> Floats:
        """The slowdowns of the flows of a kind."""
        wanted = self.are(kind)
        if self.source and not wanted.any():
            raise ScenarioError(f"{self.source}: there are no {kind} flows")
        return self.slowdown[wanted]

    def interval(self, kind: str, p: float) -> Range:
        """The 95% interval of a percentile of slowdown, by flow, or for incast by query."""
        return bootstrap(self.by_query() if kind == "incast" else self.slowdowns(kind), p)

    def by_query(self) -> list[Floats]:
        """The slowdowns of each query. Flows of unknown queries count as one query."""
        query, slowdown = self.query[self.is_incast], self.slowdowns("incast")
        groups = [slowdown[query == number] for number in np.unique(query[~np.isnan(query)])]
        unknown = slowdown[np.isnan(query)]
        return [*groups, unknown] if len(unknown) else groups


def are_incast(listed: pa.Table) -> Booleans:
    """Which flows of a list are of the class `incast`."""
    return np.array([name == "incast" for name in listed["class"].to_pylist()])


def with_hash_seeds(drawn: Scenario, count: int) -> list[Scenario]:
    """Scenarios with paths that our own hash draws, anew for each."""
    return [drawn.set(f"routing.hash_seed={seed}") for seed in range(1, count + 1)]


def with_changes(given: Scenario, drawn: Scenario, ways: Sequence[str]) -> dict[str, Scenario]:
    """The scenario with one change at a time, by the change; at last with paths that we draw."""
    changes = {change: given.set(*change.split(", ")) for change in ways}
    return changes | {f"paths drawn, {each}": drawn.set(f"routing.{each}") for each in HASHES}


@dataclass(frozen=True)
class Comparison:
    """A run of the reference, and ours.

    A run of ours is a part of the document: its `percentiles` of slowdown, None for a class without
    flows, its agreement `flow_by_flow`, and counts.
    """

    name: str
    """What distinguishes the run from the others of the reference."""
    rows: list[Json]
    late: dict[str, int]
    """The reference's flows that took longer than the least timeout, by class."""
    runs: Outcomes[Json]
    counts: dict[str, int]
    """The number of the reference's flows of each class, if it is told."""

    @property
    def judged(self) -> list[Judged]:
        """All percentiles, as bounds count them."""
        return judged(self.name, self.rows)

    @property
    def document(self) -> Json:
        """Everything, as JSON."""
        return {
            "rows": [self._row(row) for row in self.rows],
            "reference": {LATE: self.late},
            "ours": self.runs.ours,
            "drawn": self.runs.drawn,
            "differences": self.runs.changed,
        }

    def _row(self, row: Json) -> Json:
        return {
            "class": row["flows"],
            **({"flows": self.counts[row["flows"]]} if self.counts else {}),
            "percentile": row["percentile"],
            "reference": row["reference"],
            "reference_interval": row["interval"],
            "ours": row["ours"],
            "drawn_min_max": row["drawn"],
            "difference": row["difference"],
            "agrees": row["verdict"] is Verdict.near,
            "verdict": row["verdict"],
        }


def compare(
    name: str,
    reference: Flows,
    places: Sequence[tuple[str, float]],
    runs: Outcomes[Json],
    counts: dict[str, int] | None = None,
) -> Comparison:
    """Compares the percentiles at these places: those of classes that have flows in our run."""
    rows = []
    for place, (kind, p) in enumerate(places):
        if (ours := runs.ours["percentiles"][place]) is None:
            continue
        found = (run["percentiles"][place] for run in runs.drawn)
        seen = ends([value for value in found if value is not None])
        there = percentile(reference.slowdowns(kind), p)
        rows.append(percentile_row(kind, p, there, reference.interval(kind, p), ours, seen))
    return Comparison(name, rows, reference.late, runs, counts or {})


def shared_tables(distinction: str, comparisons: Sequence[Comparison]) -> list[Table]:
    """The slowdowns, and how well flows agree one by one.

    `distinction` is what the names of the runs tell, such as the transport.
    """
    has_counts = any(found.counts for found in comparisons)
    rows = []
    for found in comparisons:
        counts = {kind: [f"{count:,}"] for kind, count in found.counts.items()}
        rows += [
            ([found.name, row["flows"], *counts.get(row["flows"], [])], row) for row in found.rows
        ]
    names = [distinction, "class", *["n"] * has_counts]
    by_flow = [
        ([found.name], each) for found in comparisons for each in found.runs.ours["flow_by_flow"]
    ]
    return [
        tables.percentiles("Slowdown: the reference and Spillway", names, rows),
        tables.flow_by_flow(tables.FLOW_BY_FLOW, [distinction], by_flow),
    ]
