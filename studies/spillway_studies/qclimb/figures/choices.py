"""What the slides leave open: each is made another way, once."""

import itertools
from dataclasses import replace

from spillway_studies.claims import Claim, Figure, Metric, Number, Point, Variants, choice, product
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.bounds import BEST
from spillway_studies.qclimb.figures.setup import (
    DATAMINING,
    FACE_VALUE,
    PERFECT,
    PFABRIC,
    PIAS,
    QCLIMB,
    WEBSEARCH,
    ladder,
)

_TAGGING = "transport.tagging"
_LOSSES = "transport.recovery"
_APART = ("switch.queues_per_port=9", "nic.queues=9", "switch.data_queue=8", "nic.data_queue=8")
_CLIMBING = (QCLIMB.name, PERFECT.name)
_TAGGED = (PIAS.name, *_CLIMBING)

LADDERS = {
    "the published": ladder(WEBSEARCH.published(0.8)),
    # In packets of 1,460 bytes these are 909, 1,329, 1,648, 1,960, 2,143, 2,337 and 2,484.
    "half the published": ladder(730 * n for n in (909, 1329, 1648, 1960, 2143, 2337, 2484)),
    "the best": ladder(BEST["websearch"]),
}
"""Thresholds for web search at 80%: PIAS's, half of them, and those that are found."""
_FOUR = ladder(1460 * packets for packets in (909, 1648, 2143))
"""The first, third and fifth of the published thresholds: four levels."""
_PORTS_AQM = (
    "{kind='ecn',threshold='65pkt',at_threshold='pass',scope='port',marks_at='arrival',"
    "not_ect='pass'}"
)
MARKING_NICS = (f"nic.aqm={_PORTS_AQM}", "nic.queue_limit=240pkt")
"""NICs that mark and drop as those of PIAS's program."""
_FACE_VALUE = FACE_VALUE.assignments


def _up(up: str) -> dict[str, tuple[str, ...]]:
    """Flows climb by these thresholds, and sink by the published ones."""
    return dict.fromkeys(_CLIMBING, (f"{_TAGGING}.up={LADDERS[up]}",))


def _both(down: str, up: str) -> dict[str, tuple[str, ...]]:
    """Flows sink by the first thresholds, PIAS's too, and climb by the second."""
    sinks = f"{_TAGGING}.thresholds={LADDERS[down]}"
    return {PIAS.name: (sinks,), **{name: (sinks, *sets) for name, sets in _up(up).items()}}


def _flux(thresholds: str) -> dict[str, tuple[str, ...]]:
    """In QCLIMB's place: SRPT in these levels, by predictions."""
    return {
        QCLIMB.name: (setup.tagger("srpt"), f"{_TAGGING}.thresholds={LADDERS[thresholds]}"),
    }


