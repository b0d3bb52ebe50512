"""Smartbuf (Rezaei, Almasi, Vamanan, IWQoS 2021): the figures of its evaluation."""

from spillway_studies.smartbuf.figures import (
    choices,
    claim,
    figure1,
    figure3,
    figure4,
    figure8,
    learning,
    readings,
    where,
)

FIGURES = (
    figure1.FIGURE,
    figure3.MOST,
    figure3.FIGURE,
    figure4.FIGURE,
    readings.NEIGHBOURS,
    readings.SIGMA,
    readings.BETA,
    readings.NUMBER_OF_ENTRIES,
    figure8.FIGURE,
    figure8.SECOND_RUN,
    figure3.BUFFERS,
    figure3.CREDENCE,
    readings.FIGURE,
    choices.FIGURE,
    choices.OPTIONS,
    where.FIGURE,
    claim.FIGURE,
    claim.LEARNED,
    claim.UNBOUNDED,
    learning.FIGURE,
)
