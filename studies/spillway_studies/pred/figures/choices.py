"""Choices that the paper leaves open about its simulations: each is made another way, once."""

from dataclasses import replace

from spillway_studies.claims import (
    Figure,
    Over,
    Scale,
    Variants,
    choice,
    product,
)
from spillway_studies.pred.figures import setup
from spillway_studies.pred.figures.figure13 import ONES
from spillway_studies.pred.figures.setup import CODEL, ECN, ECN_SHARP, FCS, PRED, RED_065

_PREDS = (PRED.name, FCS.name)
_AQM = "switch.aqm"
_LEAVING = f"{_AQM}.marks_at=departure"


def _of_pred(*parameters: str) -> dict[str, tuple[str, ...]]:
    """The same parameters for PRED and for its half."""
    return {name: tuple(f"{_AQM}.{each}" for each in parameters) for name in _PREDS}


_NS3 = (
    "transport.recovery=ns3",
    "transport.recovery.reduction=proportional-ns3",
    "transport.host_backlog=unlimited",
    "transport.recovery.min_rto=5ms",
    "transport.recovery.initial_rto=5ms",
    "switch.queue_limit=250pkt",
)
"""The sender of ns-3, and the queues and timeouts of ECN#'s public program."""

CHOICES = (
    choice("as in the scenario"),
    choice(
        "lambda per MB",
        of={
            **_of_pred("lambda_unit=1MB"),
            RED_065.name: (f"{_AQM}.slope=0.65",),
        },
    ),
    choice("lambda begins at 1", of=_of_pred("lambda=1.0")),
    choice("lambda begins at 0.65", of=_of_pred("lambda=0.65")),
    choice(
        "RED and PRED from 5 KB on",
        of={**_of_pred("min=5KB"), RED_065.name: (f"{_AQM}.min=5KB",)},
    ),
    choice("min to 30 packets at most", of={PRED.name: (f"{_AQM}.min_max=30pkt",)}),
    choice("min to 70 packets at most", of={PRED.name: (f"{_AQM}.min_max=70pkt",)}),
    choice("min against none", of={PRED.name: (f"{_AQM}.min_trials=one-side",)}),
    choice("Phi squared", of={PRED.name: (f"{_AQM}.phi=square",)}),
    choice("Phi reciprocal", of={PRED.name: (f"{_AQM}.phi=reciprocal",)}),
    choice("mean queue over arrivals", of={PRED.name: (f"{_AQM}.mean=arrivals",)}),
    choice("trials of 20 round trips", of={PRED.name: (f"{_AQM}.t_qla=1.624ms",)}),
    choice("trials of 100 round trips", of={PRED.name: (f"{_AQM}.t_qla=8.12ms",)}),
    choice("idle trials begin anew", of={PRED.name: (f"{_AQM}.idle=begins-anew",)}),
    choice("flows counted exactly", of=_of_pred("counter=exact")),
    choice("ECN by time in the queue", of={ECN.name: (f"{_AQM}=tcn", f"{_AQM}.threshold=84us")}),
    choice("ECN marks as packets leave", of={ECN.name: (_LEAVING,)}),
    choice(
        "RED and PRED mark as packets leave",
        of={**_of_pred("marks_at=departure"), RED_065.name: (_LEAVING,)},
    ),
    choice("queues of 250 packets", "switch.queue_limit=250pkt"),
    choice(
        "4 MB shared by DT",
        "switch.queue_limit=unlimited",
        "switch.buffer=4MB",
        "switch.sharing=dt",
        "switch.sharing.alpha=0.5",
    ),
    choice("min RTO 1 ms", "transport.recovery.min_rto=1ms", "transport.recovery.initial_rto=1ms"),
    choice(
        "min RTO 200 ms", "transport.recovery.min_rto=200ms", "transport.recovery.initial_rto=200ms"
    ),
    choice("first window 2 packets", "transport.initial_window=2pkt"),
    choice("first window 70 packets, a BDP", "transport.initial_window=70pkt"),
    choice("an ack for two packets", "transport.ack_every=2"),
    choice("no handshake", "transport.handshake=false"),
    choice("messages on open connections", "transport.connections=open"),
    choice("windows grow in NICs", "transport.host_backlog=unlimited"),
    choice("NICs send flows in turn", "nic.scheduling=per-flow-rr"),
    choice("senders of ns-3, queues of 250 packets", *_NS3),
    choice("one rack sends", 'traffic.messages.senders="16..31"'),
    choice("the receiver's rack sends", 'traffic.messages.senders="1..15"'),
    choice("sizes as in ABM's program", "traffic.messages.sizes=websearch"),
    choice("sizes in packets of 1460 B", "traffic.messages.sizes=websearch-pfabric"),
)

# The same expected flows as the scenario's sizes have in this time, and as many for all.
_FLOWS = replace(setup.WEBSEARCH, flows=4_000)


_CLAIMS = tuple(
    replace(
        claim,
        over=Over({**setup.HIGHEST, **point.values}),
        variant=str(point.values["choice"]),
        is_again=place > 0,
    )
    for place, point in enumerate(CHOICES)
    for claim in ONES
)
"""The text's four ratios at 90% load, choice by choice."""


FIGURE = Figure(
    name="pred/choices",
    title="What the text leaves open of the simulations",
    source="PRED (NSDI 2025), what section 6.3.1 does not say",
    about="Web search at 30% and 90% load; of one thing at a time another choice is made. "
    + setup.ABOUT,
    measure=setup.LEAF_SPINE,
    points=product((_FLOWS.at(0.3), _FLOWS.at(0.9)), CHOICES),
    schemes=(PRED, FCS, ECN, ECN_SHARP, CODEL, RED_065),
    scales={**_FLOWS.scales(), "page": Scale((1, 2, 3))},
    plot=Variants((setup.SHORT, setup.SHORT_MEAN, setup.LONG_MEAN), "choice"),
    claims=_CLAIMS,
    is_of_paper=False,
    told_by="marks",
)
