"""The topology of a run of the public RDMA simulator: nodes, links, and round trips."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path

from spillway.base.errors import FileError
from spillway.formats.rdma.config import text_of
from spillway.formats.rdma.units import decimal_of, rate_of, shown, time_ps_of, whole_of

_COMMENT = re.compile(r"#.*")
_LINK = "a link is: node node rate delay loss, such as: 0 32 100Gbps 1000ns 0.0"
_LAYOUT = f"first the numbers of nodes, switches and links; then the switches; then links: {_LINK}"


@dataclass(frozen=True)
class Link:
    """A link between two nodes.

    Attributes:
        loss: the probability that a packet is lost on it; 0 for that of the settings.
    """

    a: int
    b: int
    rate_bps: int
    delay_ns: int
    loss: float

    def other(self, node: int) -> int:
        """The node at its other end."""
        return self.b if node == self.a else self.a


@dataclass(frozen=True)
class Pair:
    """What the simulator works out for two hosts, along one shortest path.

    Attributes:
        delay_ns: one way.
        sending_ns: what a packet of only payload takes on all lines of one way, cut to whole ns on
            each.
        rate_bps: that of the slowest link.
    """

    delay_ns: int
    sending_ns: int
    rate_bps: int

    @property
    def rtt_ns(self) -> int:
        """The round trip: delays both ways, and a packet one way."""
        return 2 * self.delay_ns + self.sending_ns

    @property
    def bdp_bytes(self) -> int:
        """What the path carries in a round trip."""
        return self.rtt_ns * self.rate_bps // 10**9 // 8

    def alone_ns(self, size_bytes: int, payload: int, header: int) -> int:
        """The completion time that the simulator assumes for a flow that is alone."""
        packets = (size_bytes - 1) // payload + 1
        return self.rtt_ns + (size_bytes + header * packets) * 8 * 10**9 // self.rate_bps

    def then(self, link: Link, payload: int) -> Pair:
        """The path with one more link."""
        return Pair(
            self.delay_ns + link.delay_ns,
            self.sending_ns + payload * 8 * 10**9 // link.rate_bps,
            min(self.rate_bps, link.rate_bps),
        )


@dataclass(frozen=True)
class Topology:
    """Hosts and switches, by the simulator's numbers in ascending order, and their links.

    Attributes:
        links: in the order of the file, which is that of each node's ports.
        left_over: how many lines with numbers the file has beyond the links that it announces.
    """

    hosts: tuple[int, ...]
    switches: tuple[int, ...]
    links: tuple[Link, ...]
    left_over: int = 0

    @cached_property
    def links_of(self) -> dict[int, list[Link]]:
        """The links of each node, in the order of its ports."""
        found: dict[int, list[Link]] = {node: [] for node in (*self.hosts, *self.switches)}
        for link in self.links:
            found[link.a].append(link)
            found[link.b].append(link)
        return found

    def link(self, host: int) -> Link:
        """The one link of a host."""
        return self.links_of[host][0]

    def switch(self, host: int) -> int:
        """The switch that a host is attached to."""
        return self.link(host).other(host)

    @cached_property
    def levels(self) -> dict[int, int]:
        """How many links each switch is away from the nearest host, as far as it can be reached."""
        found = dict.fromkeys((self.switch(host) for host in self.hosts), 1)
        reached = list(found)
        for node in reached:
            for link in self.links_of[node]:
                other = link.other(node)
                if other in self.switch_set and other not in found:
                    found[other] = found[node] + 1
                    reached.append(other)
        return found

    @cached_property
    def switch_set(self) -> frozenset[int]:
        """The switches."""
        return frozenset(self.switches)

    @property
    def has_choices(self) -> bool:
        """Whether there may be more than one shortest path between some two hosts."""
        # A connected network without cycles has one link less than nodes.
        return len(self.links) >= len(self.hosts) + len(self.switches)

    @property
    def nic_bps(self) -> int:
        """The rate by which the simulator sets thresholds: that of the first host."""
        return self.link(self.hosts[0]).rate_bps


class Paths:
    """The paths between hosts: for equal numbers of hops the one that is found first."""

    def __init__(self, topology: Topology, payload: int) -> None:
        self._topology = topology
        self._payload = payload
        self._to: dict[int, dict[int, Pair]] = {}

    def pair(self, src: int, dst: int) -> Pair:
        """The path of a sender and a receiver."""
        topology = self._topology
        inner = self.towards(topology.switch(dst))[topology.switch(src)]
        return inner.then(topology.link(src), self._payload).then(topology.link(dst), self._payload)

    def towards(self, switch: int) -> dict[int, Pair]:
        """The paths to a switch from all that reach it, without hosts' links."""
        if switch not in self._to:
            topology = self._topology
            found = {switch: Pair(0, 0, 2**63)}
            reached = [switch]
            for node in reached:
                for link in sorted(topology.links_of[node], key=lambda link: link.other(node)):
                    other = link.other(node)
                    if other in topology.switch_set and other not in found:
                        found[other] = found[node].then(link, self._payload)
                        reached.append(other)
            self._to[switch] = found
        return self._to[switch]

    @cached_property
    def all(self) -> list[Pair]:
        """The paths of all pairs of hosts, without repetitions."""
        topology = self._topology
        like: dict[tuple[int, int, int], list[int]] = {}
        for host in topology.hosts:
            link = topology.link(host)
            like.setdefault((topology.switch(host), link.rate_bps, link.delay_ns), []).append(host)
        found: dict[Pair, None] = {}
        for some, others in combinations_with_replacement(like.values(), 2):
            for src, dst in ((some[0], others[-1]), (others[-1], some[0])):
                if src != dst:
                    found[self.pair(src, dst)] = None
        return list(found)

    @property
    def largest_rtt_ns(self) -> int:
        """The longest round trip of two hosts."""
        return max(pair.rtt_ns for pair in self.all)

    @property
    def largest_bdp_bytes(self) -> int:
        """The largest product of bandwidth and delay of two hosts."""
        return max(pair.bdp_bytes for pair in self.all)