CHOICES = (
    choice("as in the scenario"),
    choice("the packet itself counts", f"{_TAGGING}.counts_packet=true"),
    choice("no way back after timeouts", f"{_TAGGING}.reset_after=0"),
    choice("acks in a queue of their own", f"{_TAGGING}.acks=apart", *_APART),
    choice("repairs as the next packet", f"{_TAGGING}.repairs=as-next"),
    choice("repairs first", f"{_TAGGING}.repairs=as-first"),
    choice("up by half the thresholds", of=_up("half the published")),
    choice("up by the best thresholds", of=_up("the best")),
    *(
        choice(f"down by {down}, up by {up}", of=_both(down, up))
        for down in ("half the published", "the best")
        for up in LADDERS
    ),
    choice("bounds at face value", *_FACE_VALUE),
    choice(
        "bounds at face value, the best thresholds", *_FACE_VALUE, of=_both("the best", "the best")
    ),
    choice("predictions as sizes, as in Flux", *_FACE_VALUE, of=_flux("the published")),
    choice(
        "predictions as sizes, as in Flux, the best thresholds",
        *_FACE_VALUE,
        of={**_both("the best", "the best"), **_flux("the best")},
    ),
    choice("worse priorities tell of losses too", "transport.recovery.or_worse=true"),
    choice("losses by selective acks", f"{_LOSSES}=sack"),
    choice("losses by duplicate acks", f"{_LOSSES}=duplicate-acks"),
    choice("losses by time (RACK)", f"{_LOSSES}=rack"),
    choice("losses by timeouts alone", f"{_LOSSES}=timeout-only"),
    choice("bounds from 0", "traffic.websearch.bound={kind='uniform',least=0.0}"),
    choice("bounds of 1.6 KB", "traffic.websearch.bound={kind='constant',size='1.6KB'}"),
    choice("alpha begins at 0", "transport.alpha0=0.0"),
    choice("first window 10 packets", "transport.initial_window=10pkt"),
    choice("marks by queue", "switch.aqm.scope=queue"),
    choice("240 packets for each port", "switch.sharing=sp", "switch.buffer=2880KB"),
    choice(
        "min RTO 10 ms", "transport.recovery.min_rto=10ms", "transport.recovery.initial_rto=10ms"
    ),
    choice("max RTO 10 ms", "transport.recovery.max_rto=10ms"),
    choice("least window two packets", "transport.min_window=2pkt"),
    choice("a loss cuts as much as a mark", "transport.loss_cut=alpha"),
    choice("small flows have at most 10 KB", "record.short=10KB"),
    choice("NICs send flows in turn", "nic.scheduling=per-flow-rr"),
    choice("NICs mark at 65 packets and hold 240", *MARKING_NICS),
    choice("windows grow only with a short NIC queue", "transport.host_backlog=1bdp"),
    choice("links of 1 us", "topology.link_delay=1us", "topology.base_rtt=5us"),
    choice("marks from 200 packets", "switch.aqm.threshold=200pkt"),
    choice("NewReno with ECN", "transport.kind=newreno", "transport.ecn=true"),
    choice("one later packet tells of a loss", "transport.recovery.dupthresh=1"),
    choice("numbers take no bytes", "transport.recovery.number_bytes=0B"),
    choice("PIAS finds losses by timeouts alone", of={PIAS.name: (f"{_LOSSES}=timeout-only",)}),
    choice("four levels", of=dict.fromkeys(_TAGGED, (f"{_TAGGING}.thresholds={_FOUR}",))),
    choice("DT with a quarter of the free buffer", "switch.sharing.alpha=0.25"),
    choice("alpha follows marks fast (g 1/4)", "transport.g=0.25"),
    choice("alpha follows marks slowly (g 1/256)", "transport.g=0.00390625"),
    choice("marks count where packets arrive, as in Linux", "transport.share_of=delivered"),
    choice("a handshake opens connections", "transport.handshake=true"),
    choice("connections stay open", "transport.connections=open"),
    choice(
        "connections stay open, each flow begins with the first window",
        *("transport.connections=open", "transport.restart_each=true"),
    ),
    choice("cuts take effect ack by ack", "transport.recovery.reduction=proportional"),
    choice("a mark's cut counts for a loss, too", "transport.recovery.cut_once=true"),
)


def _claims(choices: tuple[Point, ...]) -> tuple[Claim, ...]:
    """For each choice: that small flows' mean, and their tail, are below PIAS's."""
    metrics: dict[str, Metric] = {
        "Small flows' mean": setup.SHORT_MEAN,
        "Small flows' tail": setup.SHORT,
    }
    return gains.below_at_each(metrics, "slide 23, testbed", (point.values for point in choices))


FIGURE = Figure(
    name="qclimb/choices",
    title="What the slides leave open: web search at 80%",
    source="QCLIMB (NSDI 2024), slides",
    about="8 hosts of 25 Gbps; a row for each choice that is made another way. " + setup.ABOUT,
    measure=setup.TESTBED,
    points=product((WEBSEARCH.at(0.8, 200, tagged=_TAGGED),), CHOICES),
    schemes=(PIAS, QCLIMB, PERFECT),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.SHORT, setup.LONG_MEAN, setup.FOUND), "choice"),
    claims=_claims(CHOICES),
    is_of_paper=False,
    told_by="anything",
)

SPRAYED = (
    choice("one path for each flow"),
    choice("packets sprayed", "routing.kind=spray"),
    choice(
        "packets sprayed, losses by timeouts alone",
        "routing.kind=spray",
        of=dict.fromkeys(_TAGGED, (f"{_LOSSES}=timeout-only",)),
    ),
)
"""pFabric knows of losses by timeouts alone in any case; its own simulations spray packets."""
_WRONG = Number(
    "repairs.all.wrong_detections", "packets found lost that were on their way", "packets"
)

