"""A network of the public RDMA simulator: its topology file, and the order of its next hops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spillway.base import csv_file
from spillway.base.arguments import plain_int
from spillway.base.errors import ScenarioError
from spillway.formats.rdma.topology import Topology

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


def network_of(topology: Topology, file: Path) -> Network:
    """A topology as a network whose switches come behind its hosts.

    Raises:
        ScenarioError: they do not, or there are more levels of switches than are known here.
    """
    hosts = len(topology.hosts)
    if topology.hosts[-1] >= hosts:
        raise ScenarioError(f"{file}: the nodes must be hosts, from 0 on, and then switches")
    if max(topology.levels.values()) > max(_TIERS):
        raise ScenarioError(f"{file}: a switch is not within {max(_TIERS)} links of a host")
    links = tuple(Link(link.a, link.b, link.rate_bps, link.delay_ns) for link in topology.links)
    return Network(str(file), hosts, topology.switches, links)


def hop_order(file: Path) -> str:
    """Whether next hops are listed in ascending or descending order: "neither" if it varies."""
    choices = []
    for line, row in csv_file.rows(file):
        try:
            hops = [plain_int(hop) for hop in row["next_hops_in_order"].split()]
        except (KeyError, ValueError, AttributeError) as error:
            problem = "next_hops_in_order is not a list of nodes"
            raise ScenarioError(f"{file}: line {line}: {problem}") from error
        if len(hops) > 1:
            choices.append(hops)
    for name, reverse in (("ascending", False), ("descending", True)):
        if all(hops == sorted(hops, reverse=reverse) for hops in choices):
            return name
    return "neither"
