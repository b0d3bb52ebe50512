"""The state: six numbers for each of the last intervals, from 0 to 1."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spillway.learning.acc.variant import Setting

NUMBERS = 6
"""Numbers for each interval."""


@dataclass(frozen=True)
class Interval:
    """What a port was like over an interval.

    Attributes:
        queue_bytes: the mean over time of the bytes that wait.
        sent: the time on the line of the bytes sent, over the interval.
        marked: the same of the bytes marked.
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
