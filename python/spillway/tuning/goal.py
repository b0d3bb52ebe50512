"""Goals and constraints, computed from the runs of a trial."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from spillway.base.arguments import items
from spillway.base.errors import ScenarioError
from spillway.result.metrics import UnknownMetricError, found
from spillway.result.summary_paths import Summary
from spillway.tuning.expression import (
    DEFAULT,
    Comparison,
    Expression,
    UndefinedError,
    comparison,
    expression,
)

Texts: TypeAlias = str | Iterable[str]
Readings: TypeAlias = Mapping[str, Sequence[float]]
"""The metrics of some runs of one scenario by name, a number for every seed."""

Direction: TypeAlias = Literal["minimize", "maximize"]

INVALID = 1.0
"""The violation noted for a combination of values that is no valid scenario."""


@dataclass(frozen=True)
class Goal:
    """A number to be minimised or maximised: its mean over the seeds."""

    expression: Expression
    is_minimised: bool

    @property
    def text(self) -> str:
        """The expression as it was given."""
        return self.expression.text

    @property
    def direction(self) -> Direction:
        """The direction, as the study has it."""
        return "minimize" if self.is_minimised else "maximize"

    def by_seed(self, readings: Readings) -> list[float]:
        """Its value for every seed."""
        return _by_seed(self.expression, readings)

    def value(self, readings: Readings) -> float:
        """Its mean over the seeds."""
        return statistics.fmean(self.by_seed(readings))

    def is_better(self, value: float, other: float) -> bool:
        """Whether a value is better than another one."""
        return value < other if self.is_minimised else value > other


@dataclass(frozen=True)
class Constraint:
    """A comparison that the means over the seeds of its two sides must satisfy."""

    comparison: Comparison

    @property
    def text(self) -> str:
        """The comparison as it was given."""
        return self.comparison.text

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics in it."""
        both = (*self.comparison.left.names, *self.comparison.right.names)
        return tuple(name for name in dict.fromkeys(both) if name != DEFAULT)

    def sides(self, readings: Readings, default: Readings) -> tuple[float, float]:
        """The left and the right side, given also the readings of the unchanged scenario."""
        left, right = self.comparison.left, self.comparison.right
        if DEFAULT in left.names:
            return _mean(left, readings, _mean(right, default)), _mean(right, readings)
        if DEFAULT in right.names:
            return _mean(left, readings), _mean(right, readings, _mean(left, default))
        return _mean(left, readings), _mean(right, readings)

    def violation(self, readings: Readings, default: Readings) -> float:
        """How far it is from being satisfied, relative to the right side; at most 0 if it is.

        Relative, since the sampler adds up the violations of several constraints.
        """
        left, right = self.sides(readings, default)
        distance = left - right if self.comparison.is_at_most else right - left
        return distance / (abs(right) or 1.0)


def _by_seed(found: Expression, readings: Readings, default: float | None = None) -> list[float]:
    """The value of an expression for every seed."""
    names = [name for name in found.names if name != DEFAULT]
    more = {} if default is None else {DEFAULT: default}
    return [
        found.evaluate({name: readings[name][place] for name in names} | more)
        for place in range(len(next(iter(readings.values()), ())))
    ]


def _mean(found: Expression, readings: Readings, default: float | None = None) -> float:
    return statistics.fmean(_by_seed(found, readings, default))


class MissingError(Exception):
    """A number is missing; `seed` is that of the run, if a single run lacks it."""

    def __init__(self, text: str, seed: int | None = None) -> None:
        super().__init__(text if seed is None else f"seed {seed} {text}")
        self.seed = seed


