"""Statistics over runs with several seeds, and the differences between variants.

With the same seed all variants get the same traffic, so they are compared in pairs, seed by seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillway.result.metrics import Metric
from spillway.result.summary_paths import Summary

_FEWEST = 3
"""Seeds below which nothing is called better: two equal differences have no interval."""

BySeed = Mapping[int, float | None]
"""One number of a variant, by seed."""


@dataclass(frozen=True)
class Mean:
    """The mean of some runs."""

    n: int
    """The runs that have the number."""
    mean: float | None
    half: float | None
    """Half of the width of its 95% interval, by Student's t; None for fewer than two runs."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of that interval."""
        if self.mean is None or self.half is None:
            return None
        return self.mean - self.half, self.mean + self.half


def mean(values: Iterable[float | None]) -> Mean:
    """The mean of the values that are not None.

    >>> mean([1.0, 2.0, 3.0, None]).n
    3
    """
    known = [value for value in values if value is not None]
    return Mean(len(known), statistics.fmean(known) if known else None, half_interval(known))


def half_interval(values: Sequence[float]) -> float | None:
    """Half of the width of the 95% interval of a mean, by Student's t."""
    if len(values) < 2:
        return None
    from scipy import special

    return float(special.stdtrit(len(values) - 1, 0.975)) * standard_error(values)


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95% interval of a mean, by Student's t; None for fewer than two numbers."""
    return mean(values).interval


def standard_error(values: Sequence[float]) -> float:
    """The standard error of a mean; there must be two numbers at least."""
    return statistics.stdev(values) / math.sqrt(len(values))


# Many metrics of many runs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """One metric of all variants."""

    metric: Metric
    values: list[dict[int, float | None]]
    """By variant and seed."""
    few: list[bool]
    """By variant: whether it rests on few samples in any of the runs."""


def measured(
    metrics: Sequence[Metric], variants: Iterable[Iterable[tuple[int, Summary]]]
) -> list[Measured]:
    """Metrics of the summaries of all variants, given by seed; every summary is read once."""
    found = [Measured(metric, [], []) for metric in metrics]
    for runs in variants:
        for each in found:
            each.values.append({})
            each.few.append(False)
        for seed, summary in runs:
            for each in found:
                each.values[-1][seed] = each.metric.read(summary)
                each.few[-1] |= each.metric.is_few(summary)
    return found


# Differences --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A number of one variant minus that of another, over the seeds that both have."""

    n: int
    difference: float | None
    half: float | None
    """Half of the width of its 95% interval."""
    baseline: float | None
    """The other variant's mean over these seeds."""
    chance: float
    """The two-sided p-value: how probable a mean so far from 0 is if nothing differs."""
    is_sure: bool = False
    """Whether it is significant at 95%, for all that is compared together."""

    @property
    def relative(self) -> float | None:
        """The difference as a fraction of the baseline."""
        return self.difference / self.baseline if self.baseline and self.difference else None


def difference(own: BySeed, other: BySeed, is_repeated: bool = False) -> Difference:
    """The difference of two variants, in pairs.

    If neither variant's results depend on the seed (`is_repeated`), all seeds count as one.
    """
    pairs = [
        (value, beside)
        for seed, value in own.items()
        if value is not None and (beside := other.get(seed)) is not None
    ]
    pairs = pairs[:1] if is_repeated else pairs
    differences = [value - beside for value, beside in pairs]
    if not pairs:
        return Difference(0, None, None, None, 1.0)
    baseline = statistics.fmean(beside for _, beside in pairs)
    by = statistics.fmean(differences)
    return Difference(len(pairs), by, half_interval(differences), baseline, _chance(differences))


def _chance(differences: Sequence[float]) -> float:
    if len(differences) < _FEWEST:
        return 1.0
    by, error = statistics.fmean(differences), standard_error(differences)
    if by == 0:
        return 1.0
    if error == 0:
        return 0.0
    from scipy import special

    return 2 * float(special.stdtr(len(differences) - 1, -abs(by) / error))


def sure(chances: Sequence[float]) -> list[bool]:
    """Which of several p-values are significant at 95%, for all of them together.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979).
    """
    found = [False] * len(chances)
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda place: chances[place])):
        if chances[place] > 0.05 / (len(chances) - rank):
            break
        found[place] = True
    return found


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
    """Whether both have the same results with every seed."""
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
        """The pair as a document: numbers in the metric's unit, and as fractions."""
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


