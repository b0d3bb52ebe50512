"""All runs of an experiment as one table: a row for each, a column for each number."""

from __future__ import annotations

import importlib.util
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from spillway.base import parquet
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import INPUTS, check_file, whole_file
from spillway.experiment.manifest import LENGTHS, Asked, document
from spillway.result.summary_paths import flat
from spillway.scenario.variants import assigned, within
from spillway.tasks.store import Memory, Store

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Frame:
    """A table of Arrow, which other libraries take as their own."""

    arrow: pa.Table

    def to_pandas(self) -> pd.DataFrame:
        """As a data frame of pandas. Columns with nulls become floats.

        Raises:
            SpillwayError: pandas is not installed.
        """
        _check_installed("pandas")
        return self.arrow.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """As a data frame of Polars.

        Raises:
            SpillwayError: Polars is not installed.
        """
        _check_installed("polars")
        import polars as pl

        found = pl.from_arrow(self.arrow)
        assert isinstance(found, pl.DataFrame)
        return found

    def write(self, file: str | Path) -> None:
        """Writes it to a file of Parquet, in place of what is there.

        Raises:
            ScenarioError: No file can be there.
        """
        check_file(Path(file))
        with whole_file(Path(file)) as partial:
            parquet.write(self.arrow, partial)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table, for any library that speaks Arrow."""
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __repr__(self) -> str:
        return f"<Frame of {self.arrow.num_rows} runs and {self.arrow.num_columns} columns>"


def _check_installed(library: str) -> None:
    if importlib.util.find_spec(library) is None:
        raise SpillwayError(f"{library} is not installed", f"pip install {library}")


def frame(
    sets: Sequence[Asked], store: Store | Memory, numbers: Callable[[str], Mapping[str, Any]]
) -> Frame:
    """The runs of some sets that are in the store; `numbers` gives a summary by its key."""
    entries = [entry for each in sets for entry in each.entries]
    keys = dict.fromkeys(key for each in entries for key in assigned(each.assignments))
    varied = [key for key in keys if key != "seed"]
    documents = [document(each.text) for each in entries]
    lengths = {key: [each.get(key) for each in documents] for key in LENGTHS if key not in varied}
    told = {key: values for key, values in lengths.items() if len(set(values)) > 1}
    for key in varied:
        texts = [assigned(each.assignments).get(key) for each in entries]
        told[key] = _distinct([within(each, key) for each in documents], texts)
    rows: dict[str, list[Any]] = {name: [] for name in ("key", *told, "seed", "status")}
    columns: dict[str, _Column] = {}
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        for seed, key in entry.run_keys().items():
            if not store.has(key) or key in seen:
                continue
            seen.add(key)
            summary = numbers(key)
            count = len(rows["key"])
            rows["key"].append(key)
            rows["seed"].append(seed)
            rows["status"].append(summary["status"])
            for name, values in told.items():
                rows[name].append(values[place])
            for name, value in flat(summary):
                if name != "seed":
                    columns.setdefault(name, _Column()).put(count, value)
    count = len(rows["key"])
    arrays: dict[str, pa.Array] = {name: _typed(values) for name, values in rows.items()}
    # A varied key may be called like a number of the summary.
    arrays |= {
        f"summary.{name}" if name in arrays else name: columns[name].arrow(name, count)
        for name in sorted(columns)
    }
    return Frame(pa.table(arrays))


def keys_there(sets: Sequence[Asked], store: Store | Memory) -> list[str]:
    """The keys of the runs that are there, in the order of the table's rows."""
    keys = (key for asked in sets for each in asked.entries for key in each.run_keys().values())
    return [key for key in dict.fromkeys(keys) if store.has(key)]


def keys_in(file: Path) -> list[str] | None:
    """The keys of the runs in a table that was written; None if it cannot be read."""
    try:
        return list(parquet.read(file, ["key"], only_sealed=True)["key"].to_pylist())
    except (ScenarioError, KeyError):
        return None


def _distinct(values: Sequence[Any], texts: Sequence[str | None]) -> list[Any]:
    """The values of a varied key or, if these are not distinct, the texts they were given as."""
    by_text: dict[str | None, Any] = dict(zip(texts, values, strict=True))
    known = [repr(value) for value in by_text.values()]
    is_clear = len(set(known)) == len(known) or None in by_text
    has_copies = any(str(value).startswith(f"{INPUTS}/") for value in values)
    has_tables = any(isinstance(value, (dict, list)) for value in values)
    if is_clear and not has_tables and not has_copies:
        return list(values)
    return [str(value) if text is None else text for value, text in zip(values, texts, strict=True)]


def _typed(values: Sequence[Any]) -> pa.Array:
    """Values as one column: of their common type, or of texts."""
    known = {type(value) for value in values if value is not None}
    if known == {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(known) > 1:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values, None if known else pa.string())


class _Column:
    """A number of all runs: a column that is filled row by row."""

    def __init__(self) -> None:
        self._values = array("d")
        self._is_null = bytearray()
        self._is_whole = True

    def put(self, row: int, value: float | None) -> None:
        """Puts the value of a row. Rows that are left out have no value."""
        self._pad(row)
        self._values.append(0.0 if value is None else value)
        self._is_null.append(value is None)
        self._is_whole &= value is None or isinstance(value, int)

    def _pad(self, rows: int) -> None:
        missing = rows - len(self._values)
        self._values.extend([0.0] * missing)
        self._is_null.extend(b"\1" * missing)

    def arrow(self, name: str, rows: int) -> pa.Array:
        """The column. A reason for losses that a run does not have counts as 0."""
        self._pad(rows)
        values = np.frombuffer(self._values)
        is_null = np.frombuffer(self._is_null, np.bool_)
        if self._is_whole:
            values = values.astype(np.int64)
        mask = None if name.startswith("drops.") else is_null
        return pa.array(values, mask=mask)
