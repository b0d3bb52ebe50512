"""The switches of a run of the public RDMA simulator as a scenario has them: by tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spillway.formats.rdma.config import Config
from spillway.formats.rdma.topology import Topology
from spillway.formats.rdma.units import size_text

PAUSE_BYTES = 43
"""A pause frame on the wire: PPP 14, IPv4 20, and 9."""
_RESERVE, _RESUME = 4_096, 3_072
_SHIFT = 3
"""Ports at the rate of NICs may have 1/8 of the free buffer, ports at twice the rate twice that."""
_TIERS = {1: ("leaf",), 2: ("leaf", "spine"), 3: ("leaf", "aggregation", "core")}

Thresholds = tuple[int, int, float]
"""RED's min and max in bytes, and the probability of a mark just below max."""


@dataclass(frozen=True)
class Rules:
    """What a port's rate says about its marks and pauses.

    Attributes:
        thresholds: None if it never marks.
    """

    thresholds: Thresholds | None
    alpha: float


def tiers_of(topology: Topology) -> dict[int, str]:
    """The tier of each switch, by its distance from hosts."""
    names = _TIERS[min(max(topology.levels.values()), 3)]
    return {
        switch: names[min(topology.levels[switch], len(names)) - 1] for switch in topology.switches
    }


def switches_of(
    config: Config, topology: Topology, groups: list[int], plain: bool, notes: list[str]
) -> dict[str, Any]:
    """The keys of `[switch]`, with the first tier's settings, and other tiers' where these differ.

    `groups` are the priority groups of flows, the most frequent one first. What is approximated is
    added to the notes.
    """
    tiers = tiers_of(topology)
    by_tier = {}
    for tier in dict.fromkeys(tiers.values()):
        ports = {
            switch: [link.rate_bps for link in topology.links_of[switch]]
            for switch in topology.switches
            if tiers[switch] == tier
        }
        slowest = Counter(min(rates) for rates in ports.values()).most_common(1)[0][0]
        rules = {rate: _rules(config, topology, rate) for each in ports.values() for rate in each}
        is_uneven = any(len(set(each)) > 1 for each in ports.values())
        settings: dict[str, Any] = {"aqm": _marks(rules[slowest].thresholds, is_uneven)}
        settings["pfc"] = _pfc(rules[slowest].alpha, is_uneven, plain)
        if not config.has_pauses():
            settings["pfc"]["obeyed"] = False
        if len(groups) > 1:
            settings["pfc"]["priorities"] = sorted(groups)
        notes += _differences(tier, ports, rules, slowest)
        by_tier[tier] = settings
    first = by_tier.pop("leaf")
    settings = {"buffer": size_text(_buffer(config, notes)), "queues_per_port": 1}
    if len(groups) > 1:
        settings |= {
            "queues_per_port": 8,
            "data_queue": groups[0],
            "ack_queue": groups[0],
            "scheduling": "rr",
        }
        notes.append(
            f"acks of all flows wait in queue {groups[0]}: there they wait in that of their data"
        )
        notes.append(
            "each priority group has a reserve and headroom of its own at every port: there all "
            "groups of a port have one"
        )
    settings |= {"sharing": "cs", "release": "start", **first}
    settings |= {tier: own for tier, own in by_tier.items() if own != first}
    return settings


def _buffer(config: Config, notes: list[str]) -> int:
    """The bytes of a switch's buffer, of which the simulator reads whole units of 2^20."""
    units = config.number("BUFFER_SIZE")
    if not units.is_integer():
        notes.append(f"BUFFER_SIZE: {units:g} is read as {int(units)}, as there")
    if not int(units):
        raise config.wrong("BUFFER_SIZE", "is no size", "in units of 1,048,576 bytes")
    return int(units) << 20


def _rules(config: Config, topology: Topology, rate: int) -> Rules:
    """The rules for ports of a rate."""
    shift, left = _SHIFT, rate
    while left > topology.nic_bps and shift > 0:
        shift, left = shift - 1, left // 2
    low, high, most = (config.by_rate(key) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP"))
    for key, known in (("KMIN_MAP", low), ("KMAX_MAP", high), ("PMAX_MAP", most)):
        if rate not in known:
            raise config.wrong(key, f"has no value for ports of {rate} bps")
    thresholds = (round(1_000 * low[rate]), round(1_000 * high[rate]), most[rate])
    if thresholds[0] > thresholds[1]:
        raise config.wrong("KMIN_MAP", f"is above KMAX_MAP for ports of {rate} bps")
    is_reached = thresholds[0] < int(config.number("BUFFER_SIZE")) << 20
    marks = config.flag("ENABLE_QCN") and is_reached
    return Rules(thresholds if marks else None, 1 / 2**shift)


def _marks(thresholds: Thresholds | None, is_uneven: bool) -> dict[str, Any] | str:
    """RED at the departure, or nothing."""
    if thresholds is None:
        return "none"
    low, high, most = thresholds
    return {
        "kind": "red",
        "min": size_text(low),
        "max": size_text(high),
        "max_probability": most,
        **({"thresholds_of": "rate"} if is_uneven else {}),
        "marks_at": "departure",
        "not_ect": "pass",
    }


def _pfc(alpha: float, is_uneven: bool, plain: bool) -> dict[str, Any]:
    """Dynamic thresholds, with headroom of three times rate and delay."""
    rules = {
        "kind": "dynamic",
        "alpha": alpha,
        **({"alpha_of": "rate"} if is_uneven else {}),
        "reserve": f"{_RESERVE}B",
        "resume_offset": f"{_RESUME}B",
    }
    if plain:
        return rules
    return {**rules, "headroom": "3bdp", "crosses_into": "headroom", "frame": f"{PAUSE_BYTES}B"}


def _differences(
    tier: str,
    ports: dict[int, list[int]],
    rules: dict[int, Rules],
    slowest: int,
) -> list[str]:
    """Notes on ports that the settings of their tier do not fit."""
    notes = []
    pairs = {(rate, min(rates)) for rates in ports.values() for rate in rates}
    given = rules[slowest]
    if wrong := {
        rate
        for rate, least in pairs
        if rules[rate].thresholds != _stretched(given.thresholds, rate, least)
    }:
        notes.append(
            f"ports of {_gbps(wrong)} of {tier} switches mark by the thresholds of the slowest "
            f"ports, in proportion to their rate: those of {_gbps([slowest])} are given"
        )
    if wrong := {rate for rate, least in pairs if rules[rate].alpha != given.alpha * rate / least}:
        notes.append(
            f"ports of {_gbps(wrong)} of {tier} switches pause at other thresholds than there: "
            "there alpha is 1/8, doubled once, twice or three times for faster ports"
        )
    return notes


def _stretched(thresholds: Thresholds | None, rate: int, slowest: int) -> Thresholds | None:
    """The thresholds of a port of this rate, where those of the slowest ports are given."""
    if thresholds is None:
        return None
    low, high, most = thresholds
    return round(low * rate / slowest), round(high * rate / slowest), most


def _gbps(rates: Iterable[int]) -> str:
    return " and ".join(f"{rate / 1e9:g} Gbps" for rate in sorted(rates))
