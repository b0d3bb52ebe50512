"""Whether a claim holds, by rules that are fixed before anything is run."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Ends: TypeAlias = tuple[float, float]
"""The least and the greatest number of a closed range."""

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
    """The 95% interval of the true number; None if it is unknown."""


class Rule(Protocol):
    """The numbers that confirm a claim."""

    @property
    def paper(self) -> float | None:
        """The paper's number, if it gives one."""

    @property
    def text(self) -> str:
        """The rule in words."""

    @property
    def ends(self) -> Ends:
        """The range of these numbers."""


EVERY_NUMBER: Ends = (-math.inf, math.inf)
"""The range of a rule that judges nothing."""


def judge(rule: Rule, found: Estimate) -> Verdict:
    """By the whole interval. If it is neither inside nor outside, or missing: undecided.

    What every number would confirm is not comparable.
    """
    if rule.ends == EVERY_NUMBER:
        return Verdict.NONE
    if found.interval is None:
        return Verdict.UNDECIDED
    (low, high), (least, greatest) = found.interval, rule.ends
    if least <= low and high <= greatest:
        return Verdict.HOLDS
    return Verdict.FAILS if high < least or greatest < low else Verdict.UNDECIDED


@dataclass(frozen=True)
class Near:
    """The paper gives a part of a whole, such as a reduction, or a score such as recall.

    The rest of the whole must be near, too: with 95.5% less, 4.5% are left.
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
        """The range in which both are near."""
        part, rest = _around(self.paper, _QUARTER), _around(1 - self.paper, _QUARTER)
        return max(part[0], 1 - rest[1]), min(part[1], 1 - rest[0])


@dataclass(frozen=True)
class Within:
    """The paper gives a number above 0 that is not a part of a whole."""

    paper: float
    within: float = _QUARTER

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"within {100 * self.within:g}% of the paper's number"

    @property
    def ends(self) -> Ends:
        """A range around the paper's number."""
        return _around(self.paper, self.within)


@dataclass(frozen=True)
class Between:
    """The paper gives a range of numbers, or the least of them."""

    low: float
    high: float = math.inf
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        if self.high == math.inf:
            return f"{self.low:g} and more, as in the paper"
        return f"from {self.low:g} to {self.high:g}, as in the paper"

    @property
    def ends(self) -> Ends:
        """The paper's range."""
        return self.low, self.high


@dataclass(frozen=True)
class Alike:
    """The paper says that two perform alike, without a number; ours is the difference."""

    margin: float = 0.1
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"at most {100 * self.margin:g}% apart"

    @property
    def ends(self) -> Ends:
        """A range around 0."""
        return -self.margin, self.margin


@dataclass(frozen=True)
class Apart:
    """The paper says that one is better, without a number; ours is positive if that holds."""

    least: float = 0.0
    """How much better it must be, for "significantly" or "much"."""
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"at least {100 * self.least:g}%" if self.least else "above 0"

    @property
    def ends(self) -> Ends:
        """From the least number upwards; 0 itself is not above 0."""
        return self.least or math.ulp(0.0), math.inf


@dataclass(frozen=True)
class Falls:
    """The paper says that something falls, without a number; ours is by how much it rises."""

    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return "below 0"

    @property
    def ends(self) -> Ends:
        """From the greatest number below 0 downwards: what stays as it is does not fall."""
        return -math.inf, -math.ulp(0.0)


@dataclass(frozen=True)
class NoGain:
    """The paper says that something brings no gain; ours is how much better it is."""

    margin: float = 0.1
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"at most {100 * self.margin:g}%"

    @property
    def ends(self) -> Ends:
        """From the greatest number downwards."""
        return -math.inf, self.margin


@dataclass(frozen=True)
class AtMost:
    """The paper says that nothing exceeds a number."""

    paper: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return "never above the paper's number: the worst that is found can only refute it"

    @property
    def ends(self) -> Ends:
        """From the number downwards."""
        return -math.inf, self.paper


@dataclass(frozen=True)
class AtLeast:
    """The paper says that a number is reached, in the limit or as far as can be measured."""

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
        """From the number upwards."""
        return (1 - self.within) * self.paper, math.inf


@dataclass(frozen=True)
class Beside:
    """The paper's number is of traffic that is not to be had: ours stands beside it, unjudged."""

    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return "of other traffic than the paper's: not comparable"

    @property
    def ends(self) -> Ends:
        """Any number."""
        return EVERY_NUMBER


def _around(number: float, within: float) -> Ends:
    return (1 - within) * number, (1 + within) * number
