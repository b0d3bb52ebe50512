"""The link that the flows share, and RED at its queue."""

from __future__ import annotations

from dataclasses import dataclass

from spillway.base.arguments import check_known, shown, whole
from spillway.base.errors import ScenarioError

MOST_FLOWS = 10_000
LEAST, MOST = 1e-6, 1e6
"""The range of numbers: beyond it floats are too coarse for the equations."""
GROWTHS: dict[str, float] = {"one": 0.0, "sqrt-n": 0.5, "n": 1.0, "n-squared": 2.0}
"""How the slope grows with the number of flows, as a power of it; the names are those of `pred`."""
LEAST_PACKET = 100
"""Bytes of the smallest packet that has room for its headers and some data."""


@dataclass(frozen=True)
class Bottleneck:
    """N flows through one link, whose queue RED marks in the point-slope form."""

    flows: int = 2
    """Flows with infinite data (N)."""
    slope: float = 0.65
    """The rise of the marking probability for every MB of queue (lambda), as `red`'s `slope`."""
    growth: str = "one"
    """What multiplies the slope: 1 (RED), or f(N) of PRED's Flow Concurrent Stabilizer."""
    min_packets: float = 10.0
    """Up to this queue nothing is marked (min K)."""
    max_packets: float | None = None
    """Beyond this queue everything is marked (max K). Without it, from where the line reaches 1."""
    rate_gbps: float = 10.0
    """The link's rate."""
    delay_us: float = 80.0
    """The round-trip time without queueing (d)."""
    packet_bytes: int = 1500
    """Bytes of a packet with its headers."""
    min_window: float = 2.0
    """The least window of a flow in packets, which the published equations lack."""

    def __post_init__(self) -> None:
        whole("flows", self.flows, 1, MOST_FLOWS)
        whole("packet_bytes", self.packet_bytes, LEAST_PACKET, 1_000_000)
        for name in ("slope", "rate_gbps", "delay_us"):
            _check(name, getattr(self, name), least=LEAST)
        _check("min_packets", self.min_packets, least=0)
        _check("min_window", self.min_window, least=1)
        check_known("growth", self.growth, GROWTHS)
        if self.max_packets is not None:
            _check("max_packets", self.max_packets, least=self.min_packets, of="min_packets = ")

    @property
    def capacity(self) -> float:
        """Packets that the link sends per second (C)."""
        return self.rate_gbps * 1e9 / (8 * self.packet_bytes)

    @property
    def delay_s(self) -> float:
        """The round-trip time without queueing in seconds (d)."""
        return self.delay_us * 1e-6

    @property
    def in_the_pipe(self) -> float:
        """Packets in flight that do not queue (C d)."""
        return self.capacity * self.delay_s

    @property
    def slope_per_mb(self) -> float:
        """The slope times its growth (lambda f(N))."""
        return float(self.slope * self.flows ** GROWTHS[self.growth])

    @property
    def slope_per_packet(self) -> float:
        """The rise of the marking probability for every packet of queue."""
        return self.slope_per_mb * self.packet_bytes * 1e-6

    @property
    def all_marked(self) -> float:
        """The queue from which everything is marked."""
        line = self.min_packets + 1 / self.slope_per_packet
        return line if self.max_packets is None else min(line, self.max_packets)

    @property
    def floor(self) -> float:
        """The queue when all windows are the least: N w_min - C d, or 0."""
        return max(0.0, self.flows * self.min_window - self.in_the_pipe)

    def probability(self, queue: float) -> float:
        """The marking probability p at this queue (equation 5)."""
        if queue <= self.min_packets:
            return 0.0
        if self.max_packets is not None and queue > self.max_packets:
            return 1.0
        return min(1.0, self.slope_per_packet * (queue - self.min_packets))

    def rtt_s(self, queue: float) -> float:
        """RTT = d + q / C."""
        return self.delay_s + queue / self.capacity


def _check(name: str, given: object, *, least: float, of: str = "") -> None:
    if isinstance(given, (int, float)) and not isinstance(given, bool) and least <= given <= MOST:
        return
    expected = f"a number from {of}{least:g} to {MOST:g}"
    raise ScenarioError(f"{name}: {shown(given)} is not valid; expected {expected}")
