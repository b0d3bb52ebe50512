"""Figures 18 and 23: data mining and web search at 100 Gbps, with 1,000 senders."""

from dataclasses import replace

from spillway_studies.claims import (
    Claim,
    Figure,
    Lines,
    Metric,
    Near,
    Over,
    Panel,
    Plain,
    Point,
    Reduction,
    Within,
)
from spillway_studies.pred.figures import figure13, setup
from spillway_studies.pred.figures.setup import BOUNDED, CODEL, ECN, PRED, RED_065, REDS, Workload

# Figure 18: data mining ---------------------------------------------------------------------------


SCHEMES = (PRED, BOUNDED, ECN, CODEL, *REDS)
PLOT = Lines(
    (
        Panel(setup.SHORT, "(a) short flows, p99"),
        Panel(setup.SHORT_MEAN, "(b) short flows, mean"),
    ),
    "load",
    "load of the receiver's line",
)
ABOUT = (
    "1,000 senders on 127 hosts send to one, over a leaf-spine network. Which slope RED has is not "
    "in the text: all that it has elsewhere, and first 0.65. " + setup.ABOUT
)


def points(workload: Workload) -> tuple[Point, ...]:
    """The text's two loads of a line of 100 Gbps."""
    return tuple(workload.at(load, 100) for load in (0.5, 0.8))


def claims(source: str, by_metric: dict[Metric, tuple[float, float, float]]) -> tuple[Claim, ...]:
    """What is said at 80% load: times in us under PRED, RED and CoDel, metric by metric."""
    at_80 = Over({"load": 0.8})
    found: list[Claim] = []
    for metric, (new, red_us, codel_us) in by_metric.items():
        what = "The tail" if metric is setup.SHORT else "The mean"
        reds = (RED_065, *(red for red in REDS if red is not RED_065))
        found += (
            Claim(
                f"{what} of short flows is shorter than under RED at 80% load",
                source,
                Reduction(metric, new=PRED.name, old=red.name),
                Near(1 - new / red_us),
                at_80,
                variant=red.name,
                is_again=red is not RED_065,
            )
            for red in reds
        )
        found.append(
            Claim(
                f"{what} of short flows is shorter than under CoDel at 80% load",
                source,
                Reduction(metric, new=PRED.name, old=CODEL.name),
                Near(1 - new / codel_us),
                at_80,
            )
        )
        found += (
            Claim(
                f"{what} of short flows under {name} at 80% load",
                source,
                Plain(metric, name),
                Within(number / 1000),
                at_80,
            )
            for name, number in ((PRED.name, new), (RED_065.name, red_us), (CODEL.name, codel_us))
        )
    return (*found, *figure13.with_bound(tuple(found)))


FIGURE = Figure(
    name="pred/figure18",
    title="Data mining at 100 Gbps, with 1,000 senders",
    source="PRED (NSDI 2025), Figure 18, section 6.3.4",
    about=ABOUT,
    measure=setup.AT_100_GBPS,
    points=points(setup.DATAMINING),
    schemes=SCHEMES,
    scales=setup.DATAMINING.scales(),
    plot=PLOT,
    claims=claims(
        "section 6.3.4, Figure 18",
        {setup.SHORT: (240, 468, 713), setup.SHORT_MEAN: (42, 88, 174)},
    ),
    told_by="marks",
)


# Figure 23: web search ----------------------------------------------------------------------------


_FIGURE_23 = "appendix D.3, Figure 23"

WEB_SEARCH = replace(
    FIGURE,
    name="pred/figure23",
    title="Web search at 100 Gbps, with 1,000 senders",
    source="PRED (NSDI 2025), Figure 23, appendix D.3",
    points=points(setup.WEBSEARCH),
    scales=setup.WEBSEARCH.scales(),
    claims=(
        *claims(_FIGURE_23, {setup.SHORT: (142, 171, 350), setup.SHORT_MEAN: (29, 61, 117)}),
        # 142 us and 171 us, which the text calls 27%, are 17%.
        Claim(
            "The tail of short flows is shorter than under RED at 80% load",
            _FIGURE_23,
            Reduction(setup.SHORT, new=PRED.name, old=RED_065.name),
            Near(0.27),
            Over({"load": 0.8}),
            variant=f"{RED_065.name}, by its percentage",
            is_again=True,
        ),
    ),
)
