"""Packets that were lost while it was measured.

The summary's `drops` are those of the whole run. What policies lose while Smartbuf learns, or
while a network fills, is no part of what is compared.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from spillway.reproduce.metric import Total
from spillway.reproduce.samples import quantity

if TYPE_CHECKING:
    from spillway.result import Result

WITHIN = "lost"
"""The first step of the counts' path."""

PACKETS = Total(WITHIN, "packets lost", "packets")
"""From the warm-up on."""


def numbers(result: Result) -> dict[str, int]:
    """Packets lost from `warmup` on, by reason.

    Raises:
        ValueError: the run has not recorded them.
    """
    import pyarrow.compute as pc

    scenario = tomllib.loads(result.scenario)
    if not scenario["record"]["drops"]:
        raise ValueError("a run with `record.drops = false` does not tell when packets were lost")
    warmup = quantity(scenario["warmup"])
    drops = result.drops.select(["time_ps", "reason"])
    counts = pc.value_counts(drops.filter(pc.field("time_ps") >= warmup)["reason"])
    found = {f"{WITHIN}.{each['values']}": each["counts"] for each in counts.to_pylist()}
    return {f"{WITHIN}.buffer_full": 0} | found
