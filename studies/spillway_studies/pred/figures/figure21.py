"""Figure 21: PRED with DCQCN, over the number of flows and over time."""

from dataclasses import replace

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
    Point,
    Reduction,
    Scheme,
    Variants,
    along,
    basis,
    choice,
    product,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.star import GOODPUT, LAMBDA, MEAN, PRED, PRED_80, TAIL

SENDERS = 20
GENTLE, STEEP = star.red(0.2, 6), star.red(2, 0)
_SECTION = "appendix D.1, Figure 21"
_GROWS = Over(take="relative growth")
_LEVEL = 0.25
"""A queue that changes by no more than a quarter from 2 flows to 20 is level, as in Figure 11."""

_DCQCN = 'transport={ kind = "dcqcn" }'
_PAUSES = ("switch.pfc=dynamic", "nic.queue_pairs=true")
LOSSLESS = ("switch.buffer=12MB", *_PAUSES)
"""The buffer of the public RDMA simulator's switches; a paused NIC lets no flow send more."""
_NETWORK = (*star.network(SENDERS, "2us", "40Gbps"), _DCQCN)
_ABOUT = (
    "20 senders, 40 Gbps, 2 us for each link, N endless flows of DCQCN with the parameters of its "
    "paper. "
)
_UNIT = "Slopes are per 100 KB, as in the other figures; RED has PRED's min and max. "


def _endless(flows: int) -> Point:
    sets = (star.traffic(star.section("flows", flows)),)
    return Point({"flows": flows}, sets, {"flows": f"N = {flows}"}, {"flows": str(flows)})


def _grows(scheme: Scheme) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"The {words} queue of {scheme.name} grows with N",
            _SECTION,
            Plain(metric, scheme.name),
            Apart(_LEVEL),
            _GROWS,
        )
        for words, metric in (("mean", MEAN), ("99th percentile of the", TAIL))
    )


def _about(pred: Scheme) -> tuple[Claim, ...]:
    """The paper's claims about PRED, applied to this reading of it."""
    claims = (
        *(
            Claim(
                f"The {words} queue of PRED does not grow with N",
                _SECTION,
                Plain(metric, pred.name),
                Alike(_LEVEL),
                _GROWS,
            )
            for words, metric in (("mean", MEAN), ("99th percentile of the", TAIL))
        ),
        Claim(
            "With 2 flows PRED uses the line as RED (0.2) does",
            _SECTION,
            Reduction(GOODPUT, new=pred.name, old=GENTLE.name),
            Alike(0.01),
            Over({"flows": 2}),
        ),
        *(
            Claim(
                f"With {flows} flows PRED's queue is close to that of {red.name}",
                _SECTION,
                Reduction(MEAN, new=pred.name, old=red.name),
                Alike(_LEVEL),
                Over({"flows": flows}),
            )
            for flows, red in ((2, GENTLE), (20, STEEP))
        ),
    )
    return tuple(replace(claim, variant=pred.name, is_again=pred is not PRED) for claim in claims)


FIGURE = Figure(
    name="pred/figure21",
    title="PRED with DCQCN, over the number of flows",
    source="PRED (NSDI 2025), Figure 21(a), appendix D.1",
    about=_ABOUT + _UNIT + star.ABOUT,
    measure=star.steady(*_NETWORK),
    points=tuple(_endless(flows) for flows in (2, 4, 8, 12, 16, 20)),
    schemes=(GENTLE, STEEP, PRED, PRED_80),
    scales={"quick": star.lasting(100, 200, (1, 2, 3)), "full": star.lasting(100, 500)},
    plot=Lines(
        (
            Panel(MEAN, "mean queue"),
            Panel(TAIL, "99th percentile of the queue"),
            Panel(GOODPUT, "throughput", is_close=True),
            Panel(LAMBDA, "PRED's lambda"),
        ),
        "flows",
        "flows",
        is_linear=True,
    ),
    claims=(
        *(claim for scheme in (GENTLE, STEEP) for claim in _grows(scheme)),
        *(claim for scheme in (PRED, PRED_80) for claim in _about(scheme)),
    ),
    told_by="anything",
)

PFC = replace(
    FIGURE,
    name="pred/figure21-pfc",
    title="The same with pause frames",
    about="As `pred/figure21`, with a buffer of 12 MB, whose switch pauses senders (PFC): the text "
    "does not say whether it does.",
    measure=star.steady(*_NETWORK, *LOSSLESS),
)

