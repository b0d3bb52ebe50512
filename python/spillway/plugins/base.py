"""The base classes of plug-ins: what each hook is told, and what it may answer.

Every time is a whole number of picoseconds, every size one of bytes. Hooks that a class does not
override are never called. What is written here of hooks and attributes is also what
`spillway explain plugin` tells, and what the tables of `docs/plugins.md` are made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from spillway.base.core import (
    Access,
    Ack,
    Arrival,
    Backlog,
    Buffer,
    Departure,
    Drop,
    Flight,
    Packet,
    PushOut,
    Reaction,
    Switch,
    Verdict,
    Waiting,
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


class Policy(Plugin):
    """What sharing policies and AQMs have in common."""

    period_ps: Annotated[
        int | None,
        "the interval of calls of `on_timer`, the first after one period; `None` for no calls",
    ] = None
    knows_packets: Annotated[
        bool,
        "whether arrivals have `flow` and `seq`, otherwise `None`; for an AQM the flow is the one "
        "that opened the packet's connection, as for built-in AQMs",
    ] = False

    def start(self, switch: Switch) -> None:
        """Called once, before the run, to set up state.

        Reading a scenario also makes and starts an object, to check the parameters: a `ValueError`
        refuses them.
        """

    def on_enqueue(self, arrival: Arrival, buffer: Buffer) -> None:
        """A packet has joined its queue; `buffer` counts it.

        With this hook or `on_dequeue` all packets go through a queue; otherwise one that finds its
        port idle passes without.
        """

    def on_dequeue(self, now_ps: int, queue: int, size: int, buffer: Buffer) -> None:
        """A packet has left its queue to be sent; `buffer` no longer counts it."""

    def on_release(self, now_ps: int, queue: int, buffer: Buffer) -> None:
        """Bytes of a queue are about to be freed although no packet begins to be sent.

        That is so with `release = "end"`, and when a link fails.
        """

    def on_drop(self, now_ps: int, queue: int, size: int, buffer: Buffer) -> None:
        """A packet has been lost: an arrival, or one that was in this queue."""

    def on_departure(self, departure: Departure, buffer: Buffer) -> Verdict:
        """The outcome for a packet that is about to be sent, even if it found its port idle.

        A sharing policy is asked after the AQM; what it drops counts under `over_delay`.
        """
        raise NotImplementedError

    def on_timer(self, now_ps: int, buffer: Buffer) -> None:
        """A period of `period_ps` is over, if that is set by the end of `start`."""


class Sharing(Policy):
    """A policy for sharing a switch's buffer."""

    loses_victims: Annotated[
        bool,
        "whether packets stay lost that were pushed out for an arrival that is refused in the end",
    ] = False

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool | Drop | PushOut:
        """Whether an arrival may join its queue, which does not count it yet."""
        raise NotImplementedError

    def open_below(self, capacity: int) -> int:
        """An occupancy, asked for once.

        While the buffer holds less, a packet that finds its port idle passes, and `admit` is not
        asked about it. 0 without this hook.
        """
        raise NotImplementedError

    def threshold(self, arrival: Arrival, buffer: Buffer) -> int | None:
        """What the arrival's queue may hold, for records of decisions; `None` for no limit."""
        raise NotImplementedError

    def counters(self) -> dict[str, int]:
        """Whole numbers that the policy has counted, by name, asked for at the end.

        The summary has their sums over the switches of a tier (`sharing_counts`).
        """
        raise NotImplementedError


class Aqm(Policy):
    """Active queue management. It is not called for queues of acks."""

    passes_idle_ports: Annotated[
        bool,
        "whether packets that find their port idle always pass: `on_arrival` need not be asked "
        "about them",
    ] = False

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        """The outcome for an arrival, before the sharing policy is asked."""
        raise NotImplementedError

    def on_mark(self, queue: int, size: int) -> None:
        """A packet of a queue has been marked."""

    def on_send(self, now_ps: int, queue: int, size: int, begins: bool, buffer: Buffer) -> None:
        """A packet begins to be sent; `begins` tells whether a turn of its queue begins with it.

        Only with a scheduler that serves several queues in turn (`rr`, `dwrr`, or a plug-in with
        `quantum`).

        Args:
            now_ps: The simulated time in picoseconds.
            queue: The packet's queue, as in `Arrival.queue`.
            size: The packet's bytes.
            begins: Whether a turn of its queue begins with it.
            buffer: The switch's buffer now.
        """

    def on_vain_turn(self, now_ps: int, queue: int, buffer: Buffer) -> None:
        """A turn of a queue that has a packet begins, and nothing is sent in it.

        Only with such a scheduler.
        """

    def sample(self, now_ps: int, queue: int, buffer: Buffer) -> dict[str, float] | None:
        """The numbers by which it would mark an arrival at a queue now, for the table `aqm`.

        They are some of its columns, from `min_bytes` to `utility`; `None` for no row.
        """
        raise NotImplementedError


