"""Deficit weighted round robin as a plug-in: a scheduler."""

from typing import Annotated

from spillway.plugins import Backlog, Scheduler, Switch


class MyDwrr(Scheduler):
    """DWRR: in its turn a queue gets its quantum, and it sends while its deficit lasts."""

    id = "my-dwrr"
    weights: Annotated[
        tuple[float, ...], "weight of each queue class, the last holding for all further ones"
    ] = (1.0,)
    quantum_bytes: Annotated[int, "bytes that a queue of weight 1 may send in a turn"] = 1500

    # An empty queue loses its deficit.
    keeps_account = True

    def start(self, switch: Switch) -> None:
        """Nothing has been sent."""
        self.queues = switch.queues_per_port
        self.deficits = [[0] * self.queues for _ in range(switch.ports)]
        self.turn = [0] * switch.ports

    def quantum(self, queue_class: int, full_packet: int) -> int:
        """The bytes of a turn by weight."""
        weight = self.weights[min(queue_class, len(self.weights) - 1)]
        return max(int(weight * self.quantum_bytes), 1)

    def select(self, port: int, backlog: Backlog) -> int:
        """The queue whose turn it is, or the next one whose deficit covers its first packet."""
        deficits, queue_class = self.deficits[port], self.turn[port]
        while True:
            if not backlog.has(queue_class):
                deficits[queue_class] = 0
            elif deficits[queue_class] >= backlog.size(queue_class):
                self.turn[port] = queue_class
                return queue_class
            queue_class = (queue_class + 1) % self.queues
            if backlog.has(queue_class):
                deficits[queue_class] += self.quantum(queue_class, 0)
                backlog.begin_turn(queue_class)

    def on_send(self, port: int, queue_class: int, size: int) -> None:
        """A packet uses up some of its queue's deficit."""
        self.deficits[port][queue_class] -= size
