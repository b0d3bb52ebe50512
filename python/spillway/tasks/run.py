"""Computes what a store lacks, on several threads, beside other processes that do the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from spillway.base.progress import Follow, Progress, shares
from spillway.base.threads import processors, side_by_side
from spillway.tasks.store import Memory, Store

Report = Callable[[Progress | None], object]
"""Called during a call; raises KeyboardInterrupt to end it."""
_WAIT_S = 0.2
"""The time between two looks at what others have finished."""


class Task(Protocol):
    """A call. Those with the same key have the same result."""

    @property
    def key(self) -> str:
        """All that the result depends on, as a name that a file can have."""

    @property
    def label(self) -> str:
        """What it is, for people."""

    @property
    def cost(self) -> float | None:
        """How long it takes relative to other tasks, if that is known."""


Kind = TypeVar("Kind", bound=Task)


def run(
    tasks: Sequence[Kind],
    store: Store | Memory,
    compute: Callable[[Kind, Report], bool],
    *,
    jobs: int | None = None,
    follow: Follow | None = None,
    done: Callable[[str], object] | None = None,
) -> bool:
    """Computes what is not in the store. Returns whether all of it is there now.

    `compute` puts a task's result into the store, or returns False if `report` ended it. Tasks that
    another process computes are waited for, and taken over if that process is gone. After Ctrl-C it
    returns False, and calls at work end soon. `done` is called with the label of every task whose
    result has come, also from other processes.
    """
    costs = shares([task.cost for task in tasks])
    parts = {task.key: share for task, share in zip(tasks, costs, strict=True)}
    store.refresh()
    left = {task.key: task for task in tasks if not store.has(task.key)}
    own: set[str] = set()
    lock = threading.Lock()

    def next_one() -> Kind | None:
        """A task that nobody has, which is claimed now."""
        with lock:
            drop(store.refresh())
            while True:
                free = (task for task in left.values() if task.key not in own)
                claimed = next((task for task in free if store.claims.take(task.key)), None)
                if claimed is None:
                    return None
                # Its result may have come, and its claim gone, since the last look.
                drop(store.refresh())
                if claimed.key in left:
                    own.add(claimed.key)
                    return claimed
                store.claims.release(claimed.key)

    def drop(come: Sequence[str]) -> None:
        for key in come:
            task = left.pop(key, None)
            if task is not None and follow is not None:
                _, end = follow(task.label, parts[key])
                end()
            if task is not None and done is not None:
                done(task.label)

    def lane(_: int, stop: threading.Event) -> None:
        while not stop.is_set():
            task = next_one()
            if task is None:
                with lock:
                    is_over = own.issuperset(left)
                if is_over:
                    # If tasks are left, other lanes are at work on them.
                    return
                stop.wait(_WAIT_S)
            elif not one(task, stop):
                return

    def one(task: Kind, stop: threading.Event) -> bool:
        report, end = follow(task.label, parts[task.key]) if follow else (None, None)

        def checked(progress: Progress | None) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if report is not None and progress is not None:
                report(progress)

        try:
            is_done = compute(task, checked)
        except KeyboardInterrupt:
            is_done = False
        finally:
            # The claim of a stored result goes once others can see the result.
            if not store.has(task.key):
                store.claims.release(task.key)
            with lock:
                own.discard(task.key)
                if store.has(task.key):
                    left.pop(task.key, None)
            if end is not None:
                end()
        assert not is_done or store.has(task.key), f"{task.label} has not been put"
        if is_done and done is not None:
            done(task.label)
        return is_done

    lanes = min(jobs or processors(), len(tasks))
    _, is_interrupted = side_by_side(lane, range(lanes), lanes)
    store.refresh()
    return not is_interrupted and all(store.has(task.key) for task in tasks)
