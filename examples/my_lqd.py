"""Longest Queue Drop as a plug-in: a policy that pushes packets out."""

from spillway.plugins import Arrival, Buffer, Drop, PushOut, Sharing, Switch


class MyLqd(Sharing):
    """Longest Queue Drop: a full buffer pushes out the tail of the longest queue."""

    id = "my-lqd"

    def start(self, switch: Switch) -> None:
        """Notes which queues are never victims: those of acks, where acks have their own."""
        self.ack_class = switch.ack_class

    def open_below(self, capacity: int) -> int:
        """As long as the largest packet fits there is nothing to decide."""
        return max(capacity - 16384, 0)

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool | Drop | PushOut:
        """Counts the arrival towards its own queue, which loses ties."""
        if arrival.size <= buffer.free:
            return True
        lengths = buffer.lengths()
        if self.ack_class is not None:
            per_port = buffer.queues_per_port
            lengths[self.ack_class :: per_port] = [0] * buffer.ports
        if arrival.queue_class != self.ack_class:
            lengths[arrival.queue] += arrival.size
        longest = max(lengths)
        if lengths[arrival.queue] == longest:
            return Drop("pushed_out")
        queue = lengths.index(longest)
        return PushOut(queue) if buffer.packets(queue) else Drop("buffer_full")
