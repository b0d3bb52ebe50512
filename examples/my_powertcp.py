"""PowerTCP as a plug-in: a congestion controller that reads what switches write on its packets."""

from typing import Annotated

from spillway.plugins import Access, Ack, CongestionControl, Hop, Window


class MyPowerTcp(CongestionControl):
    """PowerTCP: the window follows the power of the busiest port on the way."""

    id = "my-powertcp"
    asks_telemetry = True
    knows_base_rtt = True
    gamma: Annotated[float, "weight of the window that power asks for"] = 0.9
    expected_flows: Annotated[float, "flows that share a host's line"] = 100.0
    min_rate_bps: Annotated[float, "the least rate of a sender"] = 1e8

    def start(self, window: Window, access: Access) -> None:
        """A flow begins with its line's rate."""
        self.tau = float(access.base_rtt_ps)
        self.most = access.rate_bps * self.tau / 8e12
        self.least = min(self.min_rate_bps * self.tau / 8e12, self.most)
        self.beta = self.most / self.expected_flows
        self.cwnd = self.window_before = self.most
        self.noted_at = 0
        self.power = 1.0
        self.before: list[Hop] = []
        self.set(window, int(self.most), 8e12 / access.rate_bps)

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Power is measured with every ack, and the window divided by it."""
        if not self.measure(ack.hops):
            return
        asked = self.window_before / max(self.power, 1e-3) + self.beta
        self.cwnd = self.gamma * asked + (1.0 - self.gamma) * self.cwnd
        self.cwnd = min(max(self.cwnd, self.least), self.most)
        self.set(window, int(self.cwnd), self.tau / self.cwnd)
        if ack.una > self.noted_at:
            self.window_before, self.noted_at = self.cwnd, ack.nxt

    def on_loss(self, window: Window, in_flight: int) -> None:
        """A loss is repaired, and changes nothing."""
        window.ssthresh = window.cwnd

    def on_timeout(self, window: Window, in_flight: int) -> None:
        """What was sent before is no longer waited for."""
        self.noted_at = 0
        self.on_loss(window, in_flight)

    def measure(self, hops: list[Hop]) -> bool:
        """Current times voltage of the port where that is greatest, smoothed over a base RTT."""
        norm, span = float("-inf"), 0.0
        pairs = zip(hops, self.before, strict=True) if len(hops) == len(self.before) else ()
        for now, before in pairs:
            dt = float(now.time_ps - before.time_ps)
            if dt > 0 and now.sent_bytes >= before.sent_bytes:
                growth = float(now.queue_bytes) - float(before.queue_bytes)
                sent = float(now.sent_bytes - before.sent_bytes)
                current = (growth + sent) / (dt / now.ps_per_byte)
                voltage = 1.0 + float(now.queue_bytes) * now.ps_per_byte / self.tau
                power = max(current, 0.0) * voltage
                if power > norm:
                    norm, span = power, min(dt, self.tau)
        self.before = hops
        if span > 0:
            self.power = (self.power * (self.tau - span) + norm * span) / self.tau
        return span > 0

    def set(self, window: Window, cwnd: int, pace: float) -> None:
        """Sets the window, and how long after a byte the next one leaves."""
        window.cwnd = window.ssthresh = max(cwnd, window.mss)
        window.pace_ps_per_byte = int(pace + 0.5)
