"""Has workers elsewhere compute an experiment."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from spillway.base.errors import ScenarioError
from spillway.experiment.engines import Left, Told, ray, slurm

ENGINES = ("slurm", "ray")
WORKERS = 8
"""How many workers there are, unless their number is given."""


def check(on: str, folder: Path | None) -> None:
    """Refuses an engine that does not exist, and one elsewhere without a folder to share."""
    if on == "local":
        return
    if not isinstance(on, str) or (on not in ENGINES and not on.startswith("ray://")):
        raise ScenarioError(
            f"there is no engine {on!r}",
            f"valid here: local, {', '.join(ENGINES)}, ray://HOST:PORT",
        )
    if folder is None:
        raise ScenarioError(
            f"on {on} workers share a folder, and there is none",
            "name one: out=...",
            typed="name one with --out, where all of them can write",
        )


def compute(
    on: str,
    folder: Path,
    left: Left,
    *,
    workers: int = WORKERS,
    jobs: int = 1,
    threads: int = 1,
    options: Sequence[str] = (),
    told: Told,
) -> bool:
    """Has workers compute the missing runs. Returns whether none is missing.

    Each worker has `jobs` runs at a time, of `threads` threads each, and a core for every thread.
    `options` are those of sbatch. After Ctrl-C it returns False.

    Raises `SpillwayError` if there is no such cluster, or its workers do nothing.
    """
    place, cores = folder.absolute(), jobs * threads
    work = ["-m", "spillway", "work", str(place), "--jobs", str(jobs), "--threads", str(threads)]
    if on == "slurm":
        line = [sys.executable, *work]
        return slurm.run(
            place, line, left, workers=workers, cores=cores, options=options, told=told
        )
    address = "auto" if on == "ray" else on
    line = ["python", *work]
    return ray.run(place, line, left, workers=workers, cores=cores, address=address, told=told)
