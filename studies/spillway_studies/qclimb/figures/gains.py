"""Claims that QCLIMB's numbers are below another scheme's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from spillway_studies.claims import (
    Apart,
    Claim,
    Excess,
    Metric,
    Over,
    Point,
    Reduction,
    Rule,
    Value,
    Within,
)
from spillway_studies.qclimb.figures.setup import ALL_MEAN, PFABRIC, PIAS, QCLIMB, SHORT_MEAN

NEAR = Within(0.09, within=1.0)
"""The abstract's "about 9%" from pFabric: up to twice as much counts as near."""
_APART, _ALL = Apart(), Over()


def below(
    says: str,
    source: str,
    metric: Metric,
    rule: Rule = _APART,
    over: Over = _ALL,
    *,
    new: str = QCLIMB.name,
    old: str = PIAS.name,
) -> Claim:
    """That a metric is below another scheme's: by default at all, over all points, PIAS's."""
    return Claim(says, source, Reduction(metric, new, old), rule, over)


def below_at_each(
    metrics: Mapping[str, Metric],
    source: str,
    points: Iterable[Mapping[str, Value]],
    old: str = PIAS.name,
) -> tuple[Claim, ...]:
    """A claim for each metric, which has a name in words, and each of these coordinates."""
    places = tuple(points)
    return tuple(
        below(f"{words} is below {old}'s", source, metric, over=Over(place), old=old)
        for words, metric in metrics.items()
        for place in places
    )


def near_pfabric(
    all_flows: Metric, small_flows: Metric, rule: Rule, over: str = ""
) -> tuple[Claim, ...]:
    """The abstract's 9%, of all flows and of small ones: it does not say of which."""
    return tuple(
        Claim(
            f"{words} mean is near pFabric's{over}",
            "abstract",
            Excess(metric, QCLIMB.name, PFABRIC.name),
            rule,
        )
        for words, metric in (("All flows'", all_flows), ("Small flows'", small_flows))
    )


def near_pfabric_by_choice(choices: Iterable[Point]) -> tuple[Claim, ...]:
    """The same for each choice, over all loads that a figure has."""
    points = tuple(choices)
    return tuple(
        replace(claim, over=Over(point.values), variant=str(point.values["choice"]))
        for claim in near_pfabric(ALL_MEAN, SHORT_MEAN, NEAR)
        for point in points
    )
