"""Senders with a window: DCTCP by PRED's equations, TCP by those of Misra, Gong and Towsley.

In a round trip a window w grows by a packet, and is cut by w alpha / 2 (TCP: by w / 2) as often as
marks say. How often that is, is the question on which the steady queue depends most:

- `paper`. DCTCP: p, the probability of one packet (PRED, equation 2). So it would be if a mark were
  on all packets of a window or on none. TCP: w p, every mark (Misra, Gong, Towsley).
- `per-mark`. w p: each of the w packets of a window is marked with probability p.
- `per-window`. 1 - (1 - p)^w: whether a window has a mark at all.
- `held`. As DCTCP does it: the first mark cuts, and until a window later nothing else cuts, and
  nothing grows. Then the window grows by 1 / w for every packet until the next mark, which comes
  after (1 - p) / p packets. So between two cuts are 1 + 1 / (w p) round trips, and growth is
  (1 - p) / (w p).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from scipy.optimize import brentq

from spillway.theory.fluid.bottleneck import Bottleneck

State: TypeAlias = tuple[float, ...]
"""The numbers that change in time; the last is the queue."""
CUTS: dict[str, str] = {
    "paper": "as often as the published equation says",
    "per-mark": "for every mark",
    "per-window": "for every window that has a mark",
    "held": "for every window that has a mark; no growth in the window after a cut",
}
"""How often marks cut a window."""
_INITIAL_WINDOW = 10.0
_LEAST_RTTS, _MOST_RTTS = 200.0, 4000.0


@dataclass(frozen=True)
class _Windows(ABC):
    """What senders with windows share."""

    cuts: str = "paper"
    whole_packets: bool = False

    transport: ClassVar[str]
    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """What it is called in tables and plots."""
        return f"{self.cuts}, whole packets" if self.whole_packets else self.cuts

    def least(self, at: Bottleneck) -> float:
        """The least window. The published equations have none."""
        return 0.0 if self.cuts == "paper" else at.min_window

    def in_flight(self, at: Bottleneck, window: float) -> float:
        """Packets of a flow in flight.

        A window of 7.3 packets lets 7 be in flight: on average half a packet less than the window.
        """
        if not self.whole_packets:
            return window
        return max(window - 0.5, min(window, self.least(at)), 0.0)

    def rates(self, window: float, probability: float) -> tuple[float, float]:
        """Packets of growth, and cuts, per round trip."""
        marks = window * probability
        if self.cuts == "per-mark":
            return 1.0, marks
        if self.cuts == "per-window":
            return 1.0, 1 - (1 - probability) ** window
        if self.cuts == "held":
            return (1 - probability) / (1 + marks), marks / (1 + marks)
        return 1.0, self.published(window, probability)

    @abstractmethod
    def published(self, window: float, probability: float) -> float:
        """Cuts per round trip in the published equation, at a steady window."""

    @abstractmethod
    def depth(self, probability: float) -> float:
        """The part of the window that a cut takes, at a steady probability."""

    def balance(self, at: Bottleneck, window: float) -> float:
        """What a window gains in a round trip if it stays and all flows are like it."""
        probability = at.probability(self.queue(at, window))
        growth, cuts = self.rates(window, probability)
        return growth - cuts * window * self.depth(probability)

    def queue(self, at: Bottleneck, window: float) -> float:
        """The queue at which N steady windows fill link and queue: N w = q + C d."""
        return max(0.0, at.flows * self.in_flight(at, window) - at.in_the_pipe)

    def steady_window(self, at: Bottleneck) -> float:
        """The window at which growth and cuts are equal, or the least."""
        low = self.least(at)
        if low > 0 and self.balance(at, low) <= 0:
            return low
        # There p = 1 and any window is far too large: every rule cuts a window of 4 by half of it.
        high = (at.all_marked + at.in_the_pipe) / at.flows + 8.0
        # The marking probability may jump at max; the root is then where the sign changes.
        return float(brentq(lambda window: self.balance(at, window), low, high, xtol=1e-12))

    def window_slope(self, at: Bottleneck, window: float, slope: float) -> float:
        """The slope of a window, which does not fall below the least."""
        return max(slope, 0.0) if window <= self.least(at) else slope

    def queue_slope(self, at: Bottleneck, window: float, queue: float) -> float:
        """dq/dt = N w / RTT - C (equation 4); an empty queue does not shrink."""
        slope = at.flows * self.in_flight(at, window) / at.rtt_s(queue) - at.capacity
        return max(slope, 0.0) if queue <= 0 else slope

    def keep_within(self, at: Bottleneck, state: State) -> State:
        """No window below the least, no queue below 0."""
        return (max(state[0], self.least(at)), *state[1:-1], max(state[-1], 0.0))

    def rtts(self, window: float) -> float:
        """How many round trips the model is followed: a window gains at most a packet in each."""
        return min(max(_LEAST_RTTS, 10 * window), _MOST_RTTS)


@dataclass(frozen=True)
class Dctcp(_Windows):
    """DCTCP: window, alpha, queue."""

    g: float = 0.0625

    transport: ClassVar[str] = "dctcp"
    kind: ClassVar[str] = "dctcp"
    columns: ClassVar[tuple[str, ...]] = ("window", "alpha", "queue")

    def published(self, window: float, probability: float) -> float:
        """The probability p, whatever the window (equation 2)."""
        del window
        return probability

    def depth(self, probability: float) -> float:
        """The part alpha / 2, and alpha is p where nothing changes (equation 3)."""
        return probability / 2

    def start(self, at: Bottleneck) -> State:
        """A window of 10 packets, alpha = 1, an empty queue."""
        return (max(_INITIAL_WINDOW, self.least(at)), 1.0, 0.0)

    def slope(self, at: Bottleneck, now: State, past: State) -> State:
        """Equations (2), (3) and (4)."""
        window, alpha, queue = now
        rtt, probability = at.rtt_s(queue), at.probability(past[-1])
        growth, cuts = self.rates(window, probability)
        return (
            self.window_slope(at, window, (growth - cuts * window * alpha / 2) / rtt),
            self.g * (probability - alpha) / rtt,
            self.queue_slope(at, window, queue),
        )

    def fixed_point(self, at: Bottleneck) -> State:
        """The steady window, alpha and queue."""
        window = self.steady_window(at)
        queue = self.queue(at, window)
        return window, at.probability(queue), queue


@dataclass(frozen=True)
class Tcp(_Windows):
    """TCP, which halves its window: window, queue."""

    transport: ClassVar[str] = "newreno"
    kind: ClassVar[str] = "tcp"
    columns: ClassVar[tuple[str, ...]] = ("window", "queue")

    def published(self, window: float, probability: float) -> float:
        """Every mark: w p."""
        return window * probability

    def depth(self, probability: float) -> float:
        """A half."""
        del probability
        return 0.5

    def start(self, at: Bottleneck) -> State:
        """A window of 10 packets, an empty queue."""
        return (max(_INITIAL_WINDOW, self.least(at)), 0.0)

    def slope(self, at: Bottleneck, now: State, past: State) -> State:
        """W' = 1 / R - W / 2 * W(t - R) / R(t - R) * p(t - R); q' as for DCTCP."""
        (window, queue), (window_then, queue_then) = now, past
        rtt, probability = at.rtt_s(queue), at.probability(queue_then)
        if self.cuts == "paper":
            marks_per_s = window_then / at.rtt_s(queue_then) * probability
            slope = 1 / rtt - window / 2 * marks_per_s
        else:
            growth, cuts = self.rates(window, probability)
            slope = (growth - cuts * window / 2) / rtt
        return self.window_slope(at, window, slope), self.queue_slope(at, window, queue)

    def fixed_point(self, at: Bottleneck) -> State:
        """The steady window and queue."""
        window = self.steady_window(at)
        return window, self.queue(at, window)
