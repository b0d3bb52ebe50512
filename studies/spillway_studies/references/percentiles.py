"""Percentiles of flows, the reference's and ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spillway_studies.references.bounds import Compared, Verdict, verdict
from spillway_studies.references.kinds import Floats

PERCENTILES = (0.5, 0.95, 0.99)
_RESAMPLES = 1000


@dataclass(frozen=True)
class Row(Compared):
    """One percentile of one class: the reference's and ours."""

    flows: str
    percentile: float
    reference: float
    interval: tuple[float, float]
    """95% bootstrap interval of the reference."""
    ours: float
    drawn: tuple[float, float] | None
    """The least and the greatest in runs with paths that we have drawn, if there are any."""

    @property
    def verdict(self) -> Verdict:
        """Ours compared with the reference or, failing that, with its interval."""
        return verdict(self.difference, self.percentile, self.ours, self.interval)

    @property
    def name(self) -> str:
        """A name such as "incast p99"."""
        return percentile_name(self.flows, self.percentile)


def percentile_name(flows: str, p: float) -> str:
    """A name such as "incast p99"."""
    return f"{flows} p{100 * p:g}"


def ends(values: Sequence[float]) -> tuple[float, float] | None:
    """The least and the greatest, if there are any."""
    return (min(values), max(values)) if values else None


def percentile(values: Floats, p: float) -> float:
    """The percentile by the reference's rule: sorted[int(n p) - 1]."""
    return float(np.sort(values)[max(int(len(values) * p) - 1, 0)])


def nearest_rank(values: Floats, p: float) -> float:
    """The percentile by nearest rank: sorted[ceil(n p) - 1]."""
    return float(np.sort(values)[math.ceil(len(values) * p) - 1])


def bootstrap(flows: Floats | Sequence[Floats], p: float) -> tuple[float, float]:
    """The 95% interval of a percentile, by resampling flows.

    Flows that depend on each other, such as a query's, are given in groups, which are resampled.
    """
    picks = np.random.default_rng(1).integers(0, len(flows), (_RESAMPLES, len(flows)))
    if isinstance(flows, np.ndarray):
        place = max(int(len(flows) * p) - 1, 0)
        return _middle(np.partition(flows[picks], place, axis=1)[:, place])
    found = [percentile(np.concatenate([flows[place] for place in pick]), p) for pick in picks]
    return _middle(np.array(found))


def _middle(found: Floats) -> tuple[float, float]:
    """The range of the middle 95% of the values."""
    found.sort()
    return float(found[int(0.025 * _RESAMPLES)]), float(found[int(0.975 * _RESAMPLES)])
