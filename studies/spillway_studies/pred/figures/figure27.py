"""Figure 27: the range in which PRED can adjust the queue."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Figure,
    Lines,
    Over,
    Panel,
    Plain,
    Point,
    Reduction,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.star import GOODPUT, MEAN, aqm

LEAST = aqm("least lambda", "pred", "qla=false", "lambda=0.05", style=0)
LARGEST = aqm("largest lambda", "pred", "qla=false", "lambda=1.65", style=1)
EVERY = aqm("every packet", "ecn", "threshold=0pkt", "at_threshold=mark", style=7)

_SECTION = "appendix D.6, Figure 27"
_FEW = Over({"range": "up to 32"}, take="each")


def _point(flows: int) -> Point:
    point = star.with_flows(flows)
    many = "above 32" if flows > 32 else "up to 32"
    return replace(point, values={**point.values, "range": many})


FIGURE = Figure(
    name="pred/figure27",
    title="The range of PRED's adjustment",
    source="PRED (NSDI 2025), Figure 27, appendix D.6",
    about="The paper's is a testbed, this is a simulation of it: endless flows of two senders, "
    "10 Gbps, 10 us for each link. The least lambda is the text's lambda_min, 0.05; the text does "
    "not name the largest: 1.65, the largest that it has with DCTCP.",
    measure=star.steady(*star.network(2)),
    points=tuple(_point(flows) for flows in (2, 4, 8, 16, 24, 32, 48, 64, 96, 128)),
    schemes=(LEAST, LARGEST, EVERY),
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
            _SECTION,
            Reduction(GOODPUT, new=LARGEST.name, old=LEAST.name),
            Apart(0.01),
            _FEW,
        ),
        Claim(
            "Up to 32 flows, the queue with the largest lambda is below that with the least",
            _SECTION,
            Reduction(MEAN, new=LARGEST.name, old=LEAST.name),
            Apart(0.25),
            _FEW,
        ),
        Claim(
            "Up to 32 flows, the queue with the largest lambda stays level",
            _SECTION,
            Plain(MEAN, LARGEST.name),
            Alike(0.25),
            Over({"range": "up to 32"}, take="relative growth"),
        ),
        Claim(
            "Above 32 flows, the queue grows even with the largest lambda",
            _SECTION,
            Plain(MEAN, LARGEST.name),
            Apart(0.25),
            Over({"range": "above 32"}, take="relative growth"),
        ),
        Claim(
            "With every packet marked, some of the line is unused with few flows",
            _SECTION,
            Reduction(GOODPUT, new=EVERY.name, old=LEAST.name),
            Apart(0.01),
            Over({"flows": 2}),
        ),
    ),
    told_by="anything",
)

FARTHER = replace(
    FIGURE,
    name="pred/figure27-rtt",
    title="The range of PRED's adjustment, with a round trip of 80 us",
    about="As `pred/figure27`, but 20 us for each link: the only round trip that the text names.",
    measure=star.steady(*star.network(2, "20us")),
    is_of_paper=False,
)
