"""FB that takes PRED's count of flows for the number of congested queues, as a plug-in."""

from __future__ import annotations

from typing import Annotated, Literal

from spillway.plugins import Arrival, Buffer, Sharing, Switch


class FbOfFlows(Sharing):
    """Dynamic Thresholds, shared as PRED counts flows: T = alpha (B - Q) / n.

    A port's flows N are those of its data packets in this period or the last one, whichever has
    more (the Flow Concurrent Stabilizer, section 4.1). With `n = "ports"` n is the number of queues
    of the arrival's queue class in which something waits and at whose port flows meet, N >= 2. With
    `n = "flows"` it is the N of the arrival's port.
    """

    id = "fb-of-flows"
    knows_packets = True
    alpha: Annotated[float, "bytes that n queues may hold together for every free byte"] = 0.5
    n: Annotated[Literal["ports", "flows"], "what is counted"] = "ports"

    def start(self, switch: Switch) -> None:
        """Nothing has arrived."""
        self._period = switch.base_rtt_ps * 5 // 4
        """As under PRED."""
        self._ports = [_Flows() for _ in range(switch.ports)]
        self._waits: list[set[int]] = [set() for _ in range(switch.queues_per_port)]
        """The ports at which something waits, by queue class."""

    def threshold(self, arrival: Arrival, buffer: Buffer) -> int:
        """T, rounded down to a byte."""
        if self.n == "flows":
            n = self._ports[buffer.port_of(arrival.queue)].number
        else:
            waits = self._waits[arrival.queue_class]
            n = sum(self._ports[port].number > 1 for port in waits)
        return int(self.alpha * buffer.free / max(n, 1))

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool:
        """Whether the arrival's queue stays within T."""
        if not arrival.is_control:
            assert arrival.flow is not None
            port = self._ports[buffer.port_of(arrival.queue)]
            port.count(arrival.now_ps // self._period, arrival.flow)
        return buffer.bytes(arrival.queue) + arrival.size <= self.threshold(arrival, buffer)

    def on_enqueue(self, arrival: Arrival, buffer: Buffer) -> None:
        """Something waits."""
        self._waits[arrival.queue_class].add(buffer.port_of(arrival.queue))

    def on_dequeue(self, _now_ps: int, queue: int, _size: int, buffer: Buffer) -> None:
        """It may have been the last packet."""
        if not buffer.packets(queue):
            self._waits[buffer.class_of(queue)].discard(buffer.port_of(queue))


class _Flows:
    """The flows of a port in this period and the number of those in the last one."""

    def __init__(self) -> None:
        self._period = 0
        self._last = 0
        self._now: set[int] = set()

    def count(self, period: int, flow: int) -> None:
        """A packet of a flow arrives in this period."""
        if period != self._period:
            self._last = len(self._now) if period == self._period + 1 else 0
            self._period, self._now = period, set()
        self._now.add(flow)

    @property
    def number(self) -> int:
        """N, as of the port's last packet."""
        return max(self._last, len(self._now))
