"""QCLIMB (Li et al., NSDI 2024): what its slides show, and how good a bound must be."""

from spillway.reproduce.qclimb import bounds, choices, comparison

FIGURES = (*comparison.FIGURES, *bounds.FIGURES, choices.FIGURE)
