"""Comparisons as figures."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.errors import ScenarioError
from spillway.folder import check_file, whole_file
from spillway.palette import COLOURS, FONTS, MARKERS
from spillway.tables import CLASSES, rests_on_few, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spillway.sweep import Sweep

_FORMATS = (".png", ".pdf", ".svg")
_PERCENTILES = {"p50": "p50", "p95": "p95", "p99": "p99", "p99_9": "p99.9"}
_OCCUPANCY = {"mean": "mean", "p99": "p99", "p99_99": "p99.99", "max": "max"}
_WIDEST = 14.8
"""Inches across which panels stand beside each other; further ones stand below."""
_QUIET = "#555555"
_DPI = 150
_MOST_PIXELS = 60_000
"""That a figure's longer side has: more cannot be drawn."""
MOST_VARIANTS = 200
"""That are drawn in one figure."""

Summary = Mapping[str, Any]
Style = dict[str, Any]


def check(file: Path, variants: int = 1) -> None:
    """Refuses a file that no figure can be drawn to, before anything is run for it."""
    if variants > MOST_VARIANTS:
        text = f"{variants:,} variants are too many for a figure"
        raise ScenarioError(text, f"{MOST_VARIANTS} are the most; without --plot there may be more")
    if file.suffix not in _FORMATS:
        raise ScenarioError(f"{file} is not a figure", f"its name ends in {', '.join(_FORMATS)}")
    check_file(file)


def comparison(sweep: Sweep, file: Path) -> None:
    """Draws slowdowns by class and percentile, and buffer occupancy, for every variant.

    Variants have a colour and a marker each; more than there are of these, a strip each.
    """
    import matplotlib as mpl

    check(file, len(sweep.results))
    # Names may have dollar signs: they are no formulas.
    with mpl.rc_context({**FONTS, "text.parse_math": False}), whole_file(file) as partial:
        figure = drawn(sweep)
        dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
        figure.savefig(partial, format=file.suffix[1:], dpi=dpi)


def drawn(sweep: Sweep) -> Figure:
    """The figure."""
    runs = [[result.summary for result in results] for _, results in sweep.results]
    labels = [variant.label or runs[0][0]["scenario"] for variant, _ in sweep.results]
    draw = _side_by_side if len(labels) <= len(COLOURS) else _strips
    return draw(_panels(runs), labels, runs, _note(sweep, runs))


def _note(sweep: Sweep, runs: Sequence[Sequence[Summary]]) -> str:
    seeds = f"seed {runs[0][0]['seed']}"
    if len(runs[0]) > 1:
        seeds = f"mean of {len(runs[0])} seeds, bars from least to greatest"
    note = f"{runs[0][0]['scenario']}: {seeds}. Hollow: fewer than 10 flows beyond it."
    return f"interrupted: partial results. {note}" if sweep.status == "interrupted" else note


@dataclass(frozen=True)
class _Point:
    """One number of every variant."""

    name: str
    read: Callable[[Summary], float | None]
    is_few: Callable[[Sequence[Summary]], bool] = lambda _: False
    """Whether it rests on few samples in any of a variant's runs."""


@dataclass(frozen=True)
class _Panel:
    """Numbers with one unit."""

    title: str
    note: str
    points: Sequence[_Point]
    unit: str
    is_slowdown: bool = False
    """Whether it shares its logarithmic axis with the others of this kind."""
    top: float | None = None


def _panels(runs: Sequence[Sequence[Summary]]) -> list[_Panel]:
    every = [run for each in runs for run in each]
    classes = [name for name in CLASSES if any(run["fct_slowdown"][name]["count"] for run in every)]
    return [*(_slowdowns(name, runs[0]) for name in classes), _occupancies(every)]


