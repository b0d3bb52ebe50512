"""The numbers of a summary by their paths: `fct_us.short.p99`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from spillway.base.result_schema import REASONS

Summary: TypeAlias = Mapping[str, Any]
Path: TypeAlias = tuple[str, ...]

_NO_METRICS = ("run", "seed")
_COUNTS_OF_JOBS = ("count", "unfinished", "with_timeout")


def paths(summary: Summary) -> dict[str, Path]:
    """The names of all numbers of a summary, and where they stand.

    Points within a percentile are points in names, too: `fct_slowdown.short.p99.9`.
    """
    drops = {f"drops.{reason}": ("drops", reason) for reason in REASONS}
    return {**dict(_numbers(summary)), **drops}


def at(summary: Summary, path: Sequence[str]) -> float | None:
    """The number at a path; 0 for a missing count, since what it counts has not happened."""
    found: Any = summary
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    if found is not None:
        return float(found)
    of_jobs = path[0] in ("job_us", "iteration_us") and path[-1] in _COUNTS_OF_JOBS
    return 0.0 if path[0] == "drops" or of_jobs else None


def _numbers(table: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[str, Path]]:
    """The numbers of a table with their paths, unknown ones included."""
    for key, value in table.items():
        path = (*above, key)
        # A deadlock is a table, and its run has failed.
        if (not above and key in _NO_METRICS) or path == ("pauses", "deadlock"):
            continue
        if isinstance(value, Mapping):
            yield from _numbers(value, path)
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            yield ".".join(path), path
            if "_" in key and key.startswith("p") and key[1:2].isdigit():
                yield ".".join((*above, key.replace("_", "."))), path


def flat(document: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, float | None]]:
    """All numbers of a document by their dotted paths, what the run has cost among them.

    >>> dict(flat({"drops": {"aqm": 3}, "status": "complete", "run": {"cpu_s": 1.0}}))
    {'drops.aqm': 3, 'run.cpu_s': 1.0}
    """
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{within}{name}.")
        elif value is None or isinstance(value, (int, float)):
            yield f"{within}{name}", value
