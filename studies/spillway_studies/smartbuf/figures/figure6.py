"""Figure 6: what counts as a burst (sigma), and when it ends (beta)."""

from spillway_studies.claims import Alike, Apart, Claim, Figure, Near, NoGain, Reduction
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.readings import (
    ENTRIES,
    PLOT,
    READINGS,
    RUN,
    of_both,
    with_each,
)

_IV_C = "section IV-C"

FIGURE = Figure(
    name="smartbuf/figure6",
    title="What counts as a burst",
    source="Smartbuf (IWQoS 2021), Figure 6, section IV-C",
    about="A port that holds more than the buffer over sigma is in a burst. Two readings of the "
    "algorithm. " + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=with_each("sigma", "sigma", (1.25, 2.5, 3.75, 5.0, 10.0, 20.0)),
    scales=setup.SCALES,
    plot=PLOT,
    claims=of_both(
        (
            Claim(
                "Larger sigma is better: 5 than 1.25",
                _IV_C + ", Figure 6",
                Reduction(setup.SHORT, new="sigma = 5", old="sigma = 1.25"),
                Apart(),
            ),
            Claim(
                "From 2.5 to 5 it is as good",
                _IV_C + ", Figure 6",
                Reduction(setup.SHORT, new="sigma = 5", old="sigma = 2.5"),
                Alike(),
            ),
            Claim(
                "Above 5 there is little to gain",
                _IV_C + ", Figure 6",
                Reduction(setup.SHORT, new="sigma = 20", old="sigma = 5"),
                NoGain(),
            ),
            Claim(
                "Smaller sigma needs fewer entries",
                _IV_C + ", Figure 6",
                Reduction(ENTRIES, new="sigma = 2.5", old="sigma = 10"),
                Apart(),
            ),
        )
    ),
)

BETA = Figure(
    name="smartbuf/beta",
    title="When a burst is over",
    source="Smartbuf (IWQoS 2021), section IV-C, of which it shows no figure",
    about="Below beta of its maximum a burst is over. Load 80%, two readings of the algorithm. "
    + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=with_each("beta", "beta", (0.01, 0.1, 0.19, 0.2, 0.35, 0.5, 0.7, 0.9)),
    scales=setup.SCALES,
    plot=PLOT,
    claims=of_both(
        (
            *(
                Claim(
                    f"{beta:g} needs fewer entries than 0.9",
                    _IV_C,
                    Reduction(ENTRIES, new=f"beta = {beta:g}", old="beta = 0.9"),
                    Near(0.44),
                )
                for beta in (0.2, 0.5)
            ),
            Claim(
                "0.2 does as 0.5",
                _IV_C,
                Reduction(setup.SHORT, new="beta = 0.2", old="beta = 0.5"),
                Alike(),
            ),
            *(
                Claim(
                    f"0.5 has a shorter tail than {beta:g}",
                    _IV_C,
                    Reduction(setup.SHORT, new="beta = 0.5", old=f"beta = {beta:g}"),
                    Near(0.09),
                )
                for beta in (0.01, 0.1, 0.19)
            ),
        )
    ),
    is_of_paper=False,
)