SPRAYING = replace(
    FIGURE,
    name="qclimb/spraying",
    title="Packets of a flow on several paths: web search at 80%",
    about="144 hosts, leaf-spine, 40 and 100 Gbps; a row for each way of spreading packets. "
    + setup.ABOUT,
    measure=setup.SIMULATION,
    points=product((WEBSEARCH.at(0.8, 3_600, spines=True, tagged=_TAGGED),), SPRAYED),
    schemes=(PIAS, QCLIMB, PERFECT, PFABRIC),
    plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.LONG_MEAN, _WRONG), "choice"),
    claims=(
        *_claims(SPRAYED),
        *gains.below_at_each(
            {"Small flows' mean": setup.SHORT_MEAN, "All flows' mean": setup.ALL_MEAN},
            *("abstract", (point.values for point in SPRAYED), PFABRIC.name),
        ),
    ),
)


# The simulated network ----------------------------------------------------------------------------


_WITHOUT_BOUNDS = (PIAS.name, QCLIMB.name)


def _of_tagged(*assignments: str) -> dict[str, tuple[str, ...]]:
    """Assignments for PIAS and QCLIMB alone. pFabric has buffers, NICs and windows of its own."""
    return dict.fromkeys(_WITHOUT_BOUNDS, assignments)


_SIMULATED = (
    choice("as in the scenario"),
    choice(
        "12 leaves, 5 spines",
        *("topology.leaves=12", "topology.hosts_per_leaf=12", "topology.spines=5"),
    ),
    choice("buffers of 4 MB", of=_of_tagged("switch.buffer=4MB")),
    choice("buffers of 64 MB", of=_of_tagged("switch.buffer=64MB")),
    choice(
        "links of 250 ns",
        *("topology.link_delay=250ns", "topology.base_rtt=2.9us"),
        of={PFABRIC.name: ("nic.queue_limit=29KB",)},
    ),
    choice("first window 10 packets", of=_of_tagged("transport.initial_window=10pkt")),
    choice("NICs mark at 65 packets and hold 240", of=_of_tagged(*MARKING_NICS)),
    choice(
        "pFabric: all ports have two BDPs of hosts' lines",
        of={PFABRIC.name: ("switch.sharing={kind='pfabric',limit='89KB'}",)},
    ),
    choice(
        "pFabric: windows of one BDP at most", of={PFABRIC.name: ("transport.max_window=1bdp",)}
    ),
    choice("pFabric: timeout ten round trips", of={PFABRIC.name: ("transport.rto=10rtt",)}),
)

OF_SIMULATION = Figure(
    name="qclimb/simulation-choices",
    title="What the slides leave open of the simulated network: web search at 80%",
    source="QCLIMB (NSDI 2024), slides",
    about="144 hosts, leaf-spine, 40 and 100 Gbps; a row for each choice that is made another way. "
    + setup.ABOUT,
    measure=setup.SIMULATION,
    points=product(
        (WEBSEARCH.at(0.8, 3_600, spines=True, settled=True, tagged=_WITHOUT_BOUNDS),), _SIMULATED
    ),
    schemes=(PIAS, QCLIMB, PFABRIC),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.LONG_MEAN, setup.SHORT), "choice"),
    claims=(
        *gains.below_at_each(
            {"Small flows' mean": setup.SHORT_MEAN, "Small flows' tail": setup.SHORT},
            "slide 26, simulation",
            (point.values for point in _SIMULATED),
        ),
        *gains.below_at_each(
            {"Small flows' mean": setup.SHORT_MEAN, "All flows' mean": setup.ALL_MEAN},
            *("abstract", (point.values for point in _SIMULATED), PFABRIC.name),
        ),
    ),
    is_of_paper=False,
    told_by="anything",
)


# How much the distance to pFabric depends on pFabric's own keys -----------------------------------


_LOADS = (0.6, 0.8)


def _own(*assignments: str) -> dict[str, tuple[str, ...]]:
    """Assignments for pFabric alone."""
    return {PFABRIC.name: assignments}


