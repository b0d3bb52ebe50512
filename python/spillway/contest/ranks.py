"""Who beats whom: ranks, shares of wins, and regret, with intervals.

All levels of the factor that is ranked meet in equal contexts, on the same flows, so they are
compared within a context and seed. Intervals are those of a bootstrap over contexts, in which each
context keeps its seeds (B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993): they
say how sure the numbers are for other contexts like these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spillway.contest.results import Values

SAMPLES = 400
"""The samples of a bootstrap."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number, and both ends of its 95% interval; NaN where it is not known."""

    value: float
    low: float
    high: float

    @property
    def told(self) -> dict[str, float | None]:
        """As JSON has it."""
        return {name: number(value) for name, value in vars(self).items()}


def number(value: float) -> float | None:
    """A number as JSON has it: null if it is not known, or infinite."""
    return float(value) if math.isfinite(value) else None


def weights(contexts: Sequence[int], seed: int) -> tuple[NDArray[np.int64], Floats]:
    """The place of each unit's context, and how often each context is in each sample."""
    names, places = np.unique(np.asarray(contexts), return_inverse=True)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), SAMPLES)
    return places, drawn.astype(float)


def means(numbers: Values, contexts: Sequence[int], seed: int) -> list[Estimate]:
    """The mean of each column over the units in which it is finite."""
    places, drawn = weights(contexts, seed)
    is_there = np.isfinite(numbers)
    sums, counts = (
        _by_context(np.where(is_there, each, 0.0), places, drawn.shape[1])
        for each in (numbers, np.ones_like(numbers))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums.sum(axis=0) / counts.sum(axis=0)
        samples = (drawn @ sums) / (drawn @ counts)
    # Of a single context nothing can be said for others.
    samples[:, (counts > 0).sum(axis=0) < 2] = np.nan
    return [Estimate(value[at], *ends(samples[:, at])) for at in range(numbers.shape[1])]


def ends(samples: Floats) -> tuple[float, float]:
    """Both ends of the 95% interval that samples span."""
    known = samples[np.isfinite(samples)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _by_context(numbers: Floats, places: NDArray[np.int64], contexts: int) -> Floats:
    """The sums of the rows of each context."""
    found = np.zeros((contexts, *numbers.shape[1:]))
    np.add.at(found, places, numbers)
    return found


def below(numbers: Values) -> Floats:
    """For every unit whether a level (row) is below another (column): 1, 0, or a half if equal.

    NaN where one of them is not there.

    >>> below(np.array([[1.0, 2.0, 2.0, np.nan]]))[0, :2]
    array([[nan, 1. , 1. , nan],
           [0. , nan, 0.5, nan]])
    """
    one, other = numbers[:, :, None], numbers[:, None, :]
    found: Floats = np.where(one == other, 0.5, np.where(one < other, 1.0, 0.0))
    found[np.isnan(one) | np.isnan(other)] = np.nan
    found[:, np.arange(numbers.shape[1]), np.arange(numbers.shape[1])] = np.nan
    return found


def ranks(numbers: Values) -> Values:
    """Each level's rank in every unit, from 1; equal levels share theirs.

    Where some levels are not there, ranks are stretched to the same range.

    >>> ranks(np.array([[3.0, 1.0, 1.0], [2.0, np.nan, 1.0]]))
    array([[3. , 1.5, 1.5],
           [3. , nan, 1. ]])
    """
    beaten = below(numbers)
    known = np.isfinite(beaten)
    counts = known.sum(axis=2)
    with np.errstate(invalid="ignore"):
        share = np.where(known, beaten, 0.0).sum(axis=2) / np.where(counts, counts, np.nan)
    found: Values = 1.0 + (numbers.shape[1] - 1) * (1.0 - share)
    return found


def wins(numbers: Values, contexts: Sequence[int], seed: int) -> list[list[Estimate]]:
    """How often each level is below each other one; a tie counts as half a win."""
    count = numbers.shape[1]
    flat = means(below(numbers).reshape(len(numbers), count * count), contexts, seed)
    return [flat[at * count : (at + 1) * count] for at in range(count)]


def regrets(numbers: Values) -> Values:
    """By how much each level is above the best one of its unit, as a share of the best.

    >>> regrets(np.array([[2.0, 3.0, np.inf]]))
    array([[0. , 0.5, inf]])
    """
    return ratios(numbers, lambda each: np.min(np.where(np.isnan(each), np.inf, each), axis=1)) - 1


def ratios(numbers: Values, base: Callable[[Values], Floats]) -> Values:
    """Each number over that of its unit's base; NaN where the base is not finite, or 0."""
    of = base(numbers)
    of = np.where(np.isfinite(of) & (of > 0), of, np.nan)
    return numbers / of[:, None]


def worst(numbers: Values) -> tuple[Floats, NDArray[np.int64]]:
    """The greatest number of each column, and its unit; NaN without any."""
    filled = np.where(np.isnan(numbers), -np.inf, numbers)
    at = filled.argmax(axis=0)
    value = filled[at, np.arange(numbers.shape[1])]
    return np.where(value == -np.inf, np.nan, value), at
