"""Figure 2: the largest part of the buffer that a burst may take."""

from dataclasses import replace

from spillway_studies.claims import (
    AtLeast,
    AtMost,
    Claim,
    Figure,
    Lines,
    Number,
    Over,
    Panel,
    Plain,
)
from spillway_studies.smartbuf.figures import setup

THRESHOLD = Number(
    "bursts.most_threshold", "most that a burst may hold", "% of the buffer", 100, "largest"
)
PEAK = Number("bursts.most_peak", "most that a burst holds", "% of the buffer", 100, "largest")
DEMAND = Number("bursts.most_demand", "most that a burst wants", "% of the buffer", 100, "largest")

_LOST = replace(setup.DROPS, name="most packets lost with a seed", over_seeds="largest")
_EVERYWHERE = Over(take="each")

FIGURE = Figure(
    name="smartbuf/figure2",
    title="The most of the buffer that a burst is given",
    source="Smartbuf (IWQoS 2021), Figure 2, section II",
    about="The largest threshold of a port while it was in a burst, which is a port that held more "
    "than a fifth of the buffer until it held less than half of its most. " + setup.ABOUT,
    measure=setup.BURSTS,
    points=setup.LOADS,
    schemes=(setup.DT, setup.EDT, setup.SMARTBUF, setup.DEMANDS),
    scales=setup.SCALES,
    plot=Lines(
        (
            Panel(THRESHOLD, "(a) the largest threshold"),
            Panel(PEAK, "(b) the most held"),
            Panel(DEMAND, "(c) the most wanted"),
            Panel(setup.DROPS, "(d) packets lost"),
        ),
        "load",
        "load of the uplinks",
    ),
    claims=(
        *(
            claim
            for scheme in (setup.SMARTBUF, setup.DEMANDS)
            for claim in (
                Claim(
                    "A burst is given less than half of the buffer, at every load",
                    "section II, Figure 2",
                    Plain(THRESHOLD, scheme.name),
                    AtMost(50),
                    _EVERYWHERE,
                    scheme.name,
                ),
                Claim(
                    "Nothing is lost under Smartbuf",
                    "section II, on Figure 2",
                    Plain(_LOST, scheme.name),
                    AtMost(0),
                    _EVERYWHERE,
                    scheme.name,
                ),
            )
        ),
        Claim(
            "EDT gives a burst the whole buffer, at every load",
            "section II, Figure 2",
            Plain(THRESHOLD, setup.EDT.name),
            AtLeast(100),
            _EVERYWHERE,
        ),
    ),
)
