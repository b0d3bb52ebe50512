"""QCLIMB (Li et al., NSDI 2024): what its slides show, and how good a bound must be."""

from spillway.reproduce.qclimb import bounds, choices, comparison, jobs

FIGURES = (*comparison.FIGURES, comparison.LONG, *bounds.FIGURES, choices.FIGURE, jobs.FIGURE)
