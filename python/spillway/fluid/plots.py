"""The steady queue over what is varied, and the queue in time: the model's line, runs as points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway.fluid.bottleneck import Bottleneck
from spillway.fluid.compare import Point
from spillway.fluid.tables import settled
from spillway.palette import COLOURS, MARKERS
from spillway.reproduce.draw import drawing_of, log_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXES = {
    "flows": "flows",
    "slope": "slope of RED, per MB",
    "min_packets": "min of RED, packets",
}
_LINES = ("-", "--", "-.", ":")
_DPI = 130
_MOST_SERIES = 6
"""The most settings that get a colour of their own in a plot; others are left to the tables."""


def axis_of(points: Sequence[Point]) -> str:
    """What the steady queue is drawn over: flows, or what else takes most values."""

    def values(name: str) -> int:
        return len({getattr(point.bottleneck, name) for point in points})

    return max(_AXES, key=values)


def steady(points: Sequence[Point], file: Path, kind: str) -> None:
    """Draws the steady queue."""
    name = axis_of(points)
    series: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        series.setdefault(_rest(point.bottleneck, name), []).append(point)
    shown = list(series.items())[:_MOST_SERIES]
    models = [each.model.name for each in points[0].solved]
    with drawing_of(6.4, 4.4) as drawing:
        axis = drawing.subplots()
        for number, (rest, own) in enumerate(shown):
            colour = COLOURS[number]
            xs = [getattr(point.bottleneck, name) for point in own]
            label = _told(rest, name) if len(shown) > 1 else ""
            for style, model in enumerate(models):
                ys = [settled(point.solved[style]) for point in own]
                told = ", ".join(part for part in (label, f"model: {model}") if part)
                shade = colour if len(shown) > 1 else COLOURS[style]
                axis.plot(xs, ys, linestyle=_LINES[style % len(_LINES)], color=shade, label=told)
            if own[0].packets:
                shade = colour if len(shown) > 1 else "#000000"
                _runs(axis, xs, own, shade, MARKERS[number], label)
        if len(shown) == 1:
            own = shown[0][1]
            floors = [point.bottleneck.floor for point in own]
            xs = [getattr(point.bottleneck, name) for point in own]
            if sum(floor > 0 for floor in floors) > 1:
                label = "floor: all windows are the least"
                axis.plot(xs, [floor or np.nan for floor in floors], color="#999999", label=label)
        axis.set_xlabel(_AXES[name])
        axis.set_ylabel("steady queue, packets")
        drawn = [settled(each) for point in points for each in point.solved]
        drawn += [run.mean for point in points for run in point.packets]
        least, top = max(min(drawn), 0.5), max(drawn)
        axis.set_ylim(least * 0.8, top * 1.25)
        log_scale(axis)
        if min(getattr(point.bottleneck, name) for point in points) > 0:
            log_scale(axis, "x")
        axis.set_title(_title(points[0].bottleneck, kind, name, shown[0][0], len(shown)))
        drawing.legend(loc="outside lower center", ncols=2)
        drawing.savefig(file, dpi=_DPI)


def _runs(
    axis: Axes, xs: Sequence[float], own: Sequence[Point], colour: str, marker: str, label: str
) -> None:
    """The runs: means over seeds; bars: a standard deviation in time to either side."""
    means = [point.measured or 0.0 for point in own]
    bars = [sum(run.deviation for run in point.packets) / len(point.packets) for point in own]
    told = ", ".join(part for part in (label, "packets (bars: deviation in time)") if part)
    style: dict[str, Any] = {"linestyle": "none", "capsize": 2, "elinewidth": 0.9}
    axis.errorbar(xs, means, yerr=bars, color=colour, marker=marker, label=told, **style)


def in_time(points: Sequence[Point], file: Path, kind: str) -> None:
    """Draws the queue in time for the first setting and the last."""
    chosen = [points[0], points[-1]] if len(points) > 1 else [points[0]]
    with drawing_of(3.9 * len(chosen), 3.4) as drawing:
        axes = drawing.subplots(1, len(chosen), squeeze=False)[0]
        for axis, point in zip(axes, chosen, strict=True):
            for run in point.packets[:1]:
                axis.plot(
                    run.time_s * 1e3, run.queue, color="#BBBBBB", linewidth=0.7, label="packets"
                )
            for number, each in enumerate(point.solved):
                found = each.trajectory
                style = _LINES[number % len(_LINES)]
                axis.plot(
                    found.time_s * 1e3,
                    found.queue,
                    color=COLOURS[number],
                    linestyle=style,
                    label=f"model: {each.model.name}",
                )
            at = point.bottleneck
            axis.set_title(
                f"{kind}, N = {at.flows}, slope {at.slope_per_mb:.4g}, min {at.min_packets:g}"
            )
            axis.set_xlabel("ms")
            axis.set_ylim(bottom=0)
        axes[0].set_ylabel("queue, packets")
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=3)
        drawing.savefig(file, dpi=_DPI)


def _rest(at: Bottleneck, name: str) -> tuple[Any, ...]:
    return tuple(getattr(at, other) for other in _AXES if other != name)


def _told(rest: tuple[Any, ...], name: str) -> str:
    names = {"flows": "N", "slope": "slope", "min_packets": "min"}
    others = [names[other] for other in _AXES if other != name]
    return ", ".join(f"{other} {value:g}" for other, value in zip(others, rest, strict=True))


def _title(at: Bottleneck, kind: str, name: str, rest: tuple[Any, ...], series: int) -> str:
    setting = f"{at.rate_gbps:g} Gbps, RTT {at.delay_us:g} us"
    if at.growth != "one":
        setting += f", slope times {at.growth}"
    return f"{kind}: {setting}" + (f", {_told(rest, name)}" if series == 1 else "")
