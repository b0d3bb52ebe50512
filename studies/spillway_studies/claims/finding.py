"""Findings, the outcomes of claims, and how many there are with each verdict."""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spillway.experiment.statistics import interval
from spillway_studies.claims.claim import EVERY_NUMBER, Claim, Ends, Estimate, Plain, Verdict, judge
from spillway_studies.claims.figure import Figure
from spillway_studies.claims.metric import LEAST_SEEDS, Behind, Measured, Number, Tail, Total
from spillway_studies.claims.results import Results


@dataclass(frozen=True)
class Finding:
    """The outcome of a claim."""

    claim: Claim
    estimate: Estimate | None
    verdict: Verdict
    by_seed: Mapping[int, float | None]
    behind: Mapping[str, Behind]
    """For a percentile: what it is based on, by scheme."""
    over: str
    """The point that it refers to, or how several were combined."""
    points: int
    uninformative: int
    """The number of points at which nothing was lost under any scheme."""
    exploratory: str
    """The parts of claim, schemes and points that were chosen after seeing their numbers."""

    @property
    def document(self) -> dict[str, Any]:
        """The finding as JSON."""
        claim, estimate = self.claim, self.estimate
        return {
            "claim": claim.says,
            "source": claim.source,
            "variant": claim.variant,
            "metric": claim.formula.metric.name,
            "formula": claim.formula.text,
            "is_change": claim.formula.is_change,
            "over": self.over,
            "at": dict(claim.over.where),
            "series": list(claim.formula.schemes),
            "exploratory": self.exploratory,
            "is_again": claim.is_again,
            "rule": claim.rule.text,
            "range": _told(claim.rule.ends),
            "paper": claim.rule.paper,
            "ours": None if estimate is None else estimate.value,
            "interval": None if estimate is None else _told(estimate.interval),
            "by_seed": {str(seed): value for seed, value in self.by_seed.items()},
            "behind": {scheme: each._asdict() for scheme, each in self.behind.items()},
            "points": self.points,
            "uninformative_points": self.uninformative,
            "verdict": str(self.verdict),
        }


def examine(claim: Claim, results: Results) -> Finding:
    """The finding on a claim."""
    figure = results.figure
    places = [n for n, point in enumerate(figure.points) if point.lies_at(claim.over.where)]
    is_one = claim.over.take in ("mean", *_GROWTH) or not places
    groups = [places] if is_one else [[place] for place in places]
    looks = [_look(claim, results, group) for group in groups]
    uninformative = sum(not results.is_informative(place) for place in places)
    is_told = all(look.estimate for look in looks) and uninformative < len(places)
    look = _chosen(claim, looks) if is_told else looks[0]
    return Finding(
        claim,
        look.estimate if is_told else None,
        look.verdict if is_told else Verdict.NONE,
        look.by_seed,
        _behind(claim, results, look.places),
        _about(claim, figure, look.places, len(places)),
        len(places),
        uninformative,
        _hindsight(claim, figure, places),
    )


_GROWTH: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "growth": ("less that", lambda values: values[-1] - values[0]),
    "relative growth": ("over that", lambda values: values[-1] / values[0] - 1),
}
"""How the last point's number is compared with the first's, in words, and by a function."""


class _Look(NamedTuple):
    """Our number at a point, or the mean of several."""

    places: list[int]
    by_seed: Mapping[int, float | None]
    estimate: Estimate | None
    verdict: Verdict


def _look(claim: Claim, results: Results, places: list[int]) -> _Look:
    found = _mean(claim, results, places, results.seeds, True)
    by_seed = {seed: _mean(claim, results, places, (seed,), False).value for seed in results.seeds}
    if found.value is None:
        return _Look(places, by_seed, None, Verdict.NONE)
    estimate = _estimate(claim, found, list(by_seed.values()))
    return _Look(places, by_seed, estimate, judge(claim.rule, estimate))


_FROM_BEST = (Verdict.HOLDS, Verdict.UNDECIDED, Verdict.FAILS, Verdict.NONE)


def _chosen(claim: Claim, looks: list[_Look]) -> _Look:
    """The one where the number is largest or, for each point separately, the least favourable."""
    least, greatest = claim.rule.ends

    def order(look: _Look) -> tuple[float, float]:
        assert look.estimate is not None
        value = look.estimate.value
        if claim.over.take == "largest":
            return value, 0.0
        return _FROM_BEST.index(look.verdict), max(least - value, value - greatest)

    return max(looks, key=order)


