"""What follows from a scenario, the bundled ones, algorithms, and lists of flows, as tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spillway.show.tables import Row, count, grid, named, number, percent, seconds, size

MANY_BASE_RTTS = 100
"""A least timeout of this many base RTTs or more is shown: it often decides the slowest flows."""


def facts(facts: Mapping[str, Any]) -> RenderableType:
    """The facts that follow from a scenario: network, buffers, traffic."""
    rows: list[Row] = [
        ("hosts", f"{count(facts['hosts'])} at {facts['host_gbps']:g} Gbps"),
        ("links", count(facts["links"])),
        (
            "capacity",
            f"{number(facts['capacity_gbps'], 4)} Gbps over all {facts['load_of']}; "
            f"oversubscription {facts['oversubscription']:.3g}",
        ),
        ("clocks", _clocks(facts["clocks"])),
        (
            "base RTT",
            f"{facts['base_rtt_us']:.6g} us; bandwidth-delay product {size(facts['bdp_bytes'])}",
        ),
    ]
    base_rtts = facts["min_rto_base_rtts"]
    if base_rtts is not None and base_rtts >= MANY_BASE_RTTS:
        least = f"min_rto is {seconds(facts['min_rto_us'] * 1e-6)}, {count(base_rtts)} base RTTs"
        why = "a loss that only a timeout repairs delays its flow by at least that"
        rows.append(("timeouts", f"{least}: {why}"))
    packets = (
        f"{facts['full_packet_bytes']} B when full; the first {size(facts['first_rtt_bytes'])} "
        "of a flow count as its first round trip"
    )
    network = named([*rows, ("packets", packets)])
    return Group(network, _tiers(facts["tiers"]), _traffic(facts["traffic"], facts["load_of"]))


def _clocks(clocks: Mapping[str, Sequence[float]] | None) -> str:
    """How far clocks are off."""
    if clocks is None:
        return "exact"
    parts = [
        f"{what} {low:+g} to {high:+g} ppm"
        for what, (low, high) in (
            ("hosts", clocks["hosts_ppm"]),
            ("switches", clocks["switches_ppm"]),
        )
    ]
    return "spread: " + ", ".join(parts)


def _tiers(tiers: Sequence[Mapping[str, Any]]) -> Table:
    heads = ("tier", "switches", "ports, Gbps", "buffer", "queues", "sharing", "aqm")
    table = grid(*heads, "scheduling")
    for tier in tiers:
        ports = " + ".join(f"{n} x {rate}" for rate, n in tier["ports_by_gbps"].items())
        table.add_row(
            tier["tier"],
            count(tier["switches"]),
            ports,
            size(tier["buffer_bytes"]),
            f"{tier['queues_per_port']} per port",
            tier["sharing"],
            tier["aqm"],
            tier["scheduling"],
        )
    return table


def _traffic(sections: Sequence[Mapping[str, Any]], load_of: str) -> Table:
    heads = ("offered", f"of {load_of}", "flows", "payload")
    table = grid("traffic", "kind", numbers=heads)
    for section in sections:
        offered = section["offered_gbps"]
        table.add_row(
            section["name"],
            section["kind"],
            "-" if offered is None else f"{number(offered, 4)} Gbps",
            percent(section["load"]),
            ("" if section["counted_all"] else "over ") + count(section["flows"]),
            size(section["bytes"]),
        )
    return table


def scenarios(texts: Mapping[str, str]) -> RenderableType:
    """The bundled scenarios."""
    return named(((name, _about(text)) for name, text in texts.items()), no_wrap=True)


def _about(scenario: str) -> str:
    """The comment at the head of a scenario's file."""
    head = itertools.takewhile(lambda line: line.startswith("# "), scenario.splitlines())
    return " ".join(line.removeprefix("# ") for line in head)


def flows(written: Mapping[str, Any]) -> RenderableType:
    """A summary of a list of flows that was written."""
    table = grid("class", numbers=("flows", "payload"))
    for name, row in written["classes"].items():
        table.add_row(name, count(row["flows"]), size(row["bytes"]))
    table.add_section()
    table.add_row("all", count(written["flows"]), size(written["bytes"]))
    return Group(table, Text(f"written to {written['file']}", "dim"))


# Algorithms ---------------------------------------------------------------------------------------


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
    parts: list[RenderableType] = []
    if entry["citation"]:
        parts.append(Text(entry["citation"], "dim"))
    if entry["keys"]:
        rows = [
            (
                key["name"],
                key["default"] or "required",
                f"{_sentence(key['meaning'])} {_sentence(key['takes'])}",
            )
            for key in entry["keys"]
        ]
        parts.append(_listed(rows, {"no_wrap": True}))
    if entry.get("changes"):
        parts.append(Text(changing(entry), "dim"))
    head = Text.assemble("  ", (entry["id"], "bold"), "  ", entry["summary"])
    return Group(head, *(Padding(part, (0, 0, 0, 4)) for part in parts), Text())


def _listed(
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


def _sentence(text: str) -> str:
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _signals(signals: Iterable[Mapping[str, Any]]) -> RenderableType:
    rows = [
        (
            signal["id"],
            signal["each"],
            "since the last look" if signal["is_since"] else "now",
            _sentence(signal["meaning"]),
        )
        for signal in signals
    ]
    whole = {"no_wrap": True}
    return Group(Padding(_listed(rows, whole, whole), (0, 0, 0, 2)), Text())


def _sizes(sizes: Iterable[Mapping[str, Any]]) -> RenderableType:
    rows = [
        (entry["id"], f"mean {size(entry['mean_bytes'])}", entry["citation"]) for entry in sizes
    ]
    table = _listed(rows, {"no_wrap": True, "justify": "right"}, last={"overflow": "fold"})
    head = Text.assemble("  ", ("sizes", "bold"), "  Distributions of flow sizes, by name.")
    return Group(head, Padding(table, (0, 0, 0, 4)), Text())
