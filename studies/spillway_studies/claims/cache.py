"""Computed points that are kept, so that none is computed twice."""

from __future__ import annotations

import os
from pathlib import Path

from spillway.base import parquet
from spillway.tasks.store import Store
from spillway_studies.claims.point import Outcome


def default_folder() -> Path:
    """`$SPILLWAY_CACHE`, or the user's folder for data that may be deleted at any time."""
    if own := os.environ.get("SPILLWAY_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "spillway" / "results"


class Cache:
    """A folder of outcomes, which several processes may share."""

    def __init__(self, folder: Path) -> None:
        self.results = Store(folder)

    def check(self) -> None:
        """Refuses a folder that cannot be used, before anything is computed."""
        self.results.check()
        self.results.refresh()

    def has(self, key: str) -> bool:
        """Whether the point is there, as far as was found."""
        return self.results.has(key)

    def load(self, key: str) -> Outcome | None:
        """The point, if it is there and can be read."""
        entry = self.results.get(key)
        if entry is None:
            return None
        samples = None
        if entry["has_samples"]:
            try:
                samples = parquet.read(self.results.file(key), only_sealed=True)
            except (KeyError, TypeError, ValueError):
                self.results.forget(key)
                return None
        return Outcome(entry["numbers"], samples, entry["scenario"], entry["cpu_s"])

    def store(self, key: str, outcome: Outcome) -> None:
        """Keeps a point."""
        samples = outcome.samples
        entry = {
            "numbers": dict(outcome.numbers),
            "scenario": outcome.scenario,
            "cpu_s": outcome.cpu_s,
            "has_samples": samples is not None,
        }
        write = None if samples is None else lambda partial: parquet.write(samples, partial)
        self.results.put(key, entry, write)
