"""A trace that is made up: small, and of every switch something else is to be learned."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from spillway.learning.oracle.trace import Place, Trace
from spillway.scenario.fates import FEATURES
from spillway_studies.credence.figures import models

# Of a switch: how much of the buffer queues hold with which LQD keeps packets, and drops them.
EVEN, ODD, SPINE = (0.1, 0.4), (0.6, 0.9), (0.4, 0.1)
HABITS = {f"leaf{number}": (EVEN, ODD)[number % 2] for number in range(16)}
HABITS |= {f"spine{number}": SPINE for number in range(4)}
ROWS = {name: 40 + place for place, name in enumerate(HABITS)}
"""How many packets are known of each: of every switch another number."""
ALL_ROWS = sum(ROWS.values())


def a_trace() -> Trace:
    """An odd leaf never sees what an even one drops; a spine keeps that."""
    draws = np.random.default_rng(1)
    names = [name for name, rows in ROWS.items() for _ in range(rows)]
    rows, buffer = len(names), 1000.0
    dropped = draws.random(rows) < 0.5
    queue = np.array(
        [HABITS[name][int(is_lost)] for name, is_lost in zip(names, dropped, strict=True)]
    )
    features = {name: draws.uniform(0, buffer, rows) for name in FEATURES}
    return Trace(
        time_ps=np.arange(rows, dtype=np.uint64),
        features=features | {"queue": queue * buffer},
        buffer_bytes=np.full(rows, buffer),
        dropped=dropped,
        weight=np.ones(rows),
        switch=np.array([list(ROWS).index(name) for name in names], np.int32),
        places=tuple(Place(name, 4) for name in ROWS),
    )


def made_up(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> Iterator[list[Any]]:
    """Puts this trace in place of all that these modules ask for; what they have asked for."""
    asked: list[Any] = []

    def traced(report: object, *wanted: Any) -> Trace:
        asked.append(wanted)
        return a_trace()

    for module in modules:
        monkeypatch.setattr(module, "traced", traced)
    monkeypatch.setattr(models, "_FOLDERS", {})
    yield asked
    for folder in models._FOLDERS.values():
        folder.cleanup()
