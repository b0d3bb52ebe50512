"""How much of the buffer is free when a packet is lost.

The text asks for "minimal buffer wastage" without a measure of it. Complete Sharing wastes nothing:
it loses a packet only if there is no room for it. So the waste is the buffer that is free when a
packet is lost all the same.
"""

import string
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway_studies.claims import Number, basis

FREE_WHEN_LOST = Number(
    "free_when_lost", "buffer that is free when a byte is lost", "% of the buffer", 100
)


@basis.results(1)
def numbers(result: Result) -> dict[str, float | None]:
    """The share of the switch's buffer that was free when a byte was lost: the mean over all bytes.

    For a leaf-spine network without unlimited buffers; None if nothing was lost. Losses at hosts do
    not count.
    """
    buffers = buffers_of(tomllib.loads(result.scenario))
    bytes_lost, bytes_free = 0, 0.0
    # In pieces and by the numbers of names, because there may be ten million rows.
    for lost in result.drops.select(["switch", "size_bytes", "occupancy_bytes"]).to_batches():
        names = lost["switch"].dictionary.to_pylist()
        tiers = np.array([buffers.get(name.rstrip(string.digits), 0) for name in names])
        buffer = tiers[lost["switch"].indices.to_numpy()]
        in_switch = buffer > 0
        size = lost["size_bytes"].to_numpy(zero_copy_only=False)[in_switch]
        held = lost["occupancy_bytes"].to_numpy(zero_copy_only=False)[in_switch]
        free = 1 - held / buffer[in_switch]
        bytes_lost += int(size.sum())
        bytes_free += float(free @ size)
    return {FREE_WHEN_LOST.path: bytes_free / bytes_lost if bytes_lost else None}


def buffers_of(scenario: Mapping[str, Any]) -> dict[str, int]:
    """The bytes of a switch's buffer, by tier, in a resolved leaf-spine scenario."""
    topology, switch = scenario["topology"], scenario["switch"]
    host, fabric = (_gbps(topology[rate]) for rate in ("host_rate", "fabric_rate"))
    uplinks = topology["spines"] * topology["links_per_pair"]
    downlinks = topology["leaves"] * topology["links_per_pair"]
    rates = {
        "leaf": topology["hosts_per_leaf"] * host + uplinks * fabric,
        "spine": downlinks * fabric,
    }
    return {tier: _bytes(switch.get(tier, switch)["buffer"], gbps) for tier, gbps in rates.items()}


def _bytes(buffer: str, gbps: float) -> int:
    """A buffer in bytes, which may be given per Gbps of a switch's ports."""
    size, slash, _ = buffer.partition("/port/Gbps")
    return int(quantity(size) * gbps) if slash else quantity(size)


def _gbps(rate: str) -> float:
    return float(rate.removesuffix("Gbps"))
