"""Scenarios made for every key of every section: something is wrong in them, or an example."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from spillway.scenario.sections import Key, Section, sections

Json = dict[str, Any]

LINK = {"rate": "10Gbps", "delay": "1us"}
GRAPH: Json = {
    "kind": "graph",
    "switch": [{"name": "s"}, {"name": "t"}],
    "host": [{"name": host, "switch": "s", **LINK} for host in ("a", "b")],
    "link": [{"a": "s", "b": "t", **LINK}],
}
EVENT = {"a": "leaf0", "b": "host0", "at": "1us"}
_BASE: Json = {"duration": "1ms", "topology": {"kind": "star"}}
NEEDED: dict[str, Json] = {
    "": {"duration": "1ms"},
    "topology.switch.*": {"name": "u"},
    "topology.host.*": {"name": "c", "switch": "s", **LINK},
    "topology.link.*": {"a": "s", "b": "t", **LINK},
    "traffic.*.bound constant": {"size": "1KB"},
    "event.* link-down": EVENT,
    "event.* link-loss": EVENT,
    "event.* set": {"key": "switch.aqm.threshold", "value": "9pkt", "at": "1us"},
    "traffic.* poisson": {"sizes": "20KB", "load": 0.1, "load_of": "host", "destinations": 0},
    "traffic.* incast": {"interval": "1ms", "burst": "9KB", "fan_in": 3, "senders": "any"},
    "traffic.* permutation": {"size": "1KB"},
    "traffic.* all-to-all": {"size": "1KB"},
    "traffic.* all-reduce": {"size": "1KB"},
    "traffic.* persistent": {"receiver": 0},
    "traffic.* flows": {"file": "list.csv"},
    "switch.sharing blind-trust": {"oracle": "always-accept"},
}
"""What a section must have to be valid, besides its kind."""


class Made(NamedTuple):
    """A scenario, and what was done to it."""

    what: str
    scenario: Json


def needed(section: Section) -> Json:
    """What must stand in a section of this kind."""
    kind = {} if section.kind is None else {"kind": section.kind}
    name = {"name": "t"} if section.path == "traffic.*" else {}
    own = NEEDED.get(section.path, {}) | NEEDED.get(f"{section.path} {section.kind}", {})
    return {**kind, **name, **own}


def whole(section: Section, values: Json) -> Json:
    """A scenario in which a section has these values; `list.csv` lies beside it."""
    switch = {"buffer": "100MB", "queues_per_port": 9, "scheduling": "dwrr"}
    base: Json = {**_BASE, "switch": switch}
    first, *rest = section.path.split(".")
    if not first:
        return {"topology": {"kind": "star"}, **values}
    if first == "event":
        return {**base, "switch": {"aqm": "ecn"}, "event": [values]}
    if first == "traffic":
        flows = {"name": "t", "kind": "persistent", "receiver": 0, "bound": values}
        return {**base, "traffic": [flows if "bound" in rest else values]}
    if first == "topology" and rest:
        lists = copy.deepcopy(GRAPH)
        lists[rest[0]].append(values)
        return {**base, "topology": lists}
    if first == "topology" and section.kind == "graph":
        lists = {name: rows for name, rows in GRAPH.items() if name != "kind"}
        return {**base, "topology": {**lists, **values}}
    if first == "switch":
        # One choice of packets asks for the other, and for a single queue.
        if section.kind == "pfabric":
            switch = {"buffer": "100MB", "sharing": "pfabric", "scheduling": "pfabric"}
        return {**base, "switch": {**switch, **({rest[0]: values} if rest else values)}}
    return {**base, first: {rest[0]: values} if rest else values}


def wrong_values(key: Key) -> Iterator[tuple[str, Any]]:
    """Values that a key does not take, and what is wrong with each."""
    yield "of another type", [[]]
    yield "of another type", 1 if key.type == "flag" else True
    if key.choices and key.type in ("choice", "policy"):
        yield "no choice", "zzz"
    if key.units:
        yield "without its unit", 12
        yield "without its unit", "12"
        yield "with another unit", "12 apples"
    for bound, step in ((key.least, -1), (key.most, 1)):
        if bound is not None and bound.value < 2**62:
            end = int(bound.value) if key.type == "integer" else bound.value
            yield "out of bounds", end + step if bound.included else end
    if key.type == "integer":
        yield "no whole number", 1.5


def examples(key: Key) -> Iterator[Any]:
    """Values that a key takes, by what is told of it; some only beside others."""
    yield from key.choices if key.type in ("choice", "policy") else ()
    yield from (f"{number}{unit}" for unit in key.units for number in ("1", "0", "1_0.5", " 2 "))
    yield from re.findall(r'"([^"]+)"', key.takes)
    for bound, step in ((key.least, 1), (key.most, -1)):
        if bound is not None and bound.value < 2**62:
            end = int(bound.value) if key.type == "integer" else bound.value
            yield end if bound.included else (end + step if step > 0 else end - 1e-9)
    yield from (True, False, 0, 1, 2.5, "", " ", "a", "0..1", [0], [1, 2], ["1KB"], [[0, 1]], {})
    if key.default_value is not None:
        yield key.default_value


def changed(values: Callable[[Key], Iterator[tuple[str, Any]]]) -> Iterator[Made]:
    """Each section with one key changed; what many kinds have alike is changed in one of them."""
    known = set()
    for section in sections():
        name = f"{section.path} {section.kind or ''}".strip()
        good = needed(section)
        for key in section.keys.values():
            if (section.path, key) in known or key.name in ("kind", "name"):
                continue
            known.add((section.path, key))
            for what, value in values(key):
                told = f"{name}: {key.name} = {value!r}{what}"
                yield Made(told, whole(section, {**good, key.name: value}))
                if section.path == "transport":
                    flows = {"name": "t", "kind": "persistent", "receiver": 0}
                    flows |= {"transport": section.kind, key.name: value}
                    yield Made(f"traffic, {told}", {**_BASE, "traffic": [flows]})


def with_examples() -> Iterator[Made]:
    """Scenarios most of which are valid."""
    return changed(lambda key: (("", value) for value in examples(key)))


def wrong() -> Iterator[Made]:
    """Scenarios of which none is valid."""
    yield from changed(lambda key: ((f", {what}", value) for what, value in wrong_values(key)))
    for section in sections():
        name = f"{section.path} {section.kind or ''}".strip()
        good = needed(section)
        yield Made(f"{name}: an unknown key", whole(section, {**good, "zzz": 1}))
        for key in section.keys.values():
            if key.is_required:
                others = {each: value for each, value in good.items() if each != key.name}
                yield Made(f"{name}: without {key.name}", whole(section, others))
