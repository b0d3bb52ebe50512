"""Runs of ABM's and Credence's programs, repeated with their flows and compared by classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from rich.table import Table

from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references import tables
from spillway_studies.references.files import Booleans, Floats
from spillway_studies.references.numbers import (
    Json,
    Range,
    Verdict,
    bootstrap,
    ends,
    percentile,
    percentile_row,
)
from spillway_studies.references.validation import Outcomes, run_each

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
    """The number of the query; NaN for the background, and for unknown queries."""
    fct_ns: Floats
    slowdown: Floats
    source: str = field(default="", kw_only=True)
    """What an error about a class without flows names; by default that is no error."""

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


def repeat(
    work: Callable[[Scenario, Report], Json],
    given: Scenario,
    drawn: Scenario,
    paths: int,
    ways: Sequence[str],
    jobs: int,
) -> Outcomes[Json]:
    """Runs a scenario: as given, some times with other paths, and with one change at a time.

    Args:
        work: runs one, and measures it.
        given: the scenario with the program's paths.
        drawn: the scenario with paths that our own hash draws.
        paths: how many runs have paths that are drawn anew.
        ways: the changes; the last ones are then the ways to draw paths.
        jobs: how many runs go on at a time.
    """
    draws = [drawn.set(f"routing.hash_seed={seed}") for seed in range(1, paths + 1)]
    changes = {change: given.set(*change.split(", ")) for change in ways}
    if ways:
        changes |= {f"paths drawn, {each}": drawn.set(f"routing.{each}") for each in HASHES}
    return run_each(work, given, draws, changes, jobs)


def compare(
    reference: Flows,
    places: Sequence[tuple[str, float]],
    runs: Outcomes[Json],
    counts: Mapping[str, int] = {},
) -> Json:
    """A run of the reference, and ours, as a document.

    A run of ours has its `percentiles` of slowdown, None for a class without flows, its agreement
    `flow_by_flow`, and counts.

    Args:
        reference: the reference's flows.
        places: the percentiles that are compared, if their class has flows in our run.
        runs: ours.
        counts: the number of the reference's flows of each class, if that is told.
    """
    ours, drawn, changed = runs
    rows = []
    for place, (kind, p) in enumerate(places):
        if (own := ours["percentiles"][place]) is None:
            continue
        found = (run["percentiles"][place] for run in drawn)
        seen = ends([value for value in found if value is not None])
        there = percentile(reference.slowdowns(kind), p)
        row = percentile_row(kind, p, there, reference.interval(kind, p), own, seen)
        rows.append(
            {
                "class": kind,
                **({"flows": counts[kind]} if counts else {}),
                "percentile": p,
                "reference": there,
                "reference_interval": row["interval"],
                "ours": own,
                "drawn_min_max": seen,
                "difference": row["difference"],
                "agrees": row["verdict"] is Verdict.near,
                "verdict": row["verdict"],
            }
        )
    late = {LATE: reference.late}
    return {"rows": rows, "reference": late, "ours": ours, "drawn": drawn, "differences": changed}


def shared_tables(distinction: str, comparisons: Mapping[str, Json]) -> list[Table]:
    """The slowdowns, and how well flows agree one by one.

    `distinction` is what the names of the runs tell, such as the transport.
    """
    rows, by_flow = [], []
    for name, found in comparisons.items():
        by_flow += [([name], each) for each in found["ours"]["flow_by_flow"]]
        for row in found["rows"]:
            count = [f"{row['flows']:,}"] if "flows" in row else []
            both = {"interval": row["reference_interval"], "drawn": row["drawn_min_max"]}
            rows.append(([name, row["class"], *count], row | both))
    has_counts = any("flows" in row for _, row in rows)
    names = [distinction, "class", *["n"] * has_counts]
    return [
        tables.percentiles("Slowdown: the reference and Spillway", names, rows),
        tables.flow_by_flow(tables.FLOW_BY_FLOW, [distinction], by_flow),
    ]
