"""A JSON Schema of scenarios, made from what the core tells of its sections.

What it refuses, the reader refuses as well. The reader refuses more: it knows how keys hang
together, and how large a network is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from spillway.base import core
from spillway.plugins import Plugins
from spillway.scenario.forms import Json, either, form, listed
from spillway.scenario.sections import Key, Section, Sections, at, path_below, sections

_ABOUT = (
    "A scenario of Spillway, {version}. Ids of plug-ins are refused, unless the schema was made "
    "with them: `spillway schema --plugin FILE.py:CLASS`."
)
_TABLES = ("routing", "nic", "record", "limits")
"""The sections without kinds and tiers."""
_OF_GRAPHS = ("switch", "host", "link")
"""The lists of a topology of kind `graph`."""


def json_schema(plugins: Plugins = ()) -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) of scenarios.

    Args:
        plugins: Classes that scenarios may name by their ids. Other ids are refused.
    """
    return _Schema(sections(plugins)).whole()


class _Schema:
    """The definitions of all sections."""

    def __init__(self, found: Sections) -> None:
        self.found = found
        rooms: Json = json.loads(core.catalogue())
        self.summaries = {
            f"{path} {entry['id']}": entry["summary"]
            for path, room in _ROOMS.items()
            for entry in rooms[room]
        }

    def whole(self) -> Json:
        """The schema."""
        (root,) = at(self.found, "")
        properties = {name: self._value("", key) for name, key in root.keys.items()}
        tables = {name: _ref(name) for name in ("switch", *_TABLES)}
        tables |= {name: _of_kinds(name) for name in ("topology", "transport")}
        lists = {name: listed(_of_kinds(name), 0) for name in ("traffic", "event")}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Scenario",
            "description": _ABOUT.format(version=core.__version__),
            **_table({**properties, **tables, **lists}, [*_required(root), "topology"]),
            "$defs": self._definitions(),
        }

    def _definitions(self) -> Json:
        found: Json = {path: self._plain(path) for path in _TABLES}
        found["tier"] = self._plain("switch")
        (of_graphs,) = at(self.found, "topology.switch.*")
        tiers = of_graphs.keys["tier"].choices
        found["switch"] = self._plain("switch", **{tier: _ref("tier") for tier in tiers})
        found |= {f"topology.{name}": self._plain(f"topology.{name}.*") for name in _OF_GRAPHS}
        graph = {name: listed(_ref(f"topology.{name}"), 0) for name in _OF_GRAPHS}
        found |= self._kinds("topology", None, {"graph": graph})
        found |= self._kinds("transport", self._default("transport"))
        found |= self._kinds("event.*", self._default("event.*"))
        of_flows = self._of_flows()
        found |= {f"flows.{name}": form for name, form in of_flows.items()}
        refs = {name: _ref(f"flows.{name}") for name in of_flows}
        kinds = {section.kind or "": refs for section in at(self.found, "traffic.*")}
        found |= self._kinds("traffic.*", None, kinds)
        for path in dict.fromkeys(section.path for section in self.found):
            policy = self._policy(path)
            if policy is not None:
                found |= self._kinds(path, policy.default)
        return found

    def _default(self, path: str) -> str:
        """The kind of a section that names none."""
        return str(at(self.found, path)[0].keys["kind"].default_value)

    def _plain(self, path: str, **more: Json) -> Json:
        """The section at a path, which has no kinds."""
        (section,) = at(self.found, path)
        return _table({**self._properties(section), **more}, _required(section))

    def _properties(self, section: Section) -> Json:
        return {
            name: self._value(section.path, key)
            for name, key in section.keys.items()
            if name != "kind" or section.kind is None
        }

    def _kinds(self, path: str, default: str | None, more: Json | None = None) -> Json:
        """A section that has kinds, and each of them.

        Args:
            path: Its path.
            default: The kind of a section without `kind`, if that is allowed.
            more: Keys that other sections tell of, by kind.
        """
        kinds: Json = {}
        for section in at(self.found, path):
            kind = section.kind or ""
            properties = {**((more or {}).get(kind, {})), **self._properties(section)}
            required = [name for name in _required(section) if name != "kind"]
            kinds[kind] = self._kind(path, kind, properties, required, may_lack=kind == default)
        choice = self._policy(path)
        for kind in () if choice is None else choice.choices:
            kinds.setdefault(kind, self._kind(path, kind, {}, [], may_lack=kind == default))
            kinds[kind]["minProperties"] = 1
        return _chosen(_named(path), kinds, default)

    def _kind(
        self, path: str, kind: str, properties: Json, required: list[str], *, may_lack: bool
    ) -> Json:
        """A section of one kind, which may lack its kind if that is the default."""
        summary = self.summaries.get(f"{path} {kind}")
        id = {"const": kind, **({"description": summary} if summary else {})}
        return _table({"kind": id, **properties}, required if may_lack else ["kind", *required])

    def _policy(self, path: str) -> Key | None:
        """The key whose parameters stand at a path."""
        owner, _, name = path.rpartition(".")
        keys = [each.keys[name] for each in at(self.found, owner) if name in each.keys]
        return keys[0] if keys and keys[0].type == "policy" else None

    def _value(self, path: str, key: Key) -> Json:
        """What a key takes, with its meaning and default."""
        if key.type != "policy":
            return {**_about(key), **form(key)}
        below = path_below(path, key.name)
        needy = {s.kind for s in at(self.found, below) if _required(s)}
        names = [name for name in key.choices if name not in needy]
        name = _named(below)
        checked = {"if": {"type": "object"}, "then": _ref(f"{name}.kinds")}
        return {**_about(key), **either({"enum": names}, _ref(name)), **checked}

    def _of_flows(self) -> Json:
        """The keys of all transports, for the flows of one traffic section."""
        forms: dict[str, list[Json]] = {}
        about: Json = {}
        for section in at(self.found, "transport"):
            for name, key in section.keys.items():
                if name == "kind":
                    continue
                value = self._value("transport", key)
                about.setdefault(name, value.pop("description", None))
                value.pop("default", None)
                known = forms.setdefault(name, [])
                if value not in known:
                    known.append(value)
        return {
            name: {"description": about[name], **(one[0] if len(one) == 1 else either(*one))}
            for name, one in forms.items()
        }


