"""The files of a reference run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.errors import ScenarioError

if TYPE_CHECKING:
    import pyarrow as pa


def read(
    path: Path, content: str, columns: Sequence[str], may_lack: Sequence[str] = ()
) -> pa.Table:
    """A Parquet file with these columns, of which some flows may lack the last ones' values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise ScenarioError(f"there is no file {path}", f"it holds {content} of the reference run")
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise ScenarioError(f"{path}: cannot be read as Parquet: {error}") from error
    wanted = [*columns, *may_lack]
    for column in wanted:
        if column not in table.column_names:
            hint = f"{content} of the reference run: {', '.join(wanted)}"
            raise ScenarioError(f"{path}: there is no column {column}", hint)
        if column in columns and table[column].null_count:
            raise ScenarioError(f"{path}: column {column}: some flows have no value")
    return table
