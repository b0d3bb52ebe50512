"""Figure 1: bursts at two ports of a leaf within a short time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Claim,
    Figure,
    Number,
    Over,
    OverTime,
    Plain,
    Scale,
    TimePanel,
    basis,
    samples,
)
from spillway_studies.smartbuf.figures import bursts, setup

_STEP_US = 10
_BEFORE, _SHOWN = 300, 3_000
"""Microseconds shown before the first burst is detected, and in total."""

CLOSE = Number("bursts.close", "share of bursts with another close by")


@basis.results(1)
def numbers(result: Result) -> dict[str, float | None]:
    """Numbers about all bursts, and the queues of the first two ports whose bursts are close."""
    found = bursts.numbers(result)
    at_leaf = [
        row
        for row in bursts.at_leaves(result.bursts, quantity("1us")).to_pylist()
        if row["switch"] == "leaf0"
    ]
    at_leaf.sort(key=lambda row: row["detected_ps"])
    for first, second in pairwise(at_leaf):
        gap = second["detected_ps"] - first["detected_ps"]
        if first["port"] != second["port"] and gap <= bursts.CLOSE_PS:
            begin = first["detected_ps"] - _BEFORE * 10**6
            queues = {
                name: _queue(result, row["port"], begin)
                for name, row in (("first", first), ("second", second))
            }
            return {**found, **samples.series(queues, _STEP_US)}
    return found


def _queue(result: Result, port: int, begin: int) -> list[float]:
    """The bytes that a port of the first leaf held from then on, in KB."""
    ports = result.ports
    time, bytes_held = ports["time_ps"].to_numpy(), ports["bytes"].to_numpy()
    wanted = ports["port"].to_numpy() == port
    wanted &= (time >= begin) & (time < begin + _SHOWN * 10**6)
    held: list[float] = (bytes_held[wanted] / np.float64(1000)).tolist()
    return held


FIGURE = Figure(
    name="smartbuf/figure1",
    title="Bursts at two ports within a short time",
    source="Smartbuf (IWQoS 2021), Figure 1, section II",
    about="The first two bursts at different ports of the first leaf that begin within 1 ms. The "
    "text has no load and no scheme: 80%, DT. " + setup.ABOUT,
    measure=replace(
        setup.RUN,
        assignments=(
            "record.bursts=20%",
            f"record.port_interval={_STEP_US}us",
            "record.port_switch=0",
        ),
        also="spillway_studies.smartbuf.figures.figure1:numbers",
    ),
    points=(setup.HIGH,),
    schemes=(setup.DT,),
    scales={
        "quick": Scale((1, 2, 3), ("duration=30ms", "record.drops=false")),
        "full": Scale((1, 2, 3, 4, 5), ("duration=100ms", "record.drops=false")),
    },
    plot=OverTime(
        (
            TimePanel(
                "queue lengths, load 80%", "KB", (("first", "one port"), ("second", "another port"))
            ),
        ),
        (CLOSE,),
    ),
    claims=(
        Claim(
            "Bursts at two ports often come close together",
            "section II, Figure 1",
            Plain(CLOSE, setup.DT.name),
            Apart(0.1),
            Over(),
        ),
    ),
)
