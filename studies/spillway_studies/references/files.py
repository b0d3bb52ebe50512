"""The files of a reference run."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base import parquet
from spillway.base.errors import ScenarioError, UncheckedWarning

if TYPE_CHECKING:
    import pyarrow as pa


def foreign(path: Path) -> pa.Table:
    """A Parquet file of a reference run, which comes from another program, without checksums."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedWarning)
        return parquet.read(path)


def read(
    path: Path, content: str, columns: Sequence[str], may_lack: Sequence[str] = ()
) -> pa.Table:
    """A Parquet file with these columns; in the last ones, values may be missing."""
    if not path.is_file():
        raise ScenarioError(f"there is no file {path}", f"it holds {content} of the reference run")
    table = foreign(path)
    wanted = [*columns, *may_lack]
    for column in wanted:
        if column not in table.column_names:
            hint = f"{content} of the reference run: {', '.join(wanted)}"
            raise ScenarioError(f"{path}: there is no column {column}", hint)
        if column in columns and table[column].null_count:
            raise ScenarioError(f"{path}: column {column}: some flows have no value")
    return table
