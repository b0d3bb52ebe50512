"""What the tests share."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
TINY = DATA / "tiny.toml"
HAS_STUDIES = find_spec("spillway_studies") is not None
needs_studies = pytest.mark.skipif(not HAS_STUDIES, reason="the studies are not installed")


@dataclass
class Outcome:
    """What a command has left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def names(folder: str | Path = ".") -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


def without_cost(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary without what may differ between equal runs."""
    return {key: value for key, value in summary.items() if key != "run"}


def flipped(content: bytes, place: int) -> bytes:
    """The content with one bit of that byte turned over, another in every byte."""
    return content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]


def with_right_checksum(content: bytes) -> bytes:
    """A model's bytes, whatever was done to them, with a checksum that agrees."""
    key = b'"crc32":"'
    place = content.find(key) + len(key)
    blank = content[:place] + b"0" * 8 + content[place + 8 :]
    return content[:place] + b"%08x" % zlib.crc32(blank) + content[place + 8 :]


def change(file: Path, column: str, values: list[object] | None) -> None:
    """Replaces a column of a file of Parquet, or drops it."""
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    place = table.column_names.index(column)
    table = table.drop_columns([column])
    if values is not None:
        table = table.add_column(place, column, [values])
    pq.write_table(table, file)


def record(**keys: object) -> list[str]:
    """The options that set keys of the section `record`."""
    return [part for key, value in keys.items() for part in ("--set", f"record.{key}={value}")]
