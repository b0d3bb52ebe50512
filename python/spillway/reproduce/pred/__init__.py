"""PRED (Du et al., NSDI 2025): the figures of its evaluation."""

from spillway.reproduce.pred import (
    choices,
    figure12,
    figure13,
    figure14,
    figure18,
    figure22,
    figure23,
)

FIGURES = (
    figure12.FIGURE,
    figure13.FIGURE,
    figure14.FIGURE,
    figure18.FIGURE,
    figure22.FIGURE,
    figure23.FIGURE,
    choices.FIGURE,
)
