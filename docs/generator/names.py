"""The names in docs/results.md, compared with those of a run."""

from __future__ import annotations

import re

import spillway
from generator.catalogue import Json
from spillway.base.result_schema import SCHEMA

NAMES = re.compile(r"<!-- names: (?P<table>\w+) -->\n(?P<rows>(?:\n|\|.*\n)+)")

EVERYTHING: Json = {
    "duration": "1ms",
    "record": {"without_timeout": True, "queue_classes": True},
    "topology": {"kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2},
    "switch": {
        "buffer": "20KB",
        "sharing": "lqd",
        "aqm": "pred",
        "spine": {
            "sharing": {"kind": "smartbuf", "sigma": 20.0},
            "buffer": "200KB",
            "pfc": {"kind": "static", "threshold": "3KB"},
        },
    },
    "traffic": [
        {
            "name": "x",
            "kind": "incast",
            "interval": "1ms",
            "burst": "90KB",
            "fan_in": 3,
            "senders": "any",
        },
        {"name": "y", "kind": "all-reduce", "size": "9KB", "connections": "own"},
    ],
}
"""A scenario whose summary has every key."""


def names_of_a_run() -> dict[str, list[str]]:
    """The keys of the summary, and names in it."""
    result = spillway.run(EVERYTHING)
    summary = result.summary
    names = {"summary": list(summary)}
    names["slowdown"] = list(summary["fct_slowdown"]["all"])
    names["occupancy"] = list(summary["buffer_occupancy"])
    names["load"] = list(summary["load"])
    names["run"] = list(summary["run"])
    names["job"] = list(summary["job_us"]["all"])
    names["pausing"] = list(summary["pauses"])
    [tier, *_] = summary["queue_classes"].values()
    names["queue_classes"] = list(tier["0"])
    names |= {name: SCHEMA[name] for name in ("statuses", "reasons")}
    return names


def check_names(text: str, problems: list[str]) -> None:
    """Notes the names that a table lacks, or has too many."""
    actual = names_of_a_run()
    told = {
        match["table"]: re.findall(r"^\| `([\w]+)`", match["rows"], re.MULTILINE)
        for match in NAMES.finditer(text)
    }
    for name in actual:
        if sorted(told.get(name, [])) != sorted(actual[name]):
            problems.append(
                f"docs/results.md: {name} has {', '.join(actual[name])}; "
                f"told are {', '.join(told.get(name, [])) or 'none'}"
            )
