"""Figure 24: PRED under a scheduler with three weighted queues."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Figure,
    Lines,
    MeanTime,
    Number,
    Over,
    Panel,
    Plain,
    Point,
    Reduction,
    Run,
    Scheme,
    TailTime,
    Within,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.star import ECN_SHARP, FCS, PRED, PRED_80

_SENDERS = 16
_QUEUES = (1, 2, 3)
_SECTION = "appendix D.4, Figure 24"
_PROBES = 0.001
"""The load of one queue's small flows. All three leave the line to the long flows."""

TCN = star.aqm("TCN", "tcn", "threshold=150us", style=5)
GOODPUTS = tuple(
    Number(f"goodput_gbps.long{queue}", f"throughput of queue {queue}", "Gbps") for queue in _QUEUES
)
SHORT, MEAN = TailTime("short", 0.99), MeanTime("short")


def _long(queue: int) -> str:
    return (
        f'{{ name = "long{queue}", kind = "persistent", pairs = [[{queue}, {star.RECEIVER}]], '
        f"priority = {queue} }}"
    )


def _probes(queue: int) -> str:
    return (
        f'{{ name = "probes{queue}", kind = "poisson", destinations = {star.RECEIVER}, '
        f'senders = "4..{_SENDERS}", sizes = "3KB..60KB", load = {_PROBES}, '
        f'load_of = "receiver", priority = {queue} }}'
    )


def _point(active: int) -> Point:
    """This many queues have a long flow; all three have probes."""
    sections = [_long(queue) for queue in _QUEUES[:active]]
    sections += [_probes(queue) for queue in _QUEUES]
    label = f"{active} active queue{'s' if active > 1 else ''}"
    return Point(
        {"active": active}, (star.traffic(*sections),), {"active": label}, {"active": str(active)}
    )


def _claims(pred: Scheme) -> tuple[Claim, ...]:
    """The paper's claims about PRED, applied to this reading of it."""
    shares = {1: (9.6,), 2: (6.42, 3.18), 3: (4.82, 2.40, 2.40)}
    claims = (
        *(
            Claim(
                f"With {active} active, queue {place + 1} gets {share:g} Gbps",
                _SECTION,
                Plain(GOODPUTS[place], pred.name),
                Within(share, 0.05),
                Over({"active": active}),
            )
            for active, each in shares.items()
            for place, share in enumerate(each)
        ),
        Claim(
            "With all queues active, short flows are as fast as with ECN#",
            _SECTION,
            Reduction(SHORT, new=pred.name, old=ECN_SHARP.name),
            Alike(),
            Over({"active": 3}),
        ),
        Claim(
            "With all queues active, short flows are faster than with TCN",
            _SECTION,
            Reduction(SHORT, new=pred.name, old=TCN.name),
            Apart(),
            Over({"active": 3}),
        ),
    )
    return tuple(replace(claim, variant=pred.name, is_again=pred is not PRED) for claim in claims)


FIGURE = Figure(
    name="pred/figure24",
    title="Shares and short flows under a scheduler",
    source="PRED (NSDI 2025), Figure 24, appendix D.4",
    about="DWRR with weights 2, 1, 1; 16 senders, 10 Gbps, 10 us for each link. A long flow in the "
    "first queue, in two, in all; in each queue small flows of 3 to 60 KB from 13 other senders at "
    f"{_PROBES:.1%} of the line, of which the text says nothing. " + star.ABOUT,
    measure=Run(
        star.SCENARIO,
        (
            *star.network(_SENDERS, sample="1ms"),
            # Queue 0 is that of acks, which are not on this way.
            "switch.queues_per_port=4",
            'switch.scheduling={ kind = "dwrr", weights = [1.0, 2.0, 1.0, 1.0] }',
        ),
    ),
    points=tuple(_point(active) for active in _QUEUES),
    schemes=(TCN, ECN_SHARP, FCS, PRED, PRED_80),
    scales={"quick": star.lasting(20, 420, (1, 2, 3)), "full": star.lasting(100, 5_100)},
    plot=Lines(
        (
            *(Panel(metric, metric.name) for metric in GOODPUTS),
            Panel(SHORT, "short flows, p99", is_log=True),
            Panel(MEAN, "short flows, mean", is_log=True),
        ),
        "active",
        "queues with a long flow",
        columns=3,
    ),
    claims=tuple(claim for pred in (PRED, PRED_80) for claim in _claims(pred)),
    told_by="anything",
)
