"""For how much of their time flows climb under QCLIMB.

The slides tell a number of their jobs, which could not be had; so it stands beside, unjudged.
"""

from dataclasses import replace

from spillway_studies.claims import Beside, Claim, Figure, Lines, Number, Over, Panel, Plain
from spillway_studies.qclimb.figures import setup
from spillway_studies.qclimb.figures.setup import QCLIMB, WEBSEARCH

SLIDES = 0.9947
"""The slides' share of small flows' completion time that is spent on the way up."""


def of_small(share: Number, over: Over) -> Claim:
    """For how much of their time small flows climb under QCLIMB, beside the slides' share."""
    says = "Share of small flows' time spent climbing, in percent"
    return Claim(says, "slides", Plain(share, QCLIMB.name), Beside(100 * SLIDES), over)


FIGURE = Figure(
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