def _about(claim: Claim, figure: Figure, places: list[int], of: int) -> str:
    if claim.over.take in _GROWTH:
        first, last = (figure.points[place].label for place in (places[0], places[-1]))
        return f"{last}, {_GROWTH[claim.over.take][0]} with {first}"
    if len(places) != 1:
        return f"mean of {of} points"
    label = figure.points[places[0]].label
    if of == 1:
        return label
    return f"{label}, {'largest' if claim.over.take == 'largest' else 'worst'} of {of} points"


def _hindsight(claim: Claim, figure: Figure, places: list[int]) -> str:
    names = claim.formula.schemes
    found = [
        claim.exploratory,
        *(scheme.exploratory for scheme in figure.schemes if scheme.name in names),
        *(figure.points[place].exploratory for place in places),
    ]
    return "; ".join(dict.fromkeys(text for text in found if text))


def _mean(
    claim: Claim, results: Results, places: list[int], seeds: tuple[int, ...], draw: bool
) -> Measured:
    metric = claim.formula.metric

    def at(place: int) -> Measured:
        return claim.formula.of(lambda scheme: results.measured(metric, place, scheme, seeds, draw))

    each = [at(place) for place in places]
    values = [one.value for one in each if one.value is not None]
    if not each or len(values) < len(each):
        return Measured(None)
    drawn = [one.replicates for one in each if one.replicates is not None]
    _, taken = _GROWTH.get(claim.over.take, ("", partial(np.mean, axis=0)))
    return Measured(
        float(taken(np.array(values))),
        taken(np.stack(drawn)) if len(drawn) == len(each) else None,
    )


def _estimate(claim: Claim, found: Measured, by_seed: list[float | None]) -> Estimate:
    """A number and its 95% interval.

    The interval is that of the replicates. A number without samples is the mean over the seeds,
    with an interval by Student's t; if a seed has no number there is no interval.

    The worst of all numbers has only a one-sided interval: the truth is that, or worse.
    """
    assert found.value is not None
    if found.replicates is not None:
        return Estimate(found.value, found.interval)
    metric = claim.formula.metric
    if isinstance(metric, Number | Total) and metric.over_seeds == "largest":
        is_bound = isinstance(claim.formula, Plain)
        return Estimate(found.value, (found.value, math.inf) if is_bound else None)
    known = [value for value in by_seed if value is not None]
    if len(known) < len(by_seed):
        return Estimate(found.value, None)
    is_enough = len(known) >= LEAST_SEEDS
    return Estimate(statistics.fmean(known), interval(known) if is_enough else None)


def _told(ends: Ends | None) -> tuple[float | None, float | None] | None:
    """Both ends for JSON, which has neither infinity nor the numbers next to 0."""
    if ends is None or ends == EVERY_NUMBER:
        return None
    low, high = (None if math.isinf(end) else end for end in ends)
    next_to_0 = math.ulp(0.0)
    return (0.0 if low == next_to_0 else low), (0.0 if high == -next_to_0 else high)


def _behind(claim: Claim, results: Results, places: list[int]) -> dict[str, Behind]:
    metric = claim.formula.metric
    if not isinstance(metric, Tail):
        return {}
    found = {}
    for scheme in claim.formula.schemes:
        each = [metric.behind(results.at(place, scheme)) for place in places]
        found[scheme] = Behind(*map(sum, zip(*each, strict=True)))
    return found


# Counts ------------------------------------------------------------------------------------------

EXPLORATORY = "exploratory"


def first_reading(claims: Iterable[Mapping[str, Any]]) -> str:
    """The first of the readings under which a figure's claims are tested, if there are any."""
    return next((row["variant"] for row in claims if row["variant"]), "")


def tally(claims: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The number of a figure's claims with each verdict, and of exploratory ones.

    A claim counts once, under its first reading. The verdict on an exploratory claim does not
    count.
    """
    claims = list(claims)
    first = first_reading(claims)
    counts = dict.fromkeys([*map(str, Verdict), EXPLORATORY], 0)
    for row in claims:
        if row["variant"] in ("", first) and not row["is_again"]:
            counts[EXPLORATORY if row["exploratory"] else row["verdict"]] += 1
    return counts


def counted(summaries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, int]]]:
    """The counts of each figure with claims, and of all figures that are in papers."""
    total = dict.fromkeys([*map(str, Verdict), EXPLORATORY], 0)
    for summary in summaries:
        if summary["claims"]:
            yield summary["figure"], summary["verdicts"]
        if summary["is_of_paper"]:
            for name, count in summary["verdicts"].items():
                total[name] += count
    yield "figures of papers", total
