"""The steady queue over what is varied, and the queue in time: the model's line, runs as points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from spillway.show.drawing import drawing_of, log_scale
from spillway.show.palette import COLOURS, MARKERS
from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.packets import Point
from spillway.theory.fluid.tables import settled

_AXES = {
    "flows": "flows",
    "slope": "slope of RED, per MB",
    "min_packets": "min of RED, packets",
}
_NAMES = {"flows": "N", "slope": "slope", "min_packets": "min"}
_LINES = ("-", "--", "-.", ":")
_DPI = 130
_MOST_SERIES = 6
"""The most settings that get a colour of their own in a plot; others are left to the tables."""


def axis_of(points: Sequence[Point]) -> str:
    """What the steady queue is drawn over: flows, or what else takes most values."""
    return max(_AXES, key=lambda name: _values(points, name))


def steady(points: Sequence[Point], file: Path, kind: str) -> None:
    """Draws the steady queue."""
    name = axis_of(points)
    varied = _varied(points, name)
    series: dict[str, list[Point]] = {}
    for point in points:
        series.setdefault(_told(point.bottleneck, varied), []).append(point)
    shown = list(series.items())[:_MOST_SERIES]
    models = [each.model.name for each in points[0].solved]
    with drawing_of(6.4, 4.4) as drawing:
        axis = drawing.subplots()
        for number, (label, own) in enumerate(shown):
            xs = [getattr(point.bottleneck, name) for point in own]
            for style, model in enumerate(models):
                ys = [settled(point.solved[style]) for point in own]
                told = ", ".join(part for part in (label, f"model: {model}") if part)
                shade = COLOURS[number if len(shown) > 1 else style]
                axis.plot(xs, ys, linestyle=_LINES[style % len(_LINES)], color=shade, label=told)
            if own[0].packets:
                shade = COLOURS[number] if len(shown) > 1 else "#000000"
                _runs(axis, xs, own, shade, MARKERS[number], label)
        if len(shown) == 1:
            own = shown[0][1]
            floors = [point.bottleneck.floor for point in own]
            xs = [getattr(point.bottleneck, name) for point in own]
            if sum(floor > 0 for floor in floors) > 1:
                told = "floor: all windows are the least"
                axis.plot(xs, [floor or np.nan for floor in floors], color="#999999", label=told)
        axis.set_xlabel(_AXES[name])
        axis.set_ylabel("steady queue, packets")
        drawn = [settled(each) for point in points for each in point.solved]
        drawn += [run.mean for point in points for run in point.packets]
        least, top = max(min(drawn), 0.5), max(drawn)
        axis.set_ylim(least * 0.8, top * 1.25)
        log_scale(axis)
        if min(getattr(point.bottleneck, name) for point in points) > 0:
            log_scale(axis, "x")
        axis.set_title(_title(points, kind, name))
        drawing.legend(loc="outside upper center", ncols=2)
        if points[0].packets:
            note = "points: mean over seeds; bars: standard deviation in time"
            drawing.supxlabel(note, fontsize=7.5, color="#666666")
        drawing.savefig(file, dpi=_DPI)


def _runs(
    axis: Axes, xs: Sequence[float], own: Sequence[Point], colour: str, marker: str, label: str
) -> None:
    """The runs: means over seeds; bars: a standard deviation in time to either side."""
    means = [point.measured or 0.0 for point in own]
    bars = [sum(run.deviation for run in point.packets) / len(point.packets) for point in own]
    told = ", ".join(part for part in (label, "packets") if part)
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


def _varied(points: Sequence[Point], name: str) -> list[str]:
    """What besides the axis has more than one value."""
    return [other for other in _AXES if other != name and _values(points, other) > 1]


def _values(points: Sequence[Point], name: str) -> int:
    return len({getattr(point.bottleneck, name) for point in points})


def _told(at: Bottleneck, names: Sequence[str]) -> str:
    return ", ".join(f"{_NAMES[name]} {getattr(at, name):g}" for name in names)


def _title(points: Sequence[Point], kind: str, name: str) -> str:
    at, varied = points[0].bottleneck, _varied(points, name)
    fixed = [other for other in _AXES if other != name and other not in varied]
    setting = f"{kind}: {at.rate_gbps:g} Gbps, RTT {at.delay_us:g} us, {_told(at, fixed)}"
    return setting if at.growth == "one" else f"{setting}, slope times {at.growth}"
