"""Plots over time with the lines of several schemes in one panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spillway.show.drawing import drawing_of
from spillway.show.palette import COLOURS
from spillway_studies.claims import Metric, Results, Scheme, finish, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Panel:
    """A series of some schemes."""

    title: str
    unit: str
    series: str
    schemes: tuple[str, ...] = ()
    """Their names; by default all."""


@dataclass(frozen=True)
class Overlaid:
    """Panels with a line for each scheme, for the first point and seed, or for all seeds."""

    panels: tuple[Panel, ...]
    metrics: tuple[Metric, ...] = ()
    begin_ms: float = 0.0
    every_seed: bool = False
    """A line for each seed, of the only scheme of a panel."""

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        seeds = results.seeds if self.every_seed else results.seeds[:1]
        named: set[str] = set()
        with drawing_of(7.0, 2.3 * len(self.panels) + 0.6) as drawing:
            axes = drawing.subplots(len(self.panels), 1, squeeze=False, sharex=True)[:, 0]
            for axis, panel in zip(axes, self.panels, strict=True):
                for number, scheme in enumerate(results.figure.schemes):
                    if panel.schemes and scheme.name not in panel.schemes:
                        continue
                    for place, seed in enumerate(seeds):
                        label = f"seed {seed}" if self.every_seed else scheme.name
                        colour = style_of(scheme, number)["color"]
                        if self.every_seed:
                            colour = COLOURS[place % len(COLOURS)]
                        self._line(axis, results, scheme, seed, panel.series, colour)
                        if label not in named:
                            # The legend is made from the first panel's lines.
                            axes[0].plot([], [], color=colour, label=label)
                            named.add(label)
                axis.set_title(panel.title)
                axis.set_ylabel(panel.unit)
                axis.set_ylim(bottom=0)
            axes[-1].set_xlabel("time in ms")
            note = "" if self.every_seed else f"shown: seed {seeds[0]}"
            finish(drawing, results, axes[0], note)
        return drawing

    def _line(
        self, axis: Axes, results: Results, scheme: Scheme, seed: int, name: str, colour: str
    ) -> None:
        found = results.curve(0, scheme.name, seed, name)
        step = results.step_ms(0, scheme.name, seed)
        times = [self.begin_ms + step * (place + 1) for place in range(len(found))]
        axis.plot(times, found, color=colour, linewidth=0.8)
