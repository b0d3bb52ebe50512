"""The base classes of plug-ins: what each hook is told, and what it may answer.

Every time is a whole number of picoseconds, every size one of bytes. Hooks that a class does not
override are never called.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from spillway.base.core import (
    Access,
    Ack,
    Arrival,
    Buffer,
    Departure,
    Drop,
    Packet,
    PushOut,
    Switch,
    Verdict,
    Window,
)
from spillway.base.errors import ScenarioError
from spillway.plugins.content import note


class Plugin:
    """The base class of all plug-ins. An object's parameters are set when it is made."""

    id: ClassVar[str] = ""
    """The name by which scenarios choose it: letters, digits and hyphens."""

    citation: ClassVar[str] = ""
    """Where it was published, for listings, which describe it by its docstring."""

    def __init__(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}")
            setattr(self, name, value)

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        # What is wrong with its file is told when the class is used.
        with suppress(ScenarioError):
            note(cls.__module__)


class _Policy(Plugin):
    """What sharing policies and AQMs have in common. There is an object for every switch."""

    period_ps: int | None = None
    """The interval of calls of `on_timer`, the first after one period; `None` for no calls."""

    knows_packets: bool = False
    """Whether arrivals have `flow` and `seq`; else both are `None`. For an AQM the flow is the one
    that opened the packet's connection.
    """

    def start(self, switch: Switch) -> None:
        """Called once, before the run, to set up state. A `ValueError` refuses the parameters."""

    def on_enqueue(self, arrival: Arrival, buffer: Buffer) -> None:
        """A packet has joined its queue; `buffer` counts it.

        A class that has this hook or `on_dequeue` sees every packet join and leave its queue. In
        other classes, a packet that finds its port idle passes without joining one.
        """

    def on_dequeue(self, now_ps: int, queue: int, size: int, buffer: Buffer) -> None:
        """A packet has left its queue to be sent; `buffer` no longer counts it."""

    def on_release(self, now_ps: int, queue: int, buffer: Buffer) -> None:
        """Bytes of a queue are about to be freed although no packet leaves it for its line."""

    def on_drop(self, now_ps: int, queue: int, size: int, buffer: Buffer) -> None:
        """A packet has been lost: an arrival, or one that was in this queue."""

    def on_departure(self, departure: Departure, buffer: Buffer) -> Verdict:
        """The outcome for a packet that is about to be sent, whether it has waited or not."""
        raise NotImplementedError

    def on_timer(self, now_ps: int, buffer: Buffer) -> None:
        """A period of `period_ps` is over."""


class Sharing(_Policy):
    """A policy for sharing a switch's buffer. Scenarios name it in `switch.sharing`."""

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool | Drop | PushOut:
        """Whether an arrival may join its queue, which does not count it yet.

        `True` admits it if it fits. `False` is the same as `Drop("over_threshold")`.
        `PushOut(queue)` pushes out the last packet of a queue, and the hook is called again, until
        the arrival fits or is refused. If it is refused, nothing has been pushed out.
        """
        raise NotImplementedError

    def open_below(self, capacity: int) -> int:
        """The occupancy below which every arrival that finds its port idle would be admitted.

        It is asked for once, and `admit` is not called for those arrivals. With 0 it always is.
        """
        raise NotImplementedError

    def threshold(self, arrival: Arrival, buffer: Buffer) -> int | None:
        """The limit that an arrival had to keep, for traces of decisions."""
        raise NotImplementedError

    def counters(self) -> dict[str, int]:
        """Counts by name, which the summary adds up over the switches of a tier."""
        raise NotImplementedError


