"""Claims of papers about figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from spillway_studies.claims.metric import Measured, Metric
from spillway_studies.claims.verdict import Rule

if TYPE_CHECKING:
    from spillway_studies.claims.axes import Value

Look: TypeAlias = Callable[[str], Measured]
"""The metric of a scheme at some point."""


class Formula(Protocol):
    """How the number of a claim is computed at one point."""

    @property
    def metric(self) -> Metric:
        """The metric that it is computed from."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes that it compares."""

    @property
    def text(self) -> str:
        """The formula."""

    @property
    def is_change(self) -> bool:
        """Whether the number is shown in percent."""

    def of(self, look: Look) -> Measured:
        """The number."""


@dataclass(frozen=True)
class _Comparison:
    """A comparison of `new` with `old`."""

    metric: Metric
    new: str
    old: str
    is_change: ClassVar[bool] = True

    @property
    def schemes(self) -> tuple[str, ...]:
        """Both schemes."""
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
class Times(_Comparison):
    """How many times `old` the `new` is: new / old."""

    is_change: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """The formula."""
        return f"{self.new} / {self.old}"

    def of(self, look: Look) -> Measured:
        """The ratio."""
        return _ratio(look(self.new), look(self.old), lambda ratio: ratio)


@dataclass(frozen=True)
class Plain:
    """The metric itself."""

    metric: Metric
    scheme: str

    is_change: ClassVar[bool] = False

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme."""
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
    """The points of a claim, and how their numbers are combined.

    It is the mean over them; the number at the point where it is largest ("up to"); each point
    separately, so that the claim must hold at the least favourable one; or by how much the last
    point's number exceeds the first's ("growth"), or by which part of it ("relative growth").
    """

    where: Mapping[str, Value] = field(default_factory=dict)
    take: Literal["mean", "largest", "each", "growth", "relative growth"] = "mean"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, in our words."""

    says: str
    source: str
    """Where the paper makes it."""
    formula: Formula
    rule: Rule
    over: Over = field(default_factory=Over)
    variant: str = ""
    """What else has been changed here, if the claim is tested under several settings."""
    exploratory: str = ""
    """What was chosen after seeing its numbers, in words; such a claim does not count."""
    is_again: bool = False
    """Whether it is an earlier claim in another reading, which does not count again."""
