"""Figure 13: distributions of slowdowns under PowerTCP, from the runs of Figure 8."""

from spillway_studies.claims import Distributions, Figure
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.schemes import ABOUT, ALL

FIGURE = Figure(
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
