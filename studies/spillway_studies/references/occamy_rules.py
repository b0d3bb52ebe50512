"""Rules of the program behind Occamy's reference, as a plug-in: its push-out."""

from __future__ import annotations

from typing import Annotated

from spillway.plugins import Arrival, Buffer, Drop, PushOut, Sharing, Switch

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
