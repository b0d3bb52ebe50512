"""How a point gives numbers: by a run of a scenario, or by a function of its parameters."""

from __future__ import annotations

import functools
import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from spillway.base import core
from spillway.base.checksums import digest
from spillway.experiment import keys
from spillway.result.summary_paths import flat
from spillway.run.run import run_to
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.claims import basis, samples

if TYPE_CHECKING:
    import pyarrow as pa

    from spillway_studies.claims.axes import Point, Scale, Scheme, Value

NUMBERS = 1
"""The results number of what is taken from a run: its summary's numbers, and samples of flows."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point under one scheme with one seed."""

    numbers: Mapping[str, float | None]
    samples: pa.Table | None = None
    """The flows, if more than numbers is needed: see `spillway_studies.claims.samples`."""
    scenario: str = ""
    """The scenario with every value written out, if it was a run."""
    cpu_s: float = 0.0
    """CPU time that it took, in seconds."""

    def series(self, name: str) -> list[float]:
        """The series with this name, up to its end: see `spillway_studies.claims.series`."""
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


class Measure(Protocol):
    """A way to compute the numbers of points."""

    def task(self, point: Point, scheme: Scheme, seed: int, scale: Scale) -> Task:
        """The task for a point."""


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


@functools.cache
def build() -> str:
    """The build of the compiled core in this process."""
    return digest(core.FILE)


def _key(**given: Any) -> str:
    text = json.dumps({"numbers": NUMBERS, **given}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
