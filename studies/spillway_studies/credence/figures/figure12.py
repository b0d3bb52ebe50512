"""Figure 12: distributions of slowdowns for four loads, from the runs of Figure 6."""

from spillway_studies.claims import Distributions, Figure
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.schemes import ABOUT, ALL

FIGURE = Figure(
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
