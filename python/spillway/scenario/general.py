"""What holds of keys in general, where the core tells of the example that it reads them with."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _key(name: str, takes: str, type: str, default: str, meaning: str, **more: Any) -> Json:
    words = {"name": name, "takes": takes, "type": type, "default": default, "meaning": meaning}
    return {**words, **more}


def _flag(name: str, meaning: str) -> Json:
    return _key(name, "true or false", "flag", "none", meaning)


_TIMES = ["ps", "ns", "us", "ms", "s"]
_TIME = 'a time above 0, such as "25.2us"'
_PPM = 'parts per million from -10000 to 10000, such as "-400..-200ppm"'

LEFT_OUT: dict[str, list[Json]] = {
    "topology": [
        _key(
            "kind",
            "",
            "choice",
            "",
            "which shape the network has",
            kinds_of="topology",
        ),
        _flag("whole_ns", "whether a packet's time on a line is cut to whole nanoseconds"),
        _key(
            "clocks",
            '"spread" or "exact"',
            "choice",
            '"spread"',
            "whether the rates of hosts and switches differ a little from their nominal rates",
            choices=["spread", "exact"],
        ),
        _key(
            "host_clocks",
            _PPM,
            "other",
            "none",
            "how far hosts' clocks are off where they are spread; below 0 they are slow",
        ),
        _key(
            "switch_clocks",
            _PPM,
            "other",
            "none",
            "how far switches' clocks are off where they are spread",
        ),
        _flag(
            "arrivals_first",
            "whether a port that can send chooses only after all packets of the same moment have "
            "arrived",
        ),
        _key(
            "base_rtt",
            _TIME,
            "time",
            "none",
            "round trip of the empty network: bandwidth-delay products and intervals hang on it; "
            "by default that of a full packet and its ack",
            units=_TIMES,
        ),
    ],
    "switch.pfc": [
        _key(
            "priorities",
            "a list of queue classes",
            "other",
            "none",
            "the queue classes that are lossless; by default that of data",
        )
    ],
    "switch.pfc dynamic": [
        _key(
            "quanta",
            "a whole number from 1 to 65535",
            "integer",
            "65535",
            "how long a pause lasts after a frame, in times of 512 bits",
            least={"value": 1, "included": True},
            most={"value": 65535, "included": True},
        ),
        _key(
            "refresh_after",
            _TIME,
            "time",
            '"10us"',
            "when a pause that must last is said again",
            units=_TIMES,
        ),
    ],
    "traffic.*": [
        _key(
            "transport",
            "the id of a transport",
            "choice",
            "none",
            "the transport of its flows; by default that of [transport]",
            kinds_of="transport",
        )
    ],
}
"""Keys that the core does not tell of, by section, or section and kind. `kinds_of` is the section
whose kinds are the choices; a key without a text of its own takes one of them."""

FIRST = ("name", "kind", "priorities")
"""Keys that stand before the others of their section."""


def _queue_class(most: int, key: str) -> Json:
    takes = f"a whole number from 0 to {most}, and below `{key}`"
    return {"takes": takes, "most": {"value": most, "included": True}}


def _up_to(what: str) -> Json:
    return {"takes": f"a whole number from 1 to {what}", "most": None}


GENERAL: dict[tuple[str, str], Json] = {
    ("switch", "ack_queue"): _queue_class(63, "queues_per_port"),
    ("switch", "data_queue"): _queue_class(63, "queues_per_port"),
    ("nic", "ack_queue"): _queue_class(63, "queues"),
    ("nic", "data_queue"): _queue_class(63, "queues"),
    ("nic", "receive_rate"): {"changes": True},
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