class Scheduler(Plugin):
    """Chooses which queue of a port sends next."""

    keeps_account: Annotated[
        bool,
        "whether it keeps an account of each queue that it changes when the queue is empty, as "
        "DWRR does: `select` is then asked about every packet. Otherwise a packet that finds its "
        "port idle passes, and only `on_send` hears of it",
    ] = False

    def start(self, switch: Switch) -> None:
        """Called once, before the run, to set up state.

        Reading a scenario also makes and starts an object, to check the parameters: a `ValueError`
        refuses them.
        """

    def select(self, port: int, backlog: Backlog) -> int:
        """The queue class that sends next, one of `backlog`.

        It is not asked if ports have a single queue.
        """
        raise NotImplementedError

    def choose(self, waiting: list[Waiting]) -> int:
        """The packet that the port's only queue sends: its place in the list.

        Packets stand there as they came. Only with one queue for each port, `aqm = "none"` and no
        `pfc`. Without this hook the first packet is sent.
        """
        raise NotImplementedError

    def quantum(self, queue_class: int, full_packet: int) -> int:
        """The bytes that a queue may send in a turn; a full packet has `full_packet`.

        A class has this hook if it serves queues in turn and calls `backlog.begin_turn`. Without it
        AQMs that watch turns are refused.
        """
        raise NotImplementedError

    def on_send(self, port: int, queue_class: int, size: int) -> None:
        """A packet of `size` bytes on the wire is sent, and is not dropped on the way out.

        Not called if ports have a single queue.
        """


class CongestionControl(Plugin):
    """A congestion controller.

    Finding losses, retransmitting, acks, timers, and the keys of all windows (`initial_window`,
    `min_rto`, ...) are those of built-in transports.
    """

    ecn_capable: ClassVar[
        Annotated[bool, "whether packets are ECN-capable: the default of `transport.ecn`"]
    ] = False
    echoes_each_mark: ClassVar[
        Annotated[
            bool,
            "whether acks echo each mark, as for DCTCP; otherwise they echo a mark until the "
            "sender announces a cut. `cut_once` is then false unless it is set",
        ]
    ] = False
    asks_telemetry: ClassVar[
        Annotated[
            bool,
            "whether switches write telemetry on its packets, which takes "
            "`transport.telemetry_bytes` on the wire: `ack.hops`",
        ]
    ] = False
    knows_base_rtt: ClassVar[
        Annotated[
            bool,
            "whether the transport has the key `base_rtt`: `access.base_rtt_ps` is the base RTT of "
            "the flow's own path, unless the scenario asks for the network's",
        ]
    ] = False

    def start(self, window: Window, access: Access) -> None:
        """The flow begins. The window is `transport.initial_window`."""

    def on_ack(self, window: Window, ack: Ack) -> None:
        """An ack has come: growth, and the reaction to marks."""
        raise NotImplementedError

    def on_loss(self, window: Window, in_flight: int) -> None:
        """A loss has been found: sets `ssthresh`, to which `cwnd` is then set.

        Without this hook it is half of what is in flight. Not called if a mark has cut the same
        window, with `cut_once`.
        """
        window.halve(in_flight)

    def on_timeout(self, window: Window, in_flight: int) -> None:
        """The retransmission timer has expired: sets `ssthresh`; `cwnd` is then one segment."""
        window.halve(in_flight)