_ROOMS = {
    "switch.sharing": "sharing",
    "switch.aqm": "aqm",
    "switch.scheduling": "scheduling",
    "transport": "transport",
    "transport.recovery": "recovery",
    "transport.tagging": "tagging",
    "traffic.*": "traffic",
    "topology": "topology",
}
"""The rooms of the catalogue that tell of a section's kinds."""


def _about(key: Key) -> Json:
    """A key's meaning and default."""
    text = key.meaning.rstrip(".")
    found: Json = {"description": f"{text[:1].upper()}{text[1:]}. Takes {key.takes}."}
    default = key.default_value
    return found if default is None else {**found, "default": default}


def _required(section: Section) -> list[str]:
    return [name for name, key in section.keys.items() if key.is_required]


def _table(properties: Json, required: Iterable[str]) -> Json:
    """A table that has no other keys."""
    found: Json = {"type": "object", "properties": properties}
    if names := list(required):
        found["required"] = names
    return {**found, "additionalProperties": False}


def _chosen(name: str, kinds: Json, default: str | None) -> Json:
    """The definitions of a section that has kinds: what all of them have, each, and the choice.

    Editors complete by the first, which has the keys of all kinds. The last leads to one kind, so
    that errors are about single keys.
    """
    told: Json = {}
    for table in kinds.values():
        for key, takes in table["properties"].items():
            about = takes.get("description")
            told.setdefault(key, {} if about is None else {"description": about})
    told["kind"] = {"enum": list(kinds)}
    rules = []
    for kind in kinds:
        is_it: Json = {"properties": {"kind": {"const": kind}}}
        if kind != default:
            is_it["required"] = ["kind"]
        rules.append({"if": is_it, "then": _ref(f"{name}.{kind}")})
    needed = {} if default in kinds else {"required": ["kind"]}
    return {
        name: {"type": "object", "properties": told, **needed},
        f"{name}.kinds": {"allOf": rules},
        **{f"{name}.{kind}": table for kind, table in kinds.items()},
    }


def _of_kinds(name: str) -> Json:
    """A section that has kinds."""
    return {"allOf": [_ref(name), _ref(f"{name}.kinds")]}


def _named(path: str) -> str:
    """The name of a section's definition."""
    return path.replace(".*", "")


def _ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}
