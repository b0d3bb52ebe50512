"""DCTCP as a plug-in: a congestion controller."""

from typing import Annotated

from spillway.plugins import Access, Ack, CongestionControl, Window


class MyDctcp(CongestionControl):
    """DCTCP: cut in proportion to the share of marked packets."""

    id = "my-dctcp"
    ecn_capable = True
    echoes_each_mark = True
    g: Annotated[float, "weight of a new sample in alpha"] = 0.0625

    def start(self, window: Window, access: Access) -> None:
        """Nothing is known of the path yet: alpha is 1."""
        self.alpha = 1.0
        self.acked = self.marked = 0
        self.window_end = 0

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Measures the share of marks once a window, cuts once a window, and grows."""
        self.acked += ack.acked
        if ack.ece:
            self.marked += ack.acked
        if ack.una >= self.window_end and ack.acked > 0:
            if self.window_end > 0:
                share = self.marked / max(self.acked, 1)
                self.alpha = (1.0 - self.g) * self.alpha + self.g * share
            self.acked = self.marked = 0
            self.window_end = ack.nxt
        if ack.in_recovery:
            return
        if window.is_held(ack):
            return
        if ack.ece:
            window.cut_for_mark(int(window.cwnd * (1.0 - self.alpha / 2.0)), ack)
        elif ack.may_grow:
            window.grow(ack.acked)