def read_topology(file: Path) -> Topology:
    """Reads a topology: counts of nodes, switches and links; the switches; then each link.

    A count of switches with hosts may stand before that of the links, as in ns3-datacenter.

    Raises:
        ScenarioError: it is no such file, or no network of hosts with one link each to a switch.
    """
    nodes, switch_count, link_count, words = _head(file)
    switches = [_node(file, words, nodes, "a switch") for _ in range(switch_count)]
    links = [_link(file, words, nodes, number, link_count) for number in range(link_count)]
    left_over = len({line for line, word in words if whole_of(word) is not None})
    if len(set(switches)) != switch_count:
        raise FileError(f"{file}: a switch is listed twice")
    if nodes - switch_count > link_count:
        few = f"{nodes - switch_count} hosts are announced, and {link_count} links"
        raise FileError(f"{file}: {few}", f"each host has a link; {_LAYOUT}")
    hosts = sorted(set(range(nodes)) - set(switches))
    if len(hosts) < 2 or not switches:
        raise FileError(f"{file}: there must be two hosts and a switch, at the least")
    found = Topology(tuple(hosts), tuple(sorted(switches)), tuple(links), left_over)
    _check(file, found)
    return found


def _check(file: Path, found: Topology) -> None:
    """Refuses what is no network of switches with hosts around it."""
    pairs: set[frozenset[int]] = set()
    for link in found.links:
        if link.a == link.b:
            raise FileError(f"{file}: a link leads from node {link.a} to itself")
        if (pair := frozenset((link.a, link.b))) in pairs:
            raise FileError(
                f"{file}: {link.a} and {link.b} have two links",
                "the simulator knows only the last of them: make it one link of their joint rate",
            )
        pairs.add(pair)
    for host in found.hosts:
        links = found.links_of[host]
        if len(links) != 1 or links[0].other(host) not in found.switch_set:
            ends = ", ".join(str(link.other(host)) for link in links) or "none"
            raise FileError(
                f"{file}: host {host} must have one link, to a switch; it has links to: {ends}",
                "hosts with several NICs are not known here",
            )
    apart = [switch for switch in found.switches if switch not in found.levels]
    if not apart:
        near = Paths(found, 1).towards(found.switch(found.hosts[0]))
        apart = [switch for switch in found.switches if switch not in near]
    if apart:
        names = ", ".join(map(str, apart[:5])) + (", ..." if len(apart) > 5 else "")
        raise FileError(
            f"{file}: no path leads from host 0 to the switches {names}",
            "every host must reach every other one",
        )


