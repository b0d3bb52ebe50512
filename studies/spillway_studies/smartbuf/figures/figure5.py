"""Figure 5: the number of neighbours over which the mean is taken."""

from spillway_studies.claims import Apart, Claim, Figure, NoGain, Reduction
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.readings import PLOT, READINGS, RUN, of_both, with_each

_IV_C = "section IV-C, Figure 5"

FIGURE = Figure(
    name="smartbuf/figure5",
    title="Of how many neighbours the mean is taken",
    source="Smartbuf (IWQoS 2021), Figure 5, section IV-C",
    about='"A high load case": 80%. Two readings of the algorithm. ' + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=with_each("K", "k", (1, 2, 3, 5, 10, 30)),
    scales=setup.SCALES,
    plot=PLOT,
    claims=of_both(
        (
            Claim(
                "K = 3 is better than 1",
                _IV_C,
                Reduction(setup.SHORT, new="K = 3", old="K = 1"),
                Apart(),
            ),
            Claim(
                "K = 10 is hardly better than 3",
                _IV_C,
                Reduction(setup.SHORT, new="K = 10", old="K = 3"),
                NoGain(),
            ),
        )
    ),
)
