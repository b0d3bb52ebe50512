"""The queue discs of the reference's runs, as AQMs of ours, and its two experiments as scenarios.

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
from dataclasses import dataclass, field
from pathlib import Path

from spillway.scenario.scenario import Scenario
from spillway_studies.references.numbers import Json

_PACKETS = "2000pkt"
"""The limit of the discs that count packets."""
_SLOPE_FROM, _SLOPE_UP_TO = 15_000, 500_000
"""Where RED's slope begins, and where it ends unless it has reached 1 before, in bytes."""


@dataclass(frozen=True)
class Disc:
    """A queue disc, as an AQM of ours."""

    aqm: Json
    """The AQM in a scenario."""
    is_random: bool = False
    """Whether its marks depend on random numbers."""
    queue_limit: str = _PACKETS
    drops: Json = field(default_factory=dict)
    """Keys with which it drops in runs. A replay is of packets that were not dropped."""

    @property
    def in_runs(self) -> Json:
        """The AQM of runs."""
        return {**self.aqm, **self.drops}


def _pie(alpha: float, beta: float, drops: Json) -> Disc:
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


WINDOW_US = (20_000, 100_000)
"""The time that is looked at when senders are endless."""
SAMPLE_US = 10
_TRANSPORTS: dict[str, Json] = {
    "dctcp": {"kind": "dctcp"},
    "newreno": {"kind": "newreno", "ecn": True},
}
TRANSPORTS = tuple(_TRANSPORTS)
"""The transports that are known by the reference's names."""


def endless(disc: Disc, transport: str, senders: int) -> Scenario:
    """Endless flows, one from each sender, to one receiver, the last host."""
    traffic = [
        {
            "name": f"f{sender}",
            "kind": "persistent",
            "pairs": [[sender, senders]],
            "start": f"{10 * sender}us",
        }
        for sender in range(senders)
    ]
    begin, end = WINDOW_US
    scenario = _star(disc, transport, senders + 1) | {
        "warmup": f"{begin}us",
        "duration": f"{end}us",
        "stop": f"{end}us",
        "traffic": traffic,
        "record": {"queue_interval": f"{SAMPLE_US}us", "empty_queues": True, "drops": False},
    }
    scenario["transport"]["handshake"] = True
    return Scenario(scenario)


def listed(disc: Disc, file: Path, hosts: int, last_start_ns: int) -> Scenario:
    """The flows of a list. Their connections are open when they start."""
    return Scenario(
        _star(disc, "dctcp", hosts)
        | {
            "warmup": "0us",
            "duration": f"{last_start_ns + 1}ns",
            "stop": f"{last_start_ns + 10_000_000_000}ns",
            "traffic": [{"name": "flows", "kind": "flows", "file": str(file.resolve())}],
            "record": {"drops": False},
        }
    )


def _star(disc: Disc, transport: str, hosts: int) -> Json:
    """One switch with packets of ns-3's sizes, of which the disc sees all but two bytes of PPP."""
    return {
        "name": "aqm",
        "topology": {
            "kind": "star",
            "hosts": hosts,
            "host_rate": "10Gbps",
            "link_delay": "10us",
            "clocks": "exact",
        },
        "switch": {
            "buffer": "unlimited",
            "sharing": "cs",
            "port_fifo_packets": 1,
            "uncounted_bytes": "2B",
            "queue_limit": disc.queue_limit,
            "aqm": disc.in_runs,
        },
        "transport": {
            **_TRANSPORTS[transport],
            "mss": "1448B",
            "header": "54B",
            "ack_size": "54B",
            "initial_window": "10pkt",
            "min_window": "1B",
            "recovery": {"kind": "ns3", "min_rto": "10ms"},
            "host_backlog": "unlimited",
        },
    }
