"""The picture of the factorial."""

from __future__ import annotations

import numpy as np

from spillway.show.drawing import drawing_of, log_scale
from spillway.show.palette import COLOURS, MARKERS
from spillway_studies.claims import Drawing
from spillway_studies.five import kept


def plot() -> Drawing:
    """The mean slowdown under every combination of sharing, AQM, levels and recovery."""
    found = kept.metric("factorial", "mean").over(kept.SCHEME)
    policies, aqms, levels, recoveries = found.factors.values()
    # By how it is, not how it is called.
    order = np.argsort(found.values.mean(axis=(1, 2, 3, 4)))
    with drawing_of(9.6, 3.4) as drawing:
        panels = drawing.subplots(1, len(aqms), sharey=True, sharex=True)
        for column, (axes, aqm) in enumerate(zip(panels, aqms, strict=True)):
            for level, name in enumerate(levels):
                for told, recovery in enumerate(recoveries):
                    means = found.values[:, column, level, told].mean(axis=-1)
                    axes.plot(
                        means[order],
                        range(len(policies)),
                        MARKERS[level],
                        color=COLOURS[level],
                        markerfacecolor=COLOURS[level] if recovery == "rack" else "white",
                        label=f"{name}, {recovery}",
                        markersize=5,
                    )
            axes.set_title(aqm)
            axes.set_yticks(range(len(policies)), [policies[place] for place in order])
            axes.grid(axis="y", visible=False)
        panels[0].set_ylim(len(policies) - 0.5, -0.5)
        log_scale(panels[0], "x")
        drawing.supxlabel("mean slowdown of all flows", fontsize=9)
        drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
    return drawing
