"""A search in the names and meanings of algorithms, keys, scenarios and signals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from spillway.scenario.bundled import bundled
from spillway.scenario.catalogue import ROOMS, listed
from spillway.scenario.explain import shown
from spillway.scenario.sections import Sections

Rows = list[dict[str, Any]]


def find(text: str, entries: Mapping[str, Any], sections: Sections) -> dict[str, Rows]:
    """All in whose name or meaning a text is; upper and lower case are alike.

    Args:
        text: The text.
        entries: The catalogue.
        sections: The sections of scenarios, whose keys are searched.
    """
    wanted = text.casefold()

    def having(rows: Iterable[dict[str, Any]]) -> Rows:
        return [
            row
            for row in rows
            if any(isinstance(each, str) and wanted in each.casefold() for each in row.values())
        ]

    algorithms = (
        {"room": room, "id": entry["id"], "meaning": entry["summary"]}
        for room in ROOMS
        if room != "signals"
        for entry in entries[room]
    )
    sizes = ({"id": size["id"], "meaning": size["citation"]} for size in entries["sizes"])
    scenarios = ({"id": name, "meaning": about} for name, about in bundled().items())
    signals = ({"id": each["id"], "meaning": each["meaning"]} for each in entries["signals"])
    return {
        "algorithms": [row for row in algorithms if having([_without_room(row)])],
        "keys": having(_keys(sections)),
        "sizes": having(sizes),
        "scenarios": having(scenarios),
        "signals": having(signals),
    }


def _without_room(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "room"}


def _keys(sections: Sections) -> Rows:
    """All keys, each once for all kinds that have it with one meaning."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for section in sections:
        for key in section.keys.values():
            path = shown(f"{section.path}.{key.name}".strip("."))
            with_ = kinds.setdefault((path, key.meaning), [])
            with_ += [section.kind] if section.kind else []
    return [
        {"id": path, "kinds": with_, "meaning": meaning} for (path, meaning), with_ in kinds.items()
    ]


def found(rooms: Mapping[str, Rows]) -> RenderableType:
    """What was found, for people."""
    parts: list[RenderableType] = []
    for room, rows in rooms.items():
        if not rows:
            continue
        names = [f"{row['room']} {row['id']}" if "room" in row else row["id"] for row in rows]
        table = listed(zip(names, (row["meaning"] for row in rows), strict=True))
        parts += [Text.assemble((room, "bold cyan"), _MORE.get(room, "")), Padding(table, _INDENT)]
    return Group(*parts)


_INDENT = (0, 0, 1, 2)
_MORE = {"keys": ("  spillway explain PATH", "dim"), "scenarios": ("  spillway run NAME", "dim")}
