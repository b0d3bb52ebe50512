"""Plots in the form that papers have them."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spillway.show.drawing import drawing_of, log_scale
from spillway.show.palette import COLOURS, MARKERS
from spillway_studies.claims.late import Axes, Drawing
from spillway_studies.claims.metric import Metric, seeds_in_words
from spillway_studies.claims.point import Scheme
from spillway_studies.claims.results import Results

_QUIET = "#666666"
_TITLE = 24
"""Letters in a line of the title of a narrow panel."""
_LEAST_SPAN = 0.001
"""The least span of an axis that need not begin at 0, over the largest number."""


@dataclass(frozen=True)
class Panel:
    """One metric of a plot."""

    metric: Metric
    title: str
    is_log: bool = False
    is_close: bool = False
    """Whether its axis begins near the least number instead of at 0."""


@dataclass(frozen=True)
class Lines:
    """A panel for each metric, with a line for each scheme, over the points of one axis."""

    panels: tuple[Panel, ...]
    axis: str
    label: str
    columns: int = 2
    is_linear: bool = False
    """Whether points lie at their numbers instead of at equal distances."""
    is_joined: bool = True
    """Whether lines join them; nothing lies between points that are only names."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the panels."""
        return tuple(panel.metric for panel in self.panels)

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        columns = min(self.columns, len(self.panels))
        rows = -(-len(self.panels) // columns)
        width, height = (3.9, 2.5) if len(self.panels) > 1 else (5.6, 3.4)
        with drawing_of(width * columns, height * rows + 0.5) as drawing:
            axes = drawing.subplots(rows, columns, squeeze=False).flat
            for unused in axes[len(self.panels) :]:
                unused.set_axis_off()
            for axis, panel in zip(axes, self.panels, strict=False):
                self._panel(axis, panel, results)
            finish(drawing, results, axes[0], self._bars(results))
        return drawing

    def _panel(self, axis: Axes, panel: Panel, results: Results) -> None:
        places = self._places(results)
        least = min(np.diff(sorted(places)), default=1.0)
        _shade(axis, results, places, 0.4 * least)
        schemes = results.figure.schemes
        # Shifted sideways, so that equal numbers can be seen; not on an axis of numbers.
        step = 0.0 if self.is_linear else min(0.07, 0.24 / len(schemes))
        for number, scheme in enumerate(schemes):
            known = [
                (x, found.value, *results.ends(panel.metric, place, scheme.name))
                for place, x in enumerate(places)
                if (found := results.measured(panel.metric, place, scheme.name)).value is not None
            ]
            xs, ys, low, high = np.reshape(known, (-1, 4)).T
            axis.errorbar(
                xs + step * (number - (len(schemes) - 1) / 2),
                ys,
                yerr=np.maximum(0.0, [ys - low, high - ys]),
                **style_of(scheme, number),
                linestyle="-" if self.is_joined else "none",
                elinewidth=0.9,
                capsize=2,
                label=scheme.name,
            )
        axis.set(title=panel.title, ylabel=panel.metric.unit, xlabel=self.label)
        if not self.is_linear:
            ticks = [point.ticks[self.axis] for point in results.figure.points]
            axis.set_xticks(places, ticks)
            axis.set_xlim(-0.4, len(places) - 0.6)
        axis.grid(axis="x", visible=False)
        if panel.is_log:
            log_scale(axis)
        elif panel.is_close:
            axis.margins(y=0.12)
            bottom, top = axis.get_ylim()
            # Numbers that are all but equal must look so.
            missing = _LEAST_SPAN * max(abs(bottom), abs(top)) - (top - bottom)
            if missing > 0:
                axis.set_ylim(bottom - missing / 2, top + missing / 2)
            axis.ticklabel_format(axis="y", style="plain", useOffset=False)
        else:
            # Markers must not touch the frame; there may be none, or all at 0.
            top = axis.dataLim.y1
            axis.set_ylim(0, 1.08 * top if top > 0 else 1)

    def _places(self, results: Results) -> Sequence[float]:
        """The positions of the points on the axis."""
        points = results.figure.points
        if self.is_linear:
            return [float(point.values[self.axis]) for point in points]
        return range(len(points))

    def _bars(self, results: Results) -> str:
        """What the error bars show; not all metrics are based on flows."""
        found = [
            results.measured(metric, place, scheme.name)
            for metric in self.metrics
            for place in range(len(results.figure.points))
            for scheme in results.figure.schemes
        ]
        drawn = {each.interval is not None for each in found if each.value is not None}
        kinds = ["95% over seeds, queries and flows"] * (True in drawn)
        kinds += ["the range of seeds"] * (False in drawn and len(results.seeds) > 1)
        return f"bars: {', or '.join(kinds)}" if kinds else ""


@dataclass(frozen=True)
class Distributions:
    """The distribution of slowdowns for each point: all flows and, below, incast flows' tail."""

    metrics: tuple[Metric, ...] = ()

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot: four points per row."""
        points = results.figure.points
        across = min(4, len(points))
        bands = -(-len(points) // across)
        with drawing_of(2.5 * across, 4.4 * bands + 0.6) as drawing:
            axes = drawing.subplots(2 * bands, across, squeeze=False, sharex=True, sharey="row")
            for place, point in enumerate(points):
                band, column = divmod(place, across)
                self._point(axes[2 * band, column], axes[2 * band + 1, column], results, place)
                axes[2 * band, column].set_title(point.label)
            for unused in axes[-2:, len(points) - across * (bands - 1) :].flat:
                unused.set_axis_off()
            least = min(axis.get_ylim()[0] for axis in axes[1::2, 0])
            for band in range(bands):
                axes[2 * band, 0].set_ylabel("all flows: share at most")
                axes[2 * band + 1, 0].set_ylabel("incast flows: share at least")
                axes[2 * band + 1, 0].set_ylim(bottom=least)
            finish(drawing, results, axes[0, 0], "")
        return drawing

    def _point(self, upper: Axes, lower: Axes, results: Results, place: int) -> None:
        for number, scheme in enumerate(results.figure.schemes):
            style = line_of(scheme, number)
            every, at_most, _ = results.distribution(place, scheme.name, "all")
            upper.step(every, at_most, where="post", label=scheme.name, **style)
            incast, _, at_least = results.distribution(place, scheme.name, "incast")
            lower.step(incast, at_least, where="post", **style)
        upper.set_xscale("log")
        lower.set(yscale="log", xlabel="slowdown")
        if not results.is_informative(place):
            upper.text(
                0.97, 0.05, "nothing lost", ha="right", color=_QUIET, transform=upper.transAxes
            )


@dataclass(frozen=True)
class Variants:
    """Metrics of every scheme under a list of variants, and how one scheme's decisions divide.

    The decisions may be omitted.

    Points of further axes become further rows of panels.
    """

    slowdowns: tuple[Metric, ...]
    axis: str
    scheme: str = ""
    shares: tuple[Metric, ...] = ()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics and the shares."""
        return (*self.slowdowns, *self.shares)

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        points = results.figure.points
        names = list(dict.fromkeys(str(point.values[self.axis]) for point in points))
        rows: dict[str, list[int]] = {}
        for place, point in enumerate(points):
            rest = ", ".join(text for axis, text in point.labels.items() if axis != self.axis)
            rows.setdefault(rest, []).append(place)
        panels = len(self.slowdowns) + bool(self.shares)
        # The panel of decisions comes last in its row, and has a legend of its own.
        across = panels if self.shares or panels < 4 else -(-panels // 2)
        lines = -(-panels // across)
        size = (2.6 * across + 2, (0.27 * len(names) + 0.9) * len(rows) * lines + 0.6)
        with drawing_of(*size) as drawing:
            axes = drawing.subplots(len(rows) * lines, across, squeeze=False, sharey=True)
            for row, (rest, places) in enumerate(rows.items()):
                own = axes[row * lines : (row + 1) * lines]
                for axis, metric in zip(own.flat, self.slowdowns, strict=False):
                    self._dots(axis, metric, results, places)
                    axis.set(
                        title=textwrap.fill(metric.name.replace(" slowdown", ""), _TITLE),
                        xlabel=metric.unit,
                    )
                for unused in list(own.flat)[panels:]:
                    unused.set_axis_off()
                if self.shares:
                    self._bars(own[0, -1], results, places)
                    own[0, -1].set_title(f"{self.scheme}'s decisions")
                for first in own[:, 0]:
                    first.set_yticks(range(len(names)), names)
                    first.set_ylim(len(names) - 0.4, -0.6)
                    first.set_ylabel(rest, fontweight="bold")
            if self.shares:
                handles, labels = axes[0, -1].get_legend_handles_labels()
                drawing.legend(handles, labels, loc="outside lower right", ncols=len(labels))
            finish(drawing, results, axes[0, 0], "")
        return drawing

    def _dots(self, axis: Axes, metric: Metric, results: Results, places: Sequence[int]) -> None:
        schemes = results.figure.schemes
        step = min(0.16, 0.8 / len(schemes))
        drawn: list[float] = []
        for number, scheme in enumerate(schemes):
            values = [results.measured(metric, place, scheme.name, None, False) for place in places]
            drawn += [found.value for found in values if found.value is not None]
            axis.plot(
                [np.nan if found.value is None else found.value for found in values],
                [row + step * (number - (len(schemes) - 1) / 2) for row in range(len(places))],
                **style_of(scheme, number),
                linestyle="none",
                label=scheme.name,
            )
        is_wide = min(drawn, default=0) > 0 and max(drawn) > 10 * min(drawn)
        if metric is self.slowdowns[0] or is_wide:
            log_scale(axis, "x")
        else:
            axis.locator_params(axis="x", nbins=4)
            axis.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")

    def _bars(self, axis: Axes, results: Results, places: Sequence[int]) -> None:
        left = np.zeros(len(places))
        for number, share in enumerate(self.shares):
            found = [results.measured(share, place, self.scheme, None, False) for place in places]
            width = np.array([each.value or 0.0 for each in found])
            colour = COLOURS[(number + 4) % len(COLOURS)]
            axis.barh(
                range(len(places)), width, left=left, color=colour, label=share.name, height=0.7
            )
            left += width
        axis.set(xlim=(0, 100), xlabel="% of packets, acks aside")
        axis.grid(axis="y", visible=False)


@dataclass(frozen=True)
class TimePanel:
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

    panels: tuple[TimePanel, ...]
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


def style_of(scheme: Scheme, place: int) -> dict[str, Any]:
    """A scheme's colour and marker, the same in all plots; no two of 144 schemes share both."""
    number = place if scheme.style is None else scheme.style
    again, colour = divmod(number, len(COLOURS))
    return {"color": COLOURS[colour], "marker": MARKERS[(colour + again) % len(MARKERS)]}


def line_of(scheme: Scheme, place: int) -> dict[str, Any]:
    """A scheme's colour, and a line without markers."""
    return {
        "color": style_of(scheme, place)["color"],
        "linestyle": ("-", "--", "-.", ":")[place % 4],
    }


def finish(drawing: Drawing, results: Results, axis: Axes, bars: str) -> None:
    """Adds the legend above, and below a note on what the plot shows."""
    handles, labels = axis.get_legend_handles_labels()
    # A letter is about 0.06 inches wide, a marker with its gap 0.6.
    widest = 0.6 + 0.06 * max(map(len, labels))
    columns = max(1, min(len(labels), int(drawing.get_figwidth() / widest)))
    drawing.legend(handles, labels, loc="outside upper center", ncols=columns)
    notes = [f"seeds {seeds_in_words(results.seeds)}", *([bars] if bars else [])]
    if any(not results.is_informative(place) for place in range(len(results.figure.points))):
        notes.append("grey: nothing was lost under any scheme")
    drawing.supxlabel("; ".join(notes), fontsize=7.5, color=_QUIET)


def _shade(axis: Axes, results: Results, places: Sequence[float], half: float) -> None:
    """Shades points at which nothing was lost, which cannot distinguish schemes."""
    for place, x in enumerate(places):
        if not results.is_informative(place):
            axis.axvspan(x - half, x + half, color="#EEEEEE", zorder=0, linewidth=0)
