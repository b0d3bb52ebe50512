"""The spines that flows took in Credence's program.

The program (inet-tub/ns3-datacenter, 6ddb4a4, examples/Credence/credence-evaluation.cc; paths here
are those within simulator/ns-3.39) chooses a spine by a hash of addresses and ports. Its output
names neither ports nor spines, but they follow from public rules without chance, if a list of its
flows says when every connection was opened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

_HOSTS_PER_LEAF = 16
_SPINES = 4
_FIRST_ADDRESS = 0x0A_01_04_01  # 10.1.4.1
_FIRST_LISTENING_PORT = 4444
_FIRST_EPHEMERAL_PORT = 49153
_TCP = 6
_PERTURBATION = 12345678
_HASH_SEED = 0x8BADF00D


@dataclass(frozen=True)
class Flow:
    """A flow of the program."""

    source: int
    destination: int
    start_ns: int
    open_ns: int
    """When its sender opens the connection."""
    is_incast: bool


@dataclass(frozen=True)
class Connection:
    """A flow's data as a switch sees it: hosts and their ports."""

    source: int
    destination: int
    source_port: int
    destination_port: int

    @property
    def reverse(self) -> Connection:
        """Its acks as a switch sees them."""
        return Connection(self.destination, self.source, self.destination_port, self.source_port)

    @property
    def hash(self) -> int:
        """The hash of addresses, protocol, ports and a constant, all of them big-endian.

        src/internet/model/ipv4-global-routing.cc, `GetTupleValue`.
        """
        parts = (
            (_address(self.source), 4),
            (_address(self.destination), 4),
            (_TCP, 1),
            (self.source_port, 2),
            (self.destination_port, 2),
            (_PERTURBATION, 4),
        )
        return murmur3(b"".join(value.to_bytes(size, "big") for value, size in parts), _HASH_SEED)

    @property
    def spine(self) -> int:
        """The spine to which a leaf sends it: the hash modulo the number of routes, one per spine.

        src/internet/model/ipv4-global-routing.cc, `LookupGlobal`.
        """
        return self.hash % _SPINES


def connections(flows: Sequence[Flow]) -> list[Connection]:
    """The connection of every flow.

    A receiving host listens on ports from 4444 up, in the order in which the program installs its
    flows. A sending host takes ephemeral ports from 49153 up, in the order in which it opens
    connections; of those opened at the same time the one installed first comes first
    (src/internet/model/ipv4-end-point-demux.cc, `AllocateEphemeralPort`). Neither count comes near
    the end of its range.
    """
    installed = sorted(range(len(flows)), key=lambda place: _installation(flows[place]))
    # Sorting is stable: flows installed earlier stay first.
    opened = sorted(installed, key=lambda place: flows[place].open_ns)
    listening = _numbers(_FIRST_LISTENING_PORT, ((i, flows[i].destination) for i in installed))
    ephemeral = _numbers(_FIRST_EPHEMERAL_PORT, ((i, flows[i].source) for i in opened))
    return [
        Connection(flow.source, flow.destination, ephemeral[place], listening[place])
        for place, flow in enumerate(flows)
    ]


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32 (A. Appleby, github.com/aappleby/smhasher), which is ns-3's `Hash32`."""
    from sklearn.utils import murmurhash3_32

    return int(murmurhash3_32(data, seed, positive=True))


def _installation(flow: Flow) -> tuple[int, ...]:
    """The key that sorts flows in the order in which the program installs them.

    It goes leaf by leaf: first the websearch flows that the leaf's servers send, server by server;
    then the incast flows that its servers receive, by server, then query, then sender.
    """
    if flow.is_incast:
        leaf, server = divmod(flow.destination, _HOSTS_PER_LEAF)
        return leaf, 1, server, flow.start_ns, flow.source
    leaf, server = divmod(flow.source, _HOSTS_PER_LEAF)
    return leaf, 0, server, flow.start_ns


def _address(host: int) -> int:
    """10.1.(4 + 4 leaf).(1 + 2 server): a leaf has a /22, and a link two of its addresses."""
    leaf, server = divmod(host, _HOSTS_PER_LEAF)
    return _FIRST_ADDRESS + (leaf << 10) + 2 * server


def _numbers(first: int, users: Iterable[tuple[int, Hashable]]) -> dict[int, int]:
    """Numbers from `first` up, counted separately for each user; keyed by what belongs to it."""
    following: defaultdict[Hashable, Iterator[int]] = defaultdict(lambda: count(first))
    return {key: next(following[user]) for key, user in users}
