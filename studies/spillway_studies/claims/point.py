"""The points of a figure, and how each gives numbers: by a run, or by a function."""

import functools
import hashlib
import itertools
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from spillway.base import core
from spillway.base.checksums import digest
from spillway.experiment import keys
from spillway.result.summary_paths import flat
from spillway.run.run import run_to
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.claims import basis, samples
from spillway_studies.claims.late import Table

NUMBERS = 1
"""The results number of what is taken from a run: its summary's numbers, and samples of flows."""


Value: TypeAlias = float | str


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


def choice(
    name: str,
    *assignments: str,
    of: Mapping[str, tuple[str, ...]] | None = None,
    axis: str = "choice",
) -> Point:
    """A point where one thing is done differently: by all schemes, or (`of`) by single ones."""
    return Point({axis: name}, assignments, {axis: name}, of_scheme=of or {})


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
        own = (sets, {}) if only is None else ((), {only: sets})
        return Point({axis: value}, own[0], words, ticks, own[1])

    return tuple(point(value) for value in values)


def product(*axes: Iterable[Point]) -> tuple[Point, ...]:
    """All combinations; assignments of later axes override those of earlier ones."""

    def joined(points: tuple[Point, ...]) -> Point:
        of_scheme: dict[str, tuple[str, ...]] = {}
        for point in points:
            for scheme, sets in point.of_scheme.items():
                of_scheme[scheme] = (*of_scheme.get(scheme, ()), *sets)
        return Point(
            {axis: value for point in points for axis, value in point.values.items()},
            tuple(text for point in points for text in point.assignments),
            {axis: label for point in points for axis, label in point.labels.items()},
            {axis: tick for point in points for axis, tick in point.ticks.items()},
            of_scheme,
            "; ".join(point.exploratory for point in points if point.exploratory),
        )

    return tuple(joined(points) for points in itertools.product(*axes))


@dataclass(frozen=True)
class Scale:
    """How much is run for every point."""

    seeds: tuple[int, ...]
    assignments: tuple[str, ...] = ()
    """Assignments for runs of a scenario."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    """Parameters for functions."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point under one scheme with one seed."""

    numbers: Mapping[str, float | None]
    samples: Table | None = None
    """The flows, if more than numbers is needed: see `spillway_studies.claims.samples`."""
    scenario: str = ""
    """The scenario with every value written out, if it was a run."""
    cpu_s: float = 0.0
    """CPU time that it took, in seconds."""

    def series(self, name: str) -> list[float]:
        """The series with this name, up to its end: see `samples.series`."""
        found: list[float] = []
        while (number := self.numbers.get(f"series.{name}.{len(found)}")) is not None:
            found.append(number)
        return found


@dataclass(frozen=True)
class Task:
    """A point to be computed. Tasks with the same key have the same outcome."""

    key: str
    label: str
    run: Callable[[Report], Outcome | None]
    """Returns None if it was interrupted."""
    cost: float | None = None
    """For a run: a rough estimate of its packets, by which durations are compared."""


@dataclass(frozen=True)
class Run:
    """A run of a scenario, changed by scale, scheme and point, in this order."""

    scenario: str
    assignments: tuple[str, ...] = ()
    also: str = ""
    """A function, named as `module:function`, that computes further numbers from the result."""
    prepare: Mapping[str, str] = field(default_factory=dict)
    """By scheme: a function, named in the same way, that prepares what a run needs and returns
    further assignments. Its arguments are `report`, as below, and the scale's parameters by name.
    Its results depend only on these, and on what its `basis` says.
    """
    keeps_flows: bool = True
    """Whether flows are kept beside the numbers: some runs have half a million of them."""

    def task(self, point: Point, scheme: Scheme, seed: int, scale: Scale) -> Task:
        """The run of the point."""
        scenario = Scenario.load(self.scenario).set(
            *self.assignments,
            *scale.assignments,
            *scheme.assignments,
            *point.assignments,
            *point.of_scheme.get(scheme.name, ()),
            f"seed={seed}",
        )
        read = scenario.read()
        resolved = read.resolved

        def run(report: Report) -> Outcome | None:
            ready, text = scenario, resolved
            if before is not None:
                ready = scenario.set(*before(report, **scale.parameters))
                text = ready.read().resolved
            result = run_to(None, ready, progress=report)
            if result.status == "interrupted":
                return None
            kept = None
            if self.keeps_flows:
                kept = samples.of(result.flows, tomllib.loads(text), result.summary)
            numbers = {
                name: value for name, value in flat(result.summary) if not name.startswith("run.")
            }
            if also is not None:
                numbers.update(also(result))
            return Outcome(numbers, kept, text)

        what: dict[str, Any] = {}
        also = before = None
        if self.also:
            also = basis.named(self.also)
            what["also"] = basis.of(self.also)
        if scheme.name in self.prepare:
            before = basis.named(self.prepare[scheme.name])
            what["prepare"] = basis.of(self.prepare[scheme.name])
            what["parameters"] = dict(scale.parameters)
        key = _key(run=keys.of_run(keys.of_scenario(read, scenario.folder), seed), **what)
        key += "" if self.keeps_flows else "-numbers"
        label = f"{point.label} {scheme.name} seed {seed}"
        return Task(key, label, run, read.expected_packets())


@dataclass(frozen=True)
class Computed:
    """A function, named as `module:function`, of the point's coordinates.

    Its arguments are `report`, as below, and by name the coordinates, `scheme`, `seed` and the
    scale's parameters. It returns numbers by name. It should call `report(None)` at intervals, so
    that Ctrl-C can end it. Several calls run in parallel, in threads.
    """

    function: str

    def task(self, point: Point, scheme: Scheme, seed: int, scale: Scale) -> Task:
        """The call for the point."""
        function = basis.named(self.function)
        parameters: dict[str, Value] = {
            **scale.parameters,
            **point.values,
            "scheme": scheme.name,
            "seed": seed,
        }

        def run(report: Report) -> Outcome:
            report(None)
            return Outcome(dict(function(report, **parameters)))

        key = _key(function=basis.of(self.function), parameters=parameters)
        return Task(key, f"{point.label} {scheme.name} seed {seed}", run)


Measure: TypeAlias = Run | Computed
"""A way to compute the numbers of points."""


@functools.cache
def build() -> str:
    """The build of the compiled core in this process."""
    return digest(core.FILE)


def _key(**given: Any) -> str:
    text = json.dumps({"numbers": NUMBERS, **given}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