class Aims:
    """The goals and constraints of a study, and the metrics that they are made of."""

    def __init__(
        self, minimize: Texts, maximize: Texts, subject_to: Texts, example: Summary
    ) -> None:
        """Refuses a name that is no metric of `example`, the summary of a run of the scenario."""
        given = [(text, True) for text in _listed(minimize)]
        given += [(text, False) for text in _listed(maximize)]
        self.goals = [Goal(expression(text), is_minimised) for text, is_minimised in given]
        self.constraints = [Constraint(comparison(text)) for text in _listed(subject_to)]
        if not self.goals:
            raise ScenarioError(
                "there is no goal",
                'for one: minimize="fct_slowdown.incast.p99"',
                typed="for one: --minimize fct_slowdown.incast.p99",
            )
        texts = [goal.text for goal in self.goals]
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise ScenarioError(f"{twice} is a goal twice", "name each once")
        names = [name for goal in self.goals for name in goal.expression.names]
        names += [name for constraint in self.constraints for name in constraint.names]
        self._read = _readers(names, example)

    @property
    def names(self) -> list[str]:
        """All metrics that the goals and constraints are made of."""
        return list(self._read)

    def readings(self, summaries: Sequence[Summary]) -> dict[str, list[float]]:
        """The metrics of some runs, from their summaries. Raises MissingError."""
        found: dict[str, list[float]] = {name: [] for name in self._read}
        for summary in summaries:
            if summary["status"] == "deadlock":
                raise MissingError("ended in a deadlock", summary["seed"])
            for name, read in self._read.items():
                value = read(summary)
                if value is None:
                    raise MissingError(f"has no {name}: no flow counts", summary["seed"])
                found[name].append(float(value))
        self._check(found)
        return found

    def _check(self, readings: Readings) -> None:
        """Refuses readings from which a goal or a constraint has no value."""
        evaluated: dict[str, Callable[[], Iterable[float]]] = {
            **{goal.text: partial(goal.by_seed, readings) for goal in self.goals},
            **{each.text: partial(each.sides, readings, readings) for each in self.constraints},
        }
        for text, evaluate in evaluated.items():
            try:
                is_number = all(map(math.isfinite, evaluate()))
            except (UndefinedError, OverflowError):
                is_number = False
            if not is_number:
                raise MissingError(f"{text} divides by zero")

    def values(self, readings: Readings) -> list[float]:
        """The value of every goal."""
        return [goal.value(readings) for goal in self.goals]

    def violations(self, readings: Readings, default: Readings) -> dict[str, float]:
        """By how much each constraint is violated: at most 0 if it is satisfied."""
        try:
            return {each.text: each.violation(readings, default) for each in self.constraints}
        except UndefinedError:
            raise MissingError("a constraint divides by zero") from None

    def is_dominated(self, values: Sequence[float], others: Sequence[float]) -> bool:
        """Whether the other values are as good in every goal, and better in one."""
        pairs = list(zip(self.goals, values, others, strict=True))
        return not any(goal.is_better(own, other) for goal, own, other in pairs) and any(
            goal.is_better(other, own) for goal, own, other in pairs
        )


def _listed(texts: Texts) -> list[str]:
    return [texts] if isinstance(texts, str) else list(items(texts, "goals", 'for one: "drops"'))


def front(aims: Aims, points: Sequence[Sequence[float]]) -> list[int]:
    """The places of the points that no other dominates; of equal ones the first."""
    found = []
    for place, values in enumerate(points):
        is_new = all(list(values) != list(points[other]) for other in range(place))
        if is_new and not any(aims.is_dominated(values, others) for others in points):
            found.append(place)
    return found


def _readers(
    names: Iterable[str], example: Summary
) -> dict[str, Callable[[Summary], float | None]]:
    """How metrics are read: those of `compare`, or numbers of the summary, by their paths."""
    each = list(dict.fromkeys(names))
    try:
        return {
            name: metric.read for name, metric in zip(each, found(each, [example]), strict=True)
        }
    except UnknownMetricError as error:
        minus, _, behind = str(error.name).rpartition("-")
        if minus in error.known:
            error.hint = f"a minus has spaces around it: {minus} - {behind}"
        raise
