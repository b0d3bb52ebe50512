"""Figures 11 and 27: the testbed, over the number of flows."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Falls,
    Figure,
    Lines,
    Near,
    Over,
    Panel,
    Plain,
    Point,
    Reduction,
    Scheme,
    Within,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.star import GOODPUT, LAMBDA, MEAN, SLOPE, aqm

# Figure 11: forms of f(N) -------------------------------------------------------------------------


# The text's starting values, "whose effect is approximately equal when N = 2": 0.2 for RED too.
RED = star.red(0.2, 6)
ROOT = aqm("FCS(sqrt N)", "pred", "qla=false", "f=sqrt-n", "lambda=0.2", style=0)
LINEAR = aqm("FCS(N)", "pred", "qla=false", style=2)
SQUARE = aqm("FCS(N^2)", "pred", "qla=false", "f=n-squared", "lambda=0.05", style=1)
TESTBED = aqm("PRED", "pred", "plane=control", style=3)
"""QLA on the control plane, with trials of 400 ms."""

_SECTION = "section 6.2, Figure 11"
_GROWS = Over({"least": "above 2"}, take="relative growth")
"""Without N = 2, which the text calls noise."""
_LINE_GBPS = 9.4
_LEVEL = 0.25
"""A queue that changes by no more than a quarter from 4 flows to 32 is level."""


def _about(pred: Scheme) -> tuple[Claim, ...]:
    """The paper's claims about PRED, applied to this reading of it."""
    above_15 = Over({"range": "above 15"}, take="each")
    return (
        Claim(
            "PRED uses the line: 9.4 Gbps",
            _SECTION,
            Plain(GOODPUT, pred.name),
            Within(_LINE_GBPS, 0.05),
            Over(take="each"),
        ),
        Claim(
            "The queue of PRED stays level as N grows",
            _SECTION,
            Plain(MEAN, pred.name),
            Alike(_LEVEL),
            _GROWS,
        ),
        Claim(
            "Above 15 flows, the queue of PRED is below that of FCS(N)",
            _SECTION,
            Reduction(MEAN, new=pred.name, old=LINEAR.name),
            Apart(),
            above_15,
        ),
        Claim(
            "Above 15 flows, PRED uses the line as FCS(N) does",
            _SECTION,
            Reduction(GOODPUT, new=pred.name, old=LINEAR.name),
            Alike(0.01),
            above_15,
        ),
    )


FIGURE = Figure(
    name="pred/figure11",
    title="Forms of f(N) over the number of flows",
    source="PRED (NSDI 2025), Figure 11, section 6.2",
    about="The paper's is a testbed, this is a simulation of it: endless flows of two senders, "
    "10 Gbps, 10 us for each link, lambda per 100 KB; QLA on the control plane.",
    measure=star.steady(*star.network(2, sample="100us")),
    points=tuple(star.with_flows(flows) for flows in (2, 4, 8, 12, 16, 20, 24, 32)),
    schemes=(RED, ROOT, LINEAR, SQUARE, TESTBED),
    # A step of lambda takes four trials of 400 ms: after 40 s up to 25 have been made.
    scales={
        "quick": star.lasting(8_000, 10_000, (1, 2, 3)),
        "full": star.lasting(40_000, 50_000),
    },
    plot=Lines(
        (
            Panel(GOODPUT, "(a) throughput", is_close=True),
            Panel(MEAN, "(b) mean queue"),
            Panel(SLOPE, "(c) lambda f(N)", is_log=True),
            Panel(LAMBDA, "lambda alone"),
        ),
        "flows",
        "flows",
        is_linear=True,
    ),
    claims=(
        *(
            Claim(
                f"{scheme.name} uses the line: 9.4 Gbps",
                _SECTION,
                Plain(GOODPUT, scheme.name),
                Within(_LINE_GBPS, 0.05),
                Over(take="each"),
            )
            for scheme in (ROOT, LINEAR)
        ),
        Claim(
            "FCS(N^2) loses 0.4 of 9.4 Gbps",
            _SECTION,
            Reduction(GOODPUT, new=SQUARE.name, old=LINEAR.name),
            Near(0.4 / _LINE_GBPS),
            Over(take="largest"),
        ),
        Claim(
            "The queue of FCS(N) stays level as N grows",
            _SECTION,
            Plain(MEAN, LINEAR.name),
            Alike(_LEVEL),
            _GROWS,
        ),
        *(
            Claim(
                f"The queue of {scheme.name} grows with N",
                _SECTION,
                Plain(MEAN, scheme.name),
                Apart(_LEVEL),
                _GROWS,
            )
            for scheme in (ROOT, RED)
        ),
        Claim(
            "The queue of FCS(N^2) shrinks as N grows",
            _SECTION,
            Plain(MEAN, SQUARE.name),
            Falls(),
            _GROWS,
        ),
        *_about(TESTBED),
    ),
    told_by="anything",
)

