"""Credence (Addanki, Pacut, Schmid, NSDI 2024): the figures of its evaluation."""

from spillway.reproduce.credence import (
    choices,
    figure6,
    figure7,
    figure9,
    figure10,
    figure11,
    figure12,
    figure14,
    figure15,
    program,
    table1,
    theory,
)

FIGURES = (
    table1.FIGURE,
    figure6.FIGURE,
    figure7.FIGURE,
    figure9.FIGURE,
    figure10.FIGURE,
    figure11.FIGURE,
    figure12.FIGURE,
    figure14.FIGURE,
    figure15.FIGURE,
    choices.AT_LOAD_40,
    choices.AT_LOAD_80,
    theory.FIGURE,
    program.ONE_BY_ONE,
    program.ALL_AT_ONCE,
    figure10.ASKED_LESS,
    figure14.LOADS,
    figure14.LOADS_WITHIN_MODEL,
)
