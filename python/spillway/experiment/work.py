"""Computes the runs that an experiment lacks, in this process."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from spillway.base import checksums
from spillway.base.documents import documents
from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow, Progress
from spillway.experiment.keys import record_of
from spillway.result.result import Result
from spillway.run.run import run_into, run_to
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report, run
from spillway.tasks.segment import made, sync
from spillway.tasks.store import Memory, Store

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


def in_folder(
    place: Path, scenario: Scenario, report: Callable[[Progress], object], threads: int = 1
) -> Result:
    """Runs a scenario, and keeps its tables in a folder, unless it is interrupted."""
    with whole_folder(place) as partial:
        # Who planned it has warned of what may be wrong with it.
        result = run_into(partial, scenario, report, warns=False, threads=threads)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        checksums.write(partial, but="")
        if not _is_same(place, result):
            # It is incomplete, or another plug-in has written it.
            shutil.rmtree(place, ignore_errors=True)
    return result


def tidy(folder: Path, complete: Collection[str]) -> None:
    """Removes what killed workers have left of runs that are complete, named by folders."""
    for left in folder.glob("*.partial"):
        if left.name.rsplit(".", 2)[0] in complete:
            shutil.rmtree(left, ignore_errors=True)


def _is_same(place: Path, result: Result) -> bool:
    """Whether a folder has all of a run with the same results."""
    if not checksums.is_whole(place):
        return False
    try:
        there, _ = documents(place)
    except ScenarioError:
        return False
    return {**there, "run": None} == {**result.summary, "run": None}


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A context in which a folder is made under another name, and renamed when it is complete.

    If another process has made the same folder meanwhile, that one stays.
    """
    made(place.parent)
    partial = place.with_name(f"{place.name}.{secrets.token_hex(8)}.partial")
    partial.mkdir()
    try:
        yield partial
        for here, _, files in os.walk(partial):
            for name in files:
                sync(Path(here, name))
            sync(Path(here))
        try:
            partial.rename(place)
        except OSError:
            if not place.is_dir():
                raise
        sync(place.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def work(
    runs: Sequence[Run],
    store: Store | Memory,
    *,
    folder: Path | None = None,
    tables: dict[str, Result] | None = None,
    computed: Callable[[], object] = lambda: None,
    jobs: int | None = None,
    threads: int = 1,
    follow: Follow | None = None,
) -> bool:
    """Computes runs that nobody else computes, and waits for the others.

    Returns whether all are there.

    Their tables are kept in folders within `folder`, or in `tables` by their keys. `computed` is
    called after each that was computed here.
    """

    def one(task: Run, report: Report) -> bool:
        scenario = task.scenario.set(f"seed={task.seed}")
        if folder is not None:
            result = in_folder(folder / task.folder, scenario, report, threads)
        else:
            keep = tables is not None
            result = run_to(
                None, scenario, keep=keep, threads=threads, progress=report, warns=False
            )
        if result.status == "interrupted":
            return False
        if tables is not None:
            tables[task.key] = result
        store.put(task.key, record_of(result.summary))
        computed()
        return True

    try:
        return run(runs, store, one, jobs=jobs, follow=follow)
    finally:
        with suppress(KeyboardInterrupt):
            store.close()
