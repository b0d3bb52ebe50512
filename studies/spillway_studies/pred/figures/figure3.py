"""Figure 3: RED with an unchanging slope, over the number of flows."""

from spillway.result.result import Result
from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Figure,
    Lines,
    Over,
    Panel,
    Plain,
    Reduction,
    Scheme,
    along,
    basis,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.star import AMPLITUDE, ECN, GOODPUT, MEAN

GENTLE, STEEP = star.red(0.65, 6), star.red(1.65, 7)
_SECTION = "section 3.1, Figure 3"
_GROWS = Over(take="relative growth")
_SLOPES = (
    "The text reads as if lambda were per MB, but only per 100 KB are its queues as long as PRED's "
    "figures have them: so it is here, and per MB in `pred/queue-choices`. RED has PRED's min and "
    "max, of which the text says nothing."
)

FIGURE = Figure(
    name="pred/figure3",
    title="Static RED over the number of flows",
    source="PRED (NSDI 2025), Figure 3(a), section 3.1",
    about="The paper's is a testbed, this is a simulation of it: endless flows of two senders, "
    "10 Gbps, 10 us for each link. " + _SLOPES,
    measure=star.steady(*star.network(2)),
    points=tuple(star.with_flows(flows) for flows in (2, 4, 8, 12, 16, 20, 24, 32)),
    schemes=(ECN, GENTLE, STEEP),
    scales={"quick": star.lasting(50, 150, (1, 2, 3)), "full": star.lasting(200, 1200)},
    plot=Lines(
        (
            Panel(GOODPUT, "(a) throughput", is_close=True),
            Panel(MEAN, "(a) mean queue"),
            Panel(AMPLITUDE, "amplitude of the queue"),
        ),
        "flows",
        "flows",
        is_linear=True,
    ),
    claims=(
        *(
            Claim(
                f"The queue of {scheme.name} grows with the number of flows",
                _SECTION,
                Plain(MEAN, scheme.name),
                Apart(0.25),
                _GROWS,
            )
            for scheme in (GENTLE, STEEP)
        ),
        Claim(
            "With few flows, RED (1.65) leaves some of the line unused",
            _SECTION,
            Reduction(GOODPUT, new=STEEP.name, old=ECN.name),
            Apart(0.01),
            Over({"flows": 2}),
        ),
        Claim(
            "With many flows, the queue of RED (1.65) is below that of RED (0.65)",
            _SECTION,
            Reduction(MEAN, new=STEEP.name, old=GENTLE.name),
            Apart(0.1),
            Over({"flows": 32}),
        ),
        Claim(
            "ECN uses the line with few flows and with many",
            _SECTION,
            Reduction(GOODPUT, new=ECN.name, old=GENTLE.name),
            Alike(0.02),
            Over(take="each"),
        ),
        Claim(
            "The amplitude of ECN's queue grows with the number of flows",
            _SECTION,
            Plain(AMPLITUDE, ECN.name),
            Apart(0.25),
            _GROWS,
        ),
    ),
    told_by="anything",
)

_BEGIN_MS, _END_MS, _STEP_US = 20, 40, 20


@basis.results(1)
def shown(result: Result) -> dict[str, float]:
    """The numbers of the queue, and the queue itself over 20 ms."""
    return star.numbers(result) | star.over_time(result, _BEGIN_MS * 1e3, _END_MS * 1e3, _STEP_US)


_FEW, _MANY = (
    tuple(star.with_senders(each, flows, place) for place, each in enumerate((ECN, GENTLE, STEEP)))
    for flows in (2, 20)
)


def _of(schemes: tuple[Scheme, ...]) -> tuple[str, ...]:
    return tuple(scheme.name for scheme in schemes)


QUEUES = Figure(
    name="pred/figure3-queues",
    title="The queue with 2 and with 20 flows",
    source="PRED (NSDI 2025), Figure 3(b), section 3.1",
    about="20 senders, of which 2 or all have an endless flow, 10 Gbps, 10 us for each link. "
    + _SLOPES,
    measure=star.run("figure3:shown", *star.network(20)),
    points=along("senders", (20,), label="{} senders"),
    schemes=(*_FEW, *_MANY),
    scales={"quick": star.lasting(_BEGIN_MS, 120, (1, 2, 3)), "full": star.lasting(_BEGIN_MS, 520)},
    plot=star.Overlaid(
        (
            star.Series("2 flows", "packets", "queue", _of(_FEW)),
            star.Series("20 flows", "packets", "queue", _of(_MANY)),
        ),
        (MEAN, GOODPUT, AMPLITUDE),
        begin_ms=_BEGIN_MS,
    ),
    claims=(
        Claim(
            "With 20 flows, RED (1.65) has a shorter queue than RED (0.65)",
            _SECTION,
            Reduction(MEAN, new=_MANY[2].name, old=_MANY[1].name),
            Apart(0.1),
        ),
        Claim(
            "With 20 flows, RED (1.65) uses the line as RED (0.65) does",
            _SECTION,
            Reduction(GOODPUT, new=_MANY[2].name, old=_MANY[1].name),
            Alike(0.01),
        ),
        Claim(
            "With 2 flows, RED (0.65) uses more of the line than RED (1.65)",
            _SECTION,
            Reduction(GOODPUT, new=_FEW[2].name, old=_FEW[1].name),
            Apart(0.01),
        ),
        Claim(
            "The amplitude of ECN's queue is larger with 20 flows than with 2",
            _SECTION,
            Reduction(AMPLITUDE, new=_FEW[0].name, old=_MANY[0].name),
            Apart(0.1),
        ),
    ),
    told_by="anything",
)
