"""Dynamic Thresholds as a plug-in: the tutorial of docs/plugins.md."""

from typing import Annotated

from spillway.plugins import Arrival, Buffer, Sharing


class MyDt(Sharing):
    """Dynamic Thresholds: a queue may hold alpha times the free buffer."""

    id = "my-dt"
    alpha: Annotated[float, "bytes a queue may hold for every free byte"] = 0.5

    def threshold(self, arrival: Arrival, buffer: Buffer) -> int:
        """T = alpha * (B - Q), rounded down to a byte."""
        return int(self.alpha * buffer.free)

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool:
        """Whether the arrival's queue stays within T."""
        length = buffer.bytes(arrival.queue) + arrival.size
        return length <= self.threshold(arrival, buffer)
