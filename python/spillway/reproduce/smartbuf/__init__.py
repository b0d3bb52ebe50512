"""Smartbuf (Rezaei, Almasi, Vamanan, IWQoS 2021): the figures of its evaluation."""

from spillway.reproduce.smartbuf import (
    choices,
    figure1,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    figure7,
    figure8,
    readings,
)

FIGURES = (
    figure1.FIGURE,
    figure2.FIGURE,
    figure3.FIGURE,
    figure4.FIGURE,
    figure5.FIGURE,
    figure6.FIGURE,
    figure6.BETA,
    figure7.FIGURE,
    figure8.FIGURE,
    figure8.SECOND_RUN,
    figure3.BUFFERS,
    figure3.CREDENCE,
    readings.FIGURE,
    choices.FIGURE,
)
