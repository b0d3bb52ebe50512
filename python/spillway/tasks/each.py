"""A list of calls whose results nobody keeps, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from spillway.tasks.memory import Memory
from spillway.tasks.run import Report, run

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass(frozen=True)
class _Call(Generic[Item]):
    key: str
    label: str
    cost: float | None
    item: Item


def all_of(work: Callable[[Item, Report], Done], items: Sequence[Item], jobs: int) -> list[Done]:
    """The results of `work` for every item, in order.

    It should call its second argument now and then: after Ctrl-C, or a failure of another call,
    which is raised, that ends it by a KeyboardInterrupt. Ctrl-C raises one here, too.
    """
    store = Memory()
    calls = [_Call(str(place), f"{place}", None, item) for place, item in enumerate(items)]

    def compute(call: _Call[Item], report: Report) -> bool:
        store.put(call.key, work(call.item, report))
        return True

    if calls and not run(calls, store, compute, jobs=jobs):
        raise KeyboardInterrupt
    return [store.get(call.key) for call in calls]
