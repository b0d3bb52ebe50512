"""DCQCN, whose senders have rates: the fluid model of Zhu et al., SIGCOMM 2015, section 5.

Every `tau` a flow that got a mark since is cut by alpha / 2, and its target becomes the rate before
the cut. Otherwise the rate halves its distance to the target after every `B` packets and every `T`
seconds; after `F` times in a row the target itself rises by `R_AI`. All rates are packets per
second. The equations are those of the paper and of its authors' program
(<https://github.com/jitupadhye-zz/rdma>, `fluidmodel/dcqcn`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from scipy.optimize import brentq

from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.windows import State


@dataclass(frozen=True)
class Dcqcn:
    """DCQCN: rate, target rate, alpha, queue."""

    g: float = 1 / 256
    tau_s: float = 50e-6
    """The least time between two cuts."""
    alpha_timer_s: float = 55e-6
    """The time between updates of alpha (tau')."""
    timer_s: float = 55e-6
    """The time between rises (T)."""
    counter_bytes: float = 10e6
    """Bytes between rises (B)."""
    fast_recovery: int = 5
    """Rises before the target rises, too (F)."""
    rise_bps: float = 40e6
    """The target's rise (R_AI)."""

    transport: ClassVar[str] = "dcqcn"
    kind: ClassVar[str] = "dcqcn"
    name: ClassVar[str] = "paper"
    columns: ClassVar[tuple[str, ...]] = ("rate", "target", "alpha", "queue")
    """The names of the numbers in its state; the last is the queue."""

    def start(self, at: Bottleneck) -> State:
        """Equal rates that together fill the link, a target of the link's rate, alpha = 1."""
        return (at.capacity / at.flows, at.capacity, 1.0, 0.0)

    def slope(self, at: Bottleneck, now: State, past: State) -> State:
        """The paper's equations (5) to (9)."""
        rate, target, alpha, queue = now
        then, probability = past[0], at.probability(past[-1])
        cut, counted, timed, counted_on, timed_on = self._events(at, probability, then)
        queue_slope = at.flows * rate - at.capacity
        away = target - rate
        return (
            then * (counted + timed) * away / 2 - rate * alpha * cut / (2 * self.tau_s),
            self._rise(at) * then * (counted_on + timed_on) - away * cut / self.tau_s,
            self.g / self.alpha_timer_s * (self._marked(probability, then) - alpha),
            max(queue_slope, 0.0) if queue <= 0 else queue_slope,
        )

    def keep_within(self, at: Bottleneck, state: State) -> State:
        """No rate above the link's, no queue below 0."""
        rate, target, alpha, queue = state
        low = at.capacity * 1e-9
        return (
            min(max(rate, low), at.capacity),
            min(max(target, low), at.capacity),
            alpha,
            max(queue, 0.0),
        )

    def fixed_point(self, at: Bottleneck) -> State:
        """Where nothing changes: a^2 alpha = tau^2 R_AI R_C (b + d) (c + e)."""
        rate = at.capacity / at.flows

        def excess(log: float) -> float:
            probability = math.exp(log)
            a, b, d, c, e = self._events(at, probability, rate)
            alpha = self._marked(probability, rate)
            rises = self.tau_s**2 * self._rise(at) * rate * (b + d) * (c + e)
            return a * a * alpha - rises

        probability = math.exp(brentq(excess, math.log(1e-15), -1e-9, xtol=1e-13))
        a, _, _, c, e = self._events(at, probability, rate)
        target = rate * (1 + self.tau_s * self._rise(at) * (c + e) / a)
        queue = at.min_packets + probability / at.slope_per_packet
        # If max is reached before, the queue stays there.
        queue = min(queue, at.all_marked)
        return rate, target, self._marked(probability, rate), queue

    @property
    def duration_s(self) -> float:
        """How long the model is followed: ten times as long as alpha remembers."""
        return 10 * self.alpha_timer_s / self.g

    def _rise(self, at: Bottleneck) -> float:
        return self.rise_bps / (8 * at.packet_bytes)

    def _marked(self, probability: float, rate: float) -> float:
        """Whether any packet of tau' was marked."""
        return -math.expm1(self.alpha_timer_s * rate * _log_unmarked(probability))

    def _events(
        self, at: Bottleneck, probability: float, rate: float
    ) -> tuple[float, float, float, float, float]:
        """How often there are cuts, rises by counter and timer, and rises of the target by both.

        The first is per tau, the others are per packet. In the authors' program: a, b, d, c, e.
        """
        counter = self.counter_bytes / at.packet_bytes
        timer = self.timer_s * rate
        log = _log_unmarked(probability)
        counted, timed = _runs(probability, log, counter), _runs(probability, log, timer)
        return (
            -math.expm1(self.tau_s * rate * log),
            counted,
            timed,
            counted * math.exp(self.fast_recovery * counter * log),
            timed * math.exp(self.fast_recovery * timer * log),
        )


def _log_unmarked(probability: float) -> float:
    """log(1 - p), with something finite for p = 1."""
    return math.log1p(-min(probability, 1 - 1e-15))


def _runs(probability: float, log: float, packets: float) -> float:
    """How many runs of so many unmarked packets there are per packet: p / ((1 - p)^-n - 1)."""
    if probability == 0:
        return 1 / packets
    return probability * math.exp(packets * log) / -math.expm1(packets * log)
