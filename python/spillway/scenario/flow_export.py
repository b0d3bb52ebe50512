"""The flows of a scenario as a file, which traffic of kind `flows` can read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa

from spillway.base import arrow, core, csv_file, parquet
from spillway.base.errors import ScenarioError
from spillway.base.folder import check_new_file, whole_file

_CHUNK = 1 << 18


def write(read: core.Scenario, file: Path, *, force: bool = False) -> dict[str, Any]:
    """Writes the flows to a Parquet or CSV file, and returns totals by class."""
    if file.suffix not in (".parquet", ".csv"):
        raise ScenarioError(
            f"{file} is neither Parquet nor CSV", "its name tells: .parquet or .csv"
        )
    if waiting := read.waiting():
        raise ScenarioError(
            f"flows of {', '.join(waiting)} wait for others: only a run tells when they start",
            "run the scenario: its table flows is a list of the starts that came out",
        )
    check_new_file(file, force, "a list of flows", is_list)
    flows = read.flows()
    classes: dict[str, dict[str, int]] = {}
    table = arrow.table(flows.take(_CHUNK))
    schema = table.schema
    if file.suffix == ".csv":
        # The names of classes are written in full.
        schema = schema.set(schema.get_field_index("class"), pa.field("class", pa.string()))
    with whole_file(file, force) as partial, _writer(partial, file.suffix, schema, table) as writer:
        while table.num_rows:
            writer.write_table(table.cast(schema))
            _add_up(classes, table)
            table = arrow.table(flows.take(_CHUNK))
    return {
        "scenario": read.name,
        "seed": read.seed,
        "file": str(file),
        "flows": sum(row["flows"] for row in classes.values()),
        "bytes": sum(row["bytes"] for row in classes.values()),
        "classes": classes,
    }


def _writer(path: Path, suffix: str, schema: pa.Schema, first: pa.Table) -> Any:
    """A context in which tables are appended; the first one has the names of all classes."""
    if suffix == ".parquet":
        return parquet.Writer(path, schema)
    names = [name for each in first["class"].chunks for name in each.dictionary.to_pylist()]
    return csv_file.writer(path, schema, names)


def is_list(file: Path) -> bool:
    """Whether a file is a list of flows, by its columns."""
    return {"src", "dst", "size_bytes"} <= {*column_names(file)}


def column_names(file: Path) -> list[str]:
    """The names of the columns of a Parquet or CSV file."""
    if file.suffix != ".csv":
        return parquet.names(file)
    with file.open("rb") as content:
        first = content.readline(1 << 16).decode("utf-8-sig", errors="replace")
    try:
        return [name.strip() for name in next(csv.reader([first]), [])]
    except csv.Error:
        return []


def _add_up(classes: dict[str, dict[str, int]], table: pa.Table) -> None:
    sums = table.group_by("class").aggregate([("size_bytes", "sum"), ("size_bytes", "count")])
    for row in sorted(sums.to_pylist(), key=lambda row: str(row["class"])):
        into = classes.setdefault(row["class"], {"flows": 0, "bytes": 0})
        into["flows"] += row["size_bytes_count"]
        into["bytes"] += row["size_bytes_sum"]
