"""Runs of a scenario: as the reference has it, with other draws, and with one change at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from spillway.scenario.scenario import Scenario
from spillway.tasks.each import all_of
from spillway.tasks.run import Report

Item = TypeVar("Item")
Done = TypeVar("Done")

HASHES = ("hash_seeds=same", "hash_seeds=per-switch")
"""Ways to draw paths ourselves instead of using the program's."""


@dataclass(frozen=True)
class Outcomes(Generic[Done]):
    """What came of all runs."""

    ours: Done
    drawn: list[Done]
    """With other draws."""
    changed: dict[str, Done]
    """With one change, by the change."""


def run_each(
    work: Callable[[Item, Report], Done],
    given: Item,
    drawn: Sequence[Item],
    changes: Mapping[str, Item],
    jobs: int,
) -> Outcomes[Done]:
    """Runs everything, on several threads."""
    ours, *others = all_of(work, [given, *drawn, *changes.values()], jobs)
    changed = dict(zip(changes, others[len(drawn) :], strict=True))
    return Outcomes(ours, others[: len(drawn)], changed)


def with_hash_seeds(drawn: Scenario, count: int) -> list[Scenario]:
    """Scenarios with paths that our own hash draws, anew for each."""
    return [drawn.set(f"routing.hash_seed={seed}") for seed in range(1, count + 1)]


def with_changes(given: Scenario, drawn: Scenario, ways: Sequence[str]) -> dict[str, Scenario]:
    """The scenario with one change at a time, by the change; at last with paths that we draw."""
    changes = {change: given.set(*change.split(", ")) for change in ways}
    return changes | {f"paths drawn, {each}": drawn.set(f"routing.{each}") for each in HASHES}