class Recovery(Plugin):
    """Finds and repairs a flow's losses: it chooses every segment that is sent.

    The sender keeps what was sent and what has arrived, tells the congestion controller of acks,
    counts timeouts, and runs the timer. No loss cuts the window.
    """

    tells: Annotated[
        Literal["packet", "ranges", "duplicates"],
        "what acks tell of data behind a gap: the packet that they answer, if it lies behind one "
        "(the ack is then a NACK); up to three ranges; or before them what has arrived twice",
    ] = "packet"
    in_order: Annotated[
        bool,
        "whether receivers accept only the packet that they expect, and discard what comes too "
        "early with a NACK",
    ] = False
    nack_interval_ps: Annotated[
        int, "with `in_order`: after how long a receiver tells of the same gap again"
    ] = 500_000_000
    answers_old: Annotated[
        bool, "with `in_order`: whether a packet that has arrived before is acknowledged"
    ] = True
    max_in_flight: Annotated[
        int | None,
        "the most that `next_segment` lets be in flight, whatever the window is, as it is set by "
        "the end of `start`; where receivers delay acks, senders ask for acks by it. `None` for "
        "no bound",
    ] = None

    def start(self, mss: int, access: Access) -> None:
        """The first flow of a connection begins, in segments of `mss` bytes.

        `tells` and what belongs to `in_order` are asked for before, of an object with the same
        parameters.
        """

    def begin_next(self, first: int) -> None:
        """The next flow of the connection begins with this byte; all before is acknowledged."""

    def next_segment(self, flight: Flight) -> tuple[int, int] | None:
        """The segment that is sent next, new or again; `None` if none may be sent now.

        It begins at a multiple of the payload of a full segment, and is as long as
        `flight.segment` tells. New data follow in order. It is asked until it says `None`, and may
        be asked without anything being sent, so it must change nothing.
        """
        raise NotImplementedError

    def on_sent(self, flight: Flight, seq: int, end: int) -> None:
        """The segment that was chosen is sent; `flight` does not count it yet."""

    def on_stopped(self) -> None:
        """No segment may be sent now: `next_segment` has said `None`."""

    def on_ack(
        self, flight: Flight, seq: int, acked: int, blocks: list[tuple[int, int]]
    ) -> Reaction:
        """An ack of all before `seq` has come, which is the first for `acked` bytes.

        It tells that the ranges `blocks` have arrived behind a gap. `flight` counts all this
        already, without the range of a NACK with `in_order`, which was discarded. Without this hook
        and with `Reaction()` the congestion controller is told of the ack, and the timer restarts;
        `Reaction(tells=False, restarts=False)` avoids both.
        """
        raise NotImplementedError

    def timeout_ps(self, flight: Flight) -> int | None:
        """How long to wait for an ack from now on; `None` if no timer runs, as without this hook.

        It is asked when the timer starts, and again when it expires: the timer goes on if the
        answer has grown.
        """
        raise NotImplementedError

    def on_timeout(self, flight: Flight) -> bool:
        """No ack has come in time.

        `True` cuts the window to a segment, and restarts the timer at once. Otherwise the next
        segment that is sent starts it.
        """
        raise NotImplementedError

    def shortest_timeout_ps(self, base_rtt_ps: int) -> int | None:
        """The shortest timeout with this base RTT; `None` for none.

        It depends on parameters alone, and is also asked before `start`: a scenario is refused in
        which no ack could come in time. A connection that is idle for longer counts as idle.
        """
        raise NotImplementedError


class Tagger(Plugin):
    """Gives every data packet a level when it is sent.

    What it knows of a flow is told with the packet. `acks` (where acks wait) and `repairs` (the
    level of repairs) are keys of all taggers.
    """

    levels: Annotated[
        int,
        "how many levels there are, from 1 to 64; it may be a property that depends on parameters",
    ] = 8
    resets_after: Annotated[
        int | None,
        "after how many timeouts in a row a flow counts as one that has sent nothing; `None` for "
        "never",
    ] = None
    knows_bounds: Annotated[
        bool, "whether packets have their flow's `bound`; a run warns if no flow has one"
    ] = False
    knows_sizes: Annotated[bool, "whether packets have their flow's `size`"] = False
    overtakes: Annotated[
        bool,
        "whether a packet may have a better level than an earlier packet of its flow; a run warns "
        "if overtaken packets are then taken for lost (`transport.recovery`)",
    ] = False

    def start(self) -> None:
        """Called once, before the run, to set up state.

        Reading a scenario also makes and starts an object: a `ValueError` refuses the parameters.
        """

    def level(self, packet: Packet) -> int:
        """The level of a data packet that is about to be sent, from 1, the best, to `levels`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Room:
    """A kind of plug-in."""

    base: type[Plugin]
    needed: tuple[str, ...]
    """The hooks of which a class must have at least one."""
    key: str
    """The key by which scenarios name it."""
    each: str
    """What has an object of its own."""


ROOMS: Mapping[str, Room] = {
    "sharing": Room(Sharing, ("admit",), "switch.sharing", "each switch"),
    "aqm": Room(
        Aqm,
        ("on_arrival", "on_departure"),
        "switch.aqm",
        "each switch, and with `nic.aqm` each host",
    ),
    "scheduling": Room(Scheduler, ("select", "choose"), "switch.scheduling", "each switch"),
    "transport": Room(CongestionControl, ("on_ack",), "transport.kind", "each flow"),
    "recovery": Room(Recovery, ("next_segment",), "transport.recovery", "each connection"),
    "tagging": Room(
        Tagger, ("level",), "transport.tagging", "each `[transport]` or traffic that names it"
    ),
}
"""The kinds of plug-ins, by the rooms in which `spillway list` has them."""
