"""Figures 7, 8, 11 and 13: bursts of incast, with websearch at 40%."""

from spillway_studies.claims import (
    Alike,
    Apart,
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
_SMALLEST, _LARGEST = Over({"burst_percent": 12.5}), Over({"burst_percent": 100.0})

CLAIMS = (
    Claim(
        "Incast flows finish sooner than under DT",
        "section 4.2 on burst absorption, Figure 7(a)",
        Reduction(setup.INCAST, new=_C, old=_D),
        Near(0.95),
    ),
    Claim(
        "Incast flows finish sooner than under ABM",
        "section 4.2 on burst absorption, Figure 7(a)",
        Reduction(setup.INCAST, new=_C, old=_A),
        Near(0.9692),
    ),
    Claim(
        "At best, incast flows finish sooner than under DT",
        "section 4, answer to Q1",
        Reduction(setup.INCAST, new=_C, old=_D),
        Near(0.954),
        Over(take="largest"),
    ),
    Claim(
        "At best, incast flows finish sooner than under ABM",
        "section 4, answer to Q1",
        Reduction(setup.INCAST, new=_C, old=_A),
        Near(0.969),
        Over(take="largest"),
    ),
    Claim(
        "Incast flows of small bursts do as under DT",
        "section 4.2 on burst absorption, caption of Figure 7",
        Reduction(setup.INCAST, new=_C, old=_D),
        Alike(),
        _SMALLEST,
    ),
    Claim(
        "Incast flows of small bursts do as under ABM",
        "section 4.2 on burst absorption, caption of Figure 7",
        Reduction(setup.INCAST, new=_C, old=_A),
        Alike(),
        _SMALLEST,
    ),
    Claim(
        "Incast flows do as under LQD",
        "section 4.2 on burst absorption, Figure 7(a)",
        Reduction(setup.INCAST, new=_C, old=_L),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Short flows do as under DT",
        "section 4, answer to Q2, Figure 7(b)",
        Reduction(setup.SHORT, new=_C, old=_D),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Short flows do as under ABM",
        "section 4, answer to Q2, Figure 7(b)",
        Reduction(setup.SHORT, new=_C, old=_A),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "Long flows finish sooner than under ABM",
        "section 4.2 on long flows, Figure 7(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(0.1202),
    ),
    Claim(
        "At best, long flows finish sooner than under ABM",
        "section 4.2 on long flows, Figure 7(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(0.2202),
        Over(take="largest"),
    ),
    # The paper gives no number for Figure 7(d).
    *(
        Claim(
            f"With the largest bursts, {name} fills less of the buffer",
            f"{place}, Figure 7(d)",
            Reduction(metric, new=name, old=_C),
            Apart(),
            _LARGEST,
            is_again=metric is setup.OCCUPANCY_P99,
        )
        for metric, place in (
            (setup.OCCUPANCY_P9999, "section 4.2 on buffer resources"),
            (setup.OCCUPANCY_P99, "section 4.2 on buffer resources, percentile of section 4.1"),
        )
        for name in (_D, _A)
    ),
)

FIGURE = Figure(
    name="credence/figure7",
    title="Bursts of incast, with websearch at 40%",
    source="Credence (NSDI 2024), Figure 7, sections 4.1 and 4.2",
    about="DCTCP. The text has bursts from 10% to 100% of the leaf's buffer; those of the authors' "
    "program are taken, in steps of 12.5%. " + ABOUT,
    measure=setup.RUN,
    points=setup.BURSTS,
    schemes=ALL,
    scales=setup.HEADLINES,
    plot=Lines(setup.PANELS, "burst_percent", "burst, of the leaf's buffer"),
    claims=CLAIMS,
)


# Figure 11: distributions of slowdowns for four bursts, from the same runs ------------------------


DISTRIBUTIONS = Figure(
    name="credence/figure11",
    title="Distributions of slowdowns, by burst",
    source="Credence (NSDI 2024), Figure 11, appendix D",
    about="Websearch at 40%, DCTCP. The paper says nothing in numbers about it. " + ABOUT,
    measure=setup.RUN,
    points=tuple(
        point for point in setup.BURSTS if point.values["burst_percent"] in (12.5, 25.0, 50.0, 75.0)
    ),
    schemes=ALL,
    scales=setup.HEADLINES,
    plot=Distributions(),
)


# Figure 8: the same under PowerTCP ----------------------------------------------------------------


_UNDER_POWERTCP = (
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

POWERTCP = Figure(
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
    claims=_UNDER_POWERTCP,
)


# Figure 13: distributions of slowdowns under PowerTCP, from the runs of Figure 8 ------------------


POWERTCP_DISTRIBUTIONS = Figure(
    name="credence/figure13",
    title="Distributions of slowdowns under PowerTCP, by burst",
    source="Credence (NSDI 2024), Figure 13, appendix D",
    about="Websearch at 40%, PowerTCP. The paper says nothing in numbers about it. " + ABOUT,
    measure=setup.POWERTCP,
    points=setup.BURSTS,
    schemes=ALL,
    scales=setup.OTHERS,
    plot=Distributions(),
)
