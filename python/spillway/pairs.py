"""Variants compared in pairs: with the same seed they get the same traffic."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

_FEWEST = 3
"""Seeds below which nothing is called the best."""

Column = Sequence[Mapping[int, float | None]]
"""One number of a variant, by seed."""


def interval(differences: Sequence[float]) -> tuple[float, float] | None:
    """The 95% interval of a mean, by Student's t; None for fewer than two numbers."""
    if len(differences) < 2:
        return None
    from scipy import special

    error = statistics.stdev(differences) / math.sqrt(len(differences))
    half = float(special.stdtrit(len(differences) - 1, 0.975)) * error
    mean = statistics.fmean(differences)
    return mean - half, mean + half


def least(column: Column) -> int | None:
    """The index of the variant that is below all others, if there is one.

    For each other variant, the interval of the differences over common seeds must not reach 0.
    """
    for place, own in enumerate(column):
        others = [other for at, other in enumerate(column) if at != place]
        if others and all(_is_below(own, other) for other in others):
            return place
    return None


def _is_below(own: Mapping[int, float | None], other: Mapping[int, float | None]) -> bool:
    differences = [
        value - beside
        for seed, value in own.items()
        if value is not None and (beside := other.get(seed)) is not None
    ]
    # Two equal differences would make an interval of no width.
    found = interval(differences) if len(differences) >= _FEWEST else None
    return found is not None and found[1] < 0
