"""The keys of transports: those that many share, those of each, and presets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import spillway
from generator.catalogue import CATALOGUE, Json
from generator.markdown import code, default_of, sentence, table, takes

SHARED_KEYS = 4
"""This many keys that the same transports have are a table; fewer stand with each of them."""


def _groups() -> dict[tuple[str, ...], list[str]]:
    """Keys that the same transports have, by these transports; those of most come first."""
    kinds: dict[str, list[str]] = {}
    for entry in CATALOGUE["transport"]:
        for key in entry["keys"]:
            kinds.setdefault(key["name"], []).append(entry["id"])
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, those in kinds.items():
        groups.setdefault(tuple(those), []).append(name)
    shared = {
        those: names
        for those, names in groups.items()
        if len(those) > 1 and len(names) >= SHARED_KEYS
    }
    return dict(sorted(shared.items(), key=lambda each: -len(each[0])))


def own_keys(entry: Json) -> list[Json]:
    """The keys of a transport that are in no table of shared ones."""
    shared = {name for names in _groups().values() for name in names}
    return [key for key in entry["keys"] if key["name"] not in shared]


def shared_tables() -> str:
    """A table for the keys that many transports share."""
    blocks = []
    for kinds, names in _groups().items():
        rows = [_row(name, kinds) for name in names]
        blocks += [f"### {_in_words(kinds)}", table(["key", "takes", "default", "meaning"], rows)]
    return "\n\n".join(blocks)


def _row(name: str, kinds: Iterable[str]) -> list[str]:
    """A key that these transports share; their defaults may differ."""
    keys = {
        entry["id"]: next(key for key in entry["keys"] if key["name"] == name)
        for entry in CATALOGUE["transport"]
        if entry["id"] in kinds
    }
    first, *others = keys.values()
    if any({**first, "default": None} != {**key, "default": None} for key in others):
        raise SystemExit(f"transports differ about {name}")
    defaults = {kind: default_of(key) for kind, key in keys.items()}
    if len(set(defaults.values())) > 1:
        default = ", ".join(f"{value} ({kind})" for kind, value in defaults.items())
    else:
        default = default_of(first)
    return [code(name), TAKES.get(name, takes(first["takes"])), default, sentence(first["meaning"])]


TAKES = {"min_window": 'a length such as "2pkt" or "3KB"'}
"""What holds in general, where the catalogue tells of its example."""


def _in_words(kinds: Iterable[str]) -> str:
    """These transports, by those that are missing where that is shorter."""
    there = list(kinds)
    missing = [entry["id"] for entry in CATALOGUE["transport"] if entry["id"] not in there]
    if not missing:
        return "All transports"
    names = missing if len(missing) < len(there) else there
    listed = " and ".join(filter(None, [", ".join(map(code, names[:-1])), code(names[-1])]))
    return f"All transports except {listed}" if names is missing else listed


def presets(entry: Json) -> str:
    """What each preset of a transport changes; empty if there is none."""
    key = next((key for key in entry["keys"] if key["name"] == "preset"), None)
    if key is None:
        return ""
    names = re.findall(r'"([^"]+)"', key["takes"])
    columns = {name: _resolved(entry["id"], preset=name) for name in names}
    if key["default"] == "none":
        columns = {"without": _resolved(entry["id"]), **columns}
    rows = []
    for name in dict.fromkeys(name for values in columns.values() for name in values):
        values = [toml(values[name]) if name in values else "" for values in columns.values()]
        if name != "preset" and len(set(values)) > 1:
            rows.append([code(name), *(code(value) or "-" for value in values)])
    heads = [name if name == "without" else code(name) for name in columns]
    return table(["key", *heads], rows)


def _resolved(kind: str, **given: str) -> Json:
    """A transport with all of its keys."""
    whole = spillway.Scenario({**BASE, "transport": {"kind": kind, **given}}).resolved
    values: Json = dict(whole["transport"])
    recovery: Json = values.pop("recovery", {})
    return values | {f"recovery.{name}": value for name, value in recovery.items()}


BASE: Json = {"duration": "1ms", "topology": {"kind": "star"}}


def toml(value: Any) -> str:
    """A value as a scenario has it; a policy without parameters as its id."""
    if isinstance(value, dict) and set(value) == {"kind"}:
        value = value["kind"]
    return json.dumps(value)
