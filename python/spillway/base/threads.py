"""Parallel work in threads: while it simulates, the core does not hold the interpreter's lock.

Linear algebra, however, is better done by one thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from spillway.base.interrupts import noted

Item = TypeVar("Item")
Done = TypeVar("Done")

MOST_JOBS = 1024
"""More runs at once than this are a mistake."""
MOST_THREADS = 1024
"""More threads of a run than this are a mistake."""
_TURN_S = 0.2


def side_by_side(
    work: Callable[[Item, threading.Event], Done | None], items: Sequence[Item], jobs: int
) -> tuple[list[Done | None], bool]:
    """The results of `work` for every item, in order, and whether Ctrl-C ended it.

    Items that were not begun give None. After a failure, or on Ctrl-C, the event passed to `work`
    is set, and `work` should end soon. A failure is raised when all have ended.
    """
    stop = threading.Event()
    told: list[int] = []

    def one(item: Item) -> Done | None:
        return None if stop.is_set() else work(item, stop)

    # Ctrl-C may come at any time, also twice, also within its handler: that only leaves a note.
    note = noted(lambda number, _: told.append(number))
    with note, ThreadPoolExecutor(max(1, min(jobs, len(items)))) as pool:
        futures = [pool.submit(one, item) for item in items]
        try:
            _wait(futures, told)
        finally:
            if not all(future.done() and not future.exception() for future in futures):
                stop.set()
    return [future.result() for future in futures], bool(told)


def all_of(
    work: Callable[[Item, Callable[[object], object]], Done], items: Sequence[Item], jobs: int
) -> list[Done]:
    """The results of `work` for every item, in order.

    `work` should call its second argument now and then: after Ctrl-C, or after a failure of another
    call, that raises KeyboardInterrupt. Here the failure is raised, or KeyboardInterrupt after
    Ctrl-C.
    """

    def one(item: Item, stop: threading.Event) -> list[Done] | None:
        def report(_: object) -> None:
            if stop.is_set():
                raise KeyboardInterrupt

        try:
            return [work(item, report)]
        except KeyboardInterrupt:
            return None

    done, is_interrupted = side_by_side(one, items, jobs)
    if is_interrupted or None in done:
        raise KeyboardInterrupt
    return [result for found in done if found is not None for result in found]


def _wait(futures: Iterable[Future[Any]], told: Sequence[int]) -> None:
    """Waits until all are done, one has failed, or a signal has come."""
    left = set(futures)
    while left and not told:
        done, left = wait(left, timeout=_TURN_S, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            return


@contextmanager
def one_for_linear_algebra() -> Iterator[None]:
    """Leaves one thread to numpy's and scipy's BLAS, which otherwise have one for each processor.

    Short products gain nothing from several threads. Waiting threads spin, so next to other work
    they take several times as long.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def processors() -> int:
    """The number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
