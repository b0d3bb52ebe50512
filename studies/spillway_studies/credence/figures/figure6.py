"""Figures 6 and 12: loads of websearch, with incasts of half a buffer."""

from spillway_studies.claims import (
    Alike,
    Claim,
    Distributions,
    Figure,
    Lines,
    Near,
    Over,
    Reduction,
)
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.setup import ABM, ABOUT, ALL, CREDENCE, DT, LQD

_C, _D, _A, _L = CREDENCE.name, DT.name, ABM.name, LQD.name

CLAIMS = (
    Claim(
        "Incast flows finish sooner than under DT",
        "section 4.2 on burst absorption, Figure 6(a)",
        Reduction(setup.INCAST, new=_C, old=_D),
        Near(0.9550),
    ),
    Claim(
        "Incast flows finish sooner than under ABM",
        "section 4.2 on burst absorption, Figure 6(a)",
        Reduction(setup.INCAST, new=_C, old=_A),
        Near(0.9553),
    ),
    Claim(
        "At best, incast flows finish sooner than under DT",
        "section 4, answer to Q1",
        Reduction(setup.INCAST, new=_C, old=_D),
        Near(0.954),
        Over(take="largest"),
    ),
    Claim(
        "Incast flows do as under LQD",
        "section 4.2 on burst absorption, Figure 6(a)",
        Reduction(setup.INCAST, new=_C, old=_L),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Short flows do as under DT",
        "section 4, answer to Q2, Figure 6(b)",
        Reduction(setup.SHORT, new=_C, old=_D),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Short flows do as under ABM",
        "section 4, answer to Q2, Figure 6(b)",
        Reduction(setup.SHORT, new=_C, old=_A),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Long flows do as under DT",
        "section 4.2 on long flows, Figure 6(c)",
        Reduction(setup.LONG, new=_C, old=_D),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Long flows finish sooner than under ABM",
        "section 4.2 on long flows, Figure 6(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(0.2849),
    ),
    Claim(
        "Long flows finish sooner than under ABM at the highest load",
        "section 4.2 on long flows, Figure 6(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(0.4934),
        Over({"load": 0.8}),
    ),
    # Section 4.1 says that the 99th percentile is reported, section 4.2 that it is the 99.99th.
    *(
        Claim(
            f"{name} fills less of the buffer",
            f"{place}, Figure 6(d)",
            Reduction(metric, new=name, old=_C),
            Near(number),
            is_again=metric is setup.OCCUPANCY_P99,
        )
        for metric, place in (
            (setup.OCCUPANCY_P9999, "section 4.2 on buffer resources"),
            (setup.OCCUPANCY_P99, "section 4.2 on buffer resources, percentile of section 4.1"),
        )
        for name, number in ((_D, 0.0377), (_A, 0.1868))
    ),
    *(
        Claim(
            f"At most {name} fills as much of the buffer",
            "footnote 5",
            Reduction(setup.OCCUPANCY_MAX, new=name, old=_C),
            Alike(),
            Over(take="each"),
        )
        for name in (_D, _A)
    ),
)

FIGURE = Figure(
    name="credence/figure6",
    title="Loads of websearch, with incasts of half a buffer",
    source="Credence (NSDI 2024), Figure 6, sections 4.1 and 4.2",
    about="Burst 50% of the leaf's buffer, DCTCP. " + ABOUT,
    measure=setup.RUN,
    points=setup.LOADS,
    schemes=ALL,
    scales=setup.HEADLINES,
    plot=Lines(setup.PANELS, "load", "load of websearch"),
    claims=CLAIMS,
)


# Figure 12: distributions of slowdowns for all loads, from the same runs --------------------------


DISTRIBUTIONS = Figure(
    name="credence/figure12",
    title="Distributions of slowdowns, by load",
    source="Credence (NSDI 2024), Figure 12, appendix D",
    about="Burst 50% of the leaf's buffer, DCTCP. The paper says nothing in numbers about it. "
    + ABOUT,
    measure=setup.RUN,
    points=setup.LOADS,
    schemes=ALL,
    scales=setup.HEADLINES,
    plot=Distributions(),
)
