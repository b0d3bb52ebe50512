"""The reference's two experiments as scenarios: endless senders, and a list of flows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spillway.scenario.scenario import Scenario
from spillway_studies.references.aqm_discs import Disc

WINDOW_US = (20_000, 100_000)
"""The time that is looked at when senders are endless."""
SAMPLE_US = 10
_TRANSPORTS: dict[str, dict[str, Any]] = {
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
    scenario = _star(disc, "dctcp", hosts) | {
        "warmup": "0us",
        "duration": f"{last_start_ns + 1}ns",
        "stop": f"{last_start_ns + 10_000_000_000}ns",
        "traffic": [{"name": "flows", "kind": "flows", "file": str(file.resolve())}],
        "record": {"drops": False},
    }
    return Scenario(scenario)


def _star(disc: Disc, transport: str, hosts: int) -> dict[str, Any]:
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
            "min_rto": "10ms",
            "loss_detection": "ns3",
            "host_backlog": "unlimited",
        },
    }
