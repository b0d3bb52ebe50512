"""What every section of a scenario takes, as the core tells it, and plug-ins for their own."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from spillway.base import core
from spillway.plugins import Plugins, plugins_of
from spillway.plugins.description import Description, describe_all

_FIRST = ("name", "kind", "priorities")
"""Keys that stand before the others of their section."""


@dataclass(frozen=True)
class Bound:
    """The end of a range of numbers, and whether it belongs to the range."""

    value: float
    included: bool


@dataclass(frozen=True)
class Key:
    """A key of a section.

    Args:
        name: Its name.
        takes: What it takes, for people.
        type: The same for programs, such as "time".
        default: As it would be written; empty if a value must be given, "none" if there is none.
        meaning: What it means.
        choices: The names among which it chooses.
        units: The units of a quantity.
        least: The least number.
        most: The greatest number.
        changes: Whether it can change while a run goes on.
        forms: The forms of its values, as the core tells of them.
    """

    name: str
    takes: str
    type: str
    default: str
    meaning: str
    choices: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    least: Bound | None = None
    most: Bound | None = None
    changes: bool = False
    forms: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)

    @property
    def is_required(self) -> bool:
        """Whether every section must give it."""
        return not self.default

    @property
    def default_value(self) -> Any:
        """Its default; `None` if it has none."""
        if self.type == "policy" or not self.default:
            return self.default or None
        return None if self.default == "none" else tomllib.loads(f"x = {self.default}")["x"]


@dataclass(frozen=True)
class Section:
    """A section of a scenario, or its form for one value of `kind`.

    Args:
        path: Its path; `*` stands for a place in a list.
        kind: The value of `kind` with which it has these keys, if it has kinds.
        keys: Its keys by their names.
        plugin: Whether a plug-in has brought it.
    """

    path: str
    kind: str | None
    keys: Mapping[str, Key]
    plugin: bool = False


Sections = tuple[Section, ...]


def sections(plugins: Plugins = ()) -> Sections:
    """All sections, from the root on; plug-ins are kinds as well."""
    built_in = _built_in()
    added = tuple(_of_plugin(each, built_in) for each in describe_all(plugins_of(plugins)))
    names: dict[str, list[str]] = {}
    for section in added:
        names.setdefault(section.path, []).append(section.kind or "")
    if not names:
        return built_in
    return tuple(_choosing(section, names) for section in (*built_in, *added))


def at(found: Iterable[Section], path: str) -> list[Section]:
    """The section at a path, in all of its forms."""
    return [section for section in found if section.path == path]


def path_below(section: str, key: str) -> str:
    """The path of the sections that hold a policy's parameters."""
    if section == "nic":
        return f"switch.{key}"
    return f"{'transport' if key in ('recovery', 'tagging') else section}.{key}"


@cache
def _built_in() -> Sections:
    found = []
    for told in json.loads(core.schema()):
        path, kind = told["path"], told["kind"]
        rows = {row["name"]: row for row in told["keys"]}
        names = sorted(rows, key=lambda name: name not in _FIRST)
        keys = {name: _key(rows[name]) for name in names}
        found.append(Section(path, kind, keys))
    return tuple(found)


def _key(row: Mapping[str, Any]) -> Key:
    """A key as the core tells it, or a plug-in."""
    ends = {end: Bound(**row[end]) for end in ("least", "most") if row.get(end)}
    lists = {name: tuple(row.get(name, ())) for name in ("choices", "units", "forms")}
    return Key(**{**row, **ends, **lists})


def _of_plugin(description: Description, built_in: Sections) -> Section:
    """The section of a plug-in. Of hosts' plug-ins it also has what others of their room have."""
    path = description.key.removesuffix(".kind")
    rows = zip(description.row()["keys"], description.parameters, strict=True)
    own = {
        row["name"]: _key({"type": "plug-in", "forms": parameter.forms, **row})
        for row, parameter in rows
    }
    shared: dict[str, Key] = {}
    if path.startswith("transport"):
        for section in at(built_in, path):
            shared.update(section.keys)
    return Section(path, description.id, {**shared, **own}, plugin=True)


def _choosing(section: Section, added: Mapping[str, list[str]]) -> Section:
    """The section, in which plug-ins can be chosen."""
    keys = dict(section.keys)
    for name, key in section.keys.items():
        more = added.get(path_below(section.path, name)) if key.type == "policy" else None
        if (section.path, name) in (("traffic.*", "transport"), ("transport", "kind")):
            more = added.get("transport")
        if more:
            keys[name] = replace(key, choices=(*key.choices, *more))
    return replace(section, keys=keys)
