"""Whether a claim holds here, by a rule that is fixed before anything is run."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Ends: TypeAlias = tuple[float, float]
"""The least and the greatest of a range of numbers; both belong to it."""

_QUARTER = 0.25


class Verdict(enum.StrEnum):
    """The verdict on a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    NONE = "not comparable"


@dataclass(frozen=True)
class Estimate:
    """Our number."""

    value: float
    interval: Ends | None = None
    """Where the truth lies, at 95%; None where that cannot be told."""


class Rule(Protocol):
    """Which numbers bear a claim out."""

    @property
    def paper(self) -> float | None:
        """The paper's number, if it gives one."""

    @property
    def text(self) -> str:
        """The rule in words."""

    @property
    def ends(self) -> Ends:
        """The range of the numbers that do."""


def judge(rule: Rule, found: Estimate) -> Verdict:
    """By the whole interval: a claim of which it tells neither, or that has none, is undecided."""
    if found.interval is None:
        return Verdict.UNDECIDED
    (low, high), (least, greatest) = found.interval, rule.ends
    if least <= low and high <= greatest:
        return Verdict.HOLDS
    return Verdict.FAILS if high < least or greatest < low else Verdict.UNDECIDED


@dataclass(frozen=True)
class Near:
    """The paper gives a part of a whole: what is taken off, or a score such as recall.

    What is left of the whole has to be near, too: of 95.5% less, 4.5% are left.
    """

    paper: float

    def __post_init__(self) -> None:
        if not 0 < self.paper < 1:
            raise ValueError(f"{self.paper} is no part of a whole: see `Within`")

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            "within a quarter of the paper's number, and what is left of the whole within a "
            "quarter of what the paper leaves"
        )

    @property
    def ends(self) -> Ends:
        """Where both are."""
        part, rest = _around(self.paper, _QUARTER), _around(1 - self.paper, _QUARTER)
        return max(part[0], 1 - rest[1]), min(part[1], 1 - rest[0])


@dataclass(frozen=True)
class Within:
    """The paper gives a number above 0 that is no part of a whole."""

    paper: float
    within: float = _QUARTER

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"within {100 * self.within:g}% of the paper's number"

    @property
    def ends(self) -> Ends:
        """Around the paper's number."""
        return _around(self.paper, self.within)


@dataclass(frozen=True)
class Alike:
    """The paper says that two perform alike, and no number; ours is the difference."""

    margin: float = 0.1
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"at most {100 * self.margin:g}% apart"

    @property
    def ends(self) -> Ends:
        """Around 0."""
        return -self.margin, self.margin


@dataclass(frozen=True)
class Apart:
    """The paper says that one is better, and no number; ours is positive if that is so."""

    least: float = 0.0
    """How much better it must be: for "significantly", "much"."""
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"at least {100 * self.least:g}%" if self.least else "above 0"

    @property
    def ends(self) -> Ends:
        """Upwards; 0 is not above 0."""
        return self.least or math.ulp(0.0), math.inf


@dataclass(frozen=True)
class NoGain:
    """The paper says that something brings nothing more; ours is by how much it is better."""

    margin: float = 0.1
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"at most {100 * self.margin:g}%"

    @property
    def ends(self) -> Ends:
        """Downwards."""
        return -math.inf, self.margin


@dataclass(frozen=True)
class AtMost:
    """The paper says that nothing is above a number."""

    paper: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return "never above the paper's number: the worst that is found can only refute it"

    @property
    def ends(self) -> Ends:
        """Downwards."""
        return -math.inf, self.paper


@dataclass(frozen=True)
class AtLeast:
    """The paper says that a number is reached, in the limit or with what can be measured."""

    paper: float
    within: float = 0.05

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"the paper's number is reached, to {100 * self.within:g}%: the worst that is found "
            "can only prove it"
        )

    @property
    def ends(self) -> Ends:
        """Upwards."""
        return (1 - self.within) * self.paper, math.inf


def _around(number: float, within: float) -> Ends:
    return (1 - within) * number, (1 + within) * number
