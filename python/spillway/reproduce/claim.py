"""What a paper claims of a figure, and what we find."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from spillway.reproduce.metric import LEAST_SEEDS, Behind, Measured, Metric, Number, Tail
from spillway.reproduce.verdict import Ends, Estimate, Rule, Verdict, judge

if TYPE_CHECKING:
    from spillway.reproduce.figure import Figure, Point, Value
    from spillway.reproduce.results import Results

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


def _furthest(numbers: Any, axis: int | None = None) -> Any:
    """The largest distance from 0: differences to both sides do not make up for each other."""
    return np.max(np.abs(numbers), axis=axis)


_TAKES: dict[str, Callable[..., Any]] = {
    "mean": np.mean,
    "largest": np.max,
    "smallest": np.min,
    "furthest": _furthest,
}


@dataclass(frozen=True)
class Over:
    """Which points a claim is about, and what is taken of their numbers."""

    where: Mapping[str, Value] = field(default_factory=dict)
    take: Literal["mean", "largest", "smallest", "furthest"] = "mean"

    def text(self, chosen: list[Point]) -> str:
        """In words."""
        if len(chosen) == 1:
            return chosen[0].label
        return f"{self.take} of {len(chosen)} points"


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


@dataclass(frozen=True)
class Finding:
    """What has become of a claim."""

    claim: Claim
    estimate: Estimate | None
    verdict: Verdict
    by_seed: Mapping[int, float | None]
    behind: Mapping[str, Behind]
    """For a percentile: by scheme, what it rests on."""
    over: str
    points: int
    uninformative: int
    """Points at which nothing was lost under any scheme."""
    exploratory: str
    """What of claim, schemes or points was chosen after their numbers were seen."""

    @property
    def document(self) -> dict[str, Any]:
        """For programs."""
        claim, estimate = self.claim, self.estimate
        return {
            "claim": claim.says,
            "source": claim.source,
            "variant": claim.variant,
            "metric": claim.formula.metric.name,
            "formula": claim.formula.text,
            "is_change": claim.formula.is_change,
            "over": self.over,
            "exploratory": self.exploratory,
            "rule": claim.rule.text,
            "range": _told(claim.rule.ends),
            "paper": claim.rule.paper,
            "ours": None if estimate is None else estimate.value,
            "interval": None if estimate is None else _told(estimate.interval),
            "by_seed": {str(seed): value for seed, value in self.by_seed.items()},
            "behind": {
                scheme: {"flows": each.flows, "with_timeout": each.with_timeout}
                for scheme, each in self.behind.items()
            },
            "points": self.points,
            "uninformative_points": self.uninformative,
            "verdict": str(self.verdict),
        }


def examine(claim: Claim, results: Results) -> Finding:
    """What becomes of a claim."""
    figure = results.figure
    places = [n for n, point in enumerate(figure.points) if point.lies_at(claim.over.where)]
    uninformative = sum(not results.is_informative(place) for place in places)
    found = _over_points(claim, results, places, results.seeds, True)
    by_seed = {
        seed: _over_points(claim, results, places, (seed,), False).value for seed in results.seeds
    }
    estimate = None
    verdict = Verdict.NONE
    if found.value is not None and uninformative < len(places):
        estimate = Estimate(found.value, _interval(claim, found, list(by_seed.values())))
        verdict = judge(claim.rule, estimate)
    return Finding(
        claim,
        estimate,
        verdict,
        by_seed,
        _behind(claim, results, places),
        claim.over.text([figure.points[place] for place in places]),
        len(places),
        uninformative,
        _hindsight(claim, figure, places),
    )


def _hindsight(claim: Claim, figure: Figure, places: list[int]) -> str:
    names = claim.formula.schemes
    found = [
        claim.exploratory,
        *(scheme.exploratory for scheme in figure.schemes if scheme.name in names),
        *(figure.points[place].exploratory for place in places),
    ]
    return "; ".join(dict.fromkeys(text for text in found if text))


def _over_points(
    claim: Claim, results: Results, places: list[int], seeds: tuple[int, ...], draw: bool
) -> Measured:
    metric = claim.formula.metric

    def at(place: int) -> Measured:
        return claim.formula.of(lambda scheme: results.measured(metric, place, scheme, seeds, draw))

    each = [at(place) for place in places]
    values = [one.value for one in each if one.value is not None]
    if not each or len(values) < len(each):
        return Measured(None)
    take = _TAKES[claim.over.take]
    drawn = [one.replicates for one in each if one.replicates is not None]
    replicates = take(np.stack(drawn), axis=0) if len(drawn) == len(each) else None
    return Measured(float(take(values)), replicates)


def _interval(claim: Claim, found: Measured, by_seed: list[float | None]) -> Ends | None:
    """95%: of the replicates; or, of what rests on no samples, Student's t over the seeds.

    The worst of all that was looked at has no such interval: the truth is that, or worse.
    """
    if found.replicates is not None:
        return found.interval
    metric = claim.formula.metric
    if isinstance(metric, Number) and metric.over_seeds == "largest":
        if found.value is None or not isinstance(claim.formula, Plain):
            return None
        return found.value, math.inf
    known = [value for value in by_seed if value is not None]
    if len(known) < LEAST_SEEDS:
        return None
    from scipy import special

    deviation = np.std(known, ddof=1) / np.sqrt(len(known))
    half = float(special.stdtrit(len(known) - 1, 0.975) * deviation)
    middle = float(np.mean(known))
    return middle - half, middle + half


def _told(ends: Ends | None) -> tuple[float | None, float | None] | None:
    """Both ends for JSON, which has no infinity, nor a least number above 0."""
    if ends is None:
        return None
    low, high = (None if math.isinf(end) else end for end in ends)
    return (0.0 if low == math.ulp(0.0) else low), high


def _behind(claim: Claim, results: Results, places: list[int]) -> dict[str, Behind]:
    metric = claim.formula.metric
    if not isinstance(metric, Tail):
        return {}
    found = {}
    for scheme in claim.formula.schemes:
        each = [metric.behind(results.at(place, scheme)) for place in places]
        found[scheme] = Behind(
            sum(one.flows for one in each), sum(one.with_timeout for one in each)
        )
    return found
