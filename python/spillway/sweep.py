"""Several seeds and variants of a scenario, side by side."""

from __future__ import annotations

import itertools
import json
import math
import re
import statistics
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spillway import _core
from spillway.arguments import (
    Assignments,
    Seeds,
    Vary,
    callback,
    choices_of,
    seeds_of,
    whole,
)
from spillway.errors import Interrupted, ScenarioError
from spillway.folder import SUMMARY, OutputFolder
from spillway.metrics import Chosen, choose
from spillway.plugins import Plugins
from spillway.plugins.description import check_named, describe_all
from spillway.progress import Follow, Progress, shares
from spillway.quantities import exact
from spillway.result import Result, write_json
from spillway.run import prepared, run_to
from spillway.scenario import Scenario, Source
from spillway.threads import MOST_JOBS, processors, side_by_side

MOST_RUNS = 100_000
"""More runs than anybody would intend."""

_MOST_SHOWN = 4
"""The most variants named when a sweep is described in one line."""

_STATUSES = ("complete", "stopped", "deadlock", "interrupted")


@dataclass(frozen=True)
class Variant:
    """A scenario's assignments, and what distinguishes them from the other variants'."""

    label: str
    assignments: tuple[str, ...]


class Sweep:
    """The results of a sweep: for every variant those of its seeds, in order."""

    def __init__(
        self,
        results: Sequence[tuple[Variant, Sequence[Result]]],
        is_interrupted: bool = False,
        metrics: Sequence[str] = (),
    ) -> None:
        self.results = [(variant, list(runs)) for variant, runs in results]
        self.is_interrupted = is_interrupted
        """Whether some runs may never have begun."""
        self.metrics = list(metrics)
        """The metrics that are shown; the usual ones if empty."""

    @property
    def status(self) -> str:
        """The worst status of all runs; "interrupted" also if some never began."""
        if self.is_interrupted:
            return "interrupted"
        seen = [result.status for _, runs in self.results for result in runs]
        return max(seen, key=_STATUSES.index)

    @property
    def summary(self) -> dict[str, Any]:
        """Every run's summary and, for every variant, the statistics over its seeds."""
        first = self.results[0][1][0].summary
        return {
            "status": self.status,
            "scenario": first["scenario"],
            "version": first["version"],
            "metrics": self.metrics,
            "variants": [
                {
                    "label": variant.label,
                    "set": list(variant.assignments),
                    **across_seeds([result.summary for result in runs]),
                }
                for variant, runs in self.results
            ],
        }

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Sweep:
        """The sweep that this summary describes, without its tables."""
        results = [
            (Variant(each["label"], tuple(each["set"])), [Result(run, "") for run in each["runs"]])
            for each in summary["variants"]
        ]
        # In older versions no metrics could be chosen.
        return cls(results, summary["status"] == "interrupted", summary.get("metrics", ()))

    def __repr__(self) -> str:
        name = self.results[0][1][0].summary["scenario"]
        runs = sum(len(results) for _, results in self.results)
        labels = [repr(variant.label) for variant, _ in self.results if variant.label]
        more = len(labels) - _MOST_SHOWN
        shown = [*labels[:_MOST_SHOWN], *([f"{more} more"] if more > 0 else [])]
        variants = f" of {', '.join(shown)}" if shown else ""
        return f"<Sweep over {name!r}: {runs} runs{variants}, {self.status}>"

    def _repr_html_(self) -> str:
        from spillway import notebook

        return notebook.sweep(self)


