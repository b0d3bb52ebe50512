"""The state in which nothing changes."""

from __future__ import annotations

from dataclasses import dataclass

from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.senders import Sender


@dataclass(frozen=True)
class FixedPoint:
    """The steady state of a model."""

    queue: float
    """Packets that wait."""
    window: float
    """Packets of a flow in flight, or what its rate amounts to."""
    probability: float
    """The marking probability."""
    rtt_us: float
    """The round-trip time."""


def fixed_point(model: Sender, at: Bottleneck) -> FixedPoint:
    """Solves for the steady state by finding a root, without following the equations in time.

    For DCTCP as published it is the root of (q - min)^2 (q + C d) = 2 N / lambda^2 (equation 8),
    unless the root's probability is above 1. All packets are then marked and windows are 2 packets.
    """
    state = model.fixed_point(at)
    queue = state[-1]
    rtt = at.rtt_s(queue)
    window = state[0] if model.columns[0] == "window" else state[0] * rtt
    return FixedPoint(queue, window, at.probability(queue), rtt * 1e6)
