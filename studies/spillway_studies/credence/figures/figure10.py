"""Figure 10: flipped predictions, with websearch at 40% and incasts of half a buffer."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Excess,
    Figure,
    Lines,
    Over,
    Point,
    along,
    product,
)
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.setup import ABOUT, CREDENCE, LQD

# Only predictions are flipped; a packet that needs none keeps its outcome.
POINTS = along(
    "flip_probability",
    (0, 0.001, 0.005, 0.01, 0.05, 0.1),
    "switch.sharing.flip_probability={}",
    label="flip probability {}",
    only=CREDENCE.name,
)

# Long and short flows become slower by far, too.
PANELS = tuple(replace(panel, is_log=True) for panel in setup.PANELS[:3]) + setup.PANELS[3:]

_LONGER = Excess(setup.INCAST, new=CREDENCE.name, old=LQD.name)

CLAIMS = (
    *(
        Claim(
            f"With {probability:.1%} of the answers wrong, incast flows do as under LQD",
            "section 4.2 on prediction error, caption of Figure 10",
            _LONGER,
            Alike(),
            Over({"flip_probability": probability}),
        )
        for probability in (0.001, 0.005)
    ),
    Claim(
        "With 1.0% of the answers wrong, incast flows take longer than under LQD",
        "section 4.2 on prediction error, caption of Figure 10",
        _LONGER,
        Apart(),
        Over({"flip_probability": 0.01}),
    ),
    Claim(
        "With 1.0% of the answers wrong, incast flows do as under LQD",
        "section 4, answer to Q3",
        _LONGER,
        Alike(),
        Over({"flip_probability": 0.01}),
    ),
    Claim(
        "With 10% of the answers wrong, incast flows take much longer than under LQD",
        "section 4.2 on prediction error, Figure 10(a)",
        _LONGER,
        Apart(least=0.5),
        Over({"flip_probability": 0.1}),
    ),
)

FIGURE = Figure(
    name="credence/figure10",
    title="Flipped predictions",
    source="Credence (NSDI 2024), Figure 10, section 4.2",
    about="Websearch at 40%, burst 50%, DCTCP. The answer to Q3 in section 4 contradicts the "
    "figure's text at 1%: both are tried. The paper has no number for how much worse it gets: "
    "50% is what is taken for much. " + ABOUT,
    measure=setup.RUN,
    points=POINTS,
    schemes=(LQD, CREDENCE),
    scales=setup.OTHERS,
    plot=Lines(PANELS, "flip_probability", "probability that a prediction is flipped"),
    claims=CLAIMS,
)

ASKED_LESS = replace(
    FIGURE,
    name="credence/figure10-k10",
    title="Flipped predictions, with short queues",
    about="As Figure 10, with an ECN threshold of 10 packets: queues are shorter, and the oracle "
    "is asked about fewer packets. " + ABOUT,
    points=product([Point({}, ("switch.aqm.threshold=10pkt",))], POINTS),
    is_of_paper=False,
)
