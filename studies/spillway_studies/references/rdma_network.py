"""A network of the public RDMA simulator: its tiers, its ports, and the order of its next hops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spillway.base import csv_file
from spillway.base.arguments import plain_int
from spillway.base.errors import ScenarioError
from spillway.formats.rdma.switches import tiers_of
from spillway.formats.rdma.topology import Topology

TIERS = ("leaf", "spine", "aggregation", "core")
_LEVELS = 3


@dataclass(frozen=True)
class Network:
    """Hosts, numbered from 0, then switches."""

    topology: Topology

    @cached_property
    def tiers(self) -> dict[int, str]:
        """The tier of each switch, by its distance from the hosts."""
        return tiers_of(self.topology)

    @property
    def has_choices(self) -> bool:
        """Whether some two hosts may have more than one path between them."""
        return self.topology.has_choices

    def neighbours(self, node: int) -> list[int]:
        """The nodes that a node's ports lead to, in the simulator's order: that of the links."""
        return [link.other(node) for link in self.topology.links_of[node]]

    def own_port(self, node: int, neighbour: int) -> int:
        """The number that a switch's port has here: hosts in order, then switches in order."""
        return sorted(self.neighbours(node)).index(neighbour)


def network_of(topology: Topology, file: Path) -> Network:
    """A topology as a network whose switches come behind its hosts.

    Raises:
        ScenarioError: they do not, or there are more levels of switches than are known here.
    """
    if topology.hosts[-1] >= len(topology.hosts):
        raise ScenarioError(f"{file}: the nodes must be hosts, from 0 on, and then switches")
    if max(topology.levels.values()) > _LEVELS:
        raise ScenarioError(f"{file}: a switch is not within {_LEVELS} links of a host")
    return Network(topology)


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
