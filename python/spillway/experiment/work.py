"""Computes the runs that an experiment lacks, in this process."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from spillway.base import checksums
from spillway.base.documents import documents
from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow, Progress
from spillway.experiment.records import record_of
from spillway.result.result import Result
from spillway.run.run import run_into, run_to
from spillway.scenario.scenario import Scenario
from spillway.tasks.memory import Memory
from spillway.tasks.run import Report, run
from spillway.tasks.segment import made, sync
from spillway.tasks.store import Store

RUNS = "runs"
"""The folder of runs that have tables."""


@dataclass(frozen=True)
class Run:
    """A run to be computed."""

    key: str
    label: str
    cost: float | None
    scenario: Scenario
    seed: int
    folder: str
    """The name of its folder, if its tables are kept in one."""


class Numbers:
    """Only the numbers are kept."""

    def run(self, _: Run, scenario: Scenario, report: Callable[[Progress], object]) -> Result:
        """Runs it."""
        return run_to(None, scenario, keep=False, progress=report)


class InMemory:
    """Tables are kept in memory."""

    def __init__(self) -> None:
        self.results: dict[str, Result] = {}

    def run(self, run: Run, scenario: Scenario, report: Callable[[Progress], object]) -> Result:
        """Runs it."""
        result = run_to(None, scenario, progress=report)
        self.results[run.key] = result
        return result


class InFolders:
    """Every run has a folder, complete when it is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, run: Run, scenario: Scenario, report: Callable[[Progress], object]) -> Result:
        """Runs it."""
        made(self._folder)
        partial = self._folder / f"{run.folder}.{secrets.token_hex(8)}.partial"
        partial.mkdir()
        try:
            result = run_into(partial, scenario, report)
            if result.status != "interrupted":
                checksums.write(partial, but="")
                synced(partial)
                place = self._folder / run.folder
                if not _is_same(place, result):
                    # Something of it was taken away, or it is what another plug-in has left.
                    shutil.rmtree(place, ignore_errors=True)
                put(partial, place)
            return result
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def tidy(self, complete: Collection[str]) -> None:
        """Removes what killed workers have left of runs that are complete, named by folders."""
        for left in self._folder.glob("*.partial"):
            if left.name.rsplit(".", 2)[0] in complete:
                shutil.rmtree(left, ignore_errors=True)


Kept: TypeAlias = Numbers | InMemory | InFolders
"""Where what a run has come to is kept, besides its numbers; not if it was interrupted."""


def _is_same(place: Path, result: Result) -> bool:
    """Whether a folder has all of a run that came to the same."""
    if not checksums.is_whole(place):
        return False
    try:
        there, _ = documents(place)
    except ScenarioError:
        return False
    return {**there, "run": None} == {**result.summary, "run": None}


def put(partial: Path, place: Path) -> None:
    """Renames a complete folder, unless another one, with the same in it, has come before."""
    try:
        partial.rename(place)
    except OSError:
        if not place.is_dir():
            raise
    sync(place.parent)


def synced(folder: Path) -> None:
    """Brings all that is in a folder to the disk."""
    for here, _, files in os.walk(folder):
        for name in files:
            sync(Path(here, name))
        sync(Path(here))


def work(
    runs: Sequence[Run],
    store: Store | Memory,
    kept: Kept,
    computed: Callable[[Run], object] = lambda _: None,
    *,
    jobs: int | None = None,
    follow: Follow | None = None,
) -> bool:
    """Computes runs that nobody else computes, and waits for the others; whether all are there.

    `computed` is called after each that was computed here.
    """

    def one(task: Run, report: Report) -> bool:
        result = kept.run(task, task.scenario.set(f"seed={task.seed}"), report)
        if result.status == "interrupted":
            return False
        store.put(task.key, record_of(result.summary))
        computed(task)
        return True

    try:
        return run(runs, store, one, jobs=jobs, follow=follow)
    finally:
        with suppress(KeyboardInterrupt):
            store.close()
