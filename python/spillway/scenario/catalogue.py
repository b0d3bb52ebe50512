"""The algorithms that there are, with their parameters and sources, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spillway.show.tables import size

ROOMS = {
    "sharing": "How ports share a switch's buffer: switch.sharing",
    "aqm": "How queues are marked and dropped from: switch.aqm",
    "scheduling": "Which queue of a port sends next: switch.scheduling",
    "transport": "How a flow becomes packets: transport.kind",
    "tagging": "Which priority a packet gets when it is sent: transport.tagging",
    "traffic": "Who sends how much to whom, and when: traffic.NAME.kind",
    "topology": "Who is connected to whom: topology.kind",
    "signals": "What a run that halts can be asked for: Simulation.observe",
}


def catalogue(entries: Mapping[str, Any], rooms: Iterable[str]) -> RenderableType:
    """The algorithms of some rooms, with their parameters and sources."""
    parts: list[RenderableType] = []
    for room in rooms:
        parts.append(Text.assemble((room, "bold cyan"), "  ", (ROOMS[room], "dim")))
        parts.append(Text())
        if room == "signals":
            parts.append(_signals(entries[room]))
            continue
        parts += [_entry(entry) for entry in entries[room]]
        if room == "traffic":
            parts.append(_sizes(entries["sizes"]))
    return Group(*parts)


def entries(listed: Iterable[Mapping[str, Any]]) -> RenderableType:
    """Algorithms, with their parameters and sources."""
    return Group(*(_entry(entry) for entry in listed))


def _entry(entry: Mapping[str, Any]) -> RenderableType:
    head = Text.assemble("  ", (entry["id"], "bold"), "  ", entry["summary"])
    source = Text(entry["citation"], "dim") if entry["citation"] else None
    parts: list[RenderableType] = [head]
    if source is not None:
        parts.append(Padding(source, (0, 0, 0, 4)))
    if entry["keys"]:
        keys = Table.grid(padding=(0, 2))
        keys.add_column(style="green", no_wrap=True)
        keys.add_column(no_wrap=True)
        keys.add_column(style="dim", ratio=1)
        for key in entry["keys"]:
            text = f"{_sentence(key['meaning'])} {_sentence(key['takes'])}"
            keys.add_row(key["name"], key["default"] or "required", text)
        parts.append(Padding(keys, (0, 0, 0, 4)))
    if entry.get("changes"):
        parts.append(Padding(Text(changing(entry), "dim"), (0, 0, 0, 4)))
    parts.append(Text())
    return Group(*parts)


def changing(entry: Mapping[str, Any], written: Callable[[str], str] = str) -> str:
    """Which numbers of a policy can change while a run goes on, in a sentence.

    >>> changing({"changes": ["min", "max"], "changes_by_port": True})
    'While a run goes on min and max can change, also at a single port.'
    """
    *others, last = map(written, entry["changes"])
    names = f"{', '.join(others)} and {last}" if others else last
    where = ", also at a single port" if entry["changes_by_port"] else ""
    return f"While a run goes on {names} can change{where}."


def _sentence(text: str) -> str:
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _signals(signals: Iterable[Mapping[str, Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="green", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", ratio=1)
    for signal in signals:
        when = "since the last look" if signal["is_since"] else "now"
        table.add_row(signal["id"], signal["each"], when, _sentence(signal["meaning"]))
    return Group(Padding(table, (0, 0, 0, 2)), Text())


def _sizes(sizes: Iterable[Mapping[str, Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="green", no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(style="dim", overflow="fold")
    for entry in sizes:
        table.add_row(entry["id"], f"mean {size(entry['mean_bytes'])}", entry["citation"])
    head = Text.assemble("  ", ("sizes", "bold"), "  Distributions of flow sizes, by name.")
    return Group(head, Padding(table, (0, 0, 0, 4)), Text())
