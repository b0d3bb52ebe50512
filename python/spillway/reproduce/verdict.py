"""Whether a claim holds here, by a rule that is fixed before anything is run."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar, Protocol


class Verdict(enum.StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "does not hold"
    NONE = "not comparable"


@dataclass(frozen=True)
class Estimate:
    """Our number."""

    value: float
    interval: tuple[float, float] | None = None
    """95% of what it comes to when samples are drawn again; None where there are none."""

    def may_be(self, number: float) -> bool:
        """Whether the interval has the number in it."""
        return self.interval is not None and self.interval[0] <= number <= self.interval[1]

    def is_about(self, number: float, within: float) -> bool:
        """Whether it is within a share of the number, or may be that number."""
        return abs(self.value - number) <= within * abs(number) or self.may_be(number)


class Rule(Protocol):
    """How a verdict is reached."""

    @property
    def paper(self) -> float | None:
        """The paper's number, if it gives one."""

    @property
    def text(self) -> str:
        """The rule in words."""

    def judge(self, found: Estimate) -> Verdict:
        """The verdict."""


@dataclass(frozen=True)
class Near:
    """The paper gives a number that may be above 0 or below it, such as a change."""

    paper: float
    within: float = 0.25

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"holds: same sign and within {100 * self.within:g}% of the paper's number, or that "
            "number inside our 95% interval; partly: same sign"
        )

    def judge(self, found: Estimate) -> Verdict:
        """By distance from the paper's number, then by sign."""
        if found.is_about(self.paper, self.within):
            return Verdict.HOLDS
        return Verdict.PARTLY if found.value * self.paper > 0 else Verdict.FAILS


@dataclass(frozen=True)
class Within:
    """The paper gives a number that has one sign only, such as a rate."""

    paper: float
    within: float = 0.25

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"holds: within {100 * self.within:g}% of the paper's number, or that number inside "
            "our 95% interval"
        )

    def judge(self, found: Estimate) -> Verdict:
        """By distance from the paper's number."""
        return Verdict.HOLDS if found.is_about(self.paper, self.within) else Verdict.FAILS


@dataclass(frozen=True)
class Alike:
    """The paper says that two perform alike, and no number; ours is the difference."""

    margin: float = 0.1
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"holds: at most {100 * self.margin:g}% apart; partly: 0 inside our 95% interval"

    def judge(self, found: Estimate) -> Verdict:
        """By the margin."""
        if abs(found.value) <= self.margin:
            return Verdict.HOLDS
        return Verdict.PARTLY if found.may_be(0.0) else Verdict.FAILS


@dataclass(frozen=True)
class Apart:
    """The paper says that one is better, and no number; ours is positive if that is so."""

    least: float = 0.0
    """How much better it must be: for "significantly", "much"."""
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        least = f"at least {100 * self.least:g}%" if self.least else "above 0"
        return f"holds: {least}, and an interval of 95% without 0; partly: above 0"

    def judge(self, found: Estimate) -> Verdict:
        """By sign and size."""
        if found.value <= 0:
            return Verdict.FAILS
        is_clear = found.interval is not None and not found.may_be(0.0)
        is_clear = is_clear and found.value >= self.least
        return Verdict.HOLDS if is_clear else Verdict.PARTLY


@dataclass(frozen=True)
class AtMost:
    """The paper proves that nothing is above a number; ours is the worst that was found."""

    paper: float
    text: ClassVar[str] = "holds: not above the paper's number; what was found can only refute it"

    def judge(self, found: Estimate) -> Verdict:
        """By the number."""
        return Verdict.HOLDS if found.value <= self.paper else Verdict.FAILS


@dataclass(frozen=True)
class AtLeast:
    """The paper proves that a number is reached in the limit; ours is the worst that was found."""

    paper: float
    within: float = 0.25

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"holds: above the paper's number, or at most {100 * self.within:g}% below it, since "
            "it is reached in the limit"
        )

    def judge(self, found: Estimate) -> Verdict:
        """By the number."""
        is_reached = found.value >= (1 - self.within) * self.paper
        return Verdict.HOLDS if is_reached else Verdict.FAILS


@dataclass(frozen=True)
class NoGain:
    """The paper says that something brings nothing more; ours is by how much it is better."""

    margin: float = 0.1
    paper: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"holds: at most {100 * self.margin:g}% better; partly: 0 inside our 95% interval"

    def judge(self, found: Estimate) -> Verdict:
        """By the margin."""
        if found.value <= self.margin:
            return Verdict.HOLDS
        return Verdict.PARTLY if found.may_be(0.0) else Verdict.FAILS
