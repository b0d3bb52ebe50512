"""The queues of endless senders under ns-3's queue discs and ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from spillway.run.run import run_whole
from spillway.tasks.run import Report
from spillway_studies.references.aqm_discs import Disc
from spillway_studies.references.aqm_files import Queue
from spillway_studies.references.aqm_runs import WINDOW_US, endless
from spillway_studies.references.bounds import Judged, Number
from spillway_studies.references.percentiles import nearest_rank

MEAN_WITHIN, P99_WITHIN = 0.05, 0.1
"""How far the mean and the 99th percentile of a queue may be from the reference's."""


@dataclass(frozen=True)
class Length:
    """The length of the queue of one run with endless senders."""

    reference: Queue
    goodput_gbps: float
    empty: float
    """The share of samples in which our disc is empty."""
    statistics: tuple[Number, Number]
    """Mean and 99th percentile."""

    @property
    def judged(self) -> list[Judged]:
        """The statistics as bounds count them."""
        there = self.reference
        run = f"queue {there.disc} {there.transport} n{there.senders}"
        return [one.judged(f"{run} {one.name}") for one in self.statistics]

    @property
    def document(self) -> dict[str, Any]:
        """The queue as JSON."""
        there = self.reference
        found = {
            "disc": there.disc,
            "transport": there.transport,
            "senders": there.senders,
            "goodput_gbps": {"reference": there.goodput_gbps, "ours": self.goodput_gbps},
            "empty": self.empty,
        }
        for one in self.statistics:
            hidden = ("name", "within")
            found[one.name] = {k: v for k, v in one.document.items() if k not in hidden}
        return found


def measured(disc: Disc, reference: Queue, report: Report) -> Length:
    """Runs endless senders. The packet below the disc counts, the one in transmission does not."""
    result = run_whole(endless(disc, reference.transport, reference.senders), report)
    table = result.queues
    time = table["time_ps"]
    begin, end = (1_000_000 * us for us in WINDOW_US)
    wanted = pc.and_(
        pc.equal(table["port"], reference.senders),
        pc.and_(pc.greater_equal(time, begin), pc.less(time, end)),
    )
    packets = table.filter(wanted)["packets"].to_numpy()
    length = packets + 1.0
    return Length(
        reference,
        result.summary["goodput_gbps"]["all"],
        float(np.mean(packets == 0)),
        (
            Number("mean", reference.mean, float(length.mean()), MEAN_WITHIN),
            Number("p99", reference.p99, nearest_rank(length, 0.99), P99_WITHIN),
        ),
    )
