"""A cache of computed points, so that none is computed twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from spillway import parquet
from spillway.folder import check_folder, whole_file
from spillway.reproduce.point import Outcome

if TYPE_CHECKING:
    import pyarrow as pa

_ENTRY = b"spillway"


def default_folder() -> Path:
    """`$SPILLWAY_CACHE`, or the user's folder for data that may be deleted at any time."""
    if own := os.environ.get("SPILLWAY_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "spillway" / "points"


class Cache:
    """A folder with a file for every point. Files are complete when they appear."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def check(self) -> None:
        """Refuses a folder that cannot be used, before anything is computed."""
        check_folder(self.folder)

    def has(self, key: str) -> bool:
        """Whether the point is in the cache."""
        return self._file(key).is_file()

    def load(self, key: str) -> Outcome | None:
        """The point, if it is in the cache and can be read."""
        try:
            table = parquet.read(self._file(key), only_sealed=True)
            entry = json.loads(table.schema.metadata[_ENTRY])
            samples = table.replace_schema_metadata(None) if entry["has_samples"] else None
            return Outcome(entry["numbers"], samples, entry["scenario"], entry["cpu_s"])
        except (KeyError, TypeError, ValueError):
            return None

    def store(self, key: str, outcome: Outcome) -> None:
        """Stores a point."""
        import pyarrow as pa

        entry = {
            "numbers": dict(outcome.numbers),
            "scenario": outcome.scenario,
            "cpu_s": outcome.cpu_s,
            "has_samples": outcome.samples is not None,
        }
        table: pa.Table = outcome.samples if outcome.samples is not None else pa.table({})
        table = table.replace_schema_metadata({_ENTRY: json.dumps(entry).encode()})
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_file(self._file(key)) as partial:
            parquet.write(table, partial)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.parquet"
