"""Small buffers, where packets are lost: by their size, and by how losses are found."""

from __future__ import annotations

from spillway_studies.claims import (
    Beside,
    Claim,
    Excess,
    Figure,
    Lines,
    Over,
    Panel,
    Plain,
    Point,
    Share,
    Total,
    Variants,
    Within,
    choice,
    product,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.events import SLIDE
from spillway_studies.qclimb.figures.setup import PERFECT, PFABRIC, PIAS, QCLIMB, WEBSEARCH

PACKETS = (80, 120, 240, 480, 960)
"""Packets of 1,500 bytes that each port has; PIAS's program has 240."""
_LOAD = 0.8
_TAGGED = (PIAS.name, QCLIMB.name, PERFECT.name)
_SOURCE = "not in the paper"
_MEANS = {"Small flows' mean": setup.SHORT_MEAN, "All flows' mean": setup.ALL_MEAN}
FOUND_OF_EVENTS = 100 * 83 / 124
"""In percent: of the slides' 124 loss events of QCLIMB detection found 83; of pFabric's none."""


def _sizes(packets: int) -> tuple[str, ...]:
    """A part of the buffer for each of the eight ports."""
    return ("switch.sharing=sp", f"switch.buffer={8 * 1_500 * packets}B")


def _ports(packets: int) -> Point:
    """As many packets at each port, whatever the scheme."""
    of_scheme = dict.fromkeys(_TAGGED, _sizes(packets))
    of_scheme[PFABRIC.name] = (f"switch.sharing.limit={1_500 * packets}B",)
    return Point(
        {"packets": packets},
        (),
        {"packets": f"{packets} packets"},
        {"packets": f"{packets}"},
        of_scheme,
    )


LOST = Total("drops", "packets lost", "packets")
FOUND = Share(
    "right_detections",
    ("right_detections", "losses_by_timeout"),
    "repairs.all",
    "share of losses that were found, in percent",
)
"""Where senders number their packets the simulator knows which losses they have found."""
REPAIRED = Share(
    "repairs_by_detection",
    ("repairs_by_detection", "repairs_by_timeout"),
    "repairs.all",
    "share of repairs without a timeout, in percent",
)
"""The same for every way of finding losses; repairs that were not needed count, too."""

SIZES = Figure(
    name="qclimb/small-buffers",
    title=f"Small buffers: web search at {_LOAD:.0%}",
    source=_SOURCE,
    about="8 hosts of 25 Gbps. Each port has its own part of the buffer, whatever the priority; "
    "pFabric's ports keep as many packets, the best. " + setup.ABOUT,
    measure=setup.TESTBED,
    points=product(
        (WEBSEARCH.at(_LOAD, 200, tagged=_TAGGED),), tuple(_ports(packets) for packets in PACKETS)
    ),
    schemes=(PIAS, QCLIMB, PERFECT, PFABRIC),
    scales=setup.SCALES,
    plot=Lines(
        (
            Panel(setup.SHORT_MEAN, "(a) short flows, mean", is_log=True),
            Panel(setup.SHORT, "(b) short flows, p99", is_log=True),
            Panel(setup.ALL_MEAN, "(c) all flows, mean"),
            Panel(setup.FOUND, "(d) sent again, found lost"),
            Panel(setup.REPAIRS, "(e) sent again after timeouts"),
            Panel(LOST, "(f) packets lost"),
        ),
        "packets",
        "packets for each port",
    ),
    claims=(
        *gains.below_at_each(_MEANS, _SOURCE, ({"packets": packets} for packets in PACKETS)),
        Claim(
            "Small flows' mean is near that of perfect bounds, over buffers",
            _SOURCE,
            Excess(setup.SHORT_MEAN, QCLIMB.name, PERFECT.name),
            Within(0.03, within=1.0),
        ),
        *(
            Claim(
                f"Losses that detection finds under {scheme}",
                SLIDE,
                Plain(FOUND, scheme),
                Beside(paper),
                Over({"packets": packets}),
            )
            for scheme, paper in ((QCLIMB.name, FOUND_OF_EVENTS), (PIAS.name, None))
            for packets in PACKETS[:3]
        ),
        Claim(
            "Repairs that pFabric makes without a timeout",
            SLIDE,
            Plain(REPAIRED, PFABRIC.name),
            Beside(0.0),
            Over({"packets": 240}),
        ),
    ),
    is_of_paper=False,
    told_by="anything",
)

_LOSSES = "transport.loss_detection"
WAYS = (
    choice("three later packets of the priority"),
    choice("one later packet", "transport.dupthresh=1"),
    choice("worse priorities tell, too", "transport.or_worse=true"),
    choice("one later packet, worse ones too", "transport.dupthresh=1", "transport.or_worse=true"),
    choice("selective acks", f"{_LOSSES}=sack"),
    choice("duplicate acks", f"{_LOSSES}=duplicate-acks"),
    choice("timeouts alone", f"{_LOSSES}=timeout-only"),
    choice("repairs first", "transport.tagging.repairs=as-first"),
    choice("first window 10 packets", "transport.initial_window=10pkt"),
    choice("least timeout 200 us", "transport.min_rto=200us", "transport.initial_rto=200us"),
)
"""Ways to find losses, and what else may decide how small flows fare where packets are lost."""

FINDING = Figure(
    name="qclimb/finding-losses",
    title=f"How losses are found: web search at {_LOAD:.0%}, 240 packets for each port",
    source=_SOURCE,
    about="8 hosts of 25 Gbps; each port has 240 packets, as in PIAS's program. A row for each way "
    "to find losses. " + setup.ABOUT,
    measure=setup.TESTBED,
    points=product(
        (WEBSEARCH.at(_LOAD, 200, tagged=_TAGGED[:2]),), (Point({}, _sizes(240)),), WAYS
    ),
    schemes=(PIAS, QCLIMB),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.FOUND, setup.REPAIRS), "choice"),
    claims=(
        *gains.below_at_each(_MEANS, _SOURCE, (point.values for point in WAYS)),
        *(
            Claim(
                "Repairs without a timeout",
                SLIDE,
                Plain(REPAIRED, scheme),
                Beside(FOUND_OF_EVENTS if scheme == QCLIMB.name else None),
                Over(point.values),
            )
            for scheme in _TAGGED[:2]
            for point in WAYS
        ),
    ),
    is_of_paper=False,
    told_by="anything",
)

FIGURES = (SIZES, FINDING)
