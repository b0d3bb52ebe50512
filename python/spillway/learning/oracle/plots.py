"""Plots of scores over the number of trees, as in Credence's Figure 15."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from spillway.base.folder import whole_file
from spillway.learning.oracle.training import Scores
from spillway.show.palette import COLOURS, FONTS, MARKERS

_LINES = {
    "accuracy": "accuracy",
    "inverse_eta": "1/η (Theorem 2)",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}


def draw_sweep(found: Sequence[tuple[int, Scores]], file: Path) -> None:
    """Draws every score against the number of trees."""
    figure = Figure(figsize=(5.2, 3.6), layout="constrained", dpi=150)
    axis = figure.subplots()
    counts = [count for count, _ in found]
    documents = [scores.document for _, scores in found]
    for (score, label), colour, marker in zip(_LINES.items(), COLOURS, MARKERS, strict=False):
        values = [float("nan") if told[score] is None else told[score] for told in documents]
        axis.plot(counts, values, color=colour, marker=marker, markersize=4, label=label)
    axis.set_xscale("log", base=2)
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.set_ylim(0, 1.05)
    axis.set_xlabel("trees")
    axis.set_ylabel("score")
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, fontsize=8, ncols=5, loc="outside upper center")
    with mpl.rc_context(FONTS), whole_file(file) as partial:
        figure.savefig(partial, format=file.suffix[1:])
