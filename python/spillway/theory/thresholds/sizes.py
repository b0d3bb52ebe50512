"""Distributions of flow sizes, and what a threshold separates in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from spillway.base import core
from spillway.base.errors import ScenarioError

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class Cut(NamedTuple):
    """What thresholds t separate in a distribution of sizes X.

    Attributes:
        size: t over the mean size; no more than the largest size.
        larger: the share of flows larger than t: 1 - F(t).
        share: the share of all bytes that lie below t in their flows: E[min(X, t)] / E[X].
        squares: E[min(X, t)^2] / E[X]^2.
    """

    size: Numbers
    larger: Numbers
    share: Numbers
    squares: Numbers

    def at(self, index: Any) -> Cut:
        """A part of these thresholds."""
        return Cut(*(column[index] for column in self))


class Sizes:
    """A distribution of sizes: points of F, sizes in bytes, that are joined by straight lines.

    Exactly the first size occurs with the first probability; sizes that occur twice are a jump.
    """

    def __init__(self, points: Sequence[tuple[float, float]], name: str = "") -> None:
        self.name = name
        first = points[0][0]
        self.points = np.array([0.0, first, *(size for size, _ in points)])
        self._larger = 1 - np.array([0.0, 0.0, *(probability for _, probability in points)])
        self.largest = float(self.points[-1])
        span = np.diff(self.points)
        fall = np.diff(self._larger)
        self._slope = np.divide(fall, span, out=np.zeros_like(span), where=span > 0)
        pieces = self._pieces(np.arange(len(span)), self.points[1:])
        # The integrals of G and of 2 t G up to every point; G = 1 - F.
        self._first, self._second = (np.append(0.0, np.cumsum(piece)) for piece in pieces)
        self.mean = float(self._first[-1])

    @classmethod
    def of(cls, name: str, folder: str | Path = ".") -> Sizes:
        """What the key `sizes` of a traffic section takes.

        A bundled distribution, a file with two columns in this folder, a range, or a size.
        """
        try:
            return cls(core.size_points(name, folder), name)
        except ScenarioError as error:
            error.hint = error.hint or "`spillway list traffic` names the bundled distributions"
            raise

    def cut(self, thresholds: Numbers) -> Cut:
        """What these thresholds, in bytes, separate."""
        size = np.clip(thresholds, 0.0, self.largest)
        place = np.searchsorted(self.points, size, side="right") - 1
        piece = np.minimum(place, len(self._slope) - 1)
        larger = self._larger[piece] + self._slope[piece] * (size - self.points[piece])
        first, second = self._pieces(piece, size)
        return Cut(
            size / self.mean,
            np.where(size < self.largest, larger, 0.0),
            (self._first[piece] + first) / self.mean,
            (self._second[piece] + second) / self.mean**2,
        )

    def _pieces(self, piece: Any, size: Numbers) -> tuple[Numbers, Numbers]:
        """The integrals of G and of 2 t G from the point where a piece begins up to a size."""
        begin, slope = self.points[piece], self._slope[piece]
        width, height = size - begin, self._larger[piece]
        first = width * (height + slope * width / 2)
        second = 2 * (begin * first + width**2 * (height / 2 + slope * width / 3))
        return first, second
