"""QCLIMB beside PIAS, perfect bounds, predictions at face value, and pFabric."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from spillway_studies.claims import (
    Apart,
    Beside,
    Claim,
    Excess,
    Figure,
    Lines,
    Near,
    Number,
    Over,
    Panel,
    Plain,
    Run,
    TailTime,
    Within,
    WithTimeout,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import (
    FACE_VALUE,
    PERFECT,
    PFABRIC,
    PIAS,
    QCLIMB,
    WEBSEARCH,
    Workload,
)


def _judged(source: str, mean: float, tail: float) -> tuple[Claim, ...]:
    """The slides' claims about small flows, and whether the mechanism does what they say."""
    small, tails, most = setup.SHORT_MEAN, setup.SHORT, Over(take="largest")
    return (
        gains.below("Small flows' mean is below PIAS's, over loads", source, small),
        gains.below("Small flows' tail is below PIAS's, over loads", source, tails),
        gains.below("Small flows' mean is below PIAS's, up to", source, small, Near(mean), most),
        gains.below("Small flows' tail is below PIAS's, up to", source, tails, Near(tail), most),
        Claim(
            "Small flows' mean is near that of perfect bounds, over loads",
            "slide 23, testbed",
            Excess(small, QCLIMB.name, PERFECT.name),
            Within(0.03, within=1.0),
        ),
        Claim(
            "Predictions at face value make small flows slower, over loads",
            "slide on Flux",
            Excess(small, FACE_VALUE.name, QCLIMB.name),
            Apart(),
        ),
    )


def _figure(
    name: str,
    measure: Run,
    workload: Workload,
    gbps: float,
    claims: tuple[Claim, ...],
    *,
    spines: bool,
    loads: Iterable[float] = setup.LOADS,
    pfabric: bool = True,
) -> Figure:
    at = partial(workload.at, gbps=gbps, spines=spines, settled=True, pfabric=pfabric)
    where = "144 hosts, leaf-spine, 40 and 100 Gbps" if spines else "8 hosts of 25 Gbps"
    return Figure(
        name=f"qclimb/{name}",
        title=f"Small flows under QCLIMB: {workload.name}, {where}",
        source="QCLIMB (NSDI 2024), slides",
        about=setup.ABOUT,
        measure=measure,
        points=tuple(map(at, loads)),
        schemes=(PIAS, QCLIMB, PERFECT, FACE_VALUE, *([PFABRIC] if pfabric else [])),
        scales=setup.SCALES,
        plot=Lines(setup.PANELS, "load", "load", columns=2),
        claims=claims,
        told_by="anything",
    )


_LONG, _LONGEST = TailTime("long", 0.99), TailTime("all", 0.999)
_STARVING = tuple(
    gains.below(f"The {words} is shorter than under PIAS, over loads", "not in the paper", metric)
    for words, metric in (("mean of long flows", setup.LONG_MEAN), ("tail of long flows", _LONG))
)
_NEAR_PFABRIC = gains.near_pfabric(setup.ALL_MEAN, setup.SHORT_MEAN, gains.NEAR, ", over loads")
_ON_TESTBED = (*_judged("slide 23, testbed", 0.88, 0.97), *_NEAR_PFABRIC)
_SIMULATED = _judged("slide 26, simulation", 0.465, 0.62)
_EVENTS = (
    gains.lower_tail(setup.SHORT, Apart()),
    *gains.fewer("repairs."),
    *gains.lost("repairs."),
    *gains.repaired("repairs."),
)

FIGURES = (
    _figure("testbed", setup.TESTBED, setup.WEBSEARCH, 200, _ON_TESTBED, spines=False),
    _figure("testbed-datamining", setup.TESTBED, setup.DATAMINING, 200, _ON_TESTBED, spines=False),
    _figure(
        *("simulation", setup.SIMULATION, setup.WEBSEARCH, 3_600),
        (*_SIMULATED, *_NEAR_PFABRIC, *_EVENTS),
        spines=True,
    ),
    _figure(
        *("simulation-datamining", setup.SIMULATION, setup.DATAMINING, 3_600),
        (*_SIMULATED, *_STARVING),
        spines=True,
        loads=(0.5, 0.8),
        # A run of it takes ten minutes and more here.
        pfabric=False,
    ),
)


def _starving(figure: Figure, name: str, workload: str) -> Figure:
    """The runs of a figure, from the other end."""
    return replace(
        figure,
        name=f"qclimb/{name}",
        title=f"Do long flows starve? {workload}, 8 hosts of 25 Gbps",
        source="not in the paper",
        plot=Lines(
            (
                Panel(setup.LONG_MEAN, "(a) long flows, mean"),
                Panel(_LONG, "(b) long flows, p99"),
                Panel(_LONGEST, "(c) all flows, p99.9"),
                Panel(WithTimeout("long"), "(d) long flows with a timeout"),
            ),
            "load",
            "load",
        ),
        claims=_STARVING,
        is_of_paper=False,
    )


LONG = (
    _starving(FIGURES[0], "long", "Web search"),
    _starving(FIGURES[1], "long-datamining", "Data mining"),
)
"""The runs of `qclimb/testbed` and of `qclimb/testbed-datamining`."""


# For how much of their time flows climb under QCLIMB ----------------------------------------------
#
# The slides tell a number of their jobs, which could not be had; so it stands beside, unjudged.


SLIDES = 0.9947
"""The slides' share of small flows' completion time that is spent on the way up."""


def of_small(share: Number, over: Over) -> Claim:
    """For how much of their time small flows climb under QCLIMB, beside the slides' share."""
    says = "Share of small flows' time spent climbing, in percent"
    return Claim(says, "slides", Plain(share, QCLIMB.name), Beside(100 * SLIDES), over)


CLIMBING = Figure(
    name="qclimb/climbing",
    title="For how much of their time flows climb: web search, 8 hosts of 25 Gbps",
    source="QCLIMB (NSDI 2024), slides",
    about="A flow climbs until all that it sends before its bound has arrived; shares are of the "
    f"sum of completion times. The slides have {SLIDES:.2%} for small flows of their jobs: that is "
    "not comparable, and they do not say how it was measured. " + setup.ABOUT,
    measure=replace(
        setup.TESTBED, assignments=(*setup.TESTBED.assignments, "record.climbing=true")
    ),
    points=tuple(
        WEBSEARCH.at(load, 200, settled=True, tagged=(QCLIMB.name,)) for load in setup.LOADS
    ),
    schemes=(QCLIMB,),
    scales=setup.SCALES,
    plot=Lines(
        (
            Panel(setup.SHORT_CLIMBING, "(a) short flows", is_close=True),
            Panel(setup.ALL_CLIMBING, "(b) all flows", is_close=True),
        ),
        "load",
        "load",
    ),
    claims=tuple(of_small(setup.SHORT_CLIMBING, Over({"load": load})) for load in setup.LOADS),
    told_by="anything",
)
