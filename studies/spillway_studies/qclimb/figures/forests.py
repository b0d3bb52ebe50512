"""What is known of synthetic jobs before a run: forests that bound sizes, and thresholds.

Both are made from jobs of their own, which are never run.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway.theory import thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillway.learning.bounds import Job, Model

_SEED = 1
"""Of the jobs that forests and thresholds are made from."""
_LOCK = threading.RLock()
"""Points run in threads; what they all need is made once."""


@dataclass(frozen=True)
class Way:
    """How bounds and thresholds are made; the slides tell of the depth alone."""

    method: str = "least"
    """How the leaves that a flow reaches make its bound: a name of
    `spillway.learning.bounds.METHODS`.
    """
    depth: int = 10
    miss_rate: float | None = None
    """For which bounds are calibrated, if they are (conformal prediction)."""
    load: float = 0.5
    """The load for which thresholds are sought; jobs have none of their own."""
    objective: str = "ml-fcfs"
    """By which thresholds are sought: one of `spillway.thresholds.OBJECTIVES`."""


def model(kind: str, way: Way) -> Model:
    """The forest that bounds sizes in this way."""
    with _LOCK:
        return _models(kind, way.depth, way.miss_rate)[way.method]


def ladder(kind: str, way: Way) -> tuple[int, ...]:
    """The best thresholds for the sizes of a kind of jobs, in bytes."""
    with _LOCK:
        return _ladder(kind, way.load, way.objective)


@functools.cache
def _jobs(kind: str) -> list[Job]:
    from spillway.learning.bounds import synthetic

    return [made.job for made in synthetic.make_all(kind, None, _SEED)]


@functools.cache
def _models(kind: str, depth: int, miss_rate: float | None) -> Mapping[str, Model]:
    from spillway.learning import bounds

    return bounds.train(_jobs(kind), depth=depth, miss_rate=miss_rate).models


@functools.cache
def _ladder(kind: str, load: float, objective: str) -> tuple[int, ...]:
    with TemporaryDirectory(prefix="spillway-jobs-") as name:
        sizes = Path(name) / "sizes.txt"
        write_sizes(_jobs(kind), sizes)
        return thresholds.find(str(sizes), load=load, objective=objective).best.thresholds


def write_sizes(jobs: Any, file: Path) -> None:
    """The distribution of jobs' flow sizes, at 200 of its quantiles."""
    sizes = np.concatenate([job.size for job in jobs])
    shares = np.linspace(0, 1, 201)
    points = dict(zip(np.quantile(sizes, shares, method="inverted_cdf"), shares, strict=True))
    text = "".join(f"{int(size)} {share:.6f}\n" for size, share in points.items())
    file.write_text(text, encoding="utf-8")
