"""Figure 1: Cubic, DCTCP and theta-PowerTCP in priorities of their own, over the load of Cubic."""

from dataclasses import replace

from spillway_studies.cbm.figures.wastage import FREE_WHEN_LOST
from spillway_studies.claims import (
    Apart,
    Claim,
    Figure,
    Lines,
    Near,
    Number,
    Over,
    Panel,
    Reduction,
    Run,
    Scale,
    Scheme,
    Tail,
    along,
)
from spillway_studies.claims.samples import SECTION

# The network, the schemes, the percentiles --------------------------------------------------------


RUN = Run("cbm", ("record.drops=true",), also="spillway_studies.cbm.figures.wastage:numbers")
"""The network and traffic of section 3; the scenario's file says what is not in the text."""


def run(*assignments: str) -> Run:
    """The same with further assignments."""
    return replace(RUN, assignments=(*RUN.assignments, *assignments))


UNCONTROLLED = (
    'traffic.incast={name="incast", kind="incast", places="24..31", priority=3, '
    'queries_per_host_per_s=8, burst="30%", fan_in=8, senders="next-rack", '
    'transport="timely", min_rate="10Gbps"}'
)
"""Incast at the line's rate: TIMELY's least rate leaves it nothing to control."""

STRICT = ("switch.scheduling=strict",)
"""Queues in the order of their numbers: acks, Cubic, DCTCP, theta-PowerTCP."""

# The text gives no alpha. Half for data and 64 for first round trips are ABM's; its program has 1
# for the queue of acks.
DT = Scheme("DT", ("switch.sharing=dt", "switch.sharing.alpha=[1, 0.5]"), style=0)
ABM = Scheme(
    "ABM",
    (
        "switch.sharing=abm",
        "switch.sharing.alpha=[1, 0.5]",
        "switch.sharing.alpha_first_rtt=64",
    ),
    style=1,
)
CBM = Scheme("CBM", ("switch.sharing=cbm", "switch.sharing.alpha=0.5"), style=3)
PER_PORT = Scheme(
    "CBM, B of a port",
    ("switch.sharing=cbm", "switch.sharing.alpha=0.5", "switch.sharing.buffer_of=port"),
    style=4,
)
ALL = (DT, ABM, CBM, PER_PORT)

CUBIC = Tail(SECTION + "cubic", 0.99)
DCTCP = Tail(SECTION + "dctcp", 0.99)
INCAST = Tail(SECTION + "incast", 0.99)
OCCUPANCY = Number("buffer_occupancy.p99", "buffer occupancy p99", "% of the buffer", 100)

PANELS = (
    Panel(CUBIC, "(a) Cubic, p99", is_log=True),
    Panel(DCTCP, "(b) DCTCP, p99", is_log=True),
    Panel(INCAST, "(c) theta-PowerTCP, p99", is_log=True),
    Panel(OCCUPANCY, "(d) leaf buffers, p99"),
    Panel(FREE_WHEN_LOST, "(e) free when a byte is lost"),
)

# 512 queries per second are expected: 460 in 0.9 s.
SCALES = {
    "quick": Scale((1, 2, 3), ("duration=300ms",)),
    "full": Scale((1, 2, 3, 4, 5), ("duration=3s",)),
}
HEADLINES = SCALES | {"page": SCALES["full"]}
"""The scales of figures that the abstract rests on."""

ABOUT = (
    "The text names no percentile: the 99th is that of the like figure of ABM, by the same "
    "authors. Nor alpha, nor the incast: choices, in the scenario's file."
)


# The figure ---------------------------------------------------------------------------------------


