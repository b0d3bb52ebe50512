"""What a figure of a paper consists of: runs, numbers from them, a plot, and claims."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from spillway_studies.claims.claim import Claim
    from spillway_studies.claims.metric import Metric
    from spillway_studies.claims.point import Measure
    from spillway_studies.claims.results import Results

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


class Plot(Protocol):
    """How a figure is drawn."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that it shows."""

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper, or an experiment about it."""

    name: str
    """The paper and the figure, as for `spillway reproduce`: `credence/figure6`."""
    title: str
    source: str
    """Its place in the paper."""
    about: str
    """What is compared, and how this differs from the paper."""
    measure: Measure
    points: tuple[Point, ...]
    schemes: tuple[Scheme, ...]
    scales: Mapping[str, Scale]
    plot: Plot | None = None
    claims: tuple[Claim, ...] = ()
    is_of_paper: bool = True
    """Whether it is in the paper; `spillway reproduce PAPER` leaves out others about it."""
    told_by: Literal["losses", "marks", "anything"] = "losses"
    """What shows that schemes can differ at a point: packets lost; or packets lost or marked; or
    nothing need show it.
    """

    def scale(self, name: str) -> Scale | None:
        """How much of it is run at a scale; a figure without a `page` scale is quick there."""
        return self.scales.get("quick" if name == "page" and name not in self.scales else name)

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of plot and claims."""
        shown = () if self.plot is None else self.plot.metrics
        claimed = (claim.formula.metric for claim in self.claims)
        return list(dict.fromkeys([*shown, *claimed]))

    @property
    def short_name(self) -> str:
        """Its name within the paper."""
        return self.name.rpartition("/")[2]
