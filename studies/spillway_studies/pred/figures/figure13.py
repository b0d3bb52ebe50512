"""Figure 13: web search at 10 Gbps, under AQMs with fixed thresholds."""

from collections.abc import Mapping
from dataclasses import replace

from spillway_studies.claims import (
    Apart,
    Claim,
    Excess,
    Figure,
    Lines,
    Near,
    Over,
    Plain,
    Reduction,
    Within,
)
from spillway_studies.pred.figures import setup
from spillway_studies.pred.figures.setup import BOUNDED, CODEL, ECN, ECN_SHARP, PRED

_SOURCE = "section 6.3.1, Figure 13"
_AT_90 = Over(setup.HIGHEST)
_P, _S, _C = PRED.name, ECN_SHARP.name, CODEL.name

_ONES = (
    Claim(
        "Short flows have a shorter tail than under ECN# at 90% load",
        _SOURCE,
        Reduction(setup.SHORT, new=_P, old=_S),
        Near(0.68),
        _AT_90,
    ),
    Claim(
        "Short flows have a shorter tail than under CoDel at 90% load",
        _SOURCE,
        Reduction(setup.SHORT, new=_P, old=_C),
        Near(0.80),
        _AT_90,
    ),
    Claim(
        "Long flows take longer than under CoDel at 90% load",
        _SOURCE,
        Excess(setup.LONG_MEAN, new=_P, old=_C),
        Within(0.046),
        _AT_90,
    ),
    Claim(
        "Long flows take longer than under ECN# at 90% load",
        _SOURCE,
        Excess(setup.LONG_MEAN, new=_P, old=_S),
        Within(0.125),
        _AT_90,
    ),
)


def times(source: str, short: Mapping[str, float], long: Mapping[str, float]) -> tuple[Claim, ...]:
    """The text's own times at 90% load, in ms, by scheme."""
    told = (
        ("The tail of short flows", setup.SHORT, short),
        ("The mean of long flows", setup.LONG_MEAN, long),
    )
    return tuple(
        Claim(
            f"{words} under {name} at 90% load", source, Plain(metric, name), Within(number), _AT_90
        )
        for words, metric, numbers in told
        for name, number in numbers.items()
    )


_TIMES = times(_SOURCE, {_P: 1.4, _S: 4.34, _C: 6.68}, {_P: 96.8, _C: 92.5, _S: 86.0})
_BETTER = tuple(
    Claim(
        f"PRED can outperform {name}: the tail of short flows, on average over loads",
        _SOURCE,
        Reduction(setup.SHORT, new=_P, old=name),
        Apart(),
    )
    for name in (ECN.name, _S, _C)
)


def with_bound(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """Comparisons with PRED again, with PRED whose `min` has a bound."""
    return tuple(
        replace(
            claim,
            formula=replace(claim.formula, new=BOUNDED.name),
            variant=BOUNDED.name,
            is_again=True,
        )
        for claim in claims
        if isinstance(claim.formula, Reduction | Excess)
        and claim.formula.new == PRED.name
        and "by its percentage" not in claim.variant
    )


FIGURE = Figure(
    name="pred/figure13",
    title="Web search at 10 Gbps, under AQMs with fixed thresholds",
    source="PRED (NSDI 2025), Figure 13, section 6.3.1",
    about="127 hosts send to one, over a leaf-spine network. " + setup.ABOUT,
    measure=setup.LEAF_SPINE,
    points=setup.loads(setup.WEBSEARCH),
    schemes=(PRED, BOUNDED, ECN, ECN_SHARP, CODEL),
    scales=setup.WEBSEARCH.scales(),
    plot=Lines(setup.PANELS, "load", "load of the receiver's line"),
    claims=(*_ONES, *_TIMES, *_BETTER, *with_bound((*_ONES, *_BETTER))),
    told_by="marks",
)