def _head(file: Path) -> tuple[int, int, int, Iterator[tuple[int, str]]]:
    """The numbers of nodes, switches and links, and the words that follow, each with its line."""
    lines = enumerate(text_of(file).splitlines(), 1)
    words = [(number, word) for number, line in lines for word in _COMMENT.sub("", line).split()]
    first = [word for number, word in words if number == words[0][0]]
    rest = iter(words)
    nodes, switches = (_whole(file, rest, what) for what in ("nodes", "switches"))
    third = _whole(file, rest, "links")
    is_of_three = len(first) <= 3 or len(words) == 3 + switches + 5 * third
    if is_of_three or (len(first) > 6 and len(first) >= 3 + switches):
        return nodes, switches, third, rest
    if len(first) == 4:
        # The third one counts switches with hosts.
        return nodes, switches, _whole(file, rest, "links"), rest
    raise FileError(
        f"{file}: line {words[0][0]}: it has {len(first)} fields, and 3 or 4 are known: "
        f"{shown(' '.join(first))}",
        "NVSwitches and hosts with several links, as in SimAI's topologies, are not known here"
        if len(first) in (6, 7)
        else _LAYOUT,
    )


def _next(file: Path, words: Iterator[tuple[int, str]], what: str) -> tuple[int, str]:
    found = next(words, None)
    if found is None:
        raise FileError(f"{file}: it ends where {what} should be", _LAYOUT)
    return found


def _whole(file: Path, words: Iterator[tuple[int, str]], what: str) -> int:
    line, word = _next(file, words, f"the number of {what}")
    count = whole_of(word)
    if count is None:
        raise FileError(f"{file}: line {line}: {shown(word)} is no number of {what}", _LAYOUT)
    return count


def _node(file: Path, words: Iterator[tuple[int, str]], nodes: int, what: str) -> int:
    line, word = _next(file, words, what)
    node = whole_of(word)
    if node is None or node >= nodes:
        raise FileError(
            f"{file}: line {line}: {shown(word)} is no node: they are 0 to {nodes - 1}", _LAYOUT
        )
    return node


def _link(
    file: Path, words: Iterator[tuple[int, str]], nodes: int, number: int, count: int
) -> Link:
    what = f"link {number + 1} of {count}"
    a, b = (_node(file, words, nodes, what) for _ in range(2))
    (line, rate), (_, delay), (_, loss) = (_next(file, words, what) for _ in range(3))
    rate_bps, delay_ps = rate_of(rate), time_ps_of(delay)
    if not rate_bps:
        raise FileError(f"{file}: line {line}: {shown(rate)} is no rate", _LINK)
    if delay_ps is None:
        raise FileError(f"{file}: line {line}: {shown(delay)} is no time", _LINK)
    probability = decimal_of(loss)
    if probability is None or not 0 <= probability <= 1:
        raise FileError(f"{file}: line {line}: {shown(loss)} is no probability", _LINK)
    return Link(a, b, rate_bps, delay_ps // 1000, probability)
