"""How a point becomes numbers: by a run of a scenario, or by any function of its parameters."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from spillway import _core
from spillway.checksums import digest
from spillway.progress import Progress
from spillway.reproduce import samples
from spillway.run import run_to
from spillway.scenario import Scenario

if TYPE_CHECKING:
    import pyarrow as pa

    from spillway.reproduce.figure import Point, Scale, Scheme, Value

Report = Callable[[Progress | None], object]
"""Called as a point goes on; raises KeyboardInterrupt where it is to end."""


@dataclass(frozen=True)
class Outcome:
    """What has come of a point, under one scheme, with one seed."""

    numbers: Mapping[str, float | None]
    samples: pa.Table | None = None
    """The flows, for what needs more than numbers: see `spillway.reproduce.samples`."""
    scenario: str = ""
    """The scenario with every value written out, if it was a run."""
    cpu_s: float = 0.0
    """CPU time that it took, in seconds."""


@dataclass(frozen=True)
class Task:
    """A point to be computed; tasks with one key come to the same."""

    key: str
    label: str
    run: Callable[[Report], Outcome | None]
    """None if it was interrupted."""
    expected_bytes: float | None = None
    """Of a run: about how much it will carry, which tells how long it takes beside others."""


class Measure(Protocol):
    """A way in which points become numbers."""

    def task(self, point: Point, scheme: Scheme, seed: int, scale: Scale) -> Task:
        """What there is to do for a point."""


@dataclass(frozen=True)
class Run:
    """A run of a scenario, changed by scale, scheme and point, in this order."""

    scenario: str
    assignments: tuple[str, ...] = ()
    also: str = ""
    """A function, named as `module:function`, that makes further numbers of the run's result."""
    prepare: Mapping[str, str] = field(default_factory=dict)
    """By scheme: a function, named so too, that makes ready what a run needs, and returns further
    assignments. It is called with what `report` is below, and by name with the scale's parameters;
    what it makes follows from these, the package and the compiled core."""

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
            numbers = dict(flat(result.summary))
            if also is not None:
                numbers.update(also(result))
            return Outcome(numbers, kept, text)

        files = {key: digest(scenario.folder / file) for key, file in read.files}
        also = named(self.also) if self.also else None
        what: dict[str, Any] = {"also": self.also, "code": _file_of(also)} if also else {}
        before = named(self.prepare[scheme.name]) if scheme.name in self.prepare else None
        if before is not None:
            made = {"prepare": self.prepare[scheme.name], "parameters": scale.parameters}
            what |= {**made, "package": _code(before)}
        key = _key(scenario=resolved, files=files, **what)
        label = f"{point.label} {scheme.name} seed {seed}"
        return Task(key, label, run, read.expected_bytes())


@dataclass(frozen=True)
class Computed:
    """A function, named as `module:function`, of the point's coordinates.

    It is called with what `report` is below, and by name with the coordinates, with `scheme`,
    `seed` and the scale's parameters; it returns numbers by name. It should call `report(None)`
    now and then, so that Ctrl-C can end it. Several are called at a time, in threads.
    """

    function: str

    def task(self, point: Point, scheme: Scheme, seed: int, scale: Scale) -> Task:
        """The call for the point."""
        function = named(self.function)
        parameters: dict[str, Value] = {
            **scale.parameters,
            **point.values,
            "scheme": scheme.name,
            "seed": seed,
        }

        def run(report: Report) -> Outcome:
            report(None)
            return Outcome(dict(function(report, **parameters)))

        key = _key(function=self.function, code=_code(function), parameters=parameters)
        return Task(key, f"{point.label} {scheme.name} seed {seed}", run)


def named(function: str) -> Callable[..., Any]:
    """The function that `module:function` names."""
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def flat(document: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, float | None]]:
    """The numbers of a summary by their dotted path; what a run has cost is not among them.

    >>> dict(flat({"drops": {"aqm": 3}, "status": "complete", "run": {"cpu_s": 1.0}}))
    {'drops.aqm': 3}
    """
    for name, value in document.items():
        path = f"{within}{name}"
        if isinstance(value, Mapping):
            if path != "run":
                yield from flat(value, f"{path}.")
        elif value is None or isinstance(value, (int, float)):
            yield path, value


@functools.cache
def build() -> str:
    """The compiled core that this process runs."""
    assert _core.__file__ is not None
    return digest(Path(_core.__file__))


def _code(function: Callable[..., object]) -> dict[str, str]:
    """What a function may call: its own file, and all of this package."""
    return {**_package(), "": _file_of(function)}


def _file_of(function: Callable[..., object]) -> str:
    """The file in which a function is."""
    source = inspect.getsourcefile(function)
    return digest(Path(source)) if source else ""


@functools.cache
def _package() -> dict[str, str]:
    folder = Path(__file__).parent.parent
    files = sorted(folder.rglob("*.py"))
    return {str(file.relative_to(folder)): digest(file) for file in files}


@functools.cache
def _form() -> list[str]:
    """What makes numbers of a run."""
    return [digest(Path(file)) for file in (__file__, str(samples.__file__))]


def _key(**given: Any) -> str:
    text = json.dumps({"form": _form(), "build": build(), **given}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