def sweep(
    source: Source,
    *,
    vary: Vary = (),
    seeds: Seeds | None = None,
    set: Assignments = (),
    plugins: Plugins = (),
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    keep: bool = True,
    follow: Follow | None = None,
    metrics: Chosen = (),
) -> Sweep:
    """Runs every variant of a scenario with every seed, `jobs` at a time.

    `vary` are texts such as `switch.sharing=dt,lqd`, or a mapping of keys to lists of values;
    several of them give all combinations. Keys that are varied together are in one text, as in
    `switch.sharing=dt,abm/switch.aqm=none,ecn`, or form a tuple, mapped to a list of tuples.
    `seeds` are numbers, or a text such as `1..5`; by default the scenario's own seed is used.
    `jobs` defaults to the number of processors. With `out` every run has a subfolder there;
    otherwise tables are kept in memory if `keep` is true. Every one of `plugins` must be named by
    some variant. `metrics` are shown in table, plot and report, given as a text such as
    `short.p99,drops` or as a list; docs/results.md lists their names.

    Ctrl-C raises `Interrupted`, whose `result` holds what there is so far.
    """
    scenario = prepared(source, None, set, plugins)
    several = None if seeds is None else seeds_of(seeds)
    jobs = processors() if jobs is None else whole("jobs", jobs, 1, MOST_JOBS)
    callback("follow", follow)
    plan: list[_Run] = []
    seen: dict[str, Variant] = {}
    empty: list[dict[str, Any]] = []
    planned = variants(vary)
    scenario = scenario.may_lack(_differing(planned))
    for variant in planned:
        varied = scenario.set(*variant.assignments).with_named_plugins()
        read = varied.read()
        _check_seed(variant, several)
        same = seen.setdefault(_meaning(read.resolved), variant)
        if same is not variant:
            text = f"{same.label} and {variant.label} are the same scenario"
            raise ScenarioError(text, "each variant is run once")
        cost = None if follow is None else read.expected_packets()
        if metrics:
            # A run that never begins uses the scenario up, but provides the names of its classes.
            empty.append(json.loads(_core.Simulation(read).summary()))
        chosen = [read.seed] if several is None else several
        _check_number(len(plan) + len(chosen))
        plan += [_Run(variant, seed, varied.set(f"seed={seed}"), cost) for seed in chosen]
    named = [plugin for run in plan for plugin in run.scenario.plugins]
    check_named(describe_all(scenario.plugins), describe_all(named))
    plan = _with_folders(plan)
    shown = choose(metrics, empty) if metrics else []
    if out is None:
        done, is_interrupted = _run_all(plan, None, jobs, keep, follow)
        result = _collect(plan, done, is_interrupted, shown)
    else:
        with OutputFolder(out, force) as output:
            done, is_interrupted = _run_all(plan, output.partial, jobs, keep, follow)
            result = _collect(plan, done, is_interrupted, shown)
            write_json(output.partial / SUMMARY, result.summary)
        for run, outcome in zip(plan, done, strict=True):
            if outcome is not None:
                outcome.folder = output.place / run.folder
    if is_interrupted:
        raise Interrupted(result)
    return result


def _differing(planned: Sequence[Variant]) -> frozenset[str]:
    """The assignments that not every variant has.

    One of them that unsets a key stands for the default, so the key may well be missing.
    """
    each = [frozenset(variant.assignments) for variant in planned]
    return frozenset[str]().union(*each) - each[0].intersection(*each)


def _check_number(runs: int) -> None:
    if runs > MOST_RUNS:
        raise ScenarioError("too many runs", f"one sweep has {MOST_RUNS:,} at most")


def _meaning(resolved: str) -> str:
    """A resolved scenario, in which 1 and 1.0 are the same, and 200KB and 0.2MB."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, str):
            return exact(value) or value
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return repr(plain(tomllib.loads(resolved)))


def _check_seed(variant: Variant, seeds: list[int] | None) -> None:
    """Refuses `seeds` if variants set the seed too: one of the two would be ignored silently."""
    if seeds is not None and any(text.startswith("seed=") for text in variant.assignments):
        raise ScenarioError("seed is varied, and there are seeds besides", "choose one of them")


@dataclass(frozen=True)
class _Run:
    variant: Variant
    seed: int
    scenario: Scenario
    expected_packets: float | None = None
    label: str = ""
    folder: str = ""


def _with_folders(plan: list[_Run]) -> list[_Run]:
    """Names every run's folder after what distinguishes the run."""
    has_variants = len({run.variant for run in plan}) > 1
    has_seeds = len({run.seed for run in plan}) > 1
    named: dict[str, _Run] = {}
    for run in plan:
        parts = [run.variant.label] * has_variants
        if has_seeds or not has_variants:
            parts.append(f"seed-{run.seed}")
        folder = "/".join(re.sub(r"[^\w.=%+-]+", "_", part) for part in parts)
        unique = folder
        for number in itertools.count(2):
            if unique not in named:
                break
            unique = f"{folder}-{number}"
        named[unique] = replace(run, label=" ".join(parts), folder=unique)
    return list(named.values())


