"""One metric of a variant beside its baseline's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spillway.experiment.statistics import Difference


@dataclass(frozen=True)
class Pair:
    """One metric of a variant, beside the baseline's."""

    place: int
    """The variant's index."""
    label: str
    """The variant."""
    against: str
    """Its baseline."""
    metric: str
    is_identical: bool
    """Whether both came to the same with every seed."""
    less_is_better: bool
    found: Difference

    @property
    def told(self) -> str:
        """What can be said: "below", "above", "identical", "none shown" or "too few seeds"."""
        by = self.found
        if self.is_identical:
            return "identical"
        if by.difference is None or by.half is None:
            return "too few seeds"
        if not by.is_sure:
            return "none shown"
        return "below" if by.difference < 0 else "above"

    def row(self) -> dict[str, Any]:
        """It as a document: differences and intervals in the metric's unit, and as fractions."""
        by = self.found
        ends = None
        if by.difference is not None and by.half is not None:
            ends = (by.difference - by.half, by.difference + by.half)
        return {
            "label": self.label,
            "against": self.against,
            "metric": self.metric,
            "n": by.n,
            "baseline": by.baseline,
            "difference": by.difference,
            "interval": ends,
            "relative": by.relative,
            "told": self.told,
        }
