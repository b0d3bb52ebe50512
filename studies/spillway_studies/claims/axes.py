"""What a figure varies: schemes, points on its axes, and how much is run for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = "float | str"


@dataclass(frozen=True)
class Scheme:
    """A scheme that a figure compares: its name in the legend, and the keys that it sets."""

    name: str
    assignments: tuple[str, ...] = ()
    style: int | None = None
    """The number of its colour and marker in all plots; by default its position in the figure."""
    exploratory: str = ""
    """What was chosen after seeing its numbers, in words."""


@dataclass(frozen=True)
class Point:
    """A point on a figure's axes."""

    values: Mapping[str, Value]
    """Its coordinates: the name of each axis, and the value."""
    assignments: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    """The coordinates in words, by axis."""
    ticks: Mapping[str, str] = field(default_factory=dict)
    """The coordinates as shown on plots' axes."""
    of_scheme: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Assignments for single schemes, by the scheme's name."""
    exploratory: str = ""
    """What was chosen after seeing its numbers, in words."""

    @property
    def label(self) -> str:
        """The coordinates in words."""
        return ", ".join(self.labels.values())

    def lies_at(self, values: Mapping[str, Value]) -> bool:
        """Whether its coordinates are these, as far as they are given."""
        return all(self.values[axis] == value for axis, value in values.items())


def choice(name: str, *assignments: str, of: Mapping[str, tuple[str, ...]] | None = None) -> Point:
    """A point where one thing is done differently: by all schemes, or (`of`) by single ones."""
    return Point({"choice": name}, assignments, {"choice": name}, of_scheme=of or {})


def along(
    axis: str,
    values: Iterable[Value],
    *assignments: str,
    label: str = "{}",
    tick: str = "{}",
    only: str | None = None,
) -> tuple[Point, ...]:
    """A point for each value, which replaces `{}` in the texts.

    The assignments apply to all schemes, or to the one that `only` names.

    >>> [point.assignments for point in along("load", (0.2, 0.4), "traffic.web.load={}")]
    [('traffic.web.load=0.2',), ('traffic.web.load=0.4',)]
    """

    def point(value: Value) -> Point:
        sets = tuple(text.format(value) for text in assignments)
        words, ticks = {axis: label.format(value)}, {axis: tick.format(value)}
        if only is None:
            return Point({axis: value}, sets, words, ticks)
        return Point({axis: value}, (), words, ticks, {only: sets})

    return tuple(point(value) for value in values)


def product(*axes: Iterable[Point]) -> tuple[Point, ...]:
    """All combinations; assignments of later axes override those of earlier ones."""

    def joined(points: tuple[Point, ...]) -> Point:
        values: dict[str, Value] = {}
        labels: dict[str, str] = {}
        ticks: dict[str, str] = {}
        of_scheme: dict[str, tuple[str, ...]] = {}
        for point in points:
            values.update(point.values)
            labels.update(point.labels)
            ticks.update(point.ticks)
            for scheme, sets in point.of_scheme.items():
                of_scheme[scheme] = (*of_scheme.get(scheme, ()), *sets)
        sets = tuple(text for point in points for text in point.assignments)
        exploratory = "; ".join(point.exploratory for point in points if point.exploratory)
        return Point(values, sets, labels, ticks, of_scheme, exploratory)

    return tuple(joined(points) for points in itertools.product(*axes))


@dataclass(frozen=True)
class Scale:
    """How much is run for every point."""

    seeds: tuple[int, ...]
    assignments: tuple[str, ...] = ()
    """Assignments for runs of a scenario."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    """Parameters for functions."""
