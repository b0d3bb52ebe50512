"""How far a bound may be too high, up to predictions of which half are far off."""

from __future__ import annotations

from dataclasses import replace

from spillway_studies.claims import (
    Apart,
    Claim,
    Excess,
    Figure,
    Metric,
    Over,
    Point,
    Scheme,
    Variants,
    along,
    product,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import PIAS, QCLIMB, WEBSEARCH

FACTORS = (2, 10, 30, 100, 1000)
"""How many times the size a bound is that is too high."""
MISSES = (0.001, 0.01, 0.1, 0.3, 0.5)
"""The share of flows whose bound is too high (p). Half are too high where a prediction is taken at
face value."""

TRUE = Scheme("true bounds", (), style=8)
"""QCLIMB with bounds of which none is too high."""


def _points() -> tuple[Point, ...]:
    whole = WEBSEARCH.at(0.8, 200, settled=True, tagged=(PIAS.name, QCLIMB.name, TRUE.name))
    factors = along("factor", FACTORS, label="{} times", tick="{}")
    misses = along("misses", MISSES, label="p = {}", tick="{}")
    return tuple(
        replace(point, of_scheme={**point.of_scheme, QCLIMB.name: _with_misses(point)})
        for point in product((whole,), misses, factors)
    )


def _with_misses(point: Point) -> tuple[str, ...]:
    """What QCLIMB has at a point: the scenario's bounds, of which some are too high."""
    excess, misses = float(point.values["factor"]) - 1, point.values["misses"]
    bound = f"{{kind='miss',least=0.8,misses={misses},excess={excess}}}"
    return (*point.of_scheme[QCLIMB.name], f"traffic.websearch.bound={bound}")


def _claims() -> tuple[Claim, ...]:
    """At each point: that QCLIMB gains over PIAS, and that it is slower than with true bounds."""
    small: dict[str, Metric] = {"mean": setup.SHORT_MEAN, "tail": setup.SHORT}
    metrics = {
        **{f"Small flows' {which}": metric for which, metric in small.items()},
        "All flows' mean": setup.ALL_MEAN,
    }
    places = tuple(
        (f", times = {factor}, p = {misses}", Over({"factor": factor, "misses": misses}))
        for factor in FACTORS
        for misses in MISSES
    )
    return (
        *(
            gains.below(f"{words} is below PIAS's{place}", "not in the paper", metric, over=over)
            for words, metric in metrics.items()
            for place, over in places
        ),
        *(
            Claim(
                f"Small flows' {which} is above that of true bounds{place}",
                "slide on Flux",
                Excess(metric, QCLIMB.name, TRUE.name),
                Apart(),
                over,
            )
            for which, metric in small.items()
            for place, over in places
        ),
    )


FIGURE = Figure(
    name="qclimb/too-high",
    title="How far may a bound be too high? Web search at 80%, published thresholds",
    source="QCLIMB (NSDI 2024), slides",
    about="8 hosts of 25 Gbps. A flow's bound is between 80% and 100% of its size; with "
    f"probability p it is so many times its size. {setup.CLASSES}",
    measure=setup.TESTBED,
    points=_points(),
    schemes=(PIAS, QCLIMB, TRUE),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.SHORT, setup.ALL_MEAN), "factor"),
    claims=_claims(),
    is_of_paper=False,
    told_by="anything",
)
