"""Claims of papers about figures, and the rules by which they hold."""

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from spillway_studies.claims.metric import Measured, Metric
from spillway_studies.claims.point import Value

Look: TypeAlias = Callable[[str], Measured]
"""The metric of a scheme at some point."""


@dataclass(frozen=True)
class Comparison:
    """A number that compares a metric of `new` with that of `old` at one point."""

    metric: Metric
    new: str
    old: str

    words: ClassVar[str]
    is_change: ClassVar[bool] = True
    """Whether the number is shown in percent."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """Both schemes."""
        return (self.new, self.old)

    @property
    def text(self) -> str:
        """The formula."""
        return self.words.format(new=self.new, old=self.old)

    def of(self, look: Look) -> Measured:
        """The number; None without both metrics, or where that of `old` is 0."""
        new, old = look(self.new), look(self.old)
        if new.value is None or not old.value:
            return Measured(None)
        number = self._of_ratio(new.value / old.value)
        if new.replicates is None or old.replicates is None:
            return Measured(number)
        return Measured(number, self._of_ratio(new.replicates / old.replicates))

    def _of_ratio(self, ratio: Any) -> Any:
        """The number, given the ratio of `new` to `old`."""
        return ratio


class Reduction(Comparison):
    """By how much `new` is below `old`: 1 - new / old."""

    words = "1 - {new} / {old}"

    def _of_ratio(self, ratio: Any) -> Any:
        return 1 - ratio


class Excess(Comparison):
    """By how much `new` is above `old`: new / old - 1."""

    words = "{new} / {old} - 1"

    def _of_ratio(self, ratio: Any) -> Any:
        return ratio - 1


class Times(Comparison):
    """How many times `old` the `new` is: new / old."""

    words = "{new} / {old}"
    is_change = False


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


Formula: TypeAlias = Comparison | Plain


# Rules, which are fixed before anything is run ---------------------------------------------------

Ends: TypeAlias = tuple[float, float]
"""The least and the greatest number of a closed range."""
EVERY_NUMBER: Ends = (-math.inf, math.inf)
"""The range of a rule that judges nothing."""
_QUARTER = 0.25


@dataclass(frozen=True)
class Rule:
    """The numbers that confirm a claim."""

    text: str
    """The rule in words."""
    ends: Ends
    """The range of these numbers."""
    paper: float | None = None
    """The paper's number, if it gives one."""


class Near(Rule):
    """The paper gives a part of a whole, such as a reduction, or a score such as recall.

    The rest of the whole must be near, too: with 95.5% less, 4.5% are left.
    """

    def __init__(self, paper: float) -> None:
        if not 0 < paper < 1:
            raise ValueError(f"{paper} is no part of a whole: see `Within`")
        part, rest = _around(paper, _QUARTER), _around(1 - paper, _QUARTER)
        super().__init__(
            "within a quarter of the paper's number, and what is left of the whole within a "
            "quarter of what the paper leaves",
            (max(part[0], 1 - rest[1]), min(part[1], 1 - rest[0])),
            paper,
        )


class Within(Rule):
    """The paper gives a number above 0 that is not a part of a whole."""

    def __init__(self, paper: float, within: float = _QUARTER) -> None:
        text = f"within {100 * within:g}% of the paper's number"
        super().__init__(text, _around(paper, within), paper)


class Between(Rule):
    """The paper gives a range of numbers, or the least of them."""

    def __init__(self, low: float, high: float = math.inf) -> None:
        upwards = f"{low:g} and more, as in the paper"
        range_ = f"from {low:g} to {high:g}, as in the paper"
        super().__init__(upwards if high == math.inf else range_, (low, high))


class Alike(Rule):
    """The paper says that two perform alike, without a number; ours is the difference."""

    def __init__(self, margin: float = 0.1) -> None:
        super().__init__(f"at most {100 * margin:g}% apart", (-margin, margin))


class Apart(Rule):
    """The paper says that one is better, without a number; ours is positive if that holds.

    `least` is how much better it must be, for "significantly" or "much"; 0 itself is not above 0.
    """

    def __init__(self, least: float = 0.0) -> None:
        text = f"at least {100 * least:g}%" if least else "above 0"
        super().__init__(text, (least or math.ulp(0.0), math.inf))


class Falls(Rule):
    """The paper says that something falls, without a number; ours is by how much it rises.

    What stays as it is does not fall.
    """

    def __init__(self) -> None:
        super().__init__("below 0", (-math.inf, -math.ulp(0.0)))


class NoGain(Rule):
    """The paper says that something brings no gain; ours is how much better it is."""

    def __init__(self, margin: float = 0.1) -> None:
        super().__init__(f"at most {100 * margin:g}%", (-math.inf, margin))


class AtMost(Rule):
    """The paper says that nothing exceeds a number."""

    def __init__(self, paper: float) -> None:
        text = "never above the paper's number: the worst that is found can only refute it"
        super().__init__(text, (-math.inf, paper), paper)


class AtLeast(Rule):
    """The paper says that a number is reached, in the limit or as far as can be measured."""

    def __init__(self, paper: float, within: float = 0.05) -> None:
        super().__init__(
            f"the paper's number is reached, to {100 * within:g}%: the worst that is found can "
            "only prove it",
            ((1 - within) * paper, math.inf),
            paper,
        )


class Beside(Rule):
    """The paper's number is for traffic that is not available: ours stands beside it, unjudged."""

    def __init__(self, paper: float | None = None) -> None:
        text = "of other traffic than the paper's: not comparable"
        super().__init__(text, EVERY_NUMBER, paper)


def _around(number: float, within: float) -> Ends:
    return (1 - within) * number, (1 + within) * number


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


def judge(rule: Rule, found: Estimate) -> Verdict:
    """The verdict, by the whole interval: undecided if that is partly inside, or missing.

    A claim that every number would confirm is not comparable.
    """
    if rule.ends == EVERY_NUMBER:
        return Verdict.NONE
    if found.interval is None:
        return Verdict.UNDECIDED
    (low, high), (least, greatest) = found.interval, rule.ends
    if least <= low and high <= greatest:
        return Verdict.HOLDS
    return Verdict.FAILS if high < least or greatest < low else Verdict.UNDECIDED


# Claims ------------------------------------------------------------------------------------------


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
