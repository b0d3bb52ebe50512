"""The numbers of a run of the RDMA simulator, and beside them ours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from spillway_studies.references.agreement import Agreement, of_classes
from spillway_studies.references.bounds import (
    MEDIAN_WITHIN,
    TAIL_WITHIN,
    Compared,
    Judged,
    Verdict,
    within,
)
from spillway_studies.references.kinds import Booleans, Floats
from spillway_studies.references.percentiles import PERCENTILES, nearest_rank, percentile_name
from spillway_studies.references.rdma_files import Reference
from spillway_studies.references.rdma_outcome import Outcome
from spillway_studies.references.scenarios import Outcomes

LEAST_PAUSES = 100
"""With fewer pauses in the reference their number and time are told, but not judged."""
PAUSES_WITHIN = 0.15
_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000


class Measure(NamedTuple):
    """A number of a run."""

    what: str
    """Such as "queue mean"."""
    unit: str
    value: float
    within: float | None
    """How far others may be off from it, as a fraction; none if it is only told."""


def measures(reference: Reference, outcome: Outcome) -> Iterator[Measure]:
    """The numbers of a run."""
    if outcome.queue is not None and len(outcome.queue):
        kb = outcome.queue / 1e3
        yield Measure("queue mean", "KB", float(kb.mean()), MEDIAN_WITHIN)
        yield Measure("queue deviation", "KB", float(kb.std()), TAIL_WITHIN)
        yield Measure("queue p99", "KB", nearest_rank(kb, 0.99), TAIL_WITHIN)
    if outcome.delivered is not None and reference.progress is not None:
        begin, end = reference.window_ns
        sent = outcome.delivered
        yield Measure("goodput", "Gbps", float(8 * sent.sum() / (end - begin)), MEDIAN_WITHIN)
        yield Measure("fairness", "", _fairness(sent), MEDIAN_WITHIN)
    if outcome.fct_ns is not None:
        yield from _of_times(reference, outcome.fct_ns)
    for name, times in (outcome.pauses or {}).items():
        bound = PAUSES_WITHIN if len(times) >= LEAST_PAUSES else None
        yield Measure(f"pauses {name}", "", float(len(times)), bound)
        yield Measure(f"pauses {name} time", "us", float(times.sum() / 1e3), bound)


def _of_times(reference: Reference, fct_ns: Floats) -> Iterator[Measure]:
    """Percentiles of slowdowns, by size, and of times where all flows have one size."""
    assert reference.completed is not None
    known = reference.completed.is_known
    if not np.isfinite(reference.completed.fct_ns[known]).all():
        # Some never are: how many are complete stands for the times of all.
        count = float(np.isfinite(fct_ns[known]).sum())
        yield Measure("complete flows", "", count, TAIL_WITHIN)
        return
    slowdown = fct_ns / reference.completed.ideal_ns
    for name, members in classes(reference).items():
        count = int(members.sum())
        # Of few flows several percentiles are the same one: the least is told.
        by_place = {math.ceil(p * count): p for p in reversed(PERCENTILES)}
        for p in reversed(by_place.values()):
            value = nearest_rank(slowdown[members], p)
            yield Measure(f"slowdown {percentile_name(name, p)}", "", value, within(p))


def classes(reference: Reference) -> dict[str, Booleans]:
    """Which known flows belong to which class: by size, and all if there are several."""
    assert reference.completed is not None
    size, known = reference.flows.size_bytes, reference.completed.is_known
    by_size = {
        "up to 100 KB": known & (size <= _SHORT_BYTES),
        "up to 1 MB": known & (size > _SHORT_BYTES) & (size < _LONG_BYTES),
        "from 1 MB": known & (size >= _LONG_BYTES),
    }
    found = {name: members for name, members in by_size.items() if members.any()}
    return found if len(found) == 1 else found | {"all": known}


def _fairness(sent: Floats) -> float:
    """Jain's index."""
    squares = float((sent**2).sum())
    return float(sent.sum()) ** 2 / (len(sent) * squares) if squares else 0.0


@dataclass(frozen=True)
class Number(Compared):
    """A number of a run: the reference's and ours."""

    what: str
    """Such as "queue mean"."""
    unit: str
    reference: float
    ours: float
    within: float | None
    """How far it may be off, as a fraction; none if it is only told."""
    moved: tuple[float, float]
    """The least and the greatest of our runs, those with moved starts included."""
    range_counts: bool
    """Whether it may as well be within that range."""

    @property
    def verdict(self) -> Verdict:
        """Whether it is within its bound."""
        if self.within is None:
            return Verdict.told
        if abs(self.difference) <= self.within:
            return Verdict.near
        low, high = self.moved
        # A run in which some flows are not complete makes no range.
        is_in = self.range_counts and math.isfinite(high) and low <= self.reference <= high
        return Verdict.in_range if is_in else Verdict.outside

    @property
    def document(self) -> dict[str, Any]:
        """The number as JSON."""
        return super().document | {
            "ours": _finite(self.ours),
            "moved": [_finite(end) for end in self.moved],
            "difference": _finite(self.difference),
        }


@dataclass(frozen=True)
class Comparison:
    """A run of the reference, and ours."""

    run: str
    numbers: list[Number]
    flow_by_flow: list[Agreement]
    differences: dict[str, list[float]]
    """The numbers with one setting changed, by the change."""
    notes: list[str]
    """What is missing or approximated, in words."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON. Times of flows that are not complete are none."""
        differences = {
            change: [_finite(value) for value in values]
            for change, values in self.differences.items()
        }
        numbers = [each.document for each in self.numbers]
        return asdict(self) | {"numbers": numbers, "differences": differences}

    @property
    def judged(self) -> list[Judged]:
        """All numbers, as bounds count them."""
        return [each.judged(f"{self.run} {each.what}") for each in self.numbers]


def compare(
    reference: Reference, there: Outcome, runs: Outcomes[Outcome], notes: list[str]
) -> Comparison:
    """Puts the numbers of all runs beside each other."""

    def told(outcome: Outcome) -> dict[str, float]:
        return {each.what: each.value for each in measures(reference, outcome)}

    ours = [told(outcome) for outcome in (runs.ours, *runs.drawn)]
    changed = {change: told(outcome) for change, outcome in runs.changed.items()}
    numbers = []
    for what, unit, value, bound in measures(reference, there):
        own = [found.get(what, 0.0) for found in ours]
        range_counts = not what.startswith("pauses")
        moved = (min(own), max(own))
        numbers.append(Number(what, unit, value, own[0], bound, moved, range_counts))
    by_flow = []
    if there.fct_ns is not None and runs.ours.fct_ns is not None:
        by_flow = of_classes(classes(reference), there.fct_ns, runs.ours.fct_ns)
    differences = {
        change: [found.get(each.what, 0.0) for each in numbers] for change, found in changed.items()
    }
    return Comparison(reference.name, numbers, by_flow, differences, notes)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
