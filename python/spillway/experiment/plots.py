"""Comparisons as figures."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base.errors import ScenarioError
from spillway.base.folder import check_file, whole_file
from spillway.experiment.statistics import Measured, measured
from spillway.result.metrics import of_plot
from spillway.result.summary_paths import Summary
from spillway.show import drawing
from spillway.show.drawing import PLAIN
from spillway.show.palette import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spillway.experiment.experiment import Experiment

_FORMATS = (".png", ".pdf", ".svg")
_WIDEST = 14.8
"""The width in inches up to which panels are placed in one row."""
_LONGEST_TITLE = 26
"""The most letters of a panel's title."""
_QUIET = "#555555"
_MOST_PIXELS = 60_000
"""The greatest length of a figure's longer side that can be drawn."""
MOST_VARIANTS = 200
"""The most variants in one figure."""

Style = dict[str, Any]


def check(file: Path, variants: int = 1) -> None:
    """Refuses a file that a figure cannot be written to, before any run."""
    if variants > MOST_VARIANTS:
        raise ScenarioError(
            f"{variants:,} variants are too many for a figure",
            f"{MOST_VARIANTS} are the most; without a figure there may be more",
        )
    if file.suffix not in _FORMATS:
        raise ScenarioError(f"{file} is not a figure", f"its name ends in {', '.join(_FORMATS)}")
    check_file(file)


def comparison(shown: Experiment, file: Path) -> None:
    """Draws slowdowns and buffer occupancy, or the chosen metrics, of every variant.

    Each variant has its colour and marker; if there are more variants than these, each has a strip.
    """
    import matplotlib as mpl

    check(file, len(shown.variants))
    # Dollar signs in names do not begin formulas.
    with mpl.rc_context(dict(PLAIN)), whole_file(file) as partial:
        figure = drawn(shown)
        dpi = min(drawing.DPI, _MOST_PIXELS / max(figure.get_size_inches()))
        figure.savefig(partial, format=file.suffix[1:], dpi=dpi)


def svg(shown: Experiment) -> bytes:
    """The same as SVG. The same comparison gives the same file."""
    import matplotlib as mpl

    with mpl.rc_context(dict(PLAIN)):
        return drawing.svg(drawn(shown))


def drawn(shown: Experiment) -> Figure:
    """The figure."""
    labels = [variant.label or shown.name for variant in shown.variants]
    draw = _side_by_side if len(labels) <= len(COLOURS) else _strips
    panels = _panels(shown)
    return draw(panels, labels, _note(shown, panels))


def _note(shown: Experiment, panels: Sequence[_Panel]) -> str:
    seeds = f"seed {shown.seeds[0]}"
    if len(shown.seeds) > 1:
        counts = sorted({len(runs) for _, runs in shown.results})
        n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        seeds = f"mean of {n} seeds, bars from least to greatest"
    note = f"{shown.name}: {seeds}."
    if any(any(point.few) for panel in panels for point in panel.points):
        note += " Hollow: fewer than 10 flows, or queries, beyond it."
    return f"interrupted: not all runs. {note}" if shown.status == "interrupted" else note


@dataclass(frozen=True)
class _Panel:
    """Numbers with one unit."""

    title: str
    note: str
    points: Sequence[Measured]

    @property
    def unit(self) -> str:
        """The unit of its metrics."""
        return self.points[0].metric.unit

    @property
    def is_slowdown(self) -> bool:
        """Whether it shares a logarithmic axis with the other panels of slowdowns."""
        return self.points[0].metric.kind == "slowdown"

    @property
    def top(self) -> float | None:
        """The end of the axis, if it does not depend on the numbers."""
        return 105 if self.points[0].metric.show == "percent" else None


def _panels(shown: Experiment) -> list[_Panel]:
    """The metrics, grouped into panels."""
    panels: dict[tuple[str, str], list[Measured]] = {}
    metrics = of_plot(shown.metrics, shown.witnesses())
    for column in measured(metrics, [runs.summaries() for _, runs in shown.results]):
        panels.setdefault((column.metric.panel, column.metric.kind), []).append(column)
    first = [summary for _, summary in shown.results[0][1].summaries()]
    return [
        _Panel(title, _about(title, kind, first), points)
        for (title, kind), points in panels.items()
    ]


