"""The catalogue of algorithms, as tables: each with its parameters, and all in an overview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
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
    "recovery": "How losses are found and repaired: transport.recovery",
    "tagging": "Which priority a packet gets when it is sent: transport.tagging",
    "protection": "Which packets are important, and lost last: transport.protection",
    "traffic": "Who sends how much to whom, and when: traffic.NAME.kind",
    "topology": "Who is connected to whom: topology.kind",
    "signals": "What a run that halts can be asked for: Simulation.observe",
}


def catalogue(entries: Mapping[str, Any], rooms: Iterable[str]) -> RenderableType:
    """The algorithms of some rooms, with their parameters and sources."""
    parts: list[RenderableType] = []
    for room in rooms:
        parts += [_heading(room, ROOMS[room]), Text()]
        if room == "signals":
            parts.append(_signals(entries[room]))
            continue
        parts += [_entry(entry) for entry in entries[room]]
        if room == "traffic":
            parts.append(_sizes(entries["sizes"]))
    return Group(*parts)


def overview(entries: Mapping[str, Any], scenarios: Mapping[str, str]) -> RenderableType:
    """What each room has, and the bundled scenarios, with a line for each.

    Args:
        entries: The catalogue.
        scenarios: What the bundled scenarios are, by their names.
    """
    parts: list[RenderableType] = []
    for room, about in ROOMS.items():
        texts = {each["id"]: each.get("summary", each.get("meaning")) for each in entries[room]}
        parts += [_heading(room, about), _lines(texts)]
        if room == "traffic":
            names = ", ".join(each["id"] for each in entries["sizes"])
            parts.append(Padding(Text(f"sizes: {names}", "dim"), (0, 0, 0, 2)))
    parts += [_heading("scenarios", "spillway run NAME"), _lines(scenarios)]
    return Group(*parts, Text(_MORE, "dim"))


_MORE = """
spillway list ROOM: parameters and sources; spillway list --find TEXT: a search;
spillway explain PATH: what a key of a scenario is and takes"""


def _heading(room: str, about: str) -> Text:
    return Text.assemble((room, "bold cyan"), "  ", (about, "dim"))


def _lines(texts: Mapping[str, str]) -> RenderableType:
    """Names, and of what is said of each as much as a line holds."""
    table = listed(texts.items(), last={"ratio": 1, "no_wrap": True, "overflow": "ellipsis"})
    table.columns[0].min_width = max(map(len, texts))
    return Padding(table, (0, 0, 0, 2))


def entries(those: Iterable[Mapping[str, Any]]) -> RenderableType:
    """Algorithms, with their parameters and sources."""
    return Group(*map(_entry, those))


def _entry(entry: Mapping[str, Any]) -> RenderableType:
    parts: list[RenderableType] = []
    if entry["citation"]:
        parts.append(Text(entry["citation"], "dim"))
    if entry["keys"]:
        rows = [
            (
                key["name"],
                key["default"] or "required",
                f"{sentence(key['meaning'])} {sentence(key['takes'])}",
            )
            for key in entry["keys"]
        ]
        parts.append(listed(rows, {"no_wrap": True}))
    if entry.get("changes"):
        parts.append(Text(changing(entry), "dim"))
    head = Text.assemble("  ", (entry["id"], "bold"), "  ", entry["summary"])
    return Group(head, *(Padding(part, (0, 0, 0, 4)) for part in parts), Text())


def listed(
    rows: Iterable[Sequence[str]],
    *between: Mapping[str, Any],
    last: Mapping[str, Any] = MappingProxyType({"ratio": 1}),
) -> Table:
    """Names, what is said of them in columns of these forms, and a text."""
    table = Table.grid(padding=(0, 2))
    for form in ({"style": "green", "no_wrap": True}, *between, {"style": "dim", **last}):
        table.add_column(**form)
    for row in rows:
        table.add_row(*row)
    return table


def changing(entry: Mapping[str, Any], written: Callable[[str], str] = str) -> str:
    """Which numbers of a policy can change while a run goes on, in a sentence.

    >>> changing({"changes": ["min", "max"], "changes_by_port": True})
    'While a run goes on min and max can change, also at a single port.'
    """
    *others, last = map(written, entry["changes"])
    names = f"{', '.join(others)} and {last}" if others else last
    where = ", also at a single port" if entry["changes_by_port"] else ""
    return f"While a run goes on {names} can change{where}."


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _signals(signals: Iterable[Mapping[str, Any]]) -> RenderableType:
    rows = [
        (
            signal["id"],
            signal["each"],
            "since the last look" if signal["is_since"] else "now",
            sentence(signal["meaning"]),
        )
        for signal in signals
    ]
    whole = {"no_wrap": True}
    return Group(Padding(listed(rows, whole, whole), (0, 0, 0, 2)), Text())


def _sizes(sizes: Iterable[Mapping[str, Any]]) -> RenderableType:
    rows = [
        (entry["id"], f"mean {size(entry['mean_bytes'])}", entry["citation"]) for entry in sizes
    ]
    table = listed(rows, {"no_wrap": True, "justify": "right"}, last={"overflow": "fold"})
    head = Text.assemble("  ", ("sizes", "bold"), "  Distributions of flow sizes, by name.")
    return Group(head, Padding(table, (0, 0, 0, 4)), Text())
