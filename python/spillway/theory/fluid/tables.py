"""The table of the command, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from rich.console import Group, RenderableType
from rich.text import Text

from spillway.show.tables import wide_grid
from spillway.theory.fluid.packets import Point, Solved

_MOST_ROWS = 1000
"""The most moments of a trajectory that are written."""


def document(points: Sequence[Point]) -> list[dict[str, Any]]:
    """All numbers but those in time."""
    return [
        {
            "flows": point.bottleneck.flows,
            "slope_per_mb": point.bottleneck.slope_per_mb,
            "min_packets": point.bottleneck.min_packets,
            "floor_packets": point.bottleneck.floor,
            "models": {each.model.name: _model(each) for each in point.solved},
            "packets": [
                {
                    "seed": run.seed,
                    "queue_mean": run.mean,
                    "queue_deviation": run.deviation,
                    "queue_least": run.least,
                    "queue_greatest": run.greatest,
                    "goodput_gbps": run.goodput_gbps,
                    "window_mean": run.window,
                    "window_spread": run.window_spread,
                    "in_flight_mean": run.in_flight,
                    "windows_together": run.together,
                }
                for run in point.packets
            ],
        }
        for point in points
    ]


def _model(solved: Solved) -> dict[str, Any]:
    return {
        "queue": solved.point.queue,
        "window": solved.point.window,
        "probability": solved.point.probability,
        "rtt_us": solved.point.rtt_us,
        "fate": solved.trajectory.fate,
        "queue_mean": solved.trajectory.mean,
        "queue_amplitude": solved.trajectory.amplitude,
    }


def shown(points: Sequence[Point], kind: str) -> RenderableType:
    """A row for every setting: the models' queues, and the packet simulator's."""
    names = [each.model.name for each in points[0].solved]
    is_measured = bool(points[0].packets)
    heads = ["flows", "slope", "min", "floor"]
    if is_measured:
        off = [head for name in names for head in (name, "off")]
        table = wide_grid(numbers=[*heads, *off, "packets", "deviation", "seeds"])
    else:
        table = wide_grid(numbers=[*heads, *names])
    for point in points:
        table.add_row(*_cells(point))
    at = points[0].bottleneck
    lines = [
        f"{kind}: steady queue in packets of {at.packet_bytes:,} bytes; {at.rate_gbps:g} Gbps, "
        f"RTT {at.delay_us:g} us, of which {at.in_the_pipe:.1f} packets fill the pipe",
    ]
    notes = [
        line
        for letter, line in (
            ("~", "~ oscillates: the mean, and how far it swings to either side"),
            ("?", "? not settled when the time was over: the fixed point"),
        )
        if any(letter in _queue(each) for point in points for each in point.solved)
    ]
    return Group(*map(Text, lines), table, *map(Text, notes))


def _cells(point: Point) -> list[str]:
    at, measured = point.bottleneck, point.measured
    cells = [str(at.flows), f"{at.slope_per_mb:.4g}", f"{at.min_packets:g}", f"{at.floor:.1f}"]
    for each in point.solved:
        cells.append(_queue(each))
        if measured is not None:
            cells.append(f"{settled(each) / measured - 1:+.0%}" if measured else "-")
    if point.packets:
        means = [run.mean for run in point.packets]
        spread = sum(run.deviation for run in point.packets) / len(point.packets)
        cells += [f"{measured:.1f}", f"{spread:.1f}", f"{min(means):.1f} .. {max(means):.1f}"]
    return cells


def settled(solved: Solved) -> float:
    """The queue that the model predicts: its mean if it oscillates, else the fixed point."""
    is_mean = solved.trajectory.fate == "oscillates"
    return solved.trajectory.mean if is_mean else solved.point.queue


def _queue(solved: Solved) -> str:
    found = solved.trajectory
    if found.fate == "oscillates":
        return f"~{found.mean:.1f} +- {found.amplitude:.1f}"
    return f"{solved.point.queue:.1f}{'?' if found.fate == 'unsettled' else ''}"


def steady(points: Sequence[Point]) -> pa.Table:
    """A row for every setting and model."""
    return _table(
        {**_setting(point), "model": each.model.name, **_model(each)}
        for point in points
        for each in point.solved
    )


def packets(points: Sequence[Point]) -> pa.Table:
    """A row for every setting and seed."""
    return _table(
        {**_setting(point), **row}
        for point, one in zip(points, document(points), strict=True)
        for row in one["packets"]
    )


def in_time(points: Sequence[Point]) -> pa.Table:
    """A row for every setting, model and moment."""
    return _table(
        {
            **_setting(point),
            "model": each.model.name,
            "time_s": float(each.trajectory.time_s[place]),
            "window": float(each.trajectory.states[place, 0]),
            "queue": float(each.trajectory.queue[place]),
        }
        for point in points
        for each in point.solved
        for place in _places(len(each.trajectory.time_s))
    )


def _places(moments: int) -> range:
    return range(0, moments, -(-moments // _MOST_ROWS))


def _setting(point: Point) -> dict[str, Any]:
    at = point.bottleneck
    return {
        "flows": at.flows,
        "slope_per_mb": at.slope_per_mb,
        "min_packets": float(at.min_packets),
        "floor_packets": at.floor,
    }


def _table(rows: Any) -> pa.Table:
    return pa.Table.from_pylist(list(rows))
