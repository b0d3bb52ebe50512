"""Every sharing policy in Credence's network over load, burst and buffer, one at a time."""

from spillway_studies.claims.axes import Point, Scale, along
from spillway_studies.claims.draw import Lines, Panel
from spillway_studies.claims.figure import Figure
from spillway_studies.claims.metric import Number
from spillway_studies.comparison.figures.setup import (
    ABOUT,
    TIERS,
    TOLD,
    TRAINED,
    Numbers,
    run_of,
    schemes,
)

LOADS = along(
    "load",
    (0.2, 0.4, 0.6, 0.8),
    "traffic.websearch.load={}",
    label="load {:.0%}",
    tick="{:.0%}",
)
BURSTS = along(
    "burst_percent",
    (25, 50, 75, 100),
    "traffic.incast.burst={}%",
    label="burst {}%",
    tick="{}%",
)
# A burst keeps the size that it has with 5.12 KB: half of a leaf's 1,024,000 bytes.
BUFFERS = along(
    "buffer_kb",
    (1.28, 2.56, 3.84, 7.68),
    "switch.buffer={}KB/port/Gbps",
    "traffic.incast.burst=512KB",
    label="buffer {:g} KB",
    tick="{:g} KB",
)

_FULL = Scale((1, 2, 3), ("warmup=500ms", "duration=600ms"), TRAINED)
SCALES = {
    "quick": Scale((1, 2, 3), ("warmup=100ms", "duration=150ms"), TRAINED),
    "page": _FULL,
    "full": _FULL,
}


def _p99(of: str) -> Number:
    return Number(f"fct_slowdown.{of}.p99", f"{of} flows' p99 slowdown", "slowdown")


PANELS = (
    Panel(_p99("incast"), "(a) incast flows, p99", is_log=True),
    Panel(_p99("short"), "(b) short flows, p99", is_log=True),
    Panel(_p99("long"), "(c) long flows, p99", is_log=True),
    Panel(Number("goodput_gbps.all", "goodput", "Gbps"), "(d) goodput"),
)


def _sweep(axis: str, points: tuple[Point, ...], label: str) -> Figure:
    name = axis.partition("_")[0]
    return Figure(
        name=f"comparison/{name}",
        title=f"All sharing policies in Credence's network, over the {name}",
        source="none: the scenario credence",
        about=ABOUT,
        measure=Numbers(run_of("credence")),
        points=points,
        schemes=(*schemes(), TIERS),
        scales=SCALES,
        plot=Lines(PANELS, axis, label),
        tells=TOLD,
    )


FIGURES = (
    _sweep("load", LOADS, "load of the uplinks, incasts aside"),
    _sweep("burst_percent", BURSTS, "burst, of the buffer"),
    _sweep("buffer_kb", BUFFERS, "buffer for each port and Gbps"),
)