_BEGIN_MS, _END_MS, _STEP_US = 100, 110, 10


@basis.results(1)
def shown(result: Result) -> dict[str, float]:
    """The numbers of the queue, and the queue itself over 10 ms."""
    return star.numbers(result) | star.over_time(result, _BEGIN_MS * 1e3, _END_MS * 1e3, _STEP_US)


_ALL = (GENTLE, STEEP, PRED, PRED_80)
_FEW, _MANY = (
    tuple(star.with_senders(scheme, flows, place) for place, scheme in enumerate(_ALL))
    for flows in (2, 20)
)

QUEUES = Figure(
    name="pred/figure21-queues",
    title="PRED with DCQCN, the queue over time",
    source="PRED (NSDI 2025), Figure 21(b), appendix D.1",
    about=_ABOUT + _UNIT + star.ABOUT,
    measure=star.run("figure21:shown", *_NETWORK),
    points=along("senders", (SENDERS,), label="{} senders"),
    schemes=(*_FEW, *_MANY),
    scales={
        "quick": star.lasting(_BEGIN_MS, 120, (1, 2, 3)),
        "full": star.lasting(_BEGIN_MS, 500),
    },
    plot=star.Overlaid(
        (
            star.Series("2 flows", "packets", "queue", tuple(scheme.name for scheme in _FEW)),
            star.Series("20 flows", "packets", "queue", tuple(scheme.name for scheme in _MANY)),
        ),
        (MEAN, TAIL, GOODPUT),
        begin_ms=_BEGIN_MS,
    ),
    told_by="anything",
)


def _of(schemes: tuple[Scheme, ...], parameter: str) -> dict[str, tuple[str, ...]]:
    """A parameter of these schemes' AQMs."""
    return {scheme.name: (f"switch.aqm.{parameter}",) for scheme in schemes}


_REDS, _PREDS = _ALL[:2], _ALL[2:]
_PER_MB = {
    **_of((GENTLE,), "slope=0.2"),
    **_of((STEEP,), "slope=2"),
    **_of(_PREDS, "lambda_unit=1MB"),
}
_ON_DEPARTURE = _of(_ALL, "marks_at=departure")
_BOTH = {name: (*sets, *_ON_DEPARTURE[name]) for name, sets in _PER_MB.items()}
_PROGRAM = (
    "transport.fast_recovery=4",
    "transport.hyper_after=4",
    "transport.alpha_first=true",
    "transport.clamp_target=after-byte-counter",
    "transport.shrink_target=true",
    "transport.hyper_halves=true",
)
"""What its authors' program does otherwise than DCQCN's paper."""
_CHOICES = (
    choice("as in Figure 21"),
    choice("slopes per MB", of=_PER_MB),
    choice("marked on their way out", of=_ON_DEPARTURE),
    choice("the same, slopes per MB", of=_BOTH),
    choice("RED from 5 KB on", of=_of(_REDS, "min=5KB")),
    choice("DCQCN as its authors' program", *_PROGRAM),
    choice(
        "the same, its class's constants",
        *_PROGRAM,
        "transport.g=0.0625",
        "transport.increase_timer=1500us",
        "transport.byte_counter=150KB",
        "transport.rate_step=5Mbps",
        "transport.hyper_step=50Mbps",
    ),
    choice("DCQCN as HPCC's simulator", "transport.preset=simulator"),
    choice("the same, with the paper's times", "transport.preset=simulator-paper"),
    choice("acks tell of marks", "transport.cnp=ack-flag"),
    choice("pause frames", *LOSSLESS),
    choice("pause frames, a buffer of 2 MB", *_PAUSES, "switch.buffer=2MB"),
)

CHOICES = Figure(
    name="pred/figure21-choices",
    title="What the text leaves open of Figure 21",
    source="PRED (NSDI 2025), Figure 21, appendix D.1",
    about="As `pred/figure21`, with 2 and with 20 flows; one thing at a time is done otherwise.",
    measure=FIGURE.measure,
    points=tuple(
        point
        for each in _CHOICES
        for point in product((each,), tuple(_endless(flows) for flows in (2, 20)))
    ),
    schemes=FIGURE.schemes,
    scales=FIGURE.scales,
    plot=Variants((MEAN, TAIL, GOODPUT, LAMBDA), "choice"),
    is_of_paper=False,
    told_by="anything",
)
