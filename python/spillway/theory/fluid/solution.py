"""Models by their names, the state in which nothing changes, and the state in time.

Time is followed by delay differential equations with one constant delay: the method of steps, with
Runge-Kutta. Between the points of its grid the past is a cubic through values and slopes (Hermite),
so that the whole is of fourth order, as Runge-Kutta's method is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spillway.base.arguments import check_known
from spillway.base.errors import ScenarioError
from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.dcqcn import Dcqcn
from spillway.theory.fluid.windows import CUTS, Dctcp, State, Tcp

Slope: TypeAlias = Callable[[State, State], State]
"""y' from the state now and the state one delay ago."""
Sender: TypeAlias = Dctcp | Tcp | Dcqcn
"""The equations of N equal flows and the queue."""

SENDERS: dict[str, str] = {
    "dctcp": "PRED (NSDI 2025), equations (2)-(4)",
    "tcp": "Misra, Gong, Towsley (SIGCOMM 2000), with RED's probability of the queue itself",
    "dcqcn": "Zhu et al. (SIGCOMM 2015), section 5",
}
"""The senders, and where their equations are from."""
_STEPS_PER_RTT = 20
_MOST_STEPS = 100_000
_LAST = 0.2
"""The last part of the time, whose extremes are the amplitude."""
_STEADY = 0.01
"""The largest amplitude, as a part of the mean, that counts as steady."""

Fate = Literal["steady", "oscillates", "unsettled"]


def sender(
    kind: str = "dctcp", cuts: str = "paper", *, g: float = 0.0625, whole_packets: bool = False
) -> Sender:
    """The sender of this kind.

    Args:
        kind: Whose equations: "dctcp", "tcp" or "dcqcn".
        cuts: How often marks cut a window: "paper", as published; "per-mark", "per-window" or
            "held". DCQCN has its own way only.
        g: The weight of a new sample in DCTCP's alpha, above 0, at most 1.
        whole_packets: Whether a flow has half a packet less in flight than its window, because it
            sends whole packets.

    Raises:
        ScenarioError: A name is not known, `g` is out of its range, or DCQCN is given an option
            that it does not have.
    """
    check_known("sender", kind, SENDERS)
    check_known("cuts", cuts, CUTS)
    if not 0 < g <= 1:
        raise ScenarioError(f"g: {g!r} is not valid; expected a number above 0, at most 1")
    if kind == "dcqcn":
        if cuts != "paper" or whole_packets:
            raise ScenarioError(
                "dcqcn has neither cuts to choose nor whole packets",
                "its cuts are by time, not by windows",
            )
        return Dcqcn()
    if kind == "tcp":
        return Tcp(cuts, whole_packets)
    return Dctcp(cuts, whole_packets, g)


@dataclass(frozen=True)
class FixedPoint:
    """The steady state of a model.

    Attributes:
        queue: packets that wait.
        window: packets of a flow in flight, or what its rate amounts to.
        probability: the marking probability.
        rtt_us: the round-trip time.
    """

    queue: float
    window: float
    probability: float
    rtt_us: float


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


@dataclass(frozen=True)
class Trajectory:
    """A model's state in time.

    Attributes:
        columns: the names of the numbers in the state; the last is the queue, in packets.
        time_s: the times, from 0.
        states: a row for every time, a column for every name in `columns`.
        fate: whether the queue is steady in the end, oscillates, or is still on its way.
        mean: the mean queue of the last fifth of the time, in packets.
        amplitude: half the distance of the queue's extremes there.
    """

    columns: tuple[str, ...]
    time_s: NDArray[np.float64]
    states: NDArray[np.float64]
    fate: Fate
    mean: float
    amplitude: float

    @property
    def queue(self) -> NDArray[np.float64]:
        """The queue at every time."""
        return self.states[:, -1]


