"""Figure 4: completion times of small and of large messages, over the slope of RED."""

from dataclasses import replace

import numpy as np

from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Claim,
    Falls,
    Figure,
    Lines,
    Number,
    Over,
    Panel,
    Plain,
    Point,
    Reduction,
    Run,
    Scheme,
    Variants,
    basis,
    choice,
    product,
)
from spillway_studies.pred.figures import star

SENDERS = 18
SMALL, LARGE = "3KB..6KB", "30KB..600KB"
"""The sizes of workloads 1 and 2."""
_LOAD = 0.6
_SLOPES = (0.1, 0.2, 0.65, 1.0, 1.65, 5.0)
_SECTION = "section 3.1, Figure 4"

TAIL = Number("fct_us.messages.p99", "p99 of completion times", "us")
MEAN = Number("fct_us.messages.mean", "mean completion time", "us")
TIMEOUTS = Number("timeouts", "timeouts", "timeouts")


def rounds(name: str, sizes: str, load: float = _LOAD, **keys: str) -> str:
    """At random times all senders send a message at once."""
    return star.section(
        name, SENDERS, sizes=sizes, load=load, load_of="receiver", jitter="0us", **keys
    )


def regular(name: str, sizes: str, interval: str, **keys: str) -> str:
    """At regular times all senders send a message at once."""
    return star.section(
        name, SENDERS, sizes=sizes, interval=interval, queries=1_000_000, jitter="0us", **keys
    )


def independent(name: str, sizes: str, load: float = _LOAD) -> str:
    """Each sender sends messages at random times of its own."""
    return (
        f'{{ name = "{name}", kind = "poisson", destinations = {star.RECEIVER}, '
        f'sizes = "{sizes}", load = {load}, load_of = "receiver" }}'
    )


def _workload(name: str, sizes: str, style: int) -> Scheme:
    return Scheme(name, (star.traffic(rounds("messages", sizes)),), style=style)


FIRST = _workload("workload 1 (3-6 KB)", SMALL, 0)
SECOND = _workload("workload 2 (30-600 KB)", LARGE, 1)


def _slope(slope: float) -> Point:
    sets = star.red(slope, 0).assignments
    return Point({"slope": slope}, sets, {"slope": f"lambda {slope:g}"}, {"slope": f"{slope:g}"})


def _claims(over: Over) -> tuple[Claim, ...]:
    return (
        Claim(
            "Small messages take longer with a steeper slope",
            _SECTION,
            Plain(TAIL, FIRST.name),
            Apart(),
            over,
        ),
        Claim(
            "Large messages take less time with a steeper slope",
            _SECTION,
            Plain(TAIL, SECOND.name),
            Falls(),
            over,
        ),
    )


FIGURE = Figure(
    name="pred/figure4",
    title="Completion times over the slope of RED",
    source="PRED (NSDI 2025), Figure 4(a), section 3.1",
    about="18 senders, 10 Gbps, 10 us for each link, slopes per 100 KB. The text has no load: at "
    "random times all senders send a message at once, 60% of the line. Each message has a "
    "connection of its own.",
    measure=Run(star.SCENARIO, star.network(SENDERS, sample="1ms")),
    points=tuple(_slope(slope) for slope in _SLOPES),
    schemes=(FIRST, SECOND),
    scales={"quick": star.lasting(20, 420, (1, 2, 3)), "full": star.lasting(100, 5_100)},
    plot=Lines(
        (
            Panel(TAIL, "99th percentile", is_log=True),
            Panel(MEAN, "mean", is_log=True),
        ),
        "slope",
        "lambda",
    ),
    claims=_claims(Over(take="relative growth")),
    told_by="anything",
)


_SHOWN_MS, _STEP_US = 30, 20
BUSY = Number("queue.busy_us", "mean time from an empty queue to the next", "us")
EMPTY = Number("queue.empty", "samples with an empty queue", "%", 100)


