"""What the text leaves open, and what it says without a figure."""

from dataclasses import replace

import numpy as np

from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Claim,
    Figure,
    Number,
    Reduction,
    Scheme,
    Variants,
    along,
    basis,
    choice,
)
from spillway_studies.pred.figures import figure3, figure15, star
from spillway_studies.pred.figures.star import (
    AMPLITUDE,
    CODEL,
    DEVIATION,
    ECN,
    FCS,
    FLOWS,
    GOODPUT,
    LAMBDA,
    LEAST,
    MEAN,
    PRED,
    PRED_80,
)

_ALL_PRED = (FCS.name, PRED.name, PRED_80.name)


def _of_pred(*assignments: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(_ALL_PRED, assignments)


def _of_qla(*assignments: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys((PRED.name, PRED_80.name), assignments)


_CHOICES = (
    choice("as in Figure 15"),
    choice("16 endless flows", star.traffic(*figure15.LASTING)),
    choice("web search, 60% of the line", star.web_search(0.6)),
    choice("web search, 90% of the line", star.web_search(0.9)),
    choice("round trip of 80 us", *star.network(figure15.SENDERS, "20us")),
    choice("lambda per MB", of=_of_pred("switch.aqm.lambda_unit=1MB")),
    choice("min stays", of=_of_qla("switch.aqm.min_max=10pkt")),
    choice("min tried on one side", of=_of_qla("switch.aqm.min_trials=one-side")),
    choice("queues that arrivals find", of=_of_qla("switch.aqm.mean=arrivals")),
    choice("no sketch", of=_of_pred("switch.aqm.counter=exact")),
    choice("hashes, as in Algorithm 1", of=_of_pred("switch.aqm.counter=hashes")),
    choice("least window of 1 packet", "transport.min_window=1pkt"),
    choice("acks for two packets each", "transport.ack_every=2"),
    choice("min RTO 200 ms", "transport.recovery.min_rto=200ms"),
    choice("queues of 250 packets", "switch.queue_limit=250pkt"),
)

FIGURE = Figure(
    name="pred/queue-choices",
    title="What the text leaves open of Figure 15",
    source="PRED (NSDI 2025), sections 4 and 6.3.2",
    about="As `pred/figure15`; one thing at a time is done otherwise.",
    measure=star.steady(*star.network(figure15.SENDERS), star.traffic(*figure15.CHANGING)),
    points=_CHOICES,
    schemes=(ECN, CODEL, FCS, PRED, PRED_80),
    scales={"quick": star.lasting(20, 120, (1, 2, 3)), "full": star.lasting(100, 1100)},
    plot=Variants((MEAN, DEVIATION, GOODPUT, LAMBDA, LEAST), "choice"),
    is_of_paper=False,
    told_by="anything",
)


def _red(*assignments: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys((figure3.GENTLE.name, figure3.STEEP.name), assignments)


_FEW = star.of_two(2)
RED = Figure(
    name="pred/red-choices",
    title="What the text leaves open of static RED, with two flows",
    source="PRED (NSDI 2025), section 3.1",
    about="Two endless flows, as in `pred/figure3`; one thing at a time is done otherwise.",
    measure=star.steady(*star.network(2), _FEW),
    points=(
        choice("as in Figure 3"),
        choice(
            "slope per MB",
            of={
                figure3.GENTLE.name: ("switch.aqm.slope=0.65",),
                figure3.STEEP.name: ("switch.aqm.slope=1.65",),
            },
        ),
        choice("min of 1 packet", of=_red("switch.aqm.min=1500B")),
        choice("min of 0", of=_red("switch.aqm.min=0B")),
        choice("round trip of 80 us", *star.network(2, "20us")),
        choice("round trip of 320 us", *star.network(2, "80us")),
        choice(
            "round trip of 320 us, min of 0",
            *star.network(2, "80us"),
            of=_red("switch.aqm.min=0B"),
        ),
        choice("acks for two packets each", "transport.ack_every=2"),
        choice("least window of 1 packet", "transport.min_window=1pkt"),
    ),
    schemes=(ECN, figure3.GENTLE, figure3.STEEP),
    scales=figure3.FIGURE.scales,
    plot=Variants((MEAN, GOODPUT, AMPLITUDE), "choice"),
    is_of_paper=False,
    told_by="anything",
)

_CONVERGENCE_MS, _STEP_US = 500, 1_000
EARLY = Number("lambda.early", "mean lambda in the second fifth", "per 100 KB")
LATE = Number("lambda.late", "mean lambda in the last fifth", "per 100 KB")
WANDERING = Number("lambda.deviation", "its standard deviation in the last fifth", "per 100 KB")


@basis.results(1)
def settling(result: Result) -> dict[str, float]:
    """Lambda over time, and where it is early and late."""
    _, values = star.column(result, "lambda")
    fifths = np.array_split(values, 5)
    return star.numbers(result) | {
        "lambda.early": float(fifths[1].mean()),
        "lambda.late": float(fifths[4].mean()),
        "lambda.deviation": float(fifths[4].std()),
        **star.over_time(result, 0, 1000.0 * _CONVERGENCE_MS, _STEP_US),
    }


def _trials(name: str, *parameters: str, style: int) -> Scheme:
    return star.aqm(name, "pred", *parameters, style=style)


_SETTLING = {
    "quick": star.lasting(0, _CONVERGENCE_MS, (1, 2, 3, 4, 5)),
    "full": star.lasting(0, 4 * _CONVERGENCE_MS),
}
_LENGTHS = (
    _trials("5 base RTTs", style=0),
    _trials("400 us", "t_qla=400us", style=1),
    _trials("1 ms", "t_qla=1ms", style=2),
    _trials("4 ms", "t_qla=4ms", style=3),
)
CONVERGENCE = Figure(
    name="pred/convergence",
    title="Whether lambda settles",
    source="PRED (NSDI 2025), section 4.2, of which it shows no figure",
    about="Endless flows of 16 senders, 10 Gbps, 10 us for each link; trials of several lengths, "
    "lambda for every seed.",
    measure=star.run(
        "queue_choices:settling",
        *star.network(figure15.SENDERS, sample="100us"),
        star.traffic(*figure15.LASTING),
    ),
    points=along("flows", (figure15.SENDERS,), label="{} flows"),
    schemes=_LENGTHS,
    scales=_SETTLING,
    plot=star.Overlaid(
        tuple(
            star.Series(f"trials of {scheme.name}", "per 100 KB", "lambda", (scheme.name,))
            for scheme in _LENGTHS
        ),
        (EARLY, LATE, WANDERING, MEAN, LEAST, GOODPUT),
        every_seed=True,
    ),
    is_of_paper=False,
    told_by="anything",
)

_PHIS = tuple(
    _trials(phi, "t_qla=400us", f"phi={phi}", style=place)
    for place, phi in enumerate(("linear", "square", "reciprocal"))
)
PHI = replace(
    CONVERGENCE,
    name="pred/phi",
    title="Shapes of the utility of a queue",
    source="PRED (NSDI 2025), Figure 10(a), a picture without numbers",
    about="As `pred/convergence`, trials of 400 us.",
    schemes=_PHIS,
    plot=star.Overlaid(
        tuple(star.Series(scheme.name, "per 100 KB", "lambda", (scheme.name,)) for scheme in _PHIS),
        (EARLY, LATE, WANDERING, MEAN, LEAST, GOODPUT),
        every_seed=True,
    ),
)

_WRONG = (
    star.aqm("N of a period of RTT / 4", "pred", "qla=false", "t_fcs=10us", style=1),
    star.aqm("N of 4 places", "pred", "qla=false", "places=4", style=2),
    star.aqm("N of the last 10 ms", "pred", "qla=false", "t_fcs=10ms", style=3),
)
RED_AS_STEEP = star.red(0.1, 6)
WRONG = Figure(
    name="pred/wrong-n",
    title="A wrong number of flows",
    source="PRED (NSDI 2025), appendix B, of which it shows no figure",
    about="The traffic of `pred/figure15`. FCS alone, whose N is too small or too large, beside "
    "static thresholds.",
    measure=star.steady(*star.network(figure15.SENDERS), star.traffic(*figure15.CHANGING)),
    points=along("senders", (figure15.SENDERS,), label="{} senders"),
    schemes=(ECN, CODEL, RED_AS_STEEP, FCS, *_WRONG),
    scales=figure15.SCALES,
    plot=Variants((MEAN, DEVIATION, GOODPUT, FLOWS), "senders"),
    claims=tuple(
        Claim(
            f"The queue with {wrong.name} is below that with {static.name}",
            "appendix B",
            Reduction(MEAN, new=wrong.name, old=static.name),
            Apart(),
        )
        for wrong in _WRONG
        for static in (ECN, CODEL, RED_AS_STEEP)
    ),
    is_of_paper=False,
    told_by="anything",
)