class Aqm(_Policy):
    """Active queue management. Scenarios name it in `switch.aqm`. Queues of acks are exempt.

    It has `on_arrival`, `on_departure`, or both.
    """

    passes_idle_ports: bool = False
    """Whether every arrival that finds its port idle would pass; it is not asked about them then.
    """

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        """The outcome for an arrival, before the sharing policy sees it."""
        raise NotImplementedError

    def on_mark(self, queue: int, size: int) -> None:
        """A packet of a queue has been marked."""

    def on_send(self, now_ps: int, queue: int, size: int, begins: bool, buffer: Buffer) -> None:
        """A packet begins to be sent.

        A class that has this hook or `on_vain_turn` needs a scheduler that serves queues in turn.

        Args:
            now_ps: The simulated time in picoseconds.
            queue: The packet's queue, as in `Arrival.queue`.
            size: The packet's bytes.
            begins: Whether a turn of its queue begins with it.
            buffer: The switch's buffer now.
        """

    def on_vain_turn(self, now_ps: int, queue: int, buffer: Buffer) -> None:
        """A turn of a queue that has a packet begins, and nothing is sent in it."""

    def sample(self, now_ps: int, queue: int, buffer: Buffer) -> dict[str, float] | None:
        """By which numbers it would mark an arrival now, for the table `aqm`.

        They are named as its columns are, from `min_bytes` to `utility`. `None` for no row.
        """
        raise NotImplementedError


class CongestionControl(Plugin):
    """A congestion controller. Scenarios name it in `transport.kind`. Each flow has an object.

    Finding losses, retransmitting and acknowledging work as in all other transports.
    """

    ecn_capable: ClassVar[bool] = False
    """Whether packets are ECN-capable if the scenario does not say (`transport.ecn`)."""

    echoes_each_mark: ClassVar[bool] = False
    """Whether acks echo each mark, as for DCTCP, or all acks after a mark do until a cut (RFC
    3168).
    """

    asks_telemetry: ClassVar[bool] = False
    """Whether switches write telemetry on its packets (`telemetry_bytes`), seen in `ack.hops`."""

    knows_base_rtt: ClassVar[bool] = False
    """Whether it compares with the base RTT: the flow's, unless `transport.base_rtt` differs."""

    def start(self, window: Window, access: Access) -> None:
        """Called when the flow starts. The window is `transport.initial_window`."""

    def on_ack(self, window: Window, ack: Ack) -> None:
        """An ack has arrived. Growth and the reaction to marks happen here."""
        raise NotImplementedError

    def on_loss(self, window: Window, in_flight: int) -> None:
        """Selective acks have shown a loss: sets `ssthresh`, to which `cwnd` is then set."""
        window.halve(in_flight)

    def on_timeout(self, window: Window, in_flight: int) -> None:
        """The retransmission timer has expired: sets `ssthresh`; `cwnd` is then one segment."""
        window.halve(in_flight)


class Tagger(Plugin):
    """Gives every data packet a level when it is sent. Scenarios name it in `transport.tagging`.

    There is an object for every transport that names it, and none for a flow: what it knows of a
    flow is told with the packet. Where acks wait (`acks`) and the level of repairs (`repairs`) are
    keys of all taggers.
    """

    levels: int = 8
    """How many levels there are (K), from 1 to 64; it may be a property that follows parameters."""

    resets_after: int | None = None
    """After how many timeouts in a row a flow counts as one that has sent nothing."""

    knows_bounds: bool = False
    """Whether packets have their flow's `bound`; else it is 0."""

    knows_sizes: bool = False
    """Whether packets have their flow's `size`; else it is `None`."""

    overtakes: bool = False
    """Whether a packet may have a better level than one of its flow that was sent before. A run
    warns where packets that are overtaken are then taken to be lost (`loss_detection`).
    """

    def start(self) -> None:
        """Called once, before the run, to set up state. A `ValueError` refuses the parameters."""

    def level(self, packet: Packet) -> int:
        """The level of a packet, from 1, the best, to K."""
        raise NotImplementedError


ROOMS: Mapping[str, tuple[type[Plugin], tuple[str, ...]]] = {
    "sharing": (Sharing, ("admit",)),
    "aqm": (Aqm, ("on_arrival", "on_departure")),
    "transport": (CongestionControl, ("on_ack",)),
    "tagging": (Tagger, ("level",)),
}
"""For every room the base class of its plug-ins, and the hooks of which they must have at least
one.
"""
