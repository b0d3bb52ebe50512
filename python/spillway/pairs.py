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

    error = _error(differences)
    half = float(special.stdtrit(len(differences) - 1, 0.975)) * error
    mean = statistics.fmean(differences)
    return mean - half, mean + half


def _error(differences: Sequence[float]) -> float:
    """The standard error of the mean."""
    return statistics.stdev(differences) / math.sqrt(len(differences))


def least(columns: Sequence[Column]) -> list[int | None]:
    """For each number the index of the variant that is below all others, if there is one.

    For each other variant, the differences over common seeds must have a mean below 0 by Student's
    t. Where several numbers are asked for, the probability that chance alone names one is 5% for
    all of them together: S. Holm, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6 (1979).
    """
    found = [_lowest(column) for column in columns]
    named: list[int | None] = [None] * len(columns)
    by_chance = sorted(range(len(columns)), key=lambda number: found[number][0])
    for rank, number in enumerate(by_chance):
        chance, place = found[number]
        if chance > 0.05 / (len(columns) - rank):
            break
        named[number] = place
    return named


def _lowest(column: Column) -> tuple[float, int]:
    """The variant that is most surely below all others, and the probability that it seems so."""
    places = range(len(column))
    chances = [
        max((_chance(column[place], column[at]) for at in places if at != place), default=1.0)
        for place in places
    ]
    return min(zip(chances, places, strict=True), default=(1.0, 0))


def _chance(own: Mapping[int, float | None], other: Mapping[int, float | None]) -> float:
    """How probable so low a mean of the differences is, or one so high, if nothing differs."""
    differences = [
        value - beside
        for seed, value in own.items()
        if value is not None and (beside := other.get(seed)) is not None
    ]
    # Two equal differences would make an interval of no width.
    if len(differences) < _FEWEST or (mean := statistics.fmean(differences)) >= 0:
        return 1.0
    error = _error(differences)
    if error == 0:
        return 0.0
    from scipy import special

    return 2 * float(special.stdtr(len(differences) - 1, mean / error))
