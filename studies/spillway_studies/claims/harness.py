"""Runs the points of figures in parallel, and each of them only once."""

import itertools
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spillway.base import parquet
from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow
from spillway.tasks.run import Report, run
from spillway.tasks.store import Store
from spillway_studies.claims.figure import Figure
from spillway_studies.claims.point import Outcome, Task
from spillway_studies.claims.results import Results


def default_folder() -> Path:
    """`$SPILLWAY_CACHE`, or the user's folder for data that may be deleted at any time."""
    if own := os.environ.get("SPILLWAY_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "spillway" / "results"


class Cache(Store):
    """A folder of outcomes, which several processes may share."""

    def check(self) -> None:
        """Refuses a folder that cannot be used, before anything is computed."""
        super().check()
        self.refresh()

    def load(self, key: str) -> Outcome | None:
        """The point, if it is there and can be read."""
        entry = self.get(key)
        if entry is None:
            return None
        samples = None
        if entry["has_samples"]:
            try:
                samples = parquet.read(self.file(key), only_sealed=True)
            except (KeyError, TypeError, ValueError):
                self.forget(key)
                return None
        return Outcome(entry["numbers"], samples, entry["scenario"], entry["cpu_s"])

    def store(self, key: str, outcome: Outcome) -> None:
        """Keeps a point."""
        samples = outcome.samples
        entry = {
            "numbers": dict(outcome.numbers),
            "scenario": outcome.scenario,
            "cpu_s": outcome.cpu_s,
            "has_samples": samples is not None,
        }
        write = None if samples is None else lambda partial: parquet.write(samples, partial)
        self.put(key, entry, write)


class Unfinished(KeyboardInterrupt):
    """Ctrl-C came before all points were computed; those that were are kept."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__("interrupted")
        self.done = done
        self.total = total


@dataclass(frozen=True)
class Plan:
    """The work to be done for some figures."""

    figures: tuple[Figure, ...]
    seeds: tuple[tuple[int, ...], ...]
    """The seeds, by figure."""
    keys: tuple[dict[tuple[int, str, int], str], ...]
    """By figure: the key of every point, scheme and seed."""
    tasks: dict[str, Task]
    """The tasks by key; figures share the points that they have in common."""


def plan(figures: Sequence[Figure], scale: str, seeds: Sequence[int] | None = None) -> Plan:
    """The work to be done. By default the seeds are those of the scale."""
    tasks: dict[str, Task] = {}
    chosen, keys = [], []
    for figure in figures:
        size = figure.scale(scale)
        if size is None:
            hint = f"valid here: {', '.join(figure.scales)}"
            raise ScenarioError(f"{figure.name} has no scale {scale!r}", hint)
        chosen.append(tuple(seeds or size.seeds))
        own = {}
        cells = itertools.product(enumerate(figure.points), figure.schemes, chosen[-1])
        for (place, point), scheme, seed in cells:
            task = figure.measure.task(point, scheme, seed, size)
            tasks.setdefault(task.key, task)
            own[place, scheme.name, seed] = task.key
        keys.append(own)
    return Plan(tuple(figures), tuple(chosen), tuple(keys), tasks)


def compute(
    planned: Plan,
    cache: Cache,
    *,
    jobs: int | None = None,
    follow: Follow | None = None,
    done: Callable[[str], object] | None = None,
) -> list[Results]:
    """The results of every figure. Points in the cache are taken from there.

    Several processes that share the cache share the work. `done` is called with the label of every
    point that has been computed and stored. Ctrl-C raises `Unfinished`.
    """
    cache.check()
    found = {key: outcome for key in planned.tasks if (outcome := cache.load(key)) is not None}

    def one(task: Task, report: Report) -> bool:
        begin = time.thread_time()
        outcome = task.run(report)
        if outcome is None:
            return False
        outcome = replace(outcome, cpu_s=time.thread_time() - begin)
        cache.store(task.key, outcome)
        found[task.key] = outcome
        return True

    is_whole = True
    try:
        while left := [task for key, task in planned.tasks.items() if key not in found]:
            is_whole = run(left, cache, one, jobs=jobs, follow=follow, done=done)
            # Another process may have computed some; what cannot be read is computed here.
            others = [task.key for task in left if task.key not in found]
            found.update({key: each for key in others if (each := cache.load(key)) is not None})
            if not is_whole:
                break
    finally:
        cache.close()
    if not is_whole:
        raise Unfinished(len(found), len(planned.tasks))
    return [
        Results(figure, seeds, {place: found[key] for place, key in keys.items()})
        for figure, seeds, keys in zip(planned.figures, planned.seeds, planned.keys, strict=True)
    ]
