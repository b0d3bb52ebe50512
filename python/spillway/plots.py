"""Comparisons as figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.errors import ScenarioError
from spillway.folder import check_file, whole_file
from spillway.palette import COLOURS, MARKERS
from spillway.tables import CLASSES, rests_on_few, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spillway.sweep import Sweep

_FORMATS = (".png", ".pdf", ".svg")
_PERCENTILES = {"p50": "50", "p95": "95", "p99": "99", "p99_9": "99.9"}
_OCCUPANCY = {"mean": "mean", "p99": "p99", "p99_99": "p99.99", "max": "max"}


def check(file: Path) -> None:
    """Refuses a file that no figure can be drawn to, before anything is run for it."""
    if file.suffix not in _FORMATS:
        raise ScenarioError(f"{file} is not a figure", f"its name ends in {', '.join(_FORMATS)}")
    check_file(file)


def comparison(sweep: Sweep, file: Path) -> None:
    """Draws slowdowns by class and percentile, and buffer occupancy, for every variant."""
    import matplotlib as mpl

    check(file)
    # Names may have dollar signs: they are no formulas.
    with mpl.rc_context({"text.parse_math": False}), whole_file(file) as partial:
        _drawn(sweep).savefig(partial, format=file.suffix[1:])


def _drawn(sweep: Sweep) -> Figure:
    from matplotlib.figure import Figure

    runs = [[result.summary for result in results] for _, results in sweep.results]
    labels = [variant.label or runs[0][0]["scenario"] for variant, _ in sweep.results]
    classes = [
        name
        for name in CLASSES
        if any(run["fct_slowdown"][name]["count"] for each in runs for run in each)
    ]
    panels = len(classes) + 1
    figure = Figure(figsize=(1.2 + 2.7 * panels, 4.4), layout="constrained", dpi=150)
    axes: Sequence[Axes] = figure.subplots(1, panels, squeeze=False)[0]
    for axis, name in zip(axes, classes, strict=False):
        _slowdowns(axis, name, runs)
        axis.sharey(axes[0])
        axis.tick_params(labelleft=axis is axes[0])
    if classes:
        axes[0].set_ylabel("slowdown: completion time over the least possible", fontsize=9)
        _slowdown_scale(axes[0], runs, classes)
    _occupancies(axes[-1], runs)
    handles, _ = axes[-1].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=min(len(labels), 6), frameon=False
    )
    seeds = f"seed {runs[0][0]['seed']}"
    if len(runs[0]) > 1:
        seeds = f"mean of {len(runs[0])} seeds, bars from least to greatest"
    note = f"{runs[0][0]['scenario']}: {seeds}. Hollow: fewer than 10 flows beyond it."
    if sweep.status == "interrupted":
        note = f"interrupted: partial results. {note}"
    figure.supxlabel(note, fontsize=8, color="#555555")
    return figure


def _plot(
    axis: Axes, place: int, of: int, columns: Sequence[Sequence[float | None]], few: Sequence[bool]
) -> None:
    """One variant's points over the categories of a panel, beside the other variants'."""
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    shift = (place - (of - 1) / 2) * min(0.14, 0.6 / of)
    xs, ys, low, high, hollow = [], [], [], [], []
    for x, values in enumerate(columns):
        known = [value for value in values if value is not None]
        mean = spread(known).mean
        if mean is not None:
            xs.append(x + shift)
            ys.append(mean)
            low.append(mean - min(known))
            high.append(max(known) - mean)
            hollow.append(few[x])
    axis.errorbar(
        xs, ys, yerr=[low, high], color=colour, linewidth=1.1, elinewidth=0.9, capsize=2, zorder=2
    )
    faces = ["white" if is_hollow else colour for is_hollow in hollow]
    axis.scatter(xs, ys, s=30, marker=marker, c=faces, edgecolors=colour, linewidths=1.1, zorder=3)
    axis.plot([], [], color=colour, marker=marker, linewidth=1.1, markersize=5.5, label=str(place))


def _slowdowns(axis: Axes, name: str, runs: Sequence[Sequence[dict[str, Any]]]) -> None:
    for place, each in enumerate(runs):
        rows = [run["fct_slowdown"][name] for run in each]
        columns = [[row[p] for row in rows] for p in _PERCENTILES]
        few = [rests_on_few(rows, p) for p in _PERCENTILES]
        _plot(axis, place, len(runs), columns, few)
    flows = spread([run["fct_slowdown"][name]["count"] for run in runs[0]]).mean or 0
    axis.set_title(f"{name}\n", fontsize=11, fontweight="bold")
    axis.text(
        0.5,
        1.02,
        f"{flows:,.0f} flows",
        transform=axis.transAxes,
        ha="center",
        fontsize=8,
        color="#555555",
    )
    axis.set_xlabel("percentile")
    _categories(axis, list(_PERCENTILES.values()))


def _slowdown_scale(
    axis: Axes, runs: Sequence[Sequence[dict[str, Any]]], classes: Sequence[str]
) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    values = [
        run["fct_slowdown"][name][p]
        for each in runs
        for run in each
        for name in classes
        for p in _PERCENTILES
    ]
    top = max((value for value in values if value is not None), default=10.0)
    axis.set_yscale("log")
    axis.set_ylim(0.9, top * 1.3)
    subs = (1.0, 2.0, 5.0) if top < 1000 else (1.0,)
    axis.yaxis.set_major_locator(LogLocator(subs=subs))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def _occupancies(axis: Axes, runs: Sequence[Sequence[dict[str, Any]]]) -> None:
    # An unlimited buffer has no fractions: beside limited ones it is left out.
    is_fraction = any(
        run["buffer_occupancy"].get("unit") == "fraction" for each in runs for run in each
    )
    unit, scale = ("fraction", 100.0) if is_fraction else ("bytes", 1e-3)
    for place, each in enumerate(runs):
        rows = [run["buffer_occupancy"] for run in each]
        columns = [
            [row[key] * scale if row.get("unit") == unit else None for row in rows]
            for key in _OCCUPANCY
        ]
        _plot(axis, place, len(runs), columns, [False] * len(columns))
    axis.set_title("leaf buffers\n", fontsize=11, fontweight="bold")
    axis.text(
        0.5, 1.02, "over time", transform=axis.transAxes, ha="center", fontsize=8, color="#555555"
    )
    axis.set_ylabel("occupancy, %" if is_fraction else "in queues, KB")
    axis.set_ylim(bottom=0, top=105 if is_fraction else None)
    _categories(axis, list(_OCCUPANCY.values()))


def _categories(axis: Axes, names: list[str]) -> None:
    axis.set_xticks(range(len(names)), names)
    axis.set_xlim(-0.5, len(names) - 0.5)
    axis.grid(axis="y", color="#DDDDDD", linewidth=0.7)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
