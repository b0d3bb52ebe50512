"""Traces of LQD's drops under the paper's training scenario, each recorded once."""

from __future__ import annotations

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from spillway.run.run import run
from spillway.tasks.run import Report

if TYPE_CHECKING:
    from spillway.learning.oracle.trace import Trace

MORE_QUERIES = ("traffic.incast.queries_per_host_per_s=20",)
"""Ten times as many queries as in the paper: then leaves drop as much as spines do."""

LOCK = threading.Lock()
TRACES: dict[tuple[int, str, int, tuple[str, ...]], Trace] = {}
"""Recorded traces, by seed, duration, sampling and traffic."""


def wait(report: Report, lock: threading.Lock) -> None:
    """Acquires a lock, and can be interrupted while it waits."""
    while not lock.acquire(timeout=0.1):
        report(None)


def traced(
    report: Report, seed: int, duration: str, one_in: int, traffic: tuple[str, ...] = ()
) -> Trace:
    """A trace under the paper's training scenario, with other traffic if it is given."""
    wait(report, LOCK)
    try:
        key = (seed, duration, one_in, traffic)
        if key not in TRACES:
            TRACES[key] = _recorded(report, *key)
        return TRACES[key]
    finally:
        LOCK.release()


def _recorded(
    report: Report, seed: int, duration: str, one_in: int, traffic: tuple[str, ...]
) -> Trace:
    from spillway.learning.oracle.default import find
    from spillway.learning.oracle.trace import load

    sampling = f"record.oracle_trace_sample={one_in}"
    recipe = find("default")
    settings = (*recipe.settings, f"duration={duration}", sampling, *traffic)
    with TemporaryDirectory(prefix="spillway-traces-") as folder:
        place = Path(folder, "run")
        run(recipe.scenario, seed=seed, set=settings, out=place, progress=report)
        return load(place)
