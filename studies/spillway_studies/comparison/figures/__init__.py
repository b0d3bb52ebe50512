"""Every sharing policy in the networks of three papers, and with single changes in one of them."""

from spillway_studies.comparison.figures import networks, sweeps

FIGURES = (*networks.FIGURES, *sweeps.FIGURES)
