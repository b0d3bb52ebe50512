"""What the paper leaves open, and what it says without a figure."""

from dataclasses import replace
from functools import partial

from spillway_studies.cbm.figures import figure1
from spillway_studies.cbm.figures.figure1 import (
    ABM,
    ABOUT,
    ALL,
    CBM,
    CUBIC,
    DCTCP,
    DT,
    INCAST,
    PER_PORT,
)
from spillway_studies.cbm.figures.wastage import FREE_WHEN_LOST
from spillway_studies.claims import (
    Claim,
    Excess,
    Figure,
    NoGain,
    Over,
    Point,
    Scale,
    Variants,
    WithTimeout,
    choice,
)
from spillway_studies.claims.samples import SECTION
from spillway_studies.references import abm_program

# Choices: each is changed once --------------------------------------------------------------------


def _alpha(value: float) -> dict[str, tuple[str, ...]]:
    by_class = (f"switch.sharing.alpha=[1, {value}]",)
    plain = (f"switch.sharing.alpha={value}",)
    return {DT.name: by_class, ABM.name: by_class, CBM.name: plain, PER_PORT.name: plain}


def _of_cbm(assignment: str) -> dict[str, tuple[str, ...]]:
    return {CBM.name: (assignment,), PER_PORT.name: (assignment,)}


# In the program acks have the alpha of first packets.
_ABM_PROGRAM = ("switch.sharing.alpha=[1024, 0.5]", *abm_program.ALL)

AS_IT_IS = "as in the scenario"
CHOICES = (
    choice(AS_IT_IS),
    choice("alpha 0.25", of=_alpha(0.25)),
    choice("alpha 1", of=_alpha(1.0)),
    choice(
        "alpha 1024 for first packets",
        of=dict.fromkeys(
            (ABM.name, CBM.name, PER_PORT.name), ("switch.sharing.alpha_first_rtt=1024",)
        ),
    ),
    choice("burst 10%", "traffic.incast.burst=10%"),
    choice("burst 60%", "traffic.incast.burst=60%"),
    choice("fan-in 32", "traffic.incast.fan_in=32", "traffic.incast.senders=other-racks"),
    choice("DCTCP at 30%", "traffic.dctcp.load=0.3"),
    choice(
        "all hosts send everything",
        *(f'traffic.{name}.places="0..31"' for name in ("cubic", "dctcp", "incast")),
        "traffic.incast.queries_per_host_per_s=2",
    ),
    choice("weighted scheduling by bytes", "switch.scheduling=dwrr"),
    choice("strict priorities", *figure1.STRICT),
    replace(
        choice("spines with the leaves' buffer", "switch.spine.buffer=3.84MB"),
        exploratory="the spines' buffer: theta-PowerTCP's timeouts with it were known",
    ),
    choice("rings of 100 packets below the queues", "switch.port_fifo_packets=100"),
    choice(
        "min RTO 1 ms",
        "transport.recovery.min_rto=1ms",
        "traffic.dctcp.recovery.min_rto=1ms",
        "traffic.incast.recovery.min_rto=1ms",
    ),
    choice("K = 10 packets", "switch.aqm.threshold=10pkt"),
    choice("ABM as in its program", of={ABM.name: _ABM_PROGRAM}),
    choice("acks have a limit too", of=_of_cbm("switch.sharing.exempt_acks=false")),
    choice("the last packet is spared", of=_of_cbm("switch.sharing.spare_last=true")),
)

_AT_30 = tuple(claim for claim in figure1.FIGURE.claims if claim.over.where == {"load": 0.3})

FIGURE = Figure(
    name="cbm/choices",
    title="What the paper leaves open, made another way once",
    source="CBM (CoNEXT-SW 2024), section 3",
    about="Cubic at 30% of the uplinks. " + ABOUT,
    measure=figure1.run("traffic.cubic.load=0.3"),
    points=CHOICES,
    schemes=ALL,
    scales=figure1.SCALES,
    plot=Variants((figure1.CUBIC, figure1.DCTCP, figure1.INCAST), "choice"),
    claims=tuple(
        replace(
            claim,
            over=Over({"choice": point.values["choice"]}),
            variant=f"{claim.variant}, {point.values['choice']}",
        )
        for point in CHOICES
        for claim in _AT_30
    ),
    is_of_paper=False,
)


