"""The files of a reference run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from spillway.base import csv_file, parquet
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError, UncheckedWarning

ONE_RUN = "the flows and the output must be of one run"


def foreign(path: Path) -> pa.Table:
    """A Parquet file of a reference run, which comes from another program, without checksums."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedWarning)
        return parquet.read(path)


def read(
    path: Path, content: str, columns: Sequence[str], may_lack: Sequence[str] = ()
) -> pa.Table:
    """A Parquet file with these columns; in the last ones, values may be missing."""
    check_file(path, f"it holds {content} of the reference run")
    table = foreign(path)
    wanted = [*columns, *may_lack]
    for column in wanted:
        if column not in table.column_names:
            hint = f"{content} of the reference run: {', '.join(wanted)}"
            raise ScenarioError(f"{path}: there is no column {column}", hint)
        if column in columns and table[column].null_count:
            raise ScenarioError(f"{path}: column {column}: some flows have no value")
    return table


def table(file: Path) -> pa.Table:
    """A table of a reference run, in Parquet or CSV."""
    if file.suffix != ".csv":
        return foreign(file)
    try:
        return csv_file.read(file)
    except pa.ArrowException as error:
        raise ScenarioError(f"{file}: cannot be read as CSV: {error}") from error


def arrays(
    table: pa.Table, types: Mapping[str, str], file: Path, may_be_unknown: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """The columns with these names and types.

    Some may lack values, which `may_be_unknown` then has.
    """
    columns = taken(table, types, str(file), may_be_unknown=may_be_unknown)
    known = {name: columns[name].fill_null(value) for name, value in may_be_unknown.items()}
    return {name: column.to_numpy() for name, column in (columns | known).items()}


def check_folder(folder: Path, layout: str) -> None:
    """Refuses a folder that is not there; `layout` tells what it should hold."""
    if not folder.is_dir():
        raise ScenarioError(f"there is no folder {folder}", layout)


def check_file(file: Path, hint: str) -> None:
    """Refuses a file that is not there."""
    if not file.is_file():
        raise ScenarioError(f"there is no file {file}", hint)
