"""The classes that plug-ins derive from: what each hook is told, and what it may answer.

Every time is a whole number of picoseconds, every size one of bytes. Hooks that a class does not
override are never called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from spillway._core import (
    Access,
    Ack,
    Arrival,
    Buffer,
    Departure,
    Drop,
    PushOut,
    Switch,
    Verdict,
    Window,
)


class Plugin:
    """What all plug-ins have. An object's parameters are set when it is made."""

    id: ClassVar[str] = ""
    """The name by which scenarios choose it: letters, digits and hyphens."""

    citation: ClassVar[str] = ""
    """Where it was published, for listings. What it does, they take from the docstring."""

    def __init__(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}")
            setattr(self, name, value)


class _Policy(Plugin):
    """What sharing policies and AQMs have in common. There is an object for every switch."""

    period_ps: int | None = None
    """How often `on_timer` is called, the first time after one period; `None` for never."""

    def start(self, switch: Switch) -> None:
        """Called once, before the run, to set up state. A `ValueError` refuses the parameters."""

    def on_enqueue(self, arrival: Arrival, buffer: Buffer) -> None:
        """A packet has joined its queue; `buffer` counts it.

        A class that has this hook or `on_dequeue` sees every packet join and leave its queue.
        Without them, a packet that finds its port idle passes without being in one.
        """

    def on_dequeue(self, now_ps: int, queue: int, size: int, buffer: Buffer) -> None:
        """A packet has left its queue to be sent; `buffer` does not count it any more."""

    def on_release(self, now_ps: int, queue: int, buffer: Buffer) -> None:
        """Bytes of a queue are about to be given back though no packet leaves it for its line."""

    def on_drop(self, now_ps: int, queue: int, size: int, buffer: Buffer) -> None:
        """A packet has been lost: an arrival, or one that was in this queue."""

    def on_departure(self, departure: Departure, buffer: Buffer) -> Verdict:
        """What happens to a packet that would be sent now, whether it has waited or not."""
        raise NotImplementedError

    def on_timer(self, now_ps: int, buffer: Buffer) -> None:
        """Another `period_ps` is over."""


class Sharing(_Policy):
    """A way of sharing the buffer of a switch: `switch.sharing` names it."""

    knows_packets: bool = False
    """Whether arrivals have `flow` and `seq`; else both are `None`."""

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool | Drop | PushOut:
        """Whether an arrival may join its queue, which does not hold it yet.

        `True` admits it, if it fits. `False` is `Drop("over_threshold")`. `PushOut(queue)` lets
        the last packet of a queue make room; the question is then asked again, until the arrival
        fits or is refused. If it is refused, nothing has been pushed out.
        """
        raise NotImplementedError

    def open_below(self, capacity: int) -> int:
        """The occupancy below which any arrival that finds its port idle would be admitted.

        It is asked for once, and `admit` is not about those arrivals. 0 for being asked always.
        """
        raise NotImplementedError

    def threshold(self, arrival: Arrival, buffer: Buffer) -> int | None:
        """The limit that an arrival was held to, for traces of decisions."""
        raise NotImplementedError

    def counters(self) -> dict[str, int]:
        """What it has counted, by name: the summary adds up the switches of a tier."""
        raise NotImplementedError


class Aqm(_Policy):
    """Active queue management: `switch.aqm` names it. It is not asked about acks' own queues.

    It has `on_arrival`, `on_departure`, or both.
    """

    passes_idle_ports: bool = False
    """Whether any arrival that finds its port idle would pass; it is not asked about them then."""

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        """The outcome for an arrival, before the sharing policy sees it."""
        raise NotImplementedError


class CongestionControl(Plugin):
    """A congestion controller: `transport.kind` names it. There is an object for every flow.

    Loss is found and repaired, and acks are sent, as with every other transport.
    """

    ecn_capable: ClassVar[bool] = False
    """Whether packets may be marked where the scenario does not say (`transport.ecn`)."""

    echoes_each_mark: ClassVar[bool] = False
    """Whether acks echo each mark, as for DCTCP, or all after a mark until a cut (RFC 3168)."""

    asks_telemetry: ClassVar[bool] = False
    """Whether switches write on its packets, which takes `telemetry_bytes`: `ack.hops`."""

    knows_base_rtt: ClassVar[bool] = False
    """Whether it compares with the base RTT: `transport.base_rtt` says whose, the flow's own."""

    def start(self, window: Window, access: Access) -> None:
        """Called when the flow starts. The window is `transport.initial_window`."""

    def on_ack(self, window: Window, ack: Ack) -> None:
        """An ack has come. Growth and the reaction to marks happen here."""
        raise NotImplementedError

    def on_loss(self, window: Window, in_flight: int) -> None:
        """A loss was found by selective acks: sets `ssthresh`; `cwnd` is then set to it."""
        window.halve(in_flight)

    def on_timeout(self, window: Window, in_flight: int) -> None:
        """The retransmission timer ran out: sets `ssthresh`; `cwnd` is then one segment."""
        window.halve(in_flight)


ROOMS: Mapping[str, tuple[type[Plugin], tuple[str, ...]]] = {
    "sharing": (Sharing, ("admit",)),
    "aqm": (Aqm, ("on_arrival", "on_departure")),
    "transport": (CongestionControl, ("on_ack",)),
}
"""For every room the class that its plug-ins derive from, and the hooks of which they must have
one."""
