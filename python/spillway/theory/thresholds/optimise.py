"""The search for the best thresholds, in whole bytes, the same every time.

It begins with the best ladder on a grid, and with levels that send equal bytes. From each, every
threshold in turn moves to its best place between its neighbours, until nothing is gained; then all
of them try a byte more and a byte less. The better end counts.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from spillway.theory.thresholds.objectives import Level, Objective, check_load, values
from spillway.theory.thresholds.sizes import Numbers, Sizes

_STEPS = 64
"""Places that a threshold tries at once."""
_GRID = 240
"""Points of the grid by size, and as many by bytes, beside the points of the distribution."""
_MOST_ROUNDS = 500
_LEAST_GAIN = 1e-13
"""Less than this share of the value is no gain: it is within the accuracy of floats."""


def optimise(objective: Objective, sizes: Sizes, *, load: float, levels: int) -> tuple[int, ...]:
    """The thresholds that minimise an objective.

    Where fewer levels are better the last ones are not below the largest size.

    Args:
        objective: One of the values of `OBJECTIVES`.
        sizes: The distribution of sizes.
        load: The load of the link, above 0 and below 1.
        levels: The number of levels, at least 2.

    Returns:
        levels - 1 thresholds in bytes, rising.

    Raises:
        ScenarioError: The load is not between 0 and 1.
    """
    check_load(load)
    search = _Search(objective, sizes, load, levels)
    starts = search.by_grid(), search.quantiles(np.arange(1, levels) / levels)
    ends = [search.descend(search.rising(start)) for start in starts]
    _, thresholds = min(ends, key=lambda end: end[0])
    return tuple(int(threshold) for threshold in thresholds)


class _Search:
    def __init__(self, objective: Objective, sizes: Sizes, load: float, levels: int) -> None:
        self._objective = objective
        self._sizes = sizes
        self._load = load
        self._levels = levels
        self._most = math.ceil(sizes.largest) + levels - 2
        """The greatest threshold that is tried: all levels but the first may be empty."""
        # The best so far.
        self._thresholds = np.zeros(levels - 1)
        self._value = math.inf

    # Where it begins.

    def rising(self, thresholds: Numbers) -> Numbers:
        """Whole bytes from 1 on, each at least one above the one before."""
        places = np.arange(len(thresholds))
        least = np.maximum.accumulate(np.maximum(np.rint(thresholds), 1) - places)
        return np.minimum(least, self._most - len(places) + 1) + places

    def quantiles(self, shares: Numbers) -> Numbers:
        """Thresholds below which these shares of all bytes lie."""
        low, high = np.zeros_like(shares), np.full_like(shares, self._sizes.largest)
        for _ in range(60):
            middle = (low + high) / 2
            is_below = self._sizes.cut(middle).share < shares
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return high

    def by_grid(self) -> Numbers:
        """The best ladder with thresholds on a grid, by dynamic programming.

        Of all ways to a level that ends at a point of the grid the one with the least sum is kept,
        with the capacity that it leaves. So the end is the best, but for `product` and
        `unweighted`, in which another way might leave more capacity.
        """
        grid = self._grid()
        points = self._sizes.cut(grid)
        start, end = self._sizes.cut(np.zeros(1)), self._sizes.cut(np.array([self._sizes.largest]))
        above, own = points.at(np.s_[:, None]), points.at(np.s_[None, :])
        rises = grid[:, None] < grid[None, :]
        every = np.arange(len(grid))
        ways = []
        with np.errstate(divide="ignore", invalid="ignore"):
            first = Level(self._load, start, points, np.ones(1))
            total, capacity = self._objective.term(first), first.capacity_below
            for _ in range(self._levels - 2):
                level = Level(self._load, above, own, capacity[:, None])
                totals = np.where(rises, total[:, None] + self._objective.term(level), np.inf)
                way = totals.argmin(axis=0)
                total, capacity = totals[way, every], level.capacity_below[way, every]
                ways.append(way)
            last = total + self._objective.term(Level(self._load, points, end, capacity))
        places = [int(np.argmin(last))]
        for way in reversed(ways):
            places.append(int(way[places[-1]]))
        return grid[places[::-1]]

    def _grid(self) -> Numbers:
        by_size = np.geomspace(1, self._most, _GRID)
        by_bytes = self.quantiles(np.arange(1, _GRID) / _GRID)
        ends = np.arange(1.0, self._levels)
        all_of_them = (by_size, by_bytes, ends, self._most + 1 - ends, self._sizes.points)
        return np.unique(np.clip(np.ceil(np.concatenate(all_of_them)), 1, self._most))

    # How it goes on.

    def descend(self, start: Numbers) -> tuple[float, Numbers]:
        """The least value that it finds from these thresholds, and where."""
        self._value = math.inf
        self._try(start[None, :])
        for _ in range(_MOST_ROUNDS):
            before = self._value
            for index in range(len(start)):
                self._move(index)
            if self._is_no_gain(before):
                self._nudge()
            if self._is_no_gain(before):
                break
        return self._value, self._thresholds

    def _is_no_gain(self, before: float) -> bool:
        return before - self._value <= _LEAST_GAIN * before

    def _move(self, index: int) -> None:
        """Moves one threshold to its best place between its neighbours, ever closer."""
        now = self._thresholds
        low = now[index - 1] + 1 if index > 0 else 1.0
        high = now[index + 1] - 1 if index + 1 < len(now) else float(self._most)
        points = self._sizes.points
        inside = np.ceil(points[(points >= low) & (points <= high)])
        tried = np.concatenate([_places(low, high), inside, now[index : index + 1]])
        while True:
            tried = np.unique(np.clip(tried, low, high))
            rows = np.repeat(now[None, :], len(tried), axis=0)
            rows[:, index] = tried
            place = self._try(rows)
            low, high = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
            if high - low <= 2:
                return
            tried = _places(low, high)

    def _nudge(self) -> None:
        """Tries all ladders whose thresholds differ from the best by no more than a byte."""
        bytes = itertools.product((-1, 0, 1), repeat=self._levels - 1)
        rows = self._thresholds + np.array(list(bytes))
        rises = np.diff(rows, axis=1, prepend=0).min(axis=1) >= 1
        self._try(rows[rises & (rows[:, -1] <= self._most)])

    def _try(self, rows: Numbers) -> int:
        """Keeps the best of these ladders if it is better than the one before; says which it is."""
        found = values(self._objective, self._sizes, rows, self._load)
        place = int(np.argmin(found))
        if found[place] < self._value:
            self._value, self._thresholds = float(found[place]), rows[place]
        return place


def _places(low: float, high: float) -> Numbers:
    """Whole bytes from one to another: all of them, or some at equal ratios."""
    if high - low < _STEPS:
        return np.arange(low, high + 1)
    return np.rint(np.geomspace(low, high, _STEPS))
