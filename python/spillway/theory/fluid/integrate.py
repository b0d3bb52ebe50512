"""Delay differential equations with one constant delay: the method of steps, with Runge-Kutta.

Between the points of its grid the past is a cubic through values and slopes (Hermite), so that the
whole is of fourth order, as Runge-Kutta's method is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

State: TypeAlias = tuple[float, ...]
Slope: TypeAlias = Callable[[State, State], State]
"""y' from the state now and the state one delay ago."""


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