def _about(title: str, kind: str, first: Sequence[Summary]) -> str:
    """What the numbers of a panel are based on."""
    if kind == "buffer":
        return "over time"
    if kind not in ("queries", "slowdown") or not first:
        return ""
    if kind == "queries":
        return f"{statistics.fmean(run['query_us']['count'] for run in first):,.0f} queries"
    rows = [run["fct_slowdown"].get(title, {}) for run in first]
    return f"{statistics.fmean(row.get('count', 0) for row in rows):,.0f} flows"


# Up to a dozen variants --------------------------------------------------------------------------


def _side_by_side(panels: Sequence[_Panel], labels: Sequence[str], note: str) -> Figure:
    """Panels over categories, with all variants beside each other within each.

    No lines join the markers, since there is nothing between two percentiles.
    """
    styles = [_style(place) for place in range(len(labels))]
    most = max(len(panel.points) for panel in panels)
    figure, axes = _grid_of(panels, max(2.7, 0.5 + 0.075 * most * len(labels)), 3.6)
    for axis, panel in zip(axes, panels, strict=True):
        marks = [[(point, *each) for each in enumerate(styles)] for point in panel.points]
        _bands(axis, marks, min(0.14, 0.8 / len(labels)), is_row=False)
        axis.set_xticks(range(len(marks)), [point.metric.point for point in panel.points])
        axis.set_xlim(-0.5, len(marks) - 0.5)
    _scales(axes, panels, "y")
    _finish(figure, styles, labels, note)
    return figure


# More than that ----------------------------------------------------------------------------------


def _strips(panels: Sequence[_Panel], labels: Sequence[str], note: str) -> Figure:
    """A strip for every variant, named at its left; colours and markers stand for percentiles."""
    names = [textwrap.fill(label, 44) for label in labels]
    lines = sum(0.1 + 0.16 * max(2, 1 + name.count("\n")) for name in names)
    longest = max(len(line) for name in names for line in name.split("\n"))
    every = [point.metric for panel in panels for point in panel.points]
    points = dict.fromkeys(metric.point for metric in every)
    styles = {name: _style(place) for place, name in enumerate(points)}
    figure, axes = _grid_of(panels, 2.3, 1.0 + lines, 0.07 * longest, sharey=True)
    for axis, panel in zip(axes, panels, strict=True):
        marks = [
            [(point, row, styles[point.metric.point]) for point in panel.points]
            for row in range(len(names))
        ]
        _bands(axis, marks, min(0.18, 0.7 / len(panel.points)), is_row=True)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.set_ylim(len(names) - 0.5, -0.5)
    _scales(axes, panels, "x")
    # A metric that is alone in its panel has the panel's name.
    told = [name for name in points if name]
    _finish(figure, [styles[name] for name in told], told, note)
    return figure


# Both --------------------------------------------------------------------------------------------


