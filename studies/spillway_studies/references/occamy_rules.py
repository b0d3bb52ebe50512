"""Rules of the program behind Occamy's reference, as plug-ins: its round robin and its push-out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from spillway.plugins import Arrival, Backlog, Buffer, Drop, PushOut, Scheduler, Sharing, Switch

UNCOUNTED = 1
"""Bytes that packets have on the line but not in the buffer."""


def line_ps(size: int, bits_per_second: int) -> int:
    """How long a packet of so many counted bytes takes on a line.

    At 10 Gbps this is 0.8 ns for each byte, in whole nanoseconds. The reference rounds them to the
    nearest. The simulator cuts them to the greatest below, and the uncounted byte makes up for it:
    both agree unless the size has the remainder 3 by 5.
    """
    return ((size + UNCOUNTED) * 8 * 10**12 // bits_per_second - 1) // 1_000 * 1_000


def is_rounded_alike(size: int) -> bool:
    """Whether `line_ps` is what the reference has, at 10 Gbps."""
    return size % 5 != 3


class ProgramDrr(Scheduler):
    """DRR in which a queue sends while its credit is above 0, and owes what it sends beyond."""

    id = "program-drr"
    quantum_bytes: Annotated[int, "bytes by which a queue's credit grows when it is passed"] = 2_000

    keeps_account = True

    def start(self, switch: Switch) -> None:
        """Nothing has been sent."""
        self.rates = switch.port_rates_bps
        self.queues = switch.queues_per_port
        self.credits = [[0] * self.queues for _ in range(switch.ports)]
        # The program's number for a queue that its ports need not have.
        self.current = [7 % self.queues] * switch.ports
        self.free_at_ps = [0] * switch.ports

    def select(self, port: int, backlog: Backlog) -> int:
        """The queue that sends, after the scan that the program makes when a port falls idle."""
        came = min(backlog.queued_at_ps(each) for each in backlog.queue_classes)
        if came > self.free_at_ps[port]:
            self.scan(port, ())
        chosen = self.scan(port, backlog.queue_classes)
        while chosen is None:
            chosen = self.scan(port, backlog.queue_classes)
        size = backlog.size(chosen) - UNCOUNTED
        self.current[port] = chosen
        self.credits[port][chosen] -= size
        begins = max(came, self.free_at_ps[port])
        self.free_at_ps[port] = begins + line_ps(size, self.rates[port])
        return chosen

    def scan(self, port: int, waiting: Collection[int]) -> int | None:
        """The first queue from the current one on that has credit, and is among those waiting.

        The current one is passed twice, and its credit grows the second time.
        """
        credit = self.credits[port]
        for step in range(self.queues + 1):
            queue_class = (self.current[port] + step) % self.queues
            if step:
                credit[queue_class] += self.quantum_bytes
            if credit[queue_class] <= 0:
                continue
            if queue_class in waiting:
                return queue_class
            credit[queue_class] = 0
        return None


class ProgramPushOut(Sharing):
    """Push-out from the head of the longest queue, until as much has left as arrives."""

    id = "program-push-out"
    loses_victims = True
    spares_better: Annotated[
        bool, "whether the arrival is refused for a longest queue above it"
    ] = False

    def start(self, _switch: Switch) -> None:
        """Nothing has been pushed out."""
        self.held: int | None = None
        self.freed = 0

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool | Drop | PushOut:
        """Whether enough has left; of several longest queues, the last one loses its head."""
        if self.held is None:
            self.freed = 0
            if arrival.size <= buffer.free:
                return True
        else:
            self.freed += self.held - buffer.occupancy
        self.held = None
        if self.freed >= arrival.size:
            return True
        lengths = buffer.lengths()
        longest = max(range(len(lengths)), key=lambda queue: (lengths[queue], queue))
        is_better = buffer.class_of(longest) < arrival.queue_class
        if not lengths[longest] or (self.spares_better and is_better):
            return Drop("buffer_full")
        self.held = buffer.occupancy
        return PushOut(longest, first=True)
