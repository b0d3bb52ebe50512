"""Figure 7: the number of entries."""

from dataclasses import replace

from spillway_studies.claims import AtMost, Claim, Figure, Lines, Number, Over, Panel, Plain, Scheme
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.readings import ENTRIES

BURSTS = Number("bursts.count", "bursts at all leaves", "bursts")
LARGEST = replace(ENTRIES, over_seeds="largest")


def _claims(scheme: Scheme) -> tuple[Claim, ...]:
    says = (
        ("At the highest load there are fewer than 35 entries", 34, 0.9),
        ("At 20% load there are fewer than 20 entries", 19, 0.2),
        ("At 40% load there are fewer than 20 entries", 19, 0.4),
    )
    return tuple(
        Claim(
            text,
            "section IV-D, Figure 7",
            Plain(LARGEST, scheme.name),
            AtMost(most),
            Over({"load": load}),
            scheme.name,
        )
        for text, most, load in says
    )


FIGURE = Figure(
    name="smartbuf/figure7",
    title="How many entries a switch has",
    source="Smartbuf (IWQoS 2021), Figure 7, section IV-D",
    about="The most of any leaf. Entries are as many as bursts of different gradients, and are "
    "kept for a second: so they grow with the time that is simulated, until then. What holds after "
    "60 ms (quick) may not hold after a second (full). " + setup.ABOUT,
    measure=setup.BURSTS,
    points=setup.LOADS,
    schemes=(setup.SMARTBUF, setup.DEMANDS),
    scales=setup.SCALES,
    plot=Lines(
        (Panel(LARGEST, "(a) the most entries of a leaf"), Panel(BURSTS, "(b) bursts")),
        "load",
        "load of the uplinks",
    ),
    claims=(*_claims(setup.SMARTBUF), *_claims(setup.DEMANDS)),
)
