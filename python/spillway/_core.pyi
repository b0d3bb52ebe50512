"""The simulator: what `crates/spillway-py` exports."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np

__all__ = [
    "PUBLISHED_PACKET",
    "Access",
    "Ack",
    "Arrival",
    "Arrivals",
    "Buffer",
    "Column",
    "Departure",
    "Drop",
    "Flows",
    "Forest",
    "Hop",
    "PushOut",
    "Scenario",
    "Simulation",
    "Switch",
    "Verdict",
    "Window",
    "__version__",
    "assign",
    "bundled",
    "catalogue",
    "counted_flows",
    "flipped",
    "generators",
    "limit",
    "models",
    "prediction_error",
    "published_thresholds",
    "replayed_marks",
    "size_points",
    "slotted_optimum",
    "slotted_run",
]

__version__: str
PUBLISHED_PACKET: int

_Numbers: TypeAlias = np.ndarray[Any, Any]

class _Buffer:
    """The buffer protocol, which is a method of Python only from 3.12 on."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Column(_Buffer):
    """Numbers under the buffer protocol; `names` are the names that they stand for, by index."""

    @property
    def dtype(self) -> str: ...
    @property
    def validity(self) -> Column | None: ...
    @property
    def null_count(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    def __len__(self) -> int: ...

@final
class Flows:
    """The flows of a scenario, from the first."""

    def take(self, most: int) -> dict[str, Column]: ...

@final
class Forest:
    """A forest, read from the bytes of a model file."""

    def __new__(cls, content: bytes) -> Forest: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def trees(self) -> int: ...
    @property
    def depth(self) -> int: ...
    def metadata(self, key: str) -> str | None: ...
    def predict(self, rows: Any) -> Column: ...

@final
class Scenario:
    """A scenario that has been read: valid, and with every default filled in."""

    def __new__(
        cls,
        given: str | Mapping[str, Any],
        folder: str | PathLike[str],
        assignments: Sequence[str],
        load: Callable[[str, str], dict[str, Any] | None],
        records: Callable[[str, str, str, list[str]], tuple[str, bytes]],
        plugins: Sequence[Any],
        file: str | None = None,
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def resolved(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def duration_ps(self) -> int: ...
    @property
    def stop_ps(self) -> int: ...
    @property
    def places(self) -> list[str]: ...
    @property
    def tables(self) -> list[str]: ...
    @property
    def files(self) -> list[tuple[str, str]]: ...
    @property
    def named_plugins(self) -> list[int]: ...
    def resolved_with(self, names: Sequence[str]) -> str: ...
    def facts(self, most_flows: int) -> str: ...
    def expected_packets(self) -> float: ...
    def flows(self) -> Flows: ...

@final
class Simulation:
    """A run of a scenario. The scenario cannot be used again."""

    def __new__(cls, scenario: Scenario) -> Simulation: ...
    def run(
        self,
        report: Callable[[int, int, int, int, int], object] | None = None,
        interval: float = 0.1,
        drain: Callable[[], object] | None = None,
        rows: int = ...,
    ) -> str: ...
    @staticmethod
    def tables() -> list[str]: ...
    @staticmethod
    def always() -> list[str]: ...
    def take(self, table: str) -> dict[str, Column]: ...
    def summary(self) -> str: ...

def assign(text: str, assignments: Sequence[str]) -> str: ...
def catalogue() -> str: ...
def published_thresholds() -> list[tuple[str, list[int]]]: ...
def size_points(sizes: str, folder: str | PathLike[str]) -> list[tuple[float, float]]: ...
def bundled() -> list[tuple[str, str]]: ...
def models() -> dict[str, bytes]: ...

@final
class Arrivals:
    """A sequence of arrivals in the slotted model."""

    def __new__(cls, ports: int, slot: _Numbers, port: _Numbers, slots: int) -> Arrivals: ...
    @staticmethod
    def generate(
        id: str, given: Mapping[str, Any], ports: int, buffer: int, seed: int
    ) -> Arrivals: ...
    @property
    def ports(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def slot(self) -> Column: ...
    @property
    def port(self) -> Column: ...
    def __len__(self) -> int: ...

def generators() -> str: ...
def limit(id: str, ports: int, buffer: int) -> float | None: ...
def slotted_run(
    arrivals: Arrivals,
    buffer: int,
    id: str,
    given: Mapping[str, Any],
    seed: int,
    predictions: _Numbers | None,
) -> tuple[int, dict[str, int], Column, list[tuple[str, int]]]: ...
def slotted_optimum(arrivals: Arrivals, buffer: int) -> int: ...
def prediction_error(
    arrivals: Arrivals, buffer: int, predicted: _Numbers, rule: Mapping[str, Any]
) -> tuple[int, int, float, float, list[int]]: ...
def counted_flows(
    given: Mapping[str, Any], flows: int, packets: int, seed: int, periods: int = 1
) -> int:
    """N by PRED's counter after periods with `packets` packets of each of `flows` flows."""

def replayed_marks(
    id: str,
    given: Mapping[str, Any],
    joined_ps: _Numbers,
    left_ps: _Numbers,
    found: _Numbers,
    remaining: _Numbers,
    size: int,
    seed: int,
) -> Column: ...
def flipped(labels: _Numbers, probability: float, seed: int) -> Column: ...

@final
class Drop:
    """Refuses an arrival, for a reason that is named as in results."""

    def __new__(cls, reason: str = "over_threshold") -> Drop: ...
    @property
    def reason(self) -> str: ...

@final
class PushOut:
    """Pushes out a packet of a queue for an arrival: its last or, if `worst`, another.

    The worst is the one whose flow had most bytes left when it was sent.
    """

    def __new__(cls, queue: int, *, worst: bool = False) -> PushOut: ...
    @property
    def queue(self) -> int: ...
    @property
    def worst(self) -> bool: ...

@final
class Verdict:
    """What happens to a packet: nothing, a mark if it is ECN-capable (else nothing, or a drop)."""

    PASS: Verdict
    MARK: Verdict
    MARK_OR_DROP: Verdict
    DROP: Verdict

@final
class Switch:
    """The switch or NIC of a policy. `ack_class` is `None` if acks have no queues of their own."""

    @property
    def number(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def ports(self) -> int: ...
    @property
    def queues_per_port(self) -> int: ...
    @property
    def port_rates_bps(self) -> list[int]: ...
    @property
    def ack_class(self) -> int | None: ...
    @property
    def data_class(self) -> int: ...
    @property
    def base_rtt_ps(self) -> int: ...
    @property
    def full_packet(self) -> int: ...

@final
class Arrival:
    """A packet that is being decided about on arrival."""

    @property
    def now_ps(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def queue_class(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def first_rtt(self) -> bool: ...
    @property
    def flow(self) -> int | None: ...
    @property
    def seq(self) -> int | None: ...

@final
class Departure:
    """A packet that is about to be sent, whether it has waited or not."""

    @property
    def now_ps(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def queue_class(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def first_rtt(self) -> bool: ...
    @property
    def queued_at_ps(self) -> int: ...

@final
class Buffer:
    """A switch's buffer as it was when a hook was last called.

    Queues are numbered: `port * queues_per_port + queue_class`. A buffer that is never full has a
    `capacity` of 2**64 - 1.
    """

    @property
    def capacity(self) -> int: ...
    @property
    def occupancy(self) -> int: ...
    @property
    def free(self) -> int: ...
    @property
    def ports(self) -> int: ...
    @property
    def queues(self) -> int: ...
    @property
    def queues_per_port(self) -> int: ...
    def bytes(self, queue: int) -> int: ...
    def packets(self, queue: int) -> int: ...
    def lengths(self) -> list[int]: ...
    def port_bytes(self, port: int) -> int: ...
    def port_of(self, queue: int) -> int: ...
    def class_of(self, queue: int) -> int: ...

@final
class Access:
    """The facts about a flow's path: the rate of its host's line, and the base RTT."""

    @property
    def rate_bps(self) -> int: ...
    @property
    def base_rtt_ps(self) -> int: ...

@final
class Hop:
    """What a port on the path of a packet wrote on it when it began to send it.

    `queue_bytes` is what its queue held still, `sent_bytes` what it had sent before.
    """

    @property
    def time_ps(self) -> int: ...
    @property
    def queue_bytes(self) -> int: ...
    @property
    def sent_bytes(self) -> int: ...
    @property
    def ps_per_byte(self) -> int: ...

@final
class Ack:
    """What a congestion controller is told about an ack."""

    @property
    def now_ps(self) -> int: ...
    @property
    def acked(self) -> int: ...
    @property
    def rtt_ps(self) -> int: ...
    @property
    def ece(self) -> bool: ...
    @property
    def una(self) -> int: ...
    @property
    def nxt(self) -> int: ...
    @property
    def may_grow(self) -> bool: ...
    @property
    def in_recovery(self) -> bool: ...
    @property
    def hops(self) -> list[Hop]: ...

@final
class Window:
    """A flow's congestion window in bytes of payload, which hooks may change.

    `pace_ps_per_byte` is how long after a packet the next one leaves, for every byte on the wire.
    """

    cwnd: int
    ssthresh: int
    pace_ps_per_byte: int
    @property
    def mss(self) -> int: ...
    @property
    def min(self) -> int: ...
    @property
    def slow_start(self) -> bool: ...
    def grow(self, acked: int) -> None: ...
    def cut_to(self, bytes: int) -> None: ...
    def cut_for_mark(self, bytes: int, ack: Ack) -> None: ...
    def is_held(self, ack: Ack) -> bool: ...
    def halve(self, in_flight: int) -> None: ...
