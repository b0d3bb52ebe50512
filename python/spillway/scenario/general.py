"""What holds of keys in general, where the core tells of the example that it reads them with."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

FIRST = ("name", "kind", "priorities")
"""Keys that stand before the others of their section."""


def _queue_class(most: int, key: str) -> Json:
    takes = f"a whole number from 0 to {most}, and below `{key}`"
    return {"takes": takes, "most": {"value": most, "included": True}}


def _up_to(what: str) -> Json:
    return {"takes": f"a whole number from 1 to {what}", "most": None}


GENERAL: dict[tuple[str, str], Json] = {
    ("topology", "base_rtt"): {
        "default": "none",
        "meaning": "round trip of the empty network: bandwidth-delay products and intervals hang "
        "on it; by default that of a full packet and its ack",
    },
    ("switch", "ack_queue"): _queue_class(63, "queues_per_port"),
    ("switch", "data_queue"): _queue_class(63, "queues_per_port"),
    ("nic", "ack_queue"): _queue_class(63, "queues"),
    ("nic", "data_queue"): _queue_class(63, "queues"),
    ("traffic.*", "transport"): {"takes": "the id of a transport"},
    ("traffic.* permutation", "shift"): _up_to("the number of hosts less one"),
    ("traffic.* all-to-all", "phases"): _up_to("the number of hosts of a job less one"),
    ("traffic.* all-to-all", "jobs"): _up_to("the number of hosts"),
    ("traffic.* all-reduce", "jobs"): _up_to("the number of hosts"),
    ("traffic.* incast", "queries_per_host_per_s"): {"default": "none"},
    ("traffic.* incast", "load"): {"default": "none"},
}
"""What holds of any scenario, by section, or section and kind, and key."""

SOMETIMES = frozenset(
    {
        ("traffic.* incast", "burst"),
        ("switch.sharing credence", "trace"),
        ("switch.sharing blind-trust", "trace"),
    }
)
"""Keys that must be given only beside some values of other keys."""
