"""PRED (Du et al., NSDI 2025): the figures of its evaluation."""

from spillway_studies.pred.figures import (
    choices,
    figure3,
    figure4,
    figure11,
    figure12,
    figure13,
    figure14,
    figure15,
    figure16,
    figure18,
    figure19,
    figure21,
    figure22,
    figure23,
    figure24,
    figure25,
    figure26,
    figure27,
    queue_choices,
    sketches,
    trials,
)

COMPLETION_TIMES = (
    figure12.FIGURE,
    figure13.FIGURE,
    figure14.FIGURE,
    figure18.FIGURE,
    figure22.FIGURE,
    figure23.FIGURE,
    choices.FIGURE,
)
"""Figures of flows' completion times."""

QUEUES = (
    figure3.FIGURE,
    figure3.QUEUES,
    figure4.FIGURE,
    figure4.QUEUES,
    figure11.FIGURE,
    figure15.FIGURE,
    figure15.POISSON,
    figure19.FIGURE,
    figure21.FIGURE,
    figure21.PFC,
    figure21.QUEUES,
    figure24.FIGURE,
    figure25.FIGURE,
    figure26.FIGURE,
    figure27.FIGURE,
    figure4.CHOICES,
    figure21.CHOICES,
    figure11.FARTHER,
    figure11.DATA_PLANE,
    figure27.FARTHER,
    queue_choices.FIGURE,
    queue_choices.RED,
    queue_choices.CONVERGENCE,
    queue_choices.PHI,
    queue_choices.WRONG,
    trials.FIGURE,
    trials.LOADED,
)
"""Figures of small networks around one switch."""

AGENTS = (figure16.FIGURE, figure16.OVER_TIME)
"""Figures of agents of ACC."""

FIGURES = (*COMPLETION_TIMES, *QUEUES, *AGENTS, sketches.FIGURE)