def _slowdowns(name: str, first: Sequence[Summary]) -> _Panel:
    def point(p: str, label: str) -> _Point:
        return _Point(
            label,
            lambda run: run["fct_slowdown"][name][p],
            lambda runs: rests_on_few([run["fct_slowdown"][name] for run in runs], p),
        )

    flows = spread([run["fct_slowdown"][name]["count"] for run in first]).mean or 0
    points = [point(p, label) for p, label in _PERCENTILES.items()]
    return _Panel(name, f"{flows:,.0f} flows", points, "slowdown", is_slowdown=True)


def _occupancies(every: Sequence[Summary]) -> _Panel:
    # An unlimited buffer has no fractions: beside limited ones it is left out.
    is_fraction = any(run["buffer_occupancy"].get("unit") == "fraction" for run in every)
    unit, scale = ("fraction", 100.0) if is_fraction else ("bytes", 1e-3)

    def point(key: str, label: str) -> _Point:
        def read(run: Summary) -> float | None:
            row = run["buffer_occupancy"]
            return row[key] * scale if row.get("unit") == unit else None

        return _Point(label, read)

    points = [point(key, label) for key, label in _OCCUPANCY.items()]
    told = "occupancy, %" if is_fraction else "in queues, KB"
    return _Panel("leaf buffers", "over time", points, told, top=105 if is_fraction else None)


# Up to a dozen variants --------------------------------------------------------------------------


def _side_by_side(
    panels: Sequence[_Panel],
    labels: Sequence[str],
    runs: Sequence[Sequence[Summary]],
    note: str,
) -> Figure:
    """Panels over categories, within each all variants beside each other.

    Nothing joins them: there is nothing between two percentiles.
    """
    from matplotlib.lines import Line2D

    styles: list[Style] = [
        {"color": colour, "marker": marker}
        for colour, marker, _ in zip(COLOURS, MARKERS, labels, strict=False)
    ]
    most = max(len(panel.points) for panel in panels)
    figure, axes = _grid_of(panels, max(2.7, 0.5 + 0.075 * most * len(labels)), 3.6)
    for axis, panel in zip(axes, panels, strict=True):
        for x, point in enumerate(panel.points):
            if x % 2:
                axis.axvspan(x - 0.5, x + 0.5, color="#F5F5F5", linewidth=0, zorder=0)
            step = min(0.14, 0.8 / len(labels))
            for place, (style, each) in enumerate(zip(styles, runs, strict=True)):
                at = x + step * (place - (len(labels) - 1) / 2)
                _mark(axis, at, point, each, style, is_row=False)
        axis.set_xticks(range(len(panel.points)), [point.name for point in panel.points])
        axis.set_xlim(-0.5, len(panel.points) - 0.5)
        axis.tick_params(axis="x", length=0)
        axis.grid(axis="y", color="#DDDDDD", linewidth=0.7)
    _scales(axes, panels, runs, "y")
    handles = [Line2D([], [], linestyle="none", markersize=5.5, **style) for style in styles]
    _finish(figure, handles, labels, note)
    return figure


# More than that ----------------------------------------------------------------------------------


