"""The queue discs of the reference's runs, as AQMs of ours.

| disc | what it is in ns-3 |
| --- | --- |
| `redN` | RED whose two thresholds are both N packets: marks whatever finds N or more |
| `redslopeX` | RED by bytes, X per MB above 15 KB; marks as ns-3 spaces them (`Wait`) |
| `redslopeX_nowait` | the same without `Wait`: marks come three times as often |
| `codel` | CoDel, target 10 us, interval 150 us |
| `tcn` | TCN, 80 us |
| `ecnsharp` | ECN#: 80 us at once; 10 us for longer than 150 us |
| `pie_nodrop` | PIE, target 20 us, gains scaled to it; marks only |
| `pie` | the same, as ns-3 has it: packets are lost while the probability is 1 |
| `pie_stock` | `pie` with RFC 8033's gains, which are for seconds |
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_PACKETS = "2000pkt"
"""The limit of the discs that count packets."""
_SLOPE_FROM, _SLOPE_UP_TO = 15_000, 500_000
"""Where RED's slope begins, and where it ends unless it has reached 1 before, in bytes."""


@dataclass(frozen=True)
class Disc:
    """A queue disc, as an AQM of ours."""

    aqm: dict[str, Any]
    """The AQM in a scenario."""
    is_random: bool = False
    """Whether its marks depend on random numbers."""
    queue_limit: str = _PACKETS
    drops: Mapping[str, Any] = field(default_factory=dict)
    """Keys with which it drops in runs. A replay is of packets that were not dropped."""

    @property
    def in_runs(self) -> dict[str, Any]:
        """The AQM of runs."""
        return {**self.aqm, **self.drops}


def _pie(alpha: float, beta: float, drops: Mapping[str, Any]) -> Disc:
    aqm = {
        "kind": "pie",
        "target": "20us",
        "update_interval": "30us",
        "alpha": alpha,
        "beta": beta,
        "burst": "0us",
        "mark_up_to": 1.0,
        "delay": "sojourn",
        "derandomize": False,
    }
    return Disc(aqm, is_random=True, drops=drops)


_BELOW_1 = {"mark_up_to": math.nextafter(1, 0)}

DISCS = {
    "codel": Disc({"kind": "codel", "rules": "ns3", "target": "10us", "interval": "150us"}),
    "tcn": Disc({"kind": "tcn", "threshold": "80us"}),
    "ecnsharp": Disc(
        {"kind": "ecn-sharp", "instant": "80us", "target": "10us", "interval": "150us"}
    ),
    "pie": _pie(93.75, 937.5, _BELOW_1),
    "pie_nodrop": _pie(93.75, 937.5, {}),
    "pie_stock": _pie(0.125, 1.25, _BELOW_1),
}
"""The discs without a number in their names."""

_ONE_THRESHOLD = re.compile(r"red([1-9]\d{0,4})")
_SLOPE = re.compile(r"redslope(\d{1,3}(?:\.\d{1,3})?)(_nowait)?")


def disc_of(name: str) -> Disc | None:
    """The disc with this name, if it is known."""
    if found := _ONE_THRESHOLD.fullmatch(name):
        return Disc({"kind": "ecn", "threshold": f"{found[1]}pkt", "at_threshold": "mark"})
    if (found := _SLOPE.fullmatch(name)) and float(found[1]) > 0:
        return _slope(float(found[1]), "uniform-ns3" if found[2] else "wait")
    return DISCS.get(name)


def _slope(per_megabyte: float, spacing: str) -> Disc:
    is_one = int(_SLOPE_FROM + 1e6 / per_megabyte)
    aqm = {
        "kind": "red",
        "form": "point-slope",
        "min": f"{_SLOPE_FROM}B",
        "max": f"{min(_SLOPE_UP_TO, is_one)}B",
        "slope": per_megabyte,
        "spacing": spacing,
    }
    return Disc(aqm, is_random=True, queue_limit="3MB")
