"""What figures come to: points that are really run, and what is said of points that are made up.

Kept results are found by their keys, so a point whose key is as before must have the numbers that
it had. `make digests` writes what is kept anew, and refuses where a results number should have
risen.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from spillway.base.errors import ScenarioWarning
from spillway.scenario.scenario import Scenario
from spillway_studies import catalogue
from spillway_studies.claims import Figure, Outcome, Run, Scale, Value, results, write
from spillway_studies.claims.point import Task

KEPT = Path(__file__).parent / "data" / "figures.json"
FIGURES = {figure.name: figure for figure in catalogue.every()}
SEEDS = (1, 2, 3)
_FLOWS = 40
"""Of every section of traffic that ends after a number of flows."""
_SHORT = ("warmup=0us", "duration=3ms", "stop=23ms")
_WHOLE = (
    "smartbuf/figure4",
    "pred/figure4-queues",
    "pred/figure19",
    "pred/figure25",
    "pred/figure26",
)
"""Whose numbers are of certain moments of the run."""
_PARAMETERS: Mapping[str, Mapping[str, Value]] = {
    "credence/table1": {"packets_per_port": 4},
    "credence/figure3": {"rounds": 5},
    "credence/figure14": {"slots": 2000},
    "credence/figure14-loads": {"slots": 2000},
    "credence/figure14-ports": {"slots": 2000},
    "credence/figure15": {"duration": "60ms"},
    "credence/models": {"duration": "60ms", "one_in": 200},
    "credence/shifting": {"part_ms": 20, "last_ms": 80},
    "credence/theory": {"instances": 50},
    "smartbuf/figure8-unbounded": {"warmup": "1ms", "duration": "6ms"},
    "smartbuf/claim-unbounded": {"learned": "5ms", "warmup": "1ms", "duration": "6ms"},
    "pred/figure16": {"duration": "10ms"},
    "pred/figure17": {"duration": "10ms"},
    "qclimb/jobs": {"until_ms": 55},
    "qclimb/jobs-simulation": {"until_ms": 55},
    "qclimb/jobs-choices": {"until_ms": 55},
}
"""Of functions: smaller ones than those of the quick scale."""


def tasks(figure: Figure) -> Iterator[Task]:
    """The first point under the first and the last scheme that train nothing, made short.

    Of the figure about models, also under those that train.
    """
    quick = figure.scale("quick")
    assert quick is not None
    parameters = {**quick.parameters, **_PARAMETERS.get(figure.name, {})}
    run = figure.measure
    prepared = run.prepare if isinstance(run, Run) else {}
    plain = [scheme for scheme in figure.schemes if scheme.name not in prepared]
    chosen = {scheme.name: scheme for scheme in (plain[0], plain[-1])}
    if figure.name == "qclimb/jobs-choices":
        # The other one trains a forest for half a minute.
        chosen.pop(plain[-1].name)
    if figure.name == "credence/models":
        chosen |= {scheme.name: scheme for scheme in figure.schemes if scheme.name in prepared}
    point = figure.points[0]
    for scheme in chosen.values():
        cut = point
        if isinstance(run, Run) and figure.name not in _WHOLE:
            own = point.of_scheme.get(scheme.name, ())
            sets = (*run.assignments, *quick.assignments, *scheme.assignments)
            scenario = Scenario.load(run.scenario).set(*sets, *point.assignments, *own)
            sections = [each for each in scenario.resolved["traffic"] if each.get("flows")]
            fewer = tuple(f"traffic.{each['name']}.flows={_FLOWS}" for each in sections)
            cut = replace(point, of_scheme={scheme.name: (*own, *(fewer or _SHORT))})
        yield figure.measure.task(cut, scheme, 1, Scale((1,), quick.assignments, parameters))


def run(task: Task) -> Outcome:
    """What the task gives."""
    outcome = task.run(lambda _: None)
    assert outcome is not None
    return outcome


def digest(found: object) -> str:
    """Of numbers to nine digits: the last ones are those of a machine's vector units."""

    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return f"{value:.8e}"
        if isinstance(value, Mapping):
            return {key: rounded(each) for key, each in value.items()}
        return [rounded(each) for each in value] if isinstance(value, list | tuple) else value

    return hashlib.sha256(json.dumps(rounded(found), sort_keys=True).encode()).hexdigest()[:16]


def digest_of(outcome: Outcome) -> str:
    """Of all numbers and samples."""
    samples = outcome.samples
    flows = (
        {}
        if samples is None
        else {name: samples[name].to_pylist() for name in samples.schema.names}
    )
    return digest([dict(outcome.numbers), flows])


def said(figure: Figure, outcome: Outcome) -> str:
    """Of the figure's summary, if all its points were about as this one."""

    def drawn(place: int, scheme: str, seed: int) -> Outcome:
        stream = np.random.default_rng([place, zlib.crc32(scheme.encode()), seed])
        given = outcome.numbers.items()
        known = {name: value for name, value in given if isinstance(value, int | float)}
        factors = stream.uniform(0.5, 1.5, len(known)).tolist()
        numbers = {name: value * factors.pop() for name, value in known.items()}
        samples = None if outcome.samples is None else outcome.samples.slice(0, 60)
        for column in ("slowdown", "fct_us"):
            if samples is not None:
                values = samples[column].to_numpy() * stream.uniform(0.5, 1.5, len(samples))
                position = samples.schema.get_field_index(column)
                samples = samples.set_column(position, column, pa.array(values))
        return replace(outcome, numbers={**outcome.numbers, **numbers}, samples=samples)

    schemes = [scheme.name for scheme in figure.schemes]
    every = [(place, scheme) for place in range(len(figure.points)) for scheme in schemes]
    outcomes = {(*cell, seed): drawn(*cell, seed) for cell in every for seed in SEEDS}
    with mock.patch.object(results, "REPLICATES", 20):
        made = results.Results(figure, SEEDS, outcomes)
        document = write.document(made, "quick")
    return digest({key: document[key] for key in ("points", "metrics", "claims", "verdicts")})


def of_figure(name: str) -> dict[str, Any]:
    """The digests of a figure: of points by their keys, and of what is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        planned = list(tasks(FIGURES[name]))
        outcomes = [run(task) for task in planned]
        points = {
            task.key: digest_of(outcome) for task, outcome in zip(planned, outcomes, strict=True)
        }
        return {"points": points, "said": said(FIGURES[name], outcomes[0])}


def untold(before: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """The points that have other numbers under the same key."""
    was = before["points"]
    return [key for key, now in found["points"].items() if was.get(key, now) != now]


def main() -> int:
    """Writes what is kept."""
    before = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with ProcessPoolExecutor() as pool:
        found = dict(zip(FIGURES, pool.map(of_figure, FIGURES), strict=True))
    wrong = [name for name in found if name in before and untold(before[name], found[name])]
    if wrong:
        print(f"other numbers, and no results number has risen: {', '.join(wrong)}")
        return 1
    KEPT.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
