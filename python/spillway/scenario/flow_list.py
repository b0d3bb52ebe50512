"""Lists of flows in Parquet files, for traffic of kind `flows`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spillway.base import parquet
from spillway.base.errors import FileError, ScenarioError

Array: TypeAlias = np.ndarray[Any, Any]

_REQUIRED = {"src": "uint32", "dst": "uint32", "size_bytes": "uint64"}
_STARTS = ("start_ps", "start_ns")
_OPTIONAL = {
    "priority": 254,
    "path": 2**32 - 1,
    "ack_path": 2**32 - 1,
    "query_id": 2**32 - 1,
    "bound_bytes": 2**53,
    "delay_ns": 2**53,
    "job": 2**32 - 1,
}


_MOST = 120_000_000
_LONGEST_CLASS = 1000
"""The longest name of a class in bytes, as in the core."""


def load(
    folder: Path, name: str, most: int = _MOST, memory: int = parquet.MOST_MEMORY
) -> dict[str, Any] | None:
    """The columns of a Parquet file in the form that the core takes; None for any other file.

    More flows, or more bytes of memory, are refused before the file is read.
    """
    if not name.endswith(".parquet"):
        return None
    path = folder / name
    if not path.is_file():
        raise FileError(f"{path}: there is no such file")
    if (count := parquet.rows(path)) > most:
        raise ScenarioError(
            f"{path}: it has {count} flows: more than limits.flows",
            f"if that is meant, raise limits.flows, which is {most}",
            kind="limit",
        )
    wanted = [*_REQUIRED, *_STARTS, *_OPTIONAL, "class", "after"]
    table = parquet.read(path, wanted, memory=memory)
    names = table.column_names
    start = next((column for column in _STARTS if column in names), "start_ns")
    columns: dict[str, Any] = {}
    for column, kind in {**_REQUIRED, start: "uint64"}.items():
        if column not in names:
            raise FileError(
                f"{path}: there is no column {column}",
                f"a list of flows has the columns {', '.join(_REQUIRED)} and start_ns",
            )
        columns[column] = _whole(path, table[column], column, kind)
    for column, most in _OPTIONAL.items():
        if column in names:
            columns[column] = _optional(path, table[column], column, most)
    if "after" in names:
        columns["after"] = _after(path, table["after"])
    if "class" in names:
        columns["class"] = _classes(path, table["class"])
    return columns


def numbers(
    folder: Path, name: str, columns: Sequence[str], memory: int = parquet.MOST_MEMORY
) -> list[Array]:
    """Further columns of the same file, of finite numbers, in the order of their names."""
    path = folder / name
    table = parquet.read(path, columns, memory=memory)
    found = []
    for column in columns:
        if column not in table.column_names:
            raise FileError(f"{path}: there is no column {column}, which the model looks at")
        kind = table.schema.field(column).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise FileError(f"{path}: column {column}: values of type {kind} are not numbers")
        try:
            values = table[column].cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid as error:
            raise FileError(f"{path}: column {column}: {error}") from error
        (wrong,) = np.nonzero(~np.isfinite(values))
        if len(wrong):
            row = int(wrong[0]) + 1
            raise FileError(f"{path}: row {row}, column {column}: there is no number")
        found.append(values)
    return found


def _whole(path: Path, values: pa.ChunkedArray, column: str, kind: str) -> Array:
    if values.null_count:
        row = values.is_null().index(pa.scalar(True)).as_py() + 1
        raise FileError(f"{path}: row {row}, column {column}: there is no value")
    return np.asarray(_cast(path, values, column, kind).to_numpy())


def _optional(path: Path, values: pa.ChunkedArray, column: str, most: int) -> Array:
    numbers = _cast(path, values, column, "int64")
    least, greatest = pc.min_max(numbers).as_py().values()
    if least is not None and least < 0:
        raise _not_whole(path, column, f"{least} is below 0")
    if greatest is not None and greatest > most:
        raise _not_whole(path, column, f"{greatest} is more than {most}")
    return np.asarray(numbers.fill_null(-1).to_numpy())


def _cast(path: Path, values: pa.ChunkedArray, column: str, kind: str) -> pa.ChunkedArray:
    has_numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if not any(is_such(values.type) for is_such in has_numbers):
        raise _not_whole(path, column, f"values of type {values.type}")
    try:
        return values.cast(pa.type_for_alias(kind))
    except pa.ArrowInvalid as error:
        raise _not_whole(path, column, error) from error


def _after(path: Path, values: pa.ChunkedArray) -> tuple[Array, Array]:
    """How many others each flow waits for, and the numbers of these others, flow by flow."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = pc.split_pattern_regex(pc.utf8_trim_whitespace(values.fill_null("")), r"\s+")
        values = pa.chunked_array(
            [[[n for n in row if n] for row in chunk.to_pylist()] for chunk in values.chunks],
            pa.list_(pa.string()),
        )
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        numbers = pc.list_value_length(values).fill_null(0)
        others = pc.list_flatten(values)
    else:
        numbers = pc.cast(pc.is_valid(values), pa.uint32())
        others = values.drop_null()
    if others.null_count:
        raise _not_whole(path, "after", "a list of numbers has an empty place")
    if pa.types.is_string(others.type):
        try:
            others = others.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise _not_whole(path, "after", error) from error
    filled = _optional(path, others, "after", 2**32 - 1)
    return numbers.cast(pa.uint32()).to_numpy(), filled.astype("uint32")


def _classes(path: Path, values: pa.ChunkedArray) -> tuple[Array, list[str]]:
    if values.null_count:
        raise FileError(f"{path}: column class: some flows have none")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if not pa.types.is_string(values.type) and not pa.types.is_large_string(values.type):
        raise FileError(f"{path}: column class: {values.type} values are not names")
    longest = pc.max(pc.binary_length(values)).as_py() or 0
    if longest > _LONGEST_CLASS:
        raise FileError(f"{path}: column class: a name of {longest} bytes is no class's")
    encoded = values.combine_chunks().dictionary_encode()
    places = encoded.indices.cast(pa.uint32()).to_numpy()
    return places, encoded.dictionary.to_pylist()


def _not_whole(path: Path, column: str, problem: object) -> ScenarioError:
    return FileError(
        f"{path}: column {column}: {problem}", "it must hold whole numbers, none below 0"
    )