def _strips(
    panels: Sequence[_Panel],
    labels: Sequence[str],
    runs: Sequence[Sequence[Summary]],
    note: str,
) -> Figure:
    """A strip for every variant, named at its left; colours and markers are the percentiles'."""
    from matplotlib.lines import Line2D

    names = [textwrap.fill(label, 44) for label in labels]
    lines = sum(0.1 + 0.16 * max(2, 1 + name.count("\n")) for name in names)
    longest = max(len(line) for name in names for line in name.split("\n"))
    points = list(dict.fromkeys(point.name for panel in panels for point in panel.points))
    styles: dict[str, Style] = {
        name: {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        for place, name in enumerate(points)
    }
    figure, axes = _grid_of(panels, 2.3, 1.0 + lines, 0.07 * longest, sharey=True)
    for axis, panel in zip(axes, panels, strict=True):
        for row, each in enumerate(runs):
            if row % 2:
                axis.axhspan(row - 0.5, row + 0.5, color="#F5F5F5", linewidth=0, zorder=0)
            step = min(0.18, 0.7 / len(panel.points))
            for place, point in enumerate(panel.points):
                at = row + step * (place - (len(panel.points) - 1) / 2)
                _mark(axis, at, point, each, styles[point.name], is_row=True)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    _scales(axes, panels, runs, "x")
    handles = [Line2D([], [], linestyle="none", markersize=5.5, **styles[name]) for name in points]
    _finish(figure, handles, points, note)
    return figure


# Both --------------------------------------------------------------------------------------------


def _grid_of(
    panels: Sequence[_Panel], width: float, height: float, left: float = 0.0, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure with an axis for each panel, in rows that are as long as each other."""
    from matplotlib.figure import Figure

    rows = -(-len(panels) // max(1, int((_WIDEST - left) / width)))
    across = -(-len(panels) // rows)
    size = (1.2 + left + width * across, height * rows)
    figure = Figure(figsize=size, layout="constrained", dpi=_DPI)
    grid = figure.subplots(rows, across, squeeze=False, sharey=sharey)
    for unused in grid.flat[len(panels) :]:
        unused.set_axis_off()
    axes: list[Axes] = list(grid.flat[: len(panels)])
    for axis, panel in zip(axes, panels, strict=True):
        axis.set_title(f"{panel.title}\n", fontsize=11, fontweight="bold")
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
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _mark(
    axis: Axes, at: float, point: _Point, runs: Sequence[Summary], style: Style, *, is_row: bool
) -> None:
    """The mean of a variant's runs, and how far they reach."""
    known = [value for value in map(point.read, runs) if value is not None]
    mean = spread(known).mean
    if mean is None:
        return
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
    face = "white" if point.is_few(runs) else colour
    axis.scatter(
        [x], [y], s=28, c=face, marker=style["marker"], edgecolors=colour, linewidths=1.1, zorder=3
    )


def _scales(
    axes: Sequence[Axes],
    panels: Sequence[_Panel],
    runs: Sequence[Sequence[Summary]],
    along: str,
) -> None:
    """The axis of numbers of every panel; slowdowns share theirs, so that panels compare."""
    shared = _values([panel for panel in panels if panel.is_slowdown], runs)
    for axis, panel in zip(axes, panels, strict=True):
        if panel.is_slowdown:
            _slowdown_scale(axis, shared, along)
        else:
            axis.set(**{f"{along}lim": (0, panel.top)})
        grid = axis.get_subplotspec()
        assert grid is not None
        if panel.is_slowdown and along == "y" and not grid.is_first_col():
            axis.tick_params(labelleft=False)
        else:
            axis.set(**{f"{along}label": panel.unit})
            axis.xaxis.label.set_fontsize(9)
            axis.yaxis.label.set_fontsize(9)


def _values(panels: Sequence[_Panel], runs: Sequence[Sequence[Summary]]) -> list[float]:
    """All numbers of some panels."""
    found = [
        point.read(run)
        for panel in panels
        for point in panel.points
        for each in runs
        for run in each
    ]
    return [value for value in found if value is not None]


def _slowdown_scale(axis: Axes, values: Sequence[float], along: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    top = max(values, default=10.0)
    axis.set(**{f"{along}scale": "log"})
    axis.set(**{f"{along}lim": (0.9, top * 1.3)})
    ticks = axis.yaxis if along == "y" else axis.xaxis
    ticks.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if top < 200 else (1.0,)))
    ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ticks.set_minor_formatter(NullFormatter())


def _finish(figure: Figure, handles: Sequence[Any], labels: Sequence[str], note: str) -> None:
    """The legend below the plot, which the figure grows for, and what the plot is of.

    The legend has as many columns as the figure is wide enough for. What is wider than the figure
    even in a column of its own goes on in another line.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    room = 0.98 * figure.get_figwidth() * figure.dpi
    columns, letters = len(labels), max(map(len, [*labels, note]))
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