def _run_all(
    plan: list[_Run], out: Path | None, jobs: int, keep: bool, follow: Follow | None
) -> tuple[list[Result | None], bool]:
    """The results in order, None for runs that never began, and whether Ctrl-C ended the sweep."""
    parts = shares([run.expected_packets for run in plan])

    def one(place: int, stop: threading.Event) -> Result:
        run = plan[place]
        report, end = follow(run.label, parts[place]) if follow else (None, None)

        def checked(progress: Progress) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if report is not None:
                report(progress)

        try:
            folder = None if out is None else out / run.folder
            return run_to(folder, run.scenario, keep=keep, progress=checked)
        finally:
            if end is not None:
                end()

    return side_by_side(one, range(len(plan)), jobs)


def _collect(
    plan: list[_Run], done: list[Result | None], is_interrupted: bool, metrics: list[str]
) -> Sweep:
    runs: dict[Variant, list[Result]] = {}
    for run, result in zip(plan, done, strict=True):
        if result is not None:
            runs.setdefault(run.variant, []).append(result)
    if not runs:
        raise KeyboardInterrupt
    return Sweep(list(runs.items()), is_interrupted, metrics)


def variants(vary: Vary) -> list[Variant]:
    """All combinations of texts such as `switch.sharing=dt,lqd`.

    Keys that are varied together count as one.
    """
    choices = choices_of(vary)
    _check_number(math.prod(len(rows) for _, rows in choices))
    keys = [key for together, _ in choices for key in together]
    last = [key.removesuffix(".kind").rpartition(".")[2] for key in keys]
    short = [key if last.count(name) > 1 else name for key, name in zip(keys, last, strict=True)]
    found = []
    for rows in itertools.product(*(rows for _, rows in choices)):
        values = [value for row in rows for value in row]
        found.append(
            Variant(
                " ".join(
                    f"{name}={value or 'unset'}" for name, value in zip(short, values, strict=True)
                ),
                tuple(f"{key}={value}" for key, value in zip(keys, values, strict=True)),
            )
        )
    return found


_NOT_COMPARED = ("status", "scenario", "seed", "version", "slowdown_base", "run")


def _compared(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in _NOT_COMPARED}


def are_identical(summaries: Sequence[Mapping[str, Any]]) -> bool:
    """Whether several seeds came to the same in everything, so that nothing was drawn."""
    first, *others = map(_compared, summaries)
    return bool(others) and all(other == first for other in others)


def across_seeds(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The summaries of a variant's runs, and mean, deviation and range of their numbers."""
    compared = [_compared(summary) for summary in summaries]

    def deviation(values: list[float]) -> float | None:
        return statistics.stdev(values) if len(values) > 1 else None

    return {
        "seeds": [summary["seed"] for summary in summaries],
        "identical": are_identical(summaries),
        "runs": list(summaries),
        "mean": _combine(compared, statistics.fmean),
        "std": _combine(compared, deviation),
        "min": _combine(compared, min),
        "max": _combine(compared, max),
    }


def _combine(values: Sequence[Any], function: Callable[[list[float]], float | None]) -> Any:
    """Combines documents of the same shape into one, number by number.

    A missing number, such as the count of a reason for drops that did not occur, counts as 0; null
    does not count.
    """
    if any(isinstance(value, dict) for value in values):
        known = [value for value in values if value is not None]
        keys = dict.fromkeys(key for value in known for key in value)
        columns = ((key, [value.get(key, 0) for value in known]) for key in keys)
        combined = ((key, _combine(column, function)) for key, column in columns)
        return {key: value for key, value in combined if value is not _Nothing}
    if any(isinstance(value, (str, list)) for value in values):
        return _Nothing
    numbers = [float(value) for value in values if value is not None]
    return function(numbers) if numbers else None


class _Nothing:
    """Stands for a value that has no mean."""
