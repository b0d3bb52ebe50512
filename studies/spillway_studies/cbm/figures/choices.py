"""Choices that the paper leaves open: each is changed once."""

from dataclasses import replace

from spillway_studies.cbm.figures import figure1, setup
from spillway_studies.cbm.figures.setup import ABM, ABOUT, ALL, CBM, DT, PER_PORT
from spillway_studies.claims import Figure, Over, Variants, choice
from spillway_studies.references import abm_program


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
    choice("strict priorities", *setup.STRICT),
    replace(
        choice("spines with the leaves' buffer", "switch.spine.buffer=3.84MB"),
        exploratory="the spines' buffer: theta-PowerTCP's timeouts with it were known",
    ),
    choice("rings of 100 packets below the queues", "switch.port_fifo_packets=100"),
    choice(
        "min RTO 1 ms",
        "transport.min_rto=1ms",
        "traffic.dctcp.min_rto=1ms",
        "traffic.incast.min_rto=1ms",
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
    measure=setup.run("traffic.cubic.load=0.3"),
    points=CHOICES,
    schemes=ALL,
    scales=setup.SCALES,
    plot=Variants((setup.CUBIC, setup.DCTCP, setup.INCAST), "choice"),
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
