"""Figure 12: the testbed's web search at 60%, before QLA has settled and after."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Figure,
    Lines,
    Over,
    Point,
    Reduction,
    Scale,
)
from spillway_studies.pred.figures import setup
from spillway_studies.pred.figures.setup import ECN, PRED, RED_01, RED_1

_SOURCE = "section 6.2, Figure 12"
_TOFINO = setup.pred("PRED", "plane=control", "t_qla=400ms", style=3)
"""QLA on the control plane, where T_QLA is 0.4 s and what it sets comes late."""

BEFORE = Point(
    {"window": "before 1 s"},
    ("warmup=0us", "duration=1s", "stop=11s"),
    {"window": "flows before 1 s"},
    {"window": "before 1 s"},
)
AFTER = Point(
    {"window": "after 10 s"},
    ("warmup=10s", "duration=15s", "stop=25s"),
    {"window": "flows from 10 s to 15 s"},
    {"window": "after 10 s"},
)
_METRICS = ((setup.SHORT, "the tail of short flows"), (setup.ALL_MEAN, "the mean of all flows"))


def _worst_to_best(where: Point) -> tuple[Claim, ...]:
    """What is said of RED's slopes, whatever the window; judged late, where there is more."""
    return tuple(
        Claim(
            f"{best.name} is better than {other.name}: {what}",
            _SOURCE,
            Reduction(metric, new=best.name, old=other.name),
            Apart(),
            Over(where.values),
        )
        for metric, what in _METRICS
        for best, other in ((RED_01, ECN), (RED_01, RED_1), (ECN, RED_1))
    )


FIGURE = Figure(
    name="pred/figure12",
    title="Web search at 60% from six senders, before QLA has settled and after",
    source="PRED (NSDI 2025), Figure 12, section 6.2",
    about="The testbed is simulated: a star with PRED's control plane, the simulations' delays, "
    "and a connection for every message. " + setup.ABOUT,
    measure=replace(
        setup.INCAST,
        assignments=(
            *setup.INCAST.assignments,
            "topology.hosts=7",
            "traffic.messages.senders=1..6",
            "traffic.messages.load=0.6",
        ),
    ),
    points=(BEFORE, AFTER),
    schemes=(_TOFINO, ECN, RED_01, RED_1),
    scales={
        "quick": Scale((1, 2, 3)),
        "full": Scale(tuple(range(1, 11))),
        "page": Scale(tuple(range(1, 11))),
    },
    plot=Lines(setup.PANELS, "window", "when flows began", is_joined=False),
    claims=(
        *_worst_to_best(AFTER),
        *(
            Claim(
                f"{words}: {what}",
                _SOURCE,
                Reduction(metric, new=PRED.name, old=old.name),
                rule,
                Over(point.values),
            )
            for words, old, rule, point in (
                ("PRED is close to RED (1) at first", RED_1, Alike(), BEFORE),
                ("PRED comes to RED (0.1)", RED_01, Alike(), AFTER),
                ("PRED has become better than RED (1)", RED_1, Apart(), AFTER),
            )
            for metric, what in _METRICS
        ),
    ),
    told_by="marks",
)
