"""What follows from a scenario, the bundled ones, and lists of flows, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
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
    """The bundled scenarios, and what each is."""
    return named(texts.items(), no_wrap=True)


def flows(written: Mapping[str, Any]) -> RenderableType:
    """A summary of a list of flows that was written."""
    table = grid("class", numbers=("flows", "payload"))
    for name, row in written["classes"].items():
        table.add_row(name, count(row["flows"]), size(row["bytes"]))
    table.add_section()
    table.add_row("all", count(written["flows"]), size(written["bytes"]))
    return Group(table, Text(f"written to {written['file']}", "dim"))
