"""Figure 8: bursts of incast, with websearch at 40%, under PowerTCP."""

from spillway_studies.claims import Claim, Figure, Lines, Near, Over, Reduction
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.schemes import ABM, ABOUT, ALL, CREDENCE, DT

_C, _D, _A = CREDENCE.name, DT.name, ABM.name
_LARGEST = Over({"burst_percent": 100.0})

CLAIMS = (
    Claim(
        "Incast flows finish sooner than under DT",
        "section 4.2 on burst absorption, Figure 8(a)",
        Reduction(setup.INCAST, new=_C, old=_D),
        Near(0.9327),
    ),
    Claim(
        "Incast flows finish sooner than under ABM",
        "section 4.2 on burst absorption, Figure 8(a)",
        Reduction(setup.INCAST, new=_C, old=_A),
        Near(0.9336),
    ),
    Claim(
        "Long flows finish sooner than under DT",
        "section 4.2 on long flows, Figure 8(c)",
        Reduction(setup.LONG, new=_C, old=_D),
        Near(0.0331),
    ),
    Claim(
        "Long flows finish sooner than under ABM",
        "section 4.2 on long flows, Figure 8(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(0.1735),
    ),
    Claim(
        "With the largest bursts, long flows finish sooner than under DT",
        "section 4.2 on long flows, Figure 8(c)",
        Reduction(setup.LONG, new=_C, old=_D),
        Near(0.0549),
        _LARGEST,
    ),
    Claim(
        "With the largest bursts, long flows finish sooner than under ABM",
        "section 4.2 on long flows, Figure 8(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(0.2409),
        _LARGEST,
    ),
)

FIGURE = Figure(
    name="credence/figure8",
    title="Bursts of incast, with websearch at 40%, under PowerTCP",
    source="Credence (NSDI 2024), Figure 8, section 4.2",
    about="PowerTCP. The text has bursts from 10% to 100% of the leaf's buffer; those of the "
    "authors' program are taken, in steps of 12.5%. Flows begin with their line's rate. " + ABOUT,
    measure=setup.POWERTCP,
    points=setup.BURSTS,
    schemes=ALL,
    scales=setup.OTHERS,
    plot=Lines(setup.PANELS, "burst_percent", "burst, of the leaf's buffer"),
    claims=CLAIMS,
)
