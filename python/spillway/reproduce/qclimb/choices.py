"""What the slides leave open: each is made another way, once."""

from spillway.reproduce.claim import Claim, Over, Reduction
from spillway.reproduce.draw import Variants
from spillway.reproduce.figure import Figure, choice, product
from spillway.reproduce.qclimb import setup
from spillway.reproduce.qclimb.setup import PERFECT, PIAS, QCLIMB, WEBSEARCH
from spillway.reproduce.verdict import Apart

_TAGGING = "transport.tagging"
_LOSSES = "transport.loss_detection"
_APART = ("switch.queues_per_port=9", "nic.queues=9", "switch.data_queue=8", "nic.data_queue=8")
_CLIMBING = (QCLIMB.name, PERFECT.name)
_TAGGED = (PIAS.name, *_CLIMBING)
_HALVES = ",".join(f"'{730 * packets}B'" for packets in (909, 1329, 1648, 1960, 2143, 2337, 2484))
"""Half of PIAS's thresholds for this load, which are in packets of 1,460 bytes."""

CHOICES = (
    choice("as in the scenario"),
    choice("the packet itself counts", f"{_TAGGING}.counts_packet=true"),
    choice("no way back after timeouts", f"{_TAGGING}.reset_after=0"),
    choice("acks in a queue of their own", f"{_TAGGING}.acks=apart", *_APART),
    choice("repairs as the next packet", f"{_TAGGING}.repairs=as-next"),
    choice("repairs first", f"{_TAGGING}.repairs=as-first"),
    choice(
        "up by half the thresholds",
        of=dict.fromkeys(_CLIMBING, (f"{_TAGGING}.up=[{_HALVES}]",)),
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
    choice("packets sprayed", "routing.kind=spray"),
    choice("NICs send flows in turn", "nic.scheduling=per-flow-rr"),
)

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
    claims=tuple(
        Claim(
            f"Small flows' {words} is below PIAS's",
            "slide 23, testbed",
            Reduction(metric, QCLIMB.name, PIAS.name),
            Apart(),
            Over(point.values),
        )
        for words, metric in (("mean", setup.SHORT_MEAN), ("tail", setup.SHORT))
        for point in CHOICES
    ),
    is_of_paper=False,
    told_by="anything",
)
