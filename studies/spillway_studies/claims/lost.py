"""Packets lost in the window of measurement.

The summary's `drops` are those of the whole run. Losses while Smartbuf learns, or while a network
fills, must not count in comparisons.
"""

import tomllib

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway_studies.claims import basis
from spillway_studies.claims.metric import Total

WITHIN = "lost"
"""The first part of the counts' paths."""

PACKETS = Total(WITHIN, "packets lost", "packets")
"""Packets lost from the end of the warm-up on."""


@basis.results(1)
def numbers(result: Result) -> dict[str, int]:
    """Packets lost from `warmup` on, by reason.

    Raises:
        ValueError: the run has not recorded lost packets.
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
