"""Go-back-N as a plug-in: a loss recovery."""

from typing import Annotated

from spillway.plugins import Flight, Reaction, Recovery


class MyGoBackN(Recovery):
    """Go-back-N: a receiver accepts packets in order, and the sender goes back to a gap."""

    id = "my-go-back-n"
    timeout_us: Annotated[float, "the retransmission timeout, which never changes"] = 4000.0

    in_order = True

    def next_segment(self, flight: Flight) -> tuple[int, int] | None:
        """What follows what was sent last, new or again, if the window allows it."""
        return flight.allowed(flight.segment(flight.sent_to))

    def on_ack(
        self, flight: Flight, seq: int, acked: int, blocks: list[tuple[int, int]]
    ) -> Reaction:
        """Goes back for a NACK, unless it comes too late."""
        if blocks and seq == flight.una:
            flight.sent_to = flight.una
            flight.after_timeout = False
        return Reaction()

    def shortest_timeout_ps(self, base_rtt_ps: int) -> int:
        """The only timeout there is."""
        return round(self.timeout_us * 1e6)

    def timeout_ps(self, flight: Flight) -> int | None:
        """The timer runs while something is in flight."""
        return self.shortest_timeout_ps(0) if flight.sent_to > flight.una else None

    def on_timeout(self, flight: Flight) -> bool:
        """Goes back to the first unacknowledged byte."""
        flight.sent_to = flight.una
        return False
