"""Figures to test with: a tiny scenario, and functions."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

from spillway_studies.claims import (
    Alike,
    Claim,
    Computed,
    Figure,
    Lines,
    Near,
    Number,
    Panel,
    Reduction,
    Run,
    Scale,
    Scheme,
    Tail,
    along,
    basis,
)
from support import TINY

INCAST = Tail("incast", 0.95)
BUFFER = Number("buffer_occupancy.p99", "buffer p99", "%", 100)
DT = Scheme("DT", ("switch.sharing=dt",))
LQD = Scheme("LQD", ("switch.sharing=lqd",))

BURSTS = Figure(
    name="tiny/bursts",
    title="Bursts in a tiny network",
    source="Tiny, Figure 1",
    about="Nothing to see.",
    measure=Run(str(TINY)),
    points=along(
        "burst", (20, 80.0), "traffic.queries.burst={}%", label="burst {:g}%", tick="{:g}%"
    ),
    schemes=(DT, LQD),
    scales={"quick": Scale((1, 2), ("stop=20ms",)), "full": Scale((1, 2, 3))},
    plot=Lines((Panel(INCAST, "incast", is_log=True), Panel(BUFFER, "buffers")), "burst", "burst"),
    claims=(
        Claim("LQD is faster", "section 1", Reduction(INCAST, new="LQD", old="DT"), Near(0.5)),
        Claim("LQD holds as much", "section 2", Reduction(BUFFER, new="LQD", old="DT"), Alike()),
    ),
)


@basis.results(1)
def square(report, *, x: float, scheme: str, seed: int, log: str, gate: str = "") -> dict:
    """x squared, noted in a file; waits before points from 3 on while a gate is missing."""
    while gate and x >= 3 and not Path(gate).exists():
        report(None)
        time.sleep(0.01)
    with Path(log).open("a") as file:
        file.write(f"{x} {scheme} {seed}\n")
    return {"square": x * x}


@basis.results(1)
def interrupting(report, *, x: float, scheme: str, seed: int) -> dict:
    """Its second point is where somebody types Ctrl-C."""
    if x == 2:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        while True:
            report(None)
            time.sleep(0.01)
    return {"x": x}


def computed(function: str = "square", **parameters: str) -> Figure:
    return Figure(
        name="tiny/squares",
        title="Squares",
        source="Tiny, Table 1",
        about="",
        measure=Computed(f"figures:{function}"),
        points=along("x", (1, 2, 3, 4), label="x = {}"),
        schemes=(Scheme("plain"),),
        scales={"quick": Scale((1,), parameters=parameters)},
    )
