"""The slides' loss events, beside what is lost and what is sent again here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spillway_studies.claims import Beside, Claim, Metric, Number, Over, Plain, Rule, Sum
from spillway_studies.qclimb.figures import gains
from spillway_studies.qclimb.figures.setup import PFABRIC, QCLIMB

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
    """That less is lost than under pFabric, as on the slide, and less sent again."""
    lost = Number(f"{within}all.lost_packets", "packets that were lost", "packets")
    again = Sum(
        tuple(f"{within}all.repairs_by_{kind}" for kind in ("detection", "timeout")),
        "packets that were sent again",
        "packets",
    )
    return tuple(
        gains.below(
            f"Fewer packets are {words} than under pFabric, over loads",
            SLIDE,
            metric,
            old=PFABRIC.name,
        )
        for words, metric in (("lost", lost), ("sent again", again))
    )


def lower_tail(tail: Metric, rule: Rule) -> Claim:
    """That small flows' tail is sometimes below pFabric's: the point where it is so most."""
    says, most = "Small flows' tail is sometimes below pFabric's", Over(take="largest")
    return gains.below(says, SLIDE, tail, rule, most, old=PFABRIC.name)