def best(columns: Sequence[Measured], repeated: Sequence[bool]) -> list[int | None]:
    """For each metric the index of the variant that is marked as best, if there is one.

    `repeated` tells which variants have the same results with every seed.
    """
    judged = [place for place, column in enumerate(columns) if column.metric.less_is_better]
    lowest = least([columns[place].values for place in judged], repeated)
    return [dict(zip(judged, lowest, strict=True)).get(place) for place in range(len(columns))]


def least(columns: Sequence[Sequence[BySeed]], repeated: Sequence[bool] = ()) -> list[int | None]:
    """For each number the index of the variant that is below all others, if there is one.

    For each other variant the mean of the differences is below 0, with 95% for all numbers
    together.
    """
    found = [_lowest(column, repeated or [False] * len(column)) for column in columns]
    are_sure = sure([chance for chance, _ in found])
    return [place if one else None for one, (_, place) in zip(are_sure, found, strict=True)]


def _lowest(column: Sequence[BySeed], repeated: Sequence[bool]) -> tuple[float, int]:
    """The p-value of "one variant is below all others" (1 if none is), and that one's index."""

    def below(own: int, other: int) -> Difference | None:
        found = difference(column[own], column[other], repeated[own] and repeated[other])
        return found if found.difference is not None and found.difference < 0 else None

    # A variant that is not below the next one is out, and the next one is tried instead.
    place = 0
    for other in range(1, len(column)):
        if below(place, other) is None:
            place = other
    beside = [below(place, other) for other in range(len(column)) if other != place]
    chances = [1.0 if found is None else found.chance for found in beside]
    return max(chances, default=1.0), place


# All numbers of a summary -------------------------------------------------------------------------

_NOT_COMPARED = ("status", "scenario", "seed", "version", "slowdown_base", "run")


def _compared(summary: Summary) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in _NOT_COMPARED}


@dataclass(frozen=True)
class Glance:
    """What reading every summary once tells."""

    done: int
    """The number of summaries."""
    statuses: set[str]
    witnesses: list[Summary]
    """Summaries that together have every metric of all, and every class that has flows."""
    identical: list[bool]
    """By variant: whether several seeds gave the same results in everything."""


def glance(variants: Iterable[Iterable[tuple[int, Summary]]]) -> Glance:
    """Looks at the summaries of all variants, given by seed, one after the other."""
    done = 0
    statuses: set[str] = set()
    classes: set[str] = set()
    witnesses: list[Summary] = []
    identical: list[bool] = []
    for runs in variants:
        first: Summary = {}
        count, is_same = 0, True
        for _, summary in runs:
            count += 1
            statuses.add(summary["status"])
            with_flows = {name for name, row in summary["fct_slowdown"].items() if row["count"]}
            if count == 1 or not with_flows <= classes:
                witnesses.append(summary)
                classes |= with_flows
            first = first or summary
            is_same = is_same and (count == 1 or _compared(summary) == _compared(first))
        done += count
        identical.append(is_same and count > 1)
    return Glance(done, statuses, witnesses, identical)


def across_seeds(summaries: Sequence[Summary]) -> dict[str, Any]:
    """The statistics of a variant's runs, number by number, and their summaries.

    `n` is how many runs have the number, `interval` the 95% interval of its mean.
    """
    # Without any runs there are no numbers.
    compared = [_compared(summary) for summary in summaries] or [{}]

    def deviation(values: list[float]) -> float | None:
        return statistics.stdev(values) if len(values) > 1 else None

    return {
        "seeds": [summary["seed"] for summary in summaries],
        "identical": len(compared) > 1 and all(each == compared[0] for each in compared),
        "n": combined(compared, len, empty=0),
        "mean": combined(compared, statistics.fmean),
        "interval": combined(compared, interval),
        "std": combined(compared, deviation),
        "min": combined(compared, min),
        "max": combined(compared, max),
        "runs": list(summaries),
    }


def combined(
    values: Sequence[Any], function: Callable[[list[float]], Any], empty: Any = None
) -> Any:
    """Combines documents of the same shape into one, number by number.

    A missing number, such as the count of a reason for drops that did not occur, counts as 0; null
    does not count.
    """
    if any(isinstance(value, dict) for value in values):
        known = [value for value in values if value is not None]
        keys = dict.fromkeys(key for value in known for key in value)
        columns = ((key, [value.get(key, 0) for value in known]) for key in keys)
        found = ((key, combined(column, function, empty)) for key, column in columns)
        return {key: value for key, value in found if value is not _Nothing}
    if any(isinstance(value, (str, list)) for value in values):
        return _Nothing
    numbers = [float(value) for value in values if value is not None]
    return function(numbers) if numbers else empty


class _Nothing:
    """Stands for a value that has no mean."""
