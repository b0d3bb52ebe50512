"""The completion times of a list of flows under ns-3's queue discs and ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spillway.run.run import run_whole
from spillway.tasks.run import Report
from spillway_studies.references.agreement import Agreement, of_classes
from spillway_studies.references.aqm_discs import Disc
from spillway_studies.references.aqm_files import Listed
from spillway_studies.references.aqm_runs import listed
from spillway_studies.references.bounds import Judged
from spillway_studies.references.flow_lists import as_listed, fct_ns, numbering
from spillway_studies.references.kinds import Booleans, Floats
from spillway_studies.references.percentiles import PERCENTILES, Row, bootstrap, nearest_rank

CLASSES = ("le100k_nicfree", "le100k", "100k_1m", "gt1m", "all")
"""Flows by size; the first are those short ones whose sender has no other unfinished flow there."""


@dataclass(frozen=True)
class Times:
    """The completion times under one disc."""

    disc: str
    rows: list[Row]
    counts: dict[str, int]
    """The number of flows of each class."""
    flow_by_flow: list[Agreement]
    unfinished: int
    """Of ours."""
    marks: int
    drops: int

    @property
    def judged(self) -> list[Judged]:
        """The percentiles as bounds count them."""
        return [row.judged(f"times {self.disc} {row.name}") for row in self.rows]

    @property
    def document(self) -> dict[str, Any]:
        """The completion times as JSON."""
        rows = [
            {
                "class": row.flows,
                "flows": self.counts[row.flows],
                "percentile": row.percentile,
                "reference_us": row.reference / 1e3,
                "reference_interval_us": [end / 1e3 for end in row.interval],
                "ours_us": row.ours / 1e3,
                "difference": row.difference,
                "verdict": row.verdict,
            }
            for row in self.rows
        ]
        return {
            "disc": self.disc,
            "rows": rows,
            "flow_by_flow": [asdict(each) for each in self.flow_by_flow],
            "unfinished": self.unfinished,
            "marks": self.marks,
            "drops": self.drops,
        }


def measured(disc: Disc, flows: Listed, name: str, there: Floats, report: Report) -> Times:
    """Runs the list of flows."""
    hosts = int(max(flows.src.max(), flows.dst.max())) + 1
    result = run_whole(listed(disc, flows.file, hosts, int(flows.start_ns.max())), report)
    here = fct_ns(as_listed(result.flows, numbering(vars(flows))))
    classes = _classes(flows, there)
    rows = []
    for kind, members in classes.items():
        for p in PERCENTILES if members.any() else ():
            values = [nearest_rank(times[members], p) for times in (there, here)]
            rows.append(Row(kind, p, values[0], bootstrap(there[members], p), values[1], None))
    return Times(
        name,
        rows,
        {kind: int(members.sum()) for kind, members in classes.items()},
        of_classes(classes, there, here),
        int(np.isinf(here).sum()),
        result.summary["marks"],
        sum(result.summary["drops"].values()),
    )


def _classes(flows: Listed, fct_ns: Floats) -> dict[str, Booleans]:
    """Which flows belong to which class."""
    size = flows.size_bytes
    ends = flows.start_ns + fct_ns
    is_free = np.ones(len(size), dtype=bool)
    for sender in np.unique(flows.src):
        own = np.flatnonzero(flows.src == sender)
        own = own[np.argsort(flows.start_ns[own], kind="stable")]
        latest = np.maximum.accumulate(ends[own])
        is_free[own[1:]] = latest[:-1] <= flows.start_ns[own[1:]]
    found = [size <= 100_000, (size > 100_000) & (size <= 1_000_000), size > 1_000_000]
    members = [found[0] & is_free, *found, np.ones(len(size), dtype=bool)]
    return dict(zip(CLASSES, members, strict=True))
