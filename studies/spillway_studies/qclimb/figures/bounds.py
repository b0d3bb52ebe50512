"""How good a bound must be: its tightness, how often it is too high, and how far."""

from collections.abc import Mapping
from dataclasses import replace

from spillway_studies.claims import (
    Apart,
    Claim,
    Excess,
    Figure,
    MeanTime,
    Metric,
    Over,
    Point,
    Scale,
    Scheme,
    Variants,
    along,
    product,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import PIAS, QCLIMB, WEBSEARCH, Length, Workload

# Its tightness, and how often it is too high ------------------------------------------------------


LEAST = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""The least share of its size that a flow's bound may be (a)."""
MISSES = (0.0, 0.001, 0.01, 0.1, 0.3)
"""The share of flows whose bound is twice their size (p)."""
_LOAD = 0.8
_FLOWS = 50_000

BEST = {
    "websearch": (8_760, 27_740, 77_380, 194_180, 1_946_180, 9_733_820, 29_200_000),
    "datamining": (1_460, 4_380, 10_220, 389_820, 3_076_220, 97_333_820, 973_333_820),
}
"""The thresholds that `spillway thresholds SIZES --load 0.8 --levels 8 --objective ml-fcfs` finds,
in bytes. Of its objectives this one has the least mean time in the packet simulator."""


def _schemes(thresholds: str | tuple[int, ...]) -> tuple[Scheme, ...]:
    """PIAS and QCLIMB, both with these thresholds."""
    return tuple(
        replace(scheme, assignments=(setup.tagger(scheme.name.lower(), thresholds),))
        for scheme in (setup.PIAS, setup.QCLIMB)
    )


def _points(workload: Workload) -> tuple[Point, ...]:
    whole = Point({}, workload.sets(_LOAD, 200, Length(_FLOWS, unmeasured=0)))
    bound = "traffic.websearch.bound={{kind='miss',least={},misses={},excess=1.0}}"
    tight = along("least", LEAST, label="a = {}", tick="{}")
    misses = along("misses", MISSES, label="p = {}", tick="{}")
    return tuple(
        replace(
            point,
            of_scheme={
                setup.PIAS.name: ("traffic.websearch.bound=none",),
                setup.QCLIMB.name: (bound.format(point.values["least"], point.values["misses"]),),
            },
        )
        for point in product((whole,), misses, tight)
    )


_WITH_PUBLISHED = {"Short flows'": setup.SHORT_MEAN, "All flows'": setup.ALL_MEAN}
_WITH_BEST = {**_WITH_PUBLISHED, "Long flows'": setup.LONG_MEAN}
"""What is claimed with each kind of thresholds; `long` has long flows with the published ones."""


def _claims(which: str, means: Mapping[str, MeanTime]) -> tuple[Claim, ...]:
    """Whether QCLIMB gains over PIAS with the same thresholds, by how good bounds are."""
    return tuple(
        gains.below(
            f"{whose} mean is below PIAS's with the {which} thresholds, {words}",
            "not in the paper",
            metric,
            over=Over({"least": least, "misses": misses}),
        )
        for whose, metric in means.items()
        for least in LEAST
        for misses in MISSES
        for words in (f"a = {least:g}, p = {misses:g}",)
    )


def _figure(workload: Workload, *, best: bool) -> Figure:
    which, suffix = ("best", "-best") if best else ("published", "")
    thresholds = BEST[workload.name] if best else workload.published(_LOAD)
    whole = Scale((1, 2, 3))
    return Figure(
        name=f"qclimb/bounds-{workload.name}{suffix}",
        title=f"How good a bound must be: {workload.name} at {_LOAD:.0%}, {which} thresholds",
        source="not in the paper",
        about="8 hosts of 25 Gbps. A flow's bound is drawn between a and 1 times its size; with "
        f"probability p it is twice its size. {setup.CLASSES}",
        measure=setup.TESTBED,
        points=_points(workload),
        schemes=_schemes(thresholds),
        scales={
            "quick": Scale((1,), (f"traffic.websearch.flows={workload.plain.flows}",)),
            "page": whole,
            "full": whole,
        },
        plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.LONG_MEAN), "least"),
        claims=_claims(which, _WITH_BEST if best else _WITH_PUBLISHED),
        is_of_paper=False,
        told_by="anything",
    )


FIGURES = tuple(
    _figure(workload, best=best)
    for workload in (setup.WEBSEARCH, setup.DATAMINING)
    for best in (False, True)
)


# How far a bound may be too high, up to predictions of which half are far off ---------------------


FACTORS = (2, 10, 30, 100, 1000)
"""The ratio of a too high bound to the flow's size."""
SHARES_TOO_HIGH = (0.001, 0.01, 0.1, 0.3, 0.5)
"""The share of flows whose bound is too high (p). Half are too high where a prediction is taken at
face value."""

TRUE = Scheme("true bounds", (), style=8)
"""QCLIMB with bounds of which none is too high."""


def _too_high() -> tuple[Point, ...]:
    whole = WEBSEARCH.at(0.8, 200, settled=True, tagged=(PIAS.name, QCLIMB.name, TRUE.name))
    factors = along("factor", FACTORS, label="{} times", tick="{}")
    misses = along("misses", SHARES_TOO_HIGH, label="p = {}", tick="{}")
    return tuple(
        replace(point, of_scheme={**point.of_scheme, QCLIMB.name: _with_misses(point)})
        for point in product((whole,), misses, factors)
    )


def _with_misses(point: Point) -> tuple[str, ...]:
    """What QCLIMB has at a point: the scenario's bounds, of which some are too high."""
    excess, misses = float(point.values["factor"]) - 1, point.values["misses"]
    bound = f"{{kind='miss',least=0.8,misses={misses},excess={excess}}}"
    return (*point.of_scheme[QCLIMB.name], f"traffic.websearch.bound={bound}")


def _claims_about_too_high() -> tuple[Claim, ...]:
    """At each point: that QCLIMB gains over PIAS, and that it is slower than with true bounds."""
    small: dict[str, Metric] = {"mean": setup.SHORT_MEAN, "tail": setup.SHORT}
    metrics = {
        **{f"Small flows' {which}": metric for which, metric in small.items()},
        "All flows' mean": setup.ALL_MEAN,
    }
    places = tuple(
        (f", times = {factor}, p = {misses}", Over({"factor": factor, "misses": misses}))
        for factor in FACTORS
        for misses in SHARES_TOO_HIGH
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


TOO_HIGH = Figure(
    name="qclimb/too-high",
    title="How far may a bound be too high? Web search at 80%, published thresholds",
    source="QCLIMB (NSDI 2024), slides",
    about="8 hosts of 25 Gbps. A flow's bound is between 80% and 100% of its size; with "
    f"probability p it is so many times its size. {setup.CLASSES}",
    measure=setup.TESTBED,
    points=_too_high(),
    schemes=(PIAS, QCLIMB, TRUE),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.SHORT, setup.ALL_MEAN), "factor"),
    claims=_claims_about_too_high(),
    is_of_paper=False,
    told_by="anything",
)
