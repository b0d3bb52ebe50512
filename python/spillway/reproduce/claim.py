"""What a paper claims of a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from spillway.reproduce.metric import Measured, Metric
from spillway.reproduce.verdict import Rule

if TYPE_CHECKING:
    from spillway.reproduce.figure import Value

Look: TypeAlias = Callable[[str], Measured]
"""The metric of a scheme at some point."""


class Formula(Protocol):
    """How a claim's number is taken at one point."""

    @property
    def metric(self) -> Metric:
        """What it is taken from."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """Whose."""

    @property
    def text(self) -> str:
        """The formula."""

    @property
    def is_change(self) -> bool:
        """Whether it is told in percent."""

    def of(self, look: Look) -> Measured:
        """The number."""


@dataclass(frozen=True)
class _Comparison:
    """Of `new` with `old`."""

    metric: Metric
    new: str
    old: str
    is_change: ClassVar[bool] = True

    @property
    def schemes(self) -> tuple[str, ...]:
        """Both."""
        return (self.new, self.old)


@dataclass(frozen=True)
class Reduction(_Comparison):
    """By how much `new` is below `old`: 1 - new / old."""

    @property
    def text(self) -> str:
        """The formula."""
        return f"1 - {self.new} / {self.old}"

    def of(self, look: Look) -> Measured:
        """The reduction."""
        return _ratio(look(self.new), look(self.old), lambda ratio: 1 - ratio)


@dataclass(frozen=True)
class Excess(_Comparison):
    """By how much `new` is above `old`: new / old - 1."""

    @property
    def text(self) -> str:
        """The formula."""
        return f"{self.new} / {self.old} - 1"

    def of(self, look: Look) -> Measured:
        """The excess."""
        return _ratio(look(self.new), look(self.old), lambda ratio: ratio - 1)


@dataclass(frozen=True)
class Plain:
    """The metric itself."""

    metric: Metric
    scheme: str

    is_change: ClassVar[bool] = False

    @property
    def schemes(self) -> tuple[str, ...]:
        """The one."""
        return (self.scheme,)

    @property
    def text(self) -> str:
        """The formula."""
        return f"that of {self.scheme}"

    def of(self, look: Look) -> Measured:
        """The metric."""
        return look(self.scheme)


def _ratio(new: Measured, old: Measured, then: Callable[[Any], Any]) -> Measured:
    if new.value is None or not old.value:
        return Measured(None)
    if new.replicates is None or old.replicates is None:
        return Measured(then(new.value / old.value))
    return Measured(then(new.value / old.value), then(new.replicates / old.replicates))


@dataclass(frozen=True)
class Over:
    """Which points a claim is about, and what is taken of them.

    That is their numbers' mean, the point at which the number is largest ("up to"), each point
    for itself (what is said of all of them has to be so at the one where it is least so), or by how
    much the last point's number is above the first's ("grows").
    """

    where: Mapping[str, Value] = field(default_factory=dict)
    take: Literal["mean", "largest", "each", "growth"] = "mean"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper's, in our words."""

    says: str
    source: str
    """Where the paper says it."""
    formula: Formula
    rule: Rule
    over: Over = field(default_factory=Over)
    variant: str = ""
    """What else has been changed here, where a claim is tried under several settings."""
    exploratory: str = ""
    """What of it was chosen after its numbers were seen, in words: such a claim does not count."""
    is_again: bool = False
    """Whether it is a claim that stands before it, read another way: it does not count again."""
