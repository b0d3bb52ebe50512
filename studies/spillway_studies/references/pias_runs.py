"""A run of PIAS's own program as a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from spillway.base import parquet
from spillway.scenario.scenario import Scenario
from spillway_studies.references.pias_files import HOSTS, Reference

LEAVES, SPINES = 3, 2
FULL_PACKET = 1_500
PORT_BYTES = 240 * FULL_PACKET
"""What all queues of a port may hold together."""
MARKED_ABOVE = 65 * FULL_PACKET - FULL_PACKET
"""Bytes at a port with which an arriving full packet is marked. The reference compares 65 packets
with what there is after the arrival."""
FIRST_NS = 1_000_000_000
"""When the first flow may start; before, connections are warmed up."""
_LATEST_NS = 10_000_000_000
_WARM_UP_NS = (100_000_000, 600_000_000)
_WARM_UP_BYTES = 5 * 1_460

DIFFERENCES: dict[str, dict[str, Any]] = {
    "windows go on from flow to flow": {"transport.restart_each": None},
    "each flow has a connection of its own": {
        "transport.restart_each": None,
        "transport.connections": "own",
        "transport.handshake": False,
    },
    "alpha begins at 1": {"transport.alpha0": 1.0},
    "one path for each flow": {"routing.kind": "ecmp"},
    "windows make room for what has arrived": {
        "transport.loss_detection": "sack",
        "transport.dupthresh": 1_000_000,
    },
    "losses found by times (`rack`)": {"transport.loss_detection": "rack"},
    "hosts' NICs without limit": {"nic.queue_limit": None},
    "hosts' NICs without limit and marks": {"nic.queue_limit": None, "nic.aqm": None},
    "windows do not grow with a backlog in the NIC": {"transport.host_backlog": "1bdp"},
    "marks by the queue, not the port": {"switch.aqm.scope": "queue"},
    "all data in one queue": {"transport.tagging": {"kind": "las", "levels": 1}},
}
"""One change of settings at a time."""


def scenario(reference: Reference, place: Path) -> Scenario:
    """The flows of the reference in its network. The list of flows is written into `place`.

    What comes before `FIRST_NS` are packets that warm up connections.
    """
    file = place / f"{reference.name}.parquet"
    parquet.write(_listed(reference), file)
    aqm = {"kind": "ecn", "threshold": f"{MARKED_ABOVE}B", "scope": "port"}
    ports = {"leaf": HOSTS // LEAVES + SPINES, "spine": LEAVES}
    # Before that time the run ends only when nothing is left in the network, not even an ack.
    end = f"{FIRST_NS + int(reference.start_ns.max()) + _LATEST_NS}ns"
    described: dict[str, Any] = {
        "name": reference.name,
        "duration": end,
        "stop": end,
        "topology": {
            "kind": "leaf-spine",
            "leaves": LEAVES,
            "spines": SPINES,
            "hosts_per_leaf": HOSTS // LEAVES,
            "host_rate": "10Gbps",
            "fabric_rate": "40Gbps",
            "host_delay": "20.2us",
            "fabric_delay": "200ns",
            "clocks": "exact",
        },
        "routing": {"kind": "spray"},
        "switch": {
            "queues_per_port": 8,
            "scheduling": "strict",
            "sharing": "sp",
            "aqm": aqm,
            **{tier: {"buffer": f"{count * PORT_BYTES}B"} for tier, count in ports.items()},
        },
        "nic": {"aqm": aqm, "queue_limit": f"{PORT_BYTES}B"},
        "transport": {
            "kind": "dctcp",
            "mss": "1460B",
            "header": "40B",
            "ack_size": "40B",
            "g": 0.0625,
            "alpha0": 0.0,
            "initial_window": "70pkt",
            "min_window": "1pkt",
            "host_backlog": "unlimited",
            # The timeout is always the same.
            **dict.fromkeys(("initial_rto", "min_rto", "max_rto"), "2ms"),
            "loss_detection": "timeout-only",
            "handshake": True,
            "connections": "open",
            "restart_each": True,
            "tagging": {
                "kind": "pias",
                "thresholds": reference.thresholds,
                "acks": "with-first",
                "reset_after": 0,
            },
        },
        "traffic": [{"name": "flows", "kind": "flows", "file": str(file.resolve())}],
        "record": {"acknowledged": True, "drops": False},
    }
    return Scenario(described)


def _listed(reference: Reference) -> pa.Table:
    """The flows, behind those that warm up connections: one for every pair of hosts."""
    pairs = [(src, dst) for src in range(HOSTS) for dst in range(HOSTS) if src != dst]
    if not reference.is_warmed_up:
        pairs = []
    begin, end = _WARM_UP_NS
    starts = [begin + (end - begin) * number // len(pairs) for number in range(len(pairs))]
    return pa.table(
        {
            "src": [*(src for src, _ in pairs), *reference.src.tolist()],
            "dst": [*(dst for _, dst in pairs), *reference.dst.tolist()],
            "size_bytes": [_WARM_UP_BYTES] * len(pairs) + reference.size_bytes.tolist(),
            "start_ns": [*starts, *(reference.start_ns + FIRST_NS).tolist()],
        }
    )
