"""ECN with one threshold as a plug-in: an AQM."""

from typing import Annotated

from spillway.plugins import Aqm, Arrival, Buffer, Verdict


class MyEcn(Aqm):
    """ECN with one threshold: mark what finds more than K queued."""

    id = "my-ecn"
    threshold_packets: Annotated[int, "the longest queue in which an arrival is not marked"] = 65

    # A packet that finds its port idle finds no queue.
    passes_idle_ports = True

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        """Marks by the queue's length without the arrival."""
        if buffer.packets(arrival.queue) > self.threshold_packets:
            return Verdict.MARK
        return Verdict.PASS
