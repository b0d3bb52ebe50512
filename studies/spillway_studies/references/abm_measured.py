"""What is measured of a run of ours with the flows of ABM's program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references import replayed
from spillway_studies.references.abm_flows import BACKGROUND, CLASSES, Flows, in_order
from spillway_studies.references.agreement import Agreement, of_classes, of_pairs
from spillway_studies.references.closed_form import Uncontended, uncontended
from spillway_studies.references.percentiles import PERCENTILES, percentile

PLACES = [(kind, p) for kind in CLASSES for p in PERCENTILES]
"""The percentiles that are compared, in their order."""


@dataclass(frozen=True)
class Run(replayed.Run):
    """One of our runs."""

    flows_with_timeout: dict[str, int]
    drops: int
    marks: int
    packet_hops: int
    uncontended: Uncontended


def measured(listed: pa.Table, reference: Flows, scenario: Scenario, report: Report) -> Run:
    """Runs a scenario, and compares its flows with the reference's."""
    result = run_whole(scenario, report)
    ours, with_timeout = in_order(listed, reference, result.flows)
    summary = result.summary
    return Run(
        [_percentile(ours, kind, p) for kind, p in PLACES],
        _flow_by_flow(reference, ours),
        ours.late,
        {kind: int((with_timeout & ours.are(kind)).sum()) for kind in CLASSES},
        sum(summary["drops"].values()),
        summary["marks"],
        summary["packet_hops"],
        uncontended(reference, ours),
    )


def _percentile(flows: Flows, kind: str, p: float) -> float | None:
    slowdowns = flows.slowdowns(kind)
    return percentile(slowdowns, p) if len(slowdowns) else None


def _flow_by_flow(reference: Flows, ours: Flows) -> list[Agreement]:
    classes = {kind: reference.are(kind) for kind in BACKGROUND}
    found = of_classes(classes, reference.fct_ns, ours.fct_ns)
    here = _by_rank(ours)
    there = {key: fct for key, fct in _by_rank(reference).items() if here.get(key, 0) > 0}
    if len(there) > 1:
        pairs = np.array(list(there.values())), np.array([here[key] for key in there])
        found.append(of_pairs("incast, by rank", int(reference.is_incast.sum()), *pairs))
    return found


def _by_rank(flows: Flows) -> dict[tuple[float, float], float]:
    """The FCT of finished incast flows by query and rank, if both are known."""
    known = np.isfinite(flows.query) & np.isfinite(flows.rank) & np.isfinite(flows.fct_ns)
    columns = (flows.query[known], flows.rank[known], flows.fct_ns[known])
    return {(q, r): fct for q, r, fct in zip(*(c.tolist() for c in columns), strict=True)}