def _grid_of(
    panels: Sequence[_Panel], width: float, height: float, left: float = 0.0, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure with an axis for each panel, in rows of equal length."""
    rows = -(-len(panels) // max(1, int((_WIDEST - left) / width)))
    across = -(-len(panels) // rows)
    size = (1.2 + left + width * across, height * rows)
    figure, axes = drawing.panels(rows, across, len(panels), size, sharey=sharey)
    for axis, panel in zip(axes, panels, strict=True):
        title = panel.title
        if len(title) > _LONGEST_TITLE:
            title = f"{title[: _LONGEST_TITLE - 1].rstrip()}…"
        axis.set_title(f"{title}\n", fontsize=11, fontweight="bold")
        axis.annotate(
            panel.note,
            (0.5, 1),
            (0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=_QUIET,
        )
    return figure, axes


def _style(place: int) -> Style:
    """A colour and a marker; after the last ones they begin anew."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


def _bands(
    axis: Axes, marks: Sequence[Sequence[tuple[Measured, int, Style]]], step: float, *, is_row: bool
) -> None:
    """A band for every category, with its marks beside each other at this distance."""
    span = axis.axhspan if is_row else axis.axvspan
    for place, those in enumerate(marks):
        if place % 2:
            span(place - 0.5, place + 0.5, color="#F5F5F5", linewidth=0, zorder=0)
        for number, (point, variant, style) in enumerate(those):
            at = place + step * (number - (len(those) - 1) / 2)
            _mark(axis, at, point, variant, style, is_row=is_row)
    axis.tick_params(axis="y" if is_row else "x", length=0)
    axis.grid(axis="x" if is_row else "y", color="#DDDDDD", linewidth=0.7)


def _mark(
    axis: Axes, at: float, point: Measured, variant: int, style: Style, *, is_row: bool
) -> None:
    """The mean of a variant's runs, and their range."""
    known = _scaled(point, variant)
    if not known:
        return
    mean = statistics.fmean(known)
    x, y = (mean, at) if is_row else (at, mean)
    ends: dict[str, Any] = {
        "xerr" if is_row else "yerr": [[mean - min(known)], [max(known) - mean]]
    }
    colour = style["color"]
    axis.errorbar(
        [x],
        [y],
        **ends,
        fmt="none",
        ecolor=colour,
        elinewidth=0.9,
        capsize=2 if len(known) > 1 else 0,
        zorder=2,
    )
    face = "white" if point.few[variant] else colour
    # A marker at the end of the axis is not cut off.
    axis.scatter(
        [x],
        [y],
        s=28,
        c=face,
        marker=style["marker"],
        edgecolors=colour,
        linewidths=1.1,
        zorder=3,
        clip_on=False,
    )


def _scales(axes: Sequence[Axes], panels: Sequence[_Panel], along: str) -> None:
    """The numeric axes of all panels; slowdowns share one, so that panels can be compared."""
    shared = _values([panel for panel in panels if panel.is_slowdown])
    is_beside_one = False
    for axis, panel in zip(axes, panels, strict=True):
        grid = axis.get_subplotspec()
        assert grid is not None
        is_labelled = along == "x" or grid.is_first_col() or not is_beside_one
        is_beside_one = panel.is_slowdown
        if panel.is_slowdown:
            _slowdown_scale(axis, shared, along)
        else:
            top = panel.top or 1.08 * max(_values([panel]), default=0.0)
            axis.set(**{f"{along}lim": (0, top or 1)})
        if panel.is_slowdown and not is_labelled:
            axis.tick_params(labelleft=False)
        else:
            axis.set(**{f"{along}label": panel.unit})
            axis.xaxis.label.set_fontsize(9)
            axis.yaxis.label.set_fontsize(9)


def _scaled(point: Measured, variant: int) -> list[float]:
    """The numbers of a variant's runs in the unit of the plot."""
    values = point.values[variant].values()
    return [value * point.metric.scale for value in values if value is not None]


def _values(panels: Sequence[_Panel]) -> list[float]:
    """All numbers of some panels."""
    points = [point for panel in panels for point in panel.points]
    return [
        value
        for point in points
        for place in range(len(point.values))
        for value in _scaled(point, place)
    ]


def _slowdown_scale(axis: Axes, values: Sequence[float], along: str) -> None:
    # Slowdowns below 1 occur only with the published base.
    low, top = min(values, default=1.0), max(values, default=10.0)
    axis.set(**{f"{along}scale": "log"})
    axis.set(**{f"{along}lim": (0.9 * min(low, 1.0), top * 1.3)})
    drawing.log_ticks(axis, along, is_wide=top >= 200)


def _finish(figure: Figure, styles: Sequence[Style], labels: Sequence[str], note: str) -> None:
    """Adds the legend below the plot, for which the figure grows, and a note about the plot.

    The legend has as many columns as fit. A label that is wider than the figure is continued on
    another line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="none", markersize=5.5, **style) for style in styles]
    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    room = 0.98 * figure.get_figwidth() * figure.dpi
    columns, letters = max(1, len(labels)), max(map(len, [*labels, note]))
    while True:
        legend = figure.legend(
            handles,
            [textwrap.fill(label, letters) for label in labels],
            loc="outside lower center",
            ncols=columns,
            title=textwrap.fill(note, letters),
            frameon=False,
            fontsize=9,
            title_fontsize=8,
        )
        extent = legend.get_window_extent(renderer)
        if extent.width <= room or letters == 1:
            break
        legend.remove()
        if columns > 1:
            columns -= 1
        else:
            letters = max(1, int(0.95 * letters))
    legend.get_title().set_color(_QUIET)
    figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)
