"""Credence (Addanki, Pacut, Schmid, NSDI 2024): the figures of its evaluation."""

from spillway.reproduce.credence import (
    choices,
    figure6,
    figure7,
    figure9,
    figure10,
    figure11,
    figure12,
)

FIGURES = (
    figure6.FIGURE,
    figure7.FIGURE,
    figure9.FIGURE,
    figure10.FIGURE,
    figure11.FIGURE,
    figure12.FIGURE,
    choices.AT_LOAD_40,
    choices.AT_LOAD_80,
)
