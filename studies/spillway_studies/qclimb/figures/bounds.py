"""How good a bound must be: its tightness, and how often it is too high."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spillway_studies.claims import (
    Claim,
    Figure,
    MeanTime,
    Over,
    Point,
    Scale,
    Scheme,
    Variants,
    along,
    product,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import Length, Workload

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
