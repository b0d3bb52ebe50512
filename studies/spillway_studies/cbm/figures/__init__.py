"""CBM (Agarwal, Addanki, Mostafaei, CoNEXT Student Workshop 2024): the figure of its evaluation."""

from spillway_studies.cbm.figures import choices, figure1

FIGURES = (
    figure1.FIGURE,
    figure1.WITHOUT_CONTROL,
    *figure1.OTHER_PERCENTILES,
    choices.RATES,
    choices.SPINES,
    choices.FIGURE,
)
