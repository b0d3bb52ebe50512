"""Plots over time of what happened in single runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spillway.show.drawing import drawing_of
from spillway.show.palette import COLOURS
from spillway_studies.claims.draw import finish
from spillway_studies.claims.metric import Metric
from spillway_studies.claims.results import STEP

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from spillway_studies.claims.results import Results


def numbers(series: dict[str, list[float]], step_us: float) -> dict[str, float]:
    """Series as numbers of an outcome: `series.NAME.INDEX`."""
    named = {
        f"series.{name}.{place}": value
        for name, values in series.items()
        for place, value in enumerate(values)
    }
    return {**named, STEP: step_us}


@dataclass(frozen=True)
class Panel:
    """Some series with one unit."""

    title: str
    unit: str
    series: tuple[tuple[str, str], ...]
    """The name of each series, and its name in the legend."""


@dataclass(frozen=True)
class OverTime:
    """A column for each scheme and a row for each panel, for the first point and seed.

    With four schemes or more there are two columns, and further schemes go below.
    """

    panels: tuple[Panel, ...]
    metrics: tuple[Metric, ...] = ()

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        schemes = results.figure.schemes
        seed = results.seeds[0]
        across = len(schemes) if len(schemes) < 4 else 2
        bands, rows = -(-len(schemes) // across), len(self.panels)
        width = (3.6 if len(schemes) > 1 else 5.8) * across
        with drawing_of(width, 2.1 * rows * bands + 0.5) as drawing:
            axes = drawing.subplots(rows * bands, across, squeeze=False, sharex=True)
            for place, scheme in enumerate(schemes):
                band, column = divmod(place, across)
                own = axes[band * rows : (band + 1) * rows, column]
                step = results.step_ms(0, scheme.name, seed)
                for row, panel in enumerate(self.panels):
                    own[row].sharey(axes[row, 0])
                    for number, (name, label) in enumerate(panel.series):
                        found = results.curve(0, scheme.name, seed, name)
                        times = [step * place for place in range(len(found))]
                        own[row].plot(times, found, color=COLOURS[number], label=label)
                    own[row].set_title(f"{scheme.name}: {panel.title}" if row == 0 else panel.title)
                    own[row].tick_params(labelleft=column == 0)
                    if column == 0:
                        own[row].set_ylabel(panel.unit)
                own[-1].set_xlabel("time in ms")
            for unused in axes[-rows:, len(schemes) - across * (bands - 1) :].flat:
                unused.set_axis_off()
            for row in range(rows):
                axes[row, 0].set_ylim(bottom=0)
            finish(drawing, results, axes[rows - 1, 0], f"shown: seed {seed}")
        return drawing
