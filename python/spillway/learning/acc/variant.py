"""What agents observe, may set, and are rewarded for: as PRED's paper has it, and as ACC's.

The state has six numbers for each of the last intervals, from 0 to 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from spillway.base.errors import ScenarioError

Setting: TypeAlias = tuple[int, int, float]
"""RED's min and max in bytes, and its max_probability."""

NUMBERS = 6
"""Numbers of the state for each interval."""

PACKET = 1500
"""Bytes of a full packet, in which PRED's paper tells thresholds."""

PROBABILITIES = (0.01, *(step / 20 for step in range(1, 21)))
"""1%, and 5% to 100% in steps of 5%: [V] of PRED's paper, [M-low] of ACC's."""


@dataclass(frozen=True)
class Variant:
    """An agent's shape.

    Attributes:
        name: "pred" or "acc".
        history: how many intervals are observed (k).
        actions: the settings that it may choose from.
        reward: of the line's utilisation, 0 to 1, and the mean queue in bytes.
        interval_ps: the time between decisions; None: five base RTTs.
        hidden: the widths of the network's hidden layers.
    """

    name: str
    history: int
    actions: tuple[Setting, ...]
    reward: Callable[[float, float], float]
    interval_ps: int | None
    hidden: tuple[int, ...]

    @property
    def ranges(self) -> tuple[float, ...]:
        """What the six numbers of an interval are divided by: queue, rate, marked rate, setting.

        The queue's own range is in neither paper: the greatest max.
        """
        most_min = max(setting[0] for setting in self.actions)
        most_max = max(setting[1] for setting in self.actions)
        return (float(most_max), 1.0, 1.0, float(most_min), float(most_max), 1.0)


def utility(utilisation: float, queue_bytes: float) -> float:
    """PRED's utility, U = beta R / C + (1 - beta) Phi(q), as the scenario `pred-incast` has it.

    beta is 0.4; Phi is 1 up to 15 packets and falls in a straight line to 0 at 500 KB.

    >>> utility(0.5, 22_500.0), utility(1.0, 500_000.0)
    (0.8, 0.4)
    """
    beta, left, most = 0.4, 15 * PACKET, 500_000
    phi = 1.0 if queue_bytes <= left else max((most - queue_bytes) / (most - left), 0.0)
    return beta * utilisation + (1 - beta) * phi


_LADDER = tuple(20_000 << step for step in range(10))
"""E(n) = 20 KB * 2^n: 20 KB to 10.24 MB."""


def ladder(utilisation: float, queue_bytes: float) -> float:
    """ACC's reward, w1 R / C + w2 D(L), with w1 = 0.7 and w2 = 0.3.

    D(L) = 1 - n / 10 for the step E(n - 1) < L <= E(n) of the ladder, 0 above its top.

    >>> ladder(1.0, 0.0), ladder(0.5, 40_000.5), ladder(0.0, 2e7)
    (1.0, 0.59, 0.0)
    """
    step = sum(queue_bytes > rung for rung in _LADDER)
    return 0.7 * utilisation + 0.3 * (1 - step / 10)


PRED = Variant(
    name="pred",
    history=1,
    actions=tuple(
        (least * PACKET, most * PACKET, probability)
        for least in (2, 4, 8, 16)
        for most in (20, 50, 100)
        for probability in PROBABILITIES
    ),
    reward=utility,
    interval_ps=None,
    hidden=(64, 64),
)
"""ACC as section 6.3.3 of PRED's paper has it.

[V] one interval; 4 x 3 x 21 actions; PRED's utility as the reward; Double DQN. [CHOICE] thresholds
are packets of 1500 bytes (no unit is printed); five base RTTs between decisions, as PRED's trials;
two hidden layers of 64.
"""

ACC = Variant(
    name="acc",
    history=3,
    actions=tuple(
        (least, most, probability)
        for least in _LADDER
        for most in _LADDER
        if least <= most
        for probability in PROBABILITIES
    ),
    reward=ladder,
    interval_ps=500_000_000,
    hidden=(20, 40, 40, 20),
)
"""ACC as its own paper has it, as far as that is known.

[M] three intervals; min and max of the ladder E(n); the reward's form; Double DQN. [M-low]
max_probability, w1 = 0.7, the hidden layers. [CHOICE] 500 us between decisions.
"""

VARIANTS = {variant.name: variant for variant in (PRED, ACC)}


def find(name: str) -> Variant:
    """The variant of this name."""
    if name not in VARIANTS:
        raise ScenarioError(f"there is no variant {name!r}", f"there are {', '.join(VARIANTS)}")
    return VARIANTS[name]


@dataclass(frozen=True)
class Interval:
    """What a port was like over an interval.

    Attributes:
        queue_bytes: the mean over time of the bytes that wait.
        sent: the time on the line of the bytes sent, as a share of the interval.
        marked: the same for the bytes marked.
        setting: RED's min and max in bytes and max_probability while it lasted.
    """

    queue_bytes: float
    sent: float
    marked: float
    setting: Setting

    @property
    def numbers(self) -> tuple[float, ...]:
        """The six numbers, before they are divided by their ranges."""
        return (self.queue_bytes, self.sent, self.marked, *self.setting)


def frame(interval: Interval, ranges: Sequence[float]) -> NDArray[np.float32]:
    """The six numbers divided by their ranges and clipped to [0, 1]: in f64, and then f32."""
    scaled = np.array(interval.numbers, np.float64) / np.array(ranges, np.float64)
    return np.clip(scaled, 0.0, 1.0).astype(np.float32)


class State:
    """The last intervals, the oldest first; before the run all numbers are 0."""

    def __init__(self, history: int, ranges: Sequence[float]) -> None:
        self._ranges = ranges
        zeros = np.zeros(NUMBERS, np.float32)
        self._frames = deque([zeros] * history, maxlen=history)

    def end(self, interval: Interval) -> None:
        """An interval is over."""
        self._frames.append(frame(interval, self._ranges))

    @property
    def vector(self) -> NDArray[np.float32]:
        """All numbers, (6 k,)."""
        return np.concatenate(self._frames)