# Whether CBM needs to know drain rates: the same traffic, with queues drained differently ---------
#
# The paper has no such experiment. It says that drain rates, which ABM measures, depend on the
# scheduler, and that CBM does not depend on them.


_drained = partial(choice, axis="drained")
TWO_SPINES = ("topology.spines=2", "topology.fabric_rate=40Gbps")

WAYS = (
    _drained("in turns, by packets"),
    _drained("strict, Cubic first", *figure1.STRICT),
    _drained(
        "strict, theta-PowerTCP first",
        *figure1.STRICT,
        "traffic.incast.priority=1",
        "traffic.cubic.priority=3",
    ),
    # The queues of acks, Cubic, DCTCP and theta-PowerTCP.
    _drained("DWRR 4:2:1", 'switch.scheduling={kind="dwrr", weights=[1, 4, 2, 1]}'),
    # A leaf has the same uplink rate as before, on 2 ports instead of 8. A spine then has four
    # times the total rate and, with 9.6 KB per Gbps, four times the buffer; or the buffer that it
    # had.
    _drained("ports of 10 and of 40 Gbps", *TWO_SPINES),
    _drained("the same, spines of 768 KB", *TWO_SPINES, "switch.spine.buffer=768KB"),
)

RATES = Figure(
    name="cbm/rates",
    title="Ports that drain their queues in other ways",
    source="CBM (CoNEXT-SW 2024), section 2, which says so and shows nothing",
    about="Cubic at 30% of the uplinks. " + ABOUT,
    measure=figure1.run("traffic.cubic.load=0.3"),
    points=WAYS,
    schemes=(DT, ABM, CBM),
    scales=figure1.SCALES,
    plot=Variants((CUBIC, DCTCP, INCAST, FREE_WHEN_LOST), "drained"),
    claims=tuple(
        Claim(
            f"However queues are drained, {whose} flows take no longer than under ABM, which "
            "measures how fast they do",
            "sections 1 and 2: dequeue rate-agnostic",
            Excess(metric, new=CBM.name, old=ABM.name),
            NoGain(),
            Over(take="each"),
        )
        for whose, metric in (
            ("Cubic's", CUBIC),
            ("DCTCP's", DCTCP),
            ("theta-PowerTCP's", INCAST),
        )
    ),
    is_of_paper=False,
)


# How much a spine's buffer matters ----------------------------------------------------------------
#
# Answers of theta-PowerTCP are lost there. By the text a spine has 9.6 KB per port and Gbps,
# 768 KB. In ABM's public program the spine's ports to the leaves are charged to the leaf's pool, as
# if the spine had 3.84 MB.

BUFFERS = ("768KB", "3.84MB")


def _point(load: float, buffer: str) -> Point:
    where = f"Cubic at {load:.0%}, spines of {buffer}"
    sets = (f"traffic.cubic.load={load}", f"switch.spine.buffer={buffer}")
    return Point({"where": where}, sets, {"where": where})


SPINES = Figure(
    name="cbm/spines",
    title="Spines with the text's buffer and with that of ABM's program",
    source="CBM (CoNEXT-SW 2024), section 3; the buffer of ABM's program",
    about=ABOUT,
    measure=figure1.RUN,
    points=tuple(_point(load, buffer) for buffer in BUFFERS for load in (0.3, 0.4)),
    schemes=(DT, ABM, CBM),
    scales={
        "quick": Scale((1, 2, 3), ("duration=450ms",)),
        "full": figure1.SCALES["full"],
    },
    plot=Variants((WithTimeout(SECTION + "incast"), INCAST, replace(INCAST, p=0.999)), "where"),
    is_of_paper=False,
)
