"""Every sharing policy in the networks of three papers, and over one thing at a time in one."""

from spillway.reproduce.comparison import networks, sweeps

FIGURES = (*networks.FIGURES, *sweeps.FIGURES)
