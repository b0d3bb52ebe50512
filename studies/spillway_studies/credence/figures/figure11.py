"""Figure 11: distributions of slowdowns for four bursts, from the runs of Figure 7."""

from spillway_studies.claims import Distributions, Figure
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.schemes import ABOUT, ALL

FIGURE = Figure(
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
