"""Where packets are lost: small buffers, and queries that many hosts answer."""

from dataclasses import replace

from spillway_studies.claims import (
    Beside,
    Claim,
    Excess,
    Figure,
    Lines,
    MeanTime,
    Number,
    Over,
    Panel,
    Plain,
    Point,
    Share,
    Total,
    Variants,
    Within,
    along,
    choice,
    product,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import PERFECT, PFABRIC, PIAS, QCLIMB, WEBSEARCH

# Small buffers, by their size and by how losses are found -----------------------------------------


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
                gains.SLIDE,
                Plain(FOUND, scheme),
                Beside(paper),
                Over({"packets": packets}),
            )
            for scheme, paper in ((QCLIMB.name, FOUND_OF_EVENTS), (PIAS.name, None))
            for packets in PACKETS[:3]
        ),
        Claim(
            "Repairs that pFabric makes without a timeout",
            gains.SLIDE,
            Plain(REPAIRED, PFABRIC.name),
            Beside(0.0),
            Over({"packets": 240}),
        ),
    ),
    is_of_paper=False,
    told_by="anything",
)

_LOSSES = "transport.recovery"
WAYS = (
    choice("three later packets of the priority"),
    choice("one later packet", "transport.recovery.dupthresh=1"),
    choice("worse priorities tell, too", "transport.recovery.or_worse=true"),
    choice(
        "one later packet, worse ones too",
        "transport.recovery.dupthresh=1",
        "transport.recovery.or_worse=true",
    ),
    choice("selective acks", f"{_LOSSES}=sack"),
    choice("duplicate acks", f"{_LOSSES}=duplicate-acks"),
    choice("timeouts alone", f"{_LOSSES}=timeout-only"),
    choice("repairs first", "transport.tagging.repairs=as-first"),
    choice("first window 10 packets", "transport.initial_window=10pkt"),
    choice(
        "least timeout 200 us",
        "transport.recovery.min_rto=200us",
        "transport.recovery.initial_rto=200us",
    ),
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
                gains.SLIDE,
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


# Queries: several hosts answer one at once, while web search is on its way ------------------------


FAN_INS = (8, 16, 32, 64, 128)
"""How many of the 144 hosts answer a query."""
QUERY = "1MB"
"""All answers to a query together, so that the load is the same at every fan-in."""
_BOUND = "bound = { kind = 'uniform', least = 0.8 }"
_TRAFFIC = (
    "traffic=[{ name = 'websearch', kind = 'poisson', sizes = 'websearch-pfabric', load = 0.6, "
    f"destinations = 'uniform', {_BOUND} }}, "
    f"{{ name = 'queries', kind = 'incast', burst = '{QUERY}', fan_in = 8, load = 0.02, "
    f"senders = 'any', {_BOUND} }}]"
)
"""The scenario's web search, and queries of 2% of the uplinks: 180 in a run."""

_BACKGROUND = WEBSEARCH.at(0.6, 3_600, spines=True, tagged=_TAGGED)
_NO_BOUNDS = Point({}, of_scheme={PFABRIC.name: ("traffic.queries.bound=none",)})
_POINTS = product(
    (_BACKGROUND,),
    (_NO_BOUNDS,),
    along("fan_in", FAN_INS, "traffic.queries.fan_in={}", label="{} answers", tick="{}"),
)
_SMALL = Point(
    {},
    of_scheme=dict.fromkeys(
        _TAGGED,
        ("switch.sharing=sp", "switch.leaf.buffer=7200KB", "switch.spine.buffer=3240KB"),
    ),
)
"""240 packets of 1,500 bytes for each of 20 and 9 ports, as in PIAS's program."""

MEAN = Number("query_us.mean", "queries' mean completion time", "ms", 1e-3)
_TAIL = Number("query_us.p95", "queries' p95 completion time", "ms", 1e-3)


_TIMES = (
    (MEAN, "(a) queries, mean"),
    (_TAIL, "(b) queries, p95"),
    (MeanTime("incast"), "(c) single answers, mean"),
)
_SHORT = Panel(setup.SHORT_MEAN, "(d) web search's short flows, mean")
_AXIS = "answers to a query, 1 MB in all"


_CLAIMS = (
    *(
        claim
        for other in (PIAS.name, PFABRIC.name)
        for claim in gains.below_at_each(
            {"Queries' mean": MEAN}, _SOURCE, ({"fan_in": fan_in} for fan_in in FAN_INS), other
        )
    ),
    Claim(
        "Queries' mean is near that of perfect bounds, over fan-ins",
        _SOURCE,
        Excess(MEAN, QCLIMB.name, PERFECT.name),
        Within(0.03, within=1.0),
    ),
    gains.below(
        "The mean of web search's short flows is below PIAS's, over fan-ins",
        _SOURCE,
        setup.SHORT_MEAN,
    ),
)

_ABOUT = (
    "144 hosts, leaf-spine, 40 and 100 Gbps. Web search fills 60% of the uplinks, queries 2%: "
    f"so many other hosts answer at once, {QUERY} in all. "
)

_SHARED = Figure(
    name="qclimb/fan-in",
    title="Queries that more and more hosts answer at once",
    source=_SOURCE,
    about=_ABOUT + setup.ABOUT,
    measure=replace(setup.SIMULATION, assignments=(*setup.SIMULATION.assignments, _TRAFFIC)),
    points=_POINTS,
    schemes=(PIAS, QCLIMB, PERFECT, PFABRIC),
    scales=setup.SCALES,
    plot=Lines((*(Panel(metric, title) for metric, title in _TIMES), _SHORT), "fan_in", _AXIS),
    claims=_CLAIMS,
    is_of_paper=False,
    told_by="anything",
)

FAN_IN = (
    _SHARED,
    replace(
        _SHARED,
        name="qclimb/fan-in-small-buffers",
        title="The same queries with 240 packets for each port",
        about=_ABOUT + "Each port has 240 packets, but pFabric's its own two BDPs. " + setup.ABOUT,
        points=product(_POINTS, (_SMALL,)),
        plot=Lines(
            (
                *(Panel(metric, title, is_log=True) for metric, title in _TIMES),
                _SHORT,
                Panel(setup.FOUND, "(e) sent again, found lost"),
                Panel(setup.REPAIRS, "(f) sent again after timeouts"),
            ),
            "fan_in",
            _AXIS,
        ),
    ),
)
