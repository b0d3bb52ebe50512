"""Tables of one run that another begins with: fates of packets, and histories of bursts.

Fates are what packets found at a switch, and whether it dropped them. Smartbuf's history of bursts
is what its switches have learned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from spillway.base import parquet
from spillway.base.columns import taken
from spillway.base.errors import FileError

FILE = "oracle_trace.parquet"
FEATURES = {
    "queue": "queue_bytes",
    "average_queue": "average_queue_bytes",
    "occupancy": "occupancy_bytes",
    "average_occupancy": "average_occupancy_bytes",
}
"""The features of Credence's paper, and the columns that have them in bytes."""
QUEUE_CLASS = "queue_class"
"""One more feature: for tagged packets their level."""
COLUMNS_OF = {**FEATURES, QUEUE_CLASS: "queue"}
"""All features that a model may use, and their columns."""
_TYPES = {
    "time_ps": "uint64",
    "switch": "string",
    "ports": "uint32",
    "buffer_bytes": "uint64",
    "dropped": "bool",
    "weight": "float64",
    "flow_id": "uint32",
    "seq": "uint64",
} | dict.fromkeys(COLUMNS_OF.values(), "float64")
"""The types of the columns."""
_COLUMNS = ("time_ps", "switch", "ports", "buffer_bytes", "dropped", "weight", *COLUMNS_OF.values())
_MAY_BE_UNKNOWN = ("dropped", "buffer_bytes")
"""The columns that are unknown for some packets."""


def fates(file: Path, switches: Sequence[str], memory: int = parquet.MOST_MEMORY) -> bytes:
    """The fates in a trace, in the form that the simulator takes for the oracle `trace`.

    The trace must have a row for every packet of the run, so a sample is refused. `switches` are
    the names of all switches, by their numbers.
    """
    file = file_of(file)
    table = read(file, ("switch", "flow_id", "seq", "dropped", "weight"), memory)
    check_whole(file, table)
    column = table["switch"].unify_dictionaries().combine_chunks()
    names = column.dictionary.to_pylist()
    others = [name for name in names if name not in switches]
    if others:
        raise FileError(
            f"{file}: there is no switch {others[0]} here",
            "fates can be repeated in the network that they are from",
        )
    record = np.dtype([("switch", "<u4"), ("flow", "<u4"), ("seq", "<u8"), ("dropped", "u1")])
    rows = np.empty(table.num_rows, record)
    numbers = np.array([switches.index(name) for name in names], np.uint32)
    rows["switch"] = numbers[column.indices.to_numpy()]
    rows["flow"] = table["flow_id"].to_numpy()
    rows["seq"] = table["seq"].to_numpy()
    rows["dropped"] = table["dropped"].fill_null(False).to_numpy()
    return rows.tobytes()


def check_whole(file: Path, table: pa.Table) -> None:
    """Refuses a trace that has rows for some packets only."""
    if table.num_rows and table["weight"].to_numpy().max() > 1:
        raise FileError(
            f"{file}: it is a sample, and does not know every packet",
            "record it with record.oracle_trace_sample = 1",
        )


def file_of(place: Path) -> Path:
    """The table in a result's folder, or the file itself."""
    file = place / FILE if place.is_dir() else place
    if not file.is_file():
        asked = "--set switch.sharing=lqd --set record.oracle_trace=true"
        raise FileError(
            f"there is no trace of fates {file}",
            f"`spillway run SCENARIO {asked} --out DIR` records one",
        )
    return file


def read(file: Path, columns: Sequence[str] = _COLUMNS, memory: int | None = None) -> pa.Table:
    """Columns of a table, with the types that they should have; switches as a dictionary."""
    table = parquet.read(file, columns, memory=memory or parquet.ample())
    types = {name: _TYPES[name] for name in columns}
    found = taken(table, types, f"{file} is not a trace of fates", _MAY_BE_UNKNOWN)
    # In the order of the switches' numbers, if they are given.
    names = table["switch"]
    is_numbered = names.type == pa.dictionary(pa.uint32(), pa.string())
    found["switch"] = names if is_numbered else found["switch"].dictionary_encode()
    return pa.table(found)


def tier_of(switch: str) -> str:
    """The tier of a switch, by its name.

    >>> tier_of("leaf13")
    'leaf'
    """
    return re.sub(r"\d+$", "", switch)


# Histories ----------------------------------------------------------------------------------------


HISTORY = "history.parquet"
_BURSTS = {"gradient_bps": "float64", "bytes": "uint64"}
"""The columns that a history must have, and their types."""
_ALL_SWITCHES = 2**32 - 1


def learned(file: Path, switches: Sequence[str], memory: int = parquet.MOST_MEMORY) -> bytes:
    """A history in the form that the simulator takes: switch, bytes per second, bytes.

    `switches` are the names of all switches, by their numbers. Without a column `switch`, every
    switch begins with the whole history.
    """
    table = _history(file, memory)
    rows = np.empty(
        table.num_rows, np.dtype([("switch", "<u4"), ("gradient", "<f8"), ("bytes", "<u8")])
    )
    rows["switch"] = _ALL_SWITCHES
    if "switch" in table.column_names:
        rows["switch"] = [_number(file, name, switches) for name in table["switch"].to_pylist()]
    rows["gradient"] = table["gradient_bps"].to_numpy() / 8
    rows["bytes"] = table["bytes"].to_numpy()
    return rows.tobytes()


def _history(file: Path, memory: int) -> pa.Table:
    if not file.is_file():
        raise FileError(f"there is no history {file}", 'a run with sharing = "smartbuf" leaves one')
    table = parquet.read(file, [*_BURSTS, "switch"], memory=memory)
    for name, column in taken(table, _BURSTS, f"{file} is not a history of bursts").items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _number(file: Path, name: str, switches: Sequence[str]) -> int:
    if name not in switches:
        raise FileError(
            f"{file}: there is no switch {name} here",
            "without a column `switch` all switches know all of it",
        )
    return switches.index(name)
