"""The model in time, from its initial state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.dcqcn import Dcqcn
from spillway.theory.fluid.integrate import integrate
from spillway.theory.fluid.senders import FixedPoint, Sender, fixed_point

_STEPS_PER_RTT = 20
_MOST_STEPS = 100_000
_LAST = 0.2
"""The last part of the time, whose extremes are the amplitude."""
_STEADY = 0.01
"""The largest amplitude, as a part of the mean, that counts as steady."""

Fate = Literal["steady", "oscillates", "unsettled"]


@dataclass(frozen=True)
class Trajectory:
    """A model's state in time."""

    columns: tuple[str, ...]
    """The names of the numbers in the state; the last is the queue, in packets."""
    time_s: NDArray[np.float64]
    """The times, from 0."""
    states: NDArray[np.float64]
    """A row for every time, a column for every name in `columns`."""
    fate: Fate
    """Whether the queue is steady in the end, oscillates, or is still on its way."""
    mean: float
    """The mean queue of the last fifth of the time, in packets."""
    amplitude: float
    """Half the distance of the queue's extremes there."""

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
        # What oscillates keeps its amplitude, and comes back to where it was.
        is_kept = amplitude > 0.8 * float(np.ptp(before) / 2)
        drift = abs(mean - float(before.mean()))
        fate = "oscillates" if is_kept and drift < 0.5 * amplitude else "unsettled"
    return Trajectory(model.columns, times, states, fate, mean, amplitude)