def trajectory(model: Sender, at: Bottleneck, point: FixedPoint | None = None) -> Trajectory:
    """Follows the equations from the model's initial state.

    The delay of feedback is constant, as in the paper: RTT* = d + q / C at the fixed point.
    """
    point = fixed_point(model, at) if point is None else point
    delay = point.rtt_us * 1e-6
    if isinstance(model, Dcqcn):
        end = max(model.duration_s, 200 * delay)
        step = min(delay / _STEPS_PER_RTT, model.tau_s / 10)
    else:
        end = model.rtts(point.window) * delay
        # While the queue is empty everything happens as fast as the empty link allows.
        step = min(delay / _STEPS_PER_RTT, at.delay_s / 2)
    times, states = integrate(
        lambda now, past: model.slope(at, now, past),
        model.start(at),
        delay=delay,
        end=min(end, _MOST_STEPS * step),
        step=step,
        keep_within=lambda state: model.keep_within(at, state),
    )
    queue = states[:, -1]
    last = queue[int((1 - _LAST) * len(queue)) :]
    before = queue[int((1 - 2 * _LAST) * len(queue)) : int((1 - _LAST) * len(queue))]
    amplitude = float(np.ptp(last) / 2)
    mean = float(last.mean())
    fate: Fate = "steady"
    if amplitude > _STEADY * max(mean, 1.0):
        # An oscillating queue keeps its amplitude, and comes back to where it was.
        is_kept = amplitude > 0.8 * float(np.ptp(before) / 2)
        drift = abs(mean - float(before.mean()))
        fate = "oscillates" if is_kept and drift < 0.5 * amplitude else "unsettled"
    return Trajectory(model.columns, times, states, fate, mean, amplitude)


def integrate(
    slope: Slope,
    start: Sequence[float],
    *,
    delay: float,
    end: float,
    step: float,
    keep_within: Callable[[State], State] = lambda state: state,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, and the states at them (one row each), from 0 to `end` or a step beyond it.

    y' = -y(t - 1) from y = 1: y = 1 - t until t = 1, then 1 - t + (t - 1)^2 / 2.

    >>> times, states = integrate(lambda now, past: (-past[0],), [1.0], delay=1, end=2, step=0.1)
    >>> round(float(states[10, 0]), 12), round(float(states[20, 0]), 12)
    (0.0, -0.5)

    Args:
        slope: y' = slope(y(t), y(t - delay)).
        start: y(0), and y before.
        delay: The delay, above 0.
        end: The end, above 0.
        step: The step; shortened such that the delay is a whole number of steps.
        keep_within: Moves a state to the nearest that is possible, after every step: a queue is not
            negative.
    """
    back = max(1, math.ceil(delay / step - 1e-9))
    step = delay / back
    first: State = tuple(map(float, start))
    states, slopes = [first], []
    for place in range(math.ceil(end / step - 1e-9)):
        now, then = states[place], place - back
        past = states[then] if then >= 0 else first
        soon = states[then + 1] if then + 1 >= 0 else first
        k1 = slope(now, past)
        slopes.append(k1)
        between = past
        if then >= 0:
            between = _middle(past, soon, slopes[then], slopes[then + 1], step)
        k2 = slope(_ahead(now, k1, step / 2), between)
        k3 = slope(_ahead(now, k2, step / 2), between)
        k4 = slope(_ahead(now, k3, step), soon)
        after = tuple(
            y + step / 6 * (a + 2 * b + 2 * c + d)
            for y, a, b, c, d in zip(now, k1, k2, k3, k4, strict=True)
        )
        states.append(keep_within(after))
    times = np.arange(len(states), dtype=np.float64) * step
    return times, np.array(states, dtype=np.float64)


def _ahead(state: State, slope: State, step: float) -> State:
    return tuple(y + step * dy for y, dy in zip(state, slope, strict=True))


def _middle(left: State, right: State, before: State, after: State, step: float) -> State:
    """The cubic with these ends and slopes at them, half way."""
    return tuple(
        (a + b) / 2 + step / 8 * (da - db)
        for a, b, da, db in zip(left, right, before, after, strict=True)
    )
