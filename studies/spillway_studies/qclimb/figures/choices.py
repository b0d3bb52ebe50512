"""What the slides leave open: each is made another way, once."""

from __future__ import annotations

from dataclasses import replace

from spillway_studies.claims import Claim, Figure, Metric, Number, Point, Variants, choice, product
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.bounds import BEST
from spillway_studies.qclimb.figures.setup import (
    FACE_VALUE,
    PERFECT,
    PFABRIC,
    PIAS,
    QCLIMB,
    WEBSEARCH,
    ladder,
)

_TAGGING = "transport.tagging"
_LOSSES = "transport.loss_detection"
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
    choice("worse priorities tell of losses too", "transport.or_worse=true"),
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
    choice("min RTO 10 ms", "transport.min_rto=10ms", "transport.initial_rto=10ms"),
    choice("max RTO 10 ms", "transport.max_rto=10ms"),
    choice("least window two packets", "transport.min_window=2pkt"),
    choice("a loss cuts as much as a mark", "transport.loss_cut=alpha"),
    choice("small flows have at most 10 KB", "record.short=10KB"),
    choice("NICs send flows in turn", "nic.scheduling=per-flow-rr"),
    choice("NICs mark at 65 packets and hold 240", *MARKING_NICS),
    choice("windows grow only with a short NIC queue", "transport.host_backlog=1bdp"),
    choice("links of 1 us", "topology.link_delay=1us", "topology.base_rtt=5us"),
    choice("marks from 200 packets", "switch.aqm.threshold=200pkt"),
    choice("NewReno with ECN", "transport.kind=newreno", "transport.ecn=true"),
    choice("one later packet tells of a loss", "transport.dupthresh=1"),
    choice("numbers take no bytes", "transport.number_bytes=0B"),
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
    choice("cuts take effect ack by ack", "transport.reduction=proportional"),
    choice("a mark's cut counts for a loss, too", "transport.cut_once=true"),
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