@basis.results(1)
def over_time(result: Result) -> dict[str, float]:
    """How long the queue is held at a time, and the queue over 30 ms."""
    time, held = star.queue(result)
    is_held = np.concatenate(([False], held > 0, [False]))
    begins = np.flatnonzero(~is_held[:-1] & is_held[1:])
    ends = np.flatnonzero(is_held[:-1] & ~is_held[1:])
    begin = star.warmup_us(result)
    return star.about(held) | {
        "queue.busy_us": float((ends - begins).mean() * (time[1] - time[0])),
        "queue.empty": float((held == 0).mean()),
        **star.over_time(result, begin, begin + 1000 * _SHOWN_MS, _STEP_US),
    }


QUEUES = Figure(
    name="pred/figure4-queues",
    title="The queue over time with small and with large messages",
    source="PRED (NSDI 2025), Figure 4(b), section 3.1",
    about="As `pred/figure4`, with a slope of 0.65; both workloads are 60% of the line.",
    measure=star.run("figure4:over_time", *star.network(SENDERS)),
    points=(_slope(0.65),),
    schemes=(FIRST, SECOND),
    scales={"quick": star.lasting(20, 220, (1, 2, 3)), "full": star.lasting(100, 1100)},
    plot=star.Overlaid(
        tuple(star.Series(each.name, "packets", "queue", (each.name,)) for each in (FIRST, SECOND)),
        (BUSY, EMPTY, star.MEAN, star.TAIL),
    ),
    claims=(
        Claim(
            "Small messages hold the queue for a short time only",
            "section 3.1, Figure 4(b)",
            Reduction(BUSY, new=FIRST.name, old=SECOND.name),
            Apart(0.9),
        ),
    ),
    told_by="anything",
)


def _both(small: str, large: str) -> dict[str, tuple[str, ...]]:
    """Other traffic in both workloads."""
    return {FIRST.name: (star.traffic(small),), SECOND.name: (star.traffic(large),)}


def _load(load: float) -> dict[str, tuple[str, ...]]:
    return _both(rounds("messages", SMALL, load), rounds("messages", LARGE, load))


_CHOICES = (
    choice("as in Figure 4"),
    choice("initial window of 2 packets", "transport.initial_window=2pkt"),
    choice(
        "windows from 1 packet on", "transport.initial_window=1pkt", "transport.min_window=1pkt"
    ),
    choice("30% of the line", of=_load(0.3)),
    choice("90% of the line", of=_load(0.9)),
    choice(
        "rounds at regular times",
        of=_both(regular("messages", SMALL, "80us"), regular("messages", LARGE, "5ms")),
    ),
    choice(
        "each sender by itself",
        of=_both(independent("messages", SMALL), independent("messages", LARGE)),
    ),
    choice("queues of 100 packets", "switch.queue_limit=100pkt"),
    choice(
        "the same, min RTO 200 ms", "switch.queue_limit=100pkt", "transport.recovery.min_rto=200ms"
    ),
    choice(
        "windows from 1 packet on, queues of 100 packets",
        "transport.initial_window=1pkt",
        "transport.min_window=1pkt",
        "switch.queue_limit=100pkt",
    ),
    choice("acks for two packets each", "transport.ack_every=2"),
    choice("min of 1 packet", "switch.aqm.min=1500B"),
)

CHOICES = Figure(
    name="pred/figure4-choices",
    title="What the text leaves open of Figure 4",
    source="PRED (NSDI 2025), Figure 4(a), section 3.1",
    about="As `pred/figure4`; one thing at a time is done otherwise.",
    measure=FIGURE.measure,
    points=tuple(
        # The slope comes before the choice, which may change another of RED's parameters.
        point
        for each in _CHOICES
        for point in product(tuple(_slope(slope) for slope in (0.1, 1.65)), (each,))
    ),
    schemes=FIGURE.schemes,
    scales=FIGURE.scales,
    plot=Variants((TAIL, MEAN, TIMEOUTS), "choice"),
    claims=tuple(
        replace(
            claim,
            variant=str(each.values["choice"]),
            is_again=number > 0,
        )
        for number, each in enumerate(_CHOICES)
        for claim in _claims(Over({"choice": each.values["choice"]}, take="relative growth"))
    ),
    is_of_paper=False,
    told_by="anything",
)
