"""Whether numbers of ours are near enough to a reference's, and the result of all of them."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

MEDIAN_WITHIN, TAIL_WITHIN = 0.05, 0.15
RULE = f"medians within {100 * MEDIAN_WITHIN:g}%, tails within {100 * TAIL_WITHIN:g}%"
_INSIDE = "undecided, inside the 95% interval"


class Verdict(enum.StrEnum):
    """How two numbers compare."""

    near = "agrees"
    """A median is within 5%, a tail within 15%."""
    undecided = "undecided"
    """It is not, but one number lies within the other's wide 95% interval."""
    in_range = "in range"
    """It is not, but the reference's lies within the range of our runs."""
    outside = "differs"
    told = "told"
    """It has no bound."""


Judged: TypeAlias = tuple[str, float | str, Verdict]
"""A comparison: its name, the difference as a fraction or in words, and the verdict."""


def within(p: float) -> float:
    """How far a percentile may be off, as a fraction of the reference's."""
    return MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN


def verdict(difference: float, p: float, number: float, interval: tuple[float, float]) -> Verdict:
    """The verdict on a difference at a percentile, or on a number and the other's interval."""
    if abs(difference) <= within(p):
        return Verdict.near
    low, high = interval
    return Verdict.undecided if low <= number <= high else Verdict.outside


def off(ours: float, reference: float) -> float:
    """The difference of ours from the reference, as a fraction of it."""
    if reference:
        return ours / reference - 1
    return math.inf if ours else 0.0


class Compared:
    """A number of the reference beside ours."""

    reference: float
    ours: float

    @property
    def difference(self) -> float:
        """The difference of ours from the reference, as a fraction of it."""
        return off(self.ours, self.reference)

    @property
    def verdict(self) -> Verdict:
        """Whether ours is near enough."""
        raise NotImplementedError

    def judged(self, name: str) -> Judged:
        """The comparison as `bounds` counts it."""
        return name, self.difference, self.verdict

    @property
    def document(self) -> dict[str, Any]:
        """The number as JSON."""
        return vars(self) | {"difference": self.difference, "verdict": self.verdict}


@dataclass(frozen=True)
class Number(Compared):
    """A number with a bound of its own."""

    name: str
    reference: float
    ours: float
    within: float
    """The greatest difference that is allowed, as a fraction of the reference."""

    @property
    def verdict(self) -> Verdict:
        """Whether it is within its bound."""
        return Verdict.near if abs(self.difference) <= self.within else Verdict.outside


@dataclass(frozen=True)
class Bounds:
    """Which compared numbers keep the bounds that validation states."""

    compared: int
    undecided: list[str]
    """Numbers beyond the bound but inside the interval, with their differences."""
    broken: list[str]
    """Numbers that differ, with their differences."""
    rule: str = RULE
    """The bounds in words."""
    undecided_are: str = _INSIDE
    """What the undecided numbers are, in words."""

    @property
    def is_kept(self) -> bool:
        """Whether some number was compared, and none differs."""
        return self.compared > 0 and not self.broken

    @property
    def sentence(self) -> str:
        """The result in one line."""
        if not self.compared:
            return "nothing could be compared"
        counts = [f"{self.compared - len(self.undecided) - len(self.broken)} agree"]
        for words, names in ((self.undecided_are, self.undecided), ("differ", self.broken)):
            if names:
                counts.append(f"{len(names)} {words} ({'; '.join(names)})")
        return f"of {self.compared} numbers {', '.join(counts)}; {self.rule}"

    @property
    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        return {name: getattr(self, name) for name in ("compared", "undecided", "broken")}


def bounds(compared: Iterable[Judged], rule: str = RULE, undecided_are: str = _INSIDE) -> Bounds:
    """Counts comparisons. What is only told does not count."""
    found = [each for each in compared if each[2] is not Verdict.told]

    def named(*of: Verdict) -> list[str]:
        return [f"{name} {_words(difference)}" for name, difference, its in found if its in of]

    undecided = named(Verdict.undecided, Verdict.in_range)
    return Bounds(len(found), undecided, named(Verdict.outside), rule, undecided_are)


def _words(difference: float | str) -> str:
    return difference if isinstance(difference, str) else f"{difference:+.1%}"
