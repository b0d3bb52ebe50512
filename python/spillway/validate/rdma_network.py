"""A network of the public RDMA simulator: its topology file, and the order of its next hops."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spillway.errors import ScenarioError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_RATE = re.compile(r"(\d+(?:\.\d*)?)\s*([kmgt]?)(?:bps|b/s)", re.IGNORECASE)
_DELAY = re.compile(r"(\d+(?:\.\d*)?)\s*(ns|us|ms|s)")
_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
TIERS = ("leaf", "spine", "aggregation", "core")
_TIERS = {1: ("leaf",), 2: ("leaf", "spine"), 3: ("leaf", "aggregation", "core")}


@dataclass(frozen=True)
class Link:
    """A link between two nodes."""

    a: int
    b: int
    rate_bps: int
    delay_ns: int


@dataclass(frozen=True)
class Port:
    """A port of a node."""

    node: int
    neighbour: int
    rate_bps: int
    delay_ns: int


@dataclass(frozen=True)
class Network:
    """Hosts, numbered from 0, then switches; and links, in the order of the file."""

    source: str
    hosts: int
    switches: tuple[int, ...]
    links: tuple[Link, ...]

    @cached_property
    def ports(self) -> dict[int, list[Port]]:
        """The ports of each node, in the simulator's order: that of the links."""
        found: dict[int, list[Port]] = {node: [] for node in (*range(self.hosts), *self.switches)}
        for link in self.links:
            for node, neighbour in ((link.a, link.b), (link.b, link.a)):
                found[node].append(Port(node, neighbour, link.rate_bps, link.delay_ns))
        return found

    @cached_property
    def distances(self) -> dict[int, int]:
        """How many links each node is away from the nearest host."""
        found = dict.fromkeys(range(self.hosts), 0)
        reached = list(found)
        for node in reached:
            for port in self.ports[node]:
                if port.neighbour not in found:
                    found[port.neighbour] = found[node] + 1
                    reached.append(port.neighbour)
        return found

    @cached_property
    def tiers(self) -> dict[int, str]:
        """The tier of each switch, by its distance from the hosts."""
        names = _TIERS[max(self.distances[switch] for switch in self.switches)]
        return {switch: names[self.distances[switch] - 1] for switch in self.switches}

    @property
    def has_choices(self) -> bool:
        """Whether some two hosts may have more than one path between them."""
        # A connected network without cycles has one link less than nodes.
        return len(self.links) >= self.hosts + len(self.switches)

    def own_port(self, node: int, neighbour: int) -> int:
        """The number that a switch's port has here: hosts in order, then switches in order."""
        return sorted(port.neighbour for port in self.ports[node]).index(neighbour)


def rate_of(text: str, wrong: str) -> int:
    """A rate such as 100Gbps or 8Mb/s, in bits per second."""
    match = _RATE.fullmatch(text)
    if match is None:
        raise ScenarioError(f"{wrong}: {text} is no rate", "such as 100Gbps")
    return round(float(match[1]) * _UNITS[match[2].lower()])


def read_network(file: Path) -> Network:
    """Reads a topology file: counts of nodes, switches and links; the switches; then each link.

    Raises:
        ScenarioError: it is not such a file, or no network of hosts with one link each.
    """
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    try:
        nodes, _, count = (int(word) for word in lines[0])
        switches = tuple(int(word) for word in lines[1])
        links = tuple(_link(words, str(file)) for words in lines[2 : 2 + count])
    except (IndexError, ValueError) as error:
        raise ScenarioError(
            f"{file}: it is no topology: {error}",
            "its lines are: nodes switches links; the switches; then node node rate delay loss",
        ) from error
    hosts = nodes - len(switches)
    if len(links) != count:
        raise ScenarioError(f"{file}: it has {len(links)} links, and {count} are announced")
    if sorted(switches) != list(range(hosts, nodes)) or not switches or hosts < 2:
        raise ScenarioError(f"{file}: the nodes must be hosts, from 0 on, and then switches")
    if any(not 0 <= node < nodes for link in links for node in (link.a, link.b)):
        raise ScenarioError(f"{file}: a link's ends must be nodes from 0 to {nodes - 1}")
    found = Network(str(file), hosts, tuple(sorted(switches)), links)
    for host in range(hosts):
        ends = [port.neighbour for port in found.ports[host]]
        if len(ends) != 1 or ends[0] < hosts:
            raise ScenarioError(f"{file}: host {host} must have one link, to a switch")
    if len(found.distances) != nodes or max(found.distances.values()) > max(_TIERS):
        raise ScenarioError(f"{file}: a switch is not within {max(_TIERS)} links of a host")
    return found


def _link(words: list[str], wrong: str) -> Link:
    a, b, rate, delay, _ = words
    match = _DELAY.fullmatch(delay)
    if match is None:
        raise ValueError(f"{delay} is no time")
    ns = round(float(match[1]) * _NS[match[2]])
    return Link(int(a), int(b), rate_of(rate, wrong), ns)


def hop_order(file: Path) -> str:
    """Whether next hops are listed in ascending or descending order: "neither" if it varies."""
    with file.open(encoding="utf-8", newline="") as content:
        rows = list(csv.DictReader(content))
    try:
        choices = [[int(hop) for hop in row["next_hops_in_order"].split()] for row in rows]
    except (KeyError, ValueError) as error:
        raise ScenarioError(f"{file}: next_hops_in_order is not a list of nodes") from error
    choices = [hops for hops in choices if len(hops) > 1]
    for name, reverse in (("ascending", False), ("descending", True)):
        if all(hops == sorted(hops, reverse=reverse) for hops in choices):
            return name
    return "neither"