_OF_PFABRIC = (
    choice("as in the other figures"),
    choice("timeout six round trips", of=_own("transport.rto=6rtt")),
    choice("timeout ten round trips", of=_own("transport.rto=10rtt")),
    choice("timeout 2 ms, the others' least", of=_own("transport.rto=2ms")),
    choice("windows of one BDP at most", of=_own("transport.max_window=1bdp")),
    choice(
        "windows of two BDPs from the beginning",
        of=_own("transport.initial_window=2bdp", "transport.max_window=2bdp"),
    ),
    choice("ports of one BDP", of=_own("switch.sharing={kind='pfabric',limit='1bdp'}")),
    choice("ports of four BDPs", of=_own("switch.sharing={kind='pfabric',limit='4bdp'}")),
    choice("NICs of one BDP", of=_own("nic.queue_limit=128KB")),
    choice("NICs that hold all", of=_own("nic.queue_limit=unlimited")),
    choice("remaining size is what is unsent", of=_own("transport.remaining=unsent")),
    choice("senders know what has arrived", of=_own("transport.knows_receiver=true")),
    choice("no probes", of=_own("transport.probe_after=0")),
    choice(
        "timeout ten round trips, NICs that hold all",
        of=_own("transport.rto=10rtt", "nic.queue_limit=unlimited"),
    ),
)
"""The first is what the scenario and `setup.PFABRIC` have."""


OF_PFABRIC = Figure(
    name="qclimb/pfabric-choices",
    title="How near is pFabric, with other keys of its own? Web search, 8 hosts of 25 Gbps",
    source="QCLIMB (NSDI 2024), abstract",
    about="A row for each key of pFabric that is set otherwise; QCLIMB's runs stay the same. "
    + setup.ABOUT,
    measure=setup.TESTBED,
    points=product(
        (WEBSEARCH.at(load, 200, settled=True, tagged=(QCLIMB.name,)) for load in _LOADS),
        _OF_PFABRIC,
    ),
    schemes=(QCLIMB, PFABRIC),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.LONG_MEAN, setup.SHORT), "choice"),
    claims=gains.near_pfabric_by_choice(_OF_PFABRIC),
    is_of_paper=False,
    told_by="anything",
)


# Why all flows take longer than under pFabric with data mining's sizes: levels and windows --------


_LEVELS = setup.ladder(round(2e6 * 350 ** (k / 6)) for k in range(7))
"""From 2 MB to 700 MB by equal factors: seven thresholds among the sizes of long flows."""

_CHANGES = {
    "long flows in levels": (f"transport.tagging.thresholds={_LEVELS}",),
    "timeouts from 200 ms on": (
        "transport.recovery.initial_rto=200ms",
        "transport.recovery.min_rto=200ms",
    ),
    "no marks": ("switch.aqm=none", "switch.buffer=unlimited"),
}
"""What is done differently, by QCLIMB alone. Without marks buffers must hold all."""


def _with(names: tuple[str, ...]) -> Point:
    """The point with these changes."""
    sets = tuple(text for name in names for text in _CHANGES[name])
    return choice(", ".join(names) or "as in the other figures", of={QCLIMB.name: sets})


_COMBINED = tuple(
    _with(names) for count in range(4) for names in itertools.combinations(_CHANGES, count)
)
"""All combinations; the first is what the scenario has."""

LEVELS_AND_WINDOWS = Figure(
    name="qclimb/levels-and-windows",
    title="What keeps long flows from pFabric's times? Data mining, 8 hosts of 25 Gbps",
    source="QCLIMB (NSDI 2024), abstract",
    about="QCLIMB with other thresholds, timeouts and marks; pFabric's runs stay the same. "
    + setup.ABOUT,
    measure=setup.TESTBED,
    points=product(
        (DATAMINING.at(0.8, 200, settled=True, tagged=(QCLIMB.name,)),),
        _COMBINED,
    ),
    schemes=(QCLIMB, setup.PFABRIC),
    scales=setup.SCALES,
    plot=Variants((setup.ALL_MEAN, setup.LONG_MEAN, setup.SHORT_MEAN, setup.SHORT), "choice"),
    claims=gains.near_pfabric_by_choice(_COMBINED),
    is_of_paper=False,
    told_by="anything",
)
