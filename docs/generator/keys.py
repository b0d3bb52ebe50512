"""The keys of sections of a scenario, as the schema has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generator.catalogue import Json
from generator.markdown import default_of, takes
from spillway.scenario.sections import Key, at, sections

ALL = sections()


def rows(keys: Iterable[Key]) -> list[Json]:
    """Keys as rows of a table."""
    return [
        {
            "name": key.name,
            "takes": key.takes,
            "default": f'"{key.default}"' if key.type == "policy" else key.default,
            "meaning": key.meaning,
        }
        for key in keys
    ]


def common(path: str) -> list[Key]:
    """The keys that a section has with every kind."""
    first, *others = at(ALL, path)
    return [key for name, key in first.keys.items() if all(name in each.keys for each in others)]


def own(path: str, kind: str) -> list[Key]:
    """The keys that a section has with one kind, and not with every kind."""
    (section,) = (section for section in at(ALL, path) if section.kind == kind)
    shared = {key.name for key in common(path)}
    return [key for name, key in section.keys.items() if name not in shared]


@dataclass(frozen=True)
class Section:
    """A table of keys on a page."""

    path: str
    of_all_kinds: bool = False
    """Whether the table has only the keys that the section has with every kind."""

    def keys(self) -> dict[str, tuple[str, str]]:
        """For every key what it takes, and its default."""
        known: dict[str, Key] = {}
        for section in at(ALL, self.path):
            known |= {name: key for name, key in section.keys.items() if name not in known}
        keys = common(self.path) if self.of_all_kinds else known.values()
        return {row["name"]: (takes(row["takes"]), default_of(row)) for row in rows(keys)}


SECTIONS: dict[str, Section] = {
    "run": Section(""),
    "topology": Section("topology", of_all_kinds=True),
    "topology.switch": Section("topology.switch.*"),
    "topology.host": Section("topology.host.*"),
    "topology.link": Section("topology.link.*"),
    "routing": Section("routing"),
    "switch": Section("switch"),
    "switch.pfc": Section("switch.pfc"),
    "nic": Section("nic"),
    "traffic": Section("traffic.*", of_all_kinds=True),
    "bound": Section("traffic.*.bound"),
    "event": Section("event.*"),
    "record": Section("record"),
    "limits": Section("limits"),
}