LOADS = along(
    "load",
    (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "traffic.cubic.load={}",
    label="Cubic at {:.0%}",
    tick="{:.0%}",
)
_SECTION_3 = "section 3, Figure 1"
_PERCENTILE = "the percentile: the text has none, and three were tried"
_MUCH = 0.1
"""The improvement that "significantly" requires: a tenth."""


def _claim(
    what: str, metric: Tail, scheme: Scheme, old: Scheme, number: float, over: Over
) -> Claim:
    reduction = Reduction(metric, new=scheme.name, old=old.name)
    says = f"{what} finish sooner than under {old.name}"
    return Claim(says, _SECTION_3, reduction, Near(number), over)


def _claims(scheme: Scheme, p: float = 0.99) -> tuple[Claim, ...]:
    """The paper's claims about CBM, applied to this form of it and to this percentile."""
    cubic, dctcp, incast = (replace(tail, p=p) for tail in (CUBIC, DCTCP, INCAST))
    at_10, at_30, at_50 = (Over({"load": load}) for load in (0.1, 0.3, 0.5))
    best = Over(take="largest")
    claims = (
        _claim("With Cubic at 50%, its flows", cubic, scheme, ABM, 0.118, at_50),
        _claim("With Cubic at 50%, its flows", cubic, scheme, DT, 0.6372, at_50),
        _claim("With Cubic at 10%, theta-PowerTCP's", incast, scheme, ABM, 0.4507, at_10),
        _claim("With Cubic at 30%, theta-PowerTCP's", incast, scheme, ABM, 0.2889, at_30),
        _claim("With Cubic at 30%, theta-PowerTCP's", incast, scheme, DT, 0.9344, at_30),
        _claim("At best, DCTCP's flows", dctcp, scheme, ABM, 0.3473, best),
        _claim("At best, DCTCP's flows", dctcp, scheme, DT, 0.5279, best),
    )
    ahead = (
        Claim(
            f"At every load, theta-PowerTCP's flows finish sooner than under {old.name}",
            _SECTION_3,
            Reduction(incast, new=scheme.name, old=old.name),
            Apart(),
            Over(take="each"),
        )
        for old in (ABM, DT)
    )
    grows = (
        Claim(
            f"As Cubic's load increases, so does what its flows save of {old.name}'s slowdown",
            _SECTION_3,
            Reduction(cubic, new=scheme.name, old=old.name),
            Apart(_MUCH),
            Over(take="growth"),
        )
        for old in (ABM, DT)
    )
    return tuple(
        replace(claim, variant=scheme.name, exploratory=_PERCENTILE)
        for claim in (*claims, *ahead, *grows)
    )


def _wastage(scheme: Scheme) -> tuple[Claim, ...]:
    """The claim about buffer wastage that the text makes of such algorithms."""
    return tuple(
        Claim(
            f"At every load less of the buffer is unused when something is lost than under {name}",
            'section 2: "minimal buffer wastage"',
            Reduction(FREE_WHEN_LOST, new=scheme.name, old=name),
            Apart(),
            Over(take="each"),
            variant=scheme.name,
        )
        for name in (ABM.name, DT.name)
    )


FIGURE = Figure(
    name="cbm/figure1",
    title="Cubic, DCTCP and theta-PowerTCP in priorities of their own",
    source="CBM (CoNEXT-SW 2024), Figure 1, section 3",
    about='"B represents the available buffer per port" is read both ways. ' + ABOUT,
    measure=RUN,
    points=LOADS,
    schemes=ALL,
    scales=HEADLINES,
    plot=Lines(PANELS, "load", "load of Cubic, of the uplinks"),
    claims=tuple(
        claim for scheme in (CBM, PER_PORT) for claim in (*_claims(scheme), *_wastage(scheme))
    ),
)

WITHOUT_CONTROL = replace(
    FIGURE,
    name="cbm/figure1-uncontrolled",
    title="The same, with incast senders that know no congestion control",
    source="CBM (CoNEXT-SW 2024), Figure 1, as the program that it rests on runs it",
    about="In ABM's public program the parameters of theta-PowerTCP are set where nothing reads "
    "them: its senders send at their line's rate, whatever is delayed or lost. Here TIMELY does, "
    "whose least rate is that of the line; what is lost it repairs. " + ABOUT,
    measure=run(UNCONTROLLED),
    scales=SCALES,
    plot=Lines(
        tuple(
            replace(panel, title=panel.title.replace("theta-PowerTCP", "incast"))
            for panel in PANELS
        ),
        "load",
        "load of Cubic, of the uplinks",
    ),
    is_of_paper=False,
)


def _at(name: str, p: float) -> Figure:
    """The same runs with another percentile."""
    panels = tuple(
        Panel(replace(panel.metric, p=p), panel.title.replace("p99", f"p{100 * p:g}"), is_log=True)
        for panel in PANELS
        if isinstance(panel.metric, Tail)
    )
    return replace(
        FIGURE,
        name=f"cbm/figure1-{name}",
        title=f"The same, at the {100 * p:g}th percentile",
        plot=Lines(panels, "load", "load of Cubic, of the uplinks"),
        claims=(*_claims(CBM, p), *_claims(PER_PORT, p)),
        is_of_paper=False,
    )


OTHER_PERCENTILES = (_at("p95", 0.95), _at("p999", 0.999))
