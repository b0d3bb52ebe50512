"""PRED (Du et al., NSDI 2025): the figures of its evaluation."""

from spillway_studies.pred.figures import (
    choices,
    figure3,
    figure4,
    figure11,
    figure12,
    figure13,
    figure15,
    figure16,
    figure18,
    figure19,
    figure21,
    figure24,
    figure25,
    figure26,
    queue_choices,
    sketches,
    trials,
)

COMPLETION_TIMES = (
    figure12.FIGURE,
    figure13.FIGURE,
    figure13.HALVES,
    figure18.FIGURE,
    figure13.DATA_MINING,
    figure18.WEB_SEARCH,
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
    figure11.RANGE,
    figure4.CHOICES,
    figure21.CHOICES,
    figure11.FARTHER,
    figure11.DATA_PLANE,
    figure11.RANGE_FARTHER,
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