FARTHER = replace(
    FIGURE,
    name="pred/figure11-rtt",
    title="The same with a round trip of 80 us",
    about="As `pred/figure11`, but 20 us for each link: 80 us is the only round trip that the "
    "text names (Figure 25).",
    measure=star.steady(*star.network(2, "20us", sample="100us")),
    is_of_paper=False,
)

DATA_PLANE = replace(
    FIGURE,
    name="pred/figure11-data-plane",
    title="The same with QLA on the data plane, as in the simulations",
    about="As `pred/figure11`, but a trial is five base RTTs long.",
    measure=star.steady(*star.network(2)),
    schemes=(LINEAR, star.PRED, star.PRED_80),
    scales={"quick": star.lasting(200, 300, (1, 2, 3)), "full": star.lasting(1_000, 2_000)},
    claims=tuple(
        replace(claim, variant=pred.name, is_again=pred is not star.PRED)
        for pred in (star.PRED, star.PRED_80)
        for claim in _about(pred)
    ),
    is_of_paper=False,
)


# Figure 27: the range in which PRED can adjust the queue ------------------------------------------


LEAST_LAMBDA = aqm("least lambda", "pred", "qla=false", "lambda=0.05", style=0)
LARGEST_LAMBDA = aqm("largest lambda", "pred", "qla=false", "lambda=1.65", style=1)
EVERY = aqm("every packet", "ecn", "threshold=0pkt", "at_threshold=mark", style=7)

_FIGURE_27 = "appendix D.6, Figure 27"
_FEW = Over({"range": "up to 32"}, take="each")


def _point(flows: int) -> Point:
    point = star.with_flows(flows)
    many = "above 32" if flows > 32 else "up to 32"
    return replace(point, values={**point.values, "range": many})


RANGE = Figure(
    name="pred/figure27",
    title="The range of PRED's adjustment",
    source="PRED (NSDI 2025), Figure 27, appendix D.6",
    about="The paper's is a testbed, this is a simulation of it: endless flows of two senders, "
    "10 Gbps, 10 us for each link. The least lambda is the text's lambda_min, 0.05; the text does "
    "not name the largest: 1.65, the largest that it has with DCTCP.",
    measure=star.steady(*star.network(2)),
    points=tuple(_point(flows) for flows in (2, 4, 8, 16, 24, 32, 48, 64, 96, 128)),
    schemes=(LEAST_LAMBDA, LARGEST_LAMBDA, EVERY),
    scales={"quick": star.lasting(50, 150, (1, 2, 3)), "full": star.lasting(200, 1200)},
    plot=Lines(
        (Panel(GOODPUT, "throughput", is_close=True), Panel(MEAN, "mean queue")),
        "flows",
        "flows",
        is_linear=True,
    ),
    claims=(
        Claim(
            "Up to 32 flows, the largest lambda leaves some of the line unused",
            _FIGURE_27,
            Reduction(GOODPUT, new=LARGEST_LAMBDA.name, old=LEAST_LAMBDA.name),
            Apart(0.01),
            _FEW,
        ),
        Claim(
            "Up to 32 flows, the queue with the largest lambda is below that with the least",
            _FIGURE_27,
            Reduction(MEAN, new=LARGEST_LAMBDA.name, old=LEAST_LAMBDA.name),
            Apart(0.25),
            _FEW,
        ),
        Claim(
            "Up to 32 flows, the queue with the largest lambda stays level",
            _FIGURE_27,
            Plain(MEAN, LARGEST_LAMBDA.name),
            Alike(0.25),
            Over({"range": "up to 32"}, take="relative growth"),
        ),
        Claim(
            "Above 32 flows, the queue grows even with the largest lambda",
            _FIGURE_27,
            Plain(MEAN, LARGEST_LAMBDA.name),
            Apart(0.25),
            Over({"range": "above 32"}, take="relative growth"),
        ),
        Claim(
            "With every packet marked, some of the line is unused with few flows",
            _FIGURE_27,
            Reduction(GOODPUT, new=EVERY.name, old=LEAST_LAMBDA.name),
            Apart(0.01),
            Over({"flows": 2}),
        ),
    ),
    told_by="anything",
)

RANGE_FARTHER = replace(
    RANGE,
    name="pred/figure27-rtt",
    title="The range of PRED's adjustment, with a round trip of 80 us",
    about="As `pred/figure27`, but 20 us for each link: the only round trip that the text names.",
    measure=star.steady(*star.network(2, "20us")),
    is_of_paper=False,
)
