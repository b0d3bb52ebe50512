"""Claims about QCLIMB: numbers below another scheme's, and the slides' loss events."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from spillway_studies.claims import (
    Apart,
    Beside,
    Claim,
    Excess,
    Metric,
    Number,
    Over,
    Plain,
    Point,
    Reduction,
    Rule,
    Sum,
    Value,
    Within,
)
from spillway_studies.qclimb.figures.setup import ALL_MEAN, PFABRIC, PIAS, QCLIMB, SHORT_MEAN

# Numbers below another scheme's -------------------------------------------------------------------


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
    """The claim that a metric is below another scheme's: by default PIAS's, over all points."""
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


# The slides' loss events, beside what is lost and what is sent again here -------------------------


SLIDE = "slide 28, simulation"
_CLASSES = ("short", "medium", "long", "all")
_EVENTS = {QCLIMB.name: (0, 0, 124, 124), PFABRIC.name: (10, 25, 414, 414)}
"""By class of flows; pFabric's classes do not add up to its 414."""
_DETECTED = {QCLIMB.name: 83, PFABRIC.name: 0}


def repaired(within: str) -> tuple[Claim, ...]:
    """Events by scheme and class as packets sent again, and those that detection found.

    What the slides count as an event, and of how many flows, is not told. Most of what is sent
    again may have arrived. `within` is what comes before the class in the paths of numbers.
    """

    def count(of: str, kind: str) -> str:
        return f"{within}{of}.repairs_by_{kind}"

    again = {
        of: Sum(
            (count(of, "detection"), count(of, "timeout")),
            f"packets that {of} flows sent again",
            "packets",
        )
        for of in _CLASSES
    }
    found = Number(count("all", "detection"), "packets sent again, found lost", "packets")
    detected = (
        Claim("Loss events found by detection", SLIDE, Plain(found, scheme), Beside(events))
        for scheme, events in _DETECTED.items()
    )
    return (*_by_class(again), *detected)


def lost(within: str) -> tuple[Claim, ...]:
    """The same events as packets that were lost."""
    numbers = {
        of: Number(f"{within}{of}.lost_packets", f"packets of {of} flows that were lost", "packets")
        for of in _CLASSES
    }
    return tuple(_by_class(numbers))


def _by_class(counts: Mapping[str, Metric]) -> Iterator[Claim]:
    return (
        Claim(f"Loss events of {of} flows", SLIDE, Plain(counts[of], scheme), Beside(events))
        for scheme, row in _EVENTS.items()
        for of, events in zip(_CLASSES, row, strict=True)
    )


def fewer(within: str) -> tuple[Claim, ...]:
    """Claims that less is lost than under pFabric, as on the slide, and less sent again."""
    lost = Number(f"{within}all.lost_packets", "packets that were lost", "packets")
    again = Sum(
        tuple(f"{within}all.repairs_by_{kind}" for kind in ("detection", "timeout")),
        "packets that were sent again",
        "packets",
    )
    return tuple(
        below(
            f"Fewer packets are {words} than under pFabric, over loads",
            SLIDE,
            metric,
            old=PFABRIC.name,
        )
        for words, metric in (("lost", lost), ("sent again", again))
    )


def lower_tail(tail: Metric, rule: Rule) -> Claim:
    """The claim that small flows' tail is sometimes below pFabric's: the largest gain counts."""
    says, most = "Small flows' tail is sometimes below pFabric's", Over(take="largest")
    return below(says, SLIDE, tail, rule, most, old=PFABRIC.name)
