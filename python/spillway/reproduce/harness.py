"""Runs the points of figures in parallel, and each of them only once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spillway.errors import ScenarioError
from spillway.progress import Follow, Progress, shares
from spillway.reproduce.cache import Cache
from spillway.reproduce.figure import Figure
from spillway.reproduce.point import Outcome, Task
from spillway.reproduce.results import Results
from spillway.threads import processors, side_by_side


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
        for place, point in enumerate(figure.points):
            for scheme in figure.schemes:
                for seed in chosen[-1]:
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

    `done` is called with the label of every point that has been computed and stored. Ctrl-C raises
    `Unfinished`.
    """
    found: dict[str, Outcome] = {}
    left = []
    for key, task in planned.tasks.items():
        outcome = cache.load(key)
        if outcome is None:
            left.append(task)
        else:
            found[key] = outcome
    costs = [task.expected_packets for task in left]
    parts = dict(zip((task.key for task in left), shares(costs), strict=True))

    def one(task: Task, stop: threading.Event) -> Outcome | None:
        report, end = follow(task.label, parts[task.key]) if follow else (None, None)

        def checked(progress: Progress | None) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if report is not None and progress is not None:
                report(progress)

        begin = time.thread_time()
        try:
            outcome = task.run(checked)
        except KeyboardInterrupt:
            return None
        finally:
            if end is not None:
                end()
        if outcome is not None:
            outcome = replace(outcome, cpu_s=time.thread_time() - begin)
            cache.store(task.key, outcome)
            if done is not None:
                done(task.label)
        return outcome

    outcomes, is_interrupted = side_by_side(one, left, jobs or processors())
    found.update(
        (task.key, outcome)
        for task, outcome in zip(left, outcomes, strict=True)
        if outcome is not None
    )
    if is_interrupted or len(found) < len(planned.tasks):
        raise Unfinished(len(found), len(planned.tasks))
    return [
        Results(figure, seeds, {place: found[key] for place, key in keys.items()})
        for figure, seeds, keys in zip(planned.figures, planned.seeds, planned.keys, strict=True)
    ]
