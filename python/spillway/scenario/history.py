"""Smartbuf's history of bursts: a table that one run writes and another begins with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from spillway.base import parquet
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError

FILE = "history.parquet"
COLUMNS = {"gradient_bps": "float64", "bytes": "uint64"}
"""The columns that a history must have, and their types."""

ALL_SWITCHES = 2**32 - 1


def learned(file: Path, switches: Sequence[str], memory: int = parquet.MOST_MEMORY) -> bytes:
    """A history in the form that the simulator takes: switch, bytes per second, bytes.

    `switches` are the names of all switches, by their numbers. Without a column `switch`, every
    switch begins with the whole history.
    """
    table = _read(file, memory)
    rows = np.empty(
        table.num_rows, np.dtype([("switch", "<u4"), ("gradient", "<f8"), ("bytes", "<u8")])
    )
    rows["switch"] = ALL_SWITCHES
    if "switch" in table.column_names:
        rows["switch"] = [_number(file, name, switches) for name in table["switch"].to_pylist()]
    rows["gradient"] = table["gradient_bps"].to_numpy() / 8
    rows["bytes"] = table["bytes"].to_numpy()
    return rows.tobytes()


def _read(file: Path, memory: int) -> pa.Table:
    if not file.is_file():
        hint = 'a run with sharing = "smartbuf" leaves one'
        raise ScenarioError(f"there is no history {file}", hint)
    table = parquet.read(file, [*COLUMNS, "switch"], memory=memory)
    for name, column in taken(table, COLUMNS, f"{file} is not a history of bursts").items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _number(file: Path, name: str, switches: Sequence[str]) -> int:
    if name not in switches:
        hint = "without a column `switch` all switches know all of it"
        raise ScenarioError(f"{file}: there is no switch {name} here", hint)
    return switches.index(name)
