"""The files of a reference run, and the lists of flows in them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spillway.base import csv_file, parquet
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError, UncheckedWarning

Booleans = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
ONE_RUN = "the flows and the output must be of one run"


def check_folder(folder: Path, layout: str) -> None:
    """Refuses a folder that is not there; `layout` tells what it should hold."""
    if not folder.is_dir():
        raise ScenarioError(f"there is no folder {folder}", layout)


def check_file(file: Path, hint: str) -> None:
    """Refuses a file that is not there."""
    if not file.is_file():
        raise ScenarioError(f"there is no file {file}", hint)


def foreign(path: Path) -> pa.Table:
    """A Parquet file of a reference run, which comes from another program, without checksums."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedWarning)
        return parquet.read(path)


def table(file: Path) -> pa.Table:
    """A table of a reference run, in Parquet or CSV."""
    if file.suffix != ".csv":
        return foreign(file)
    try:
        return csv_file.read(file)
    except pa.ArrowException as error:
        raise ScenarioError(f"{file}: cannot be read as CSV: {error}") from error


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


def arrays(
    table: pa.Table, types: Mapping[str, str], file: Path, may_be_unknown: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """The columns with these names and types.

    Some may lack values, which `may_be_unknown` then has.
    """
    columns = taken(table, types, str(file), may_be_unknown=may_be_unknown)
    known = {name: columns[name].fill_null(value) for name, value in may_be_unknown.items()}
    return {name: column.to_numpy() for name, column in (columns | known).items()}


def check_flows(
    source: str,
    column: Mapping[str, npt.NDArray[Any]],
    hosts: int,
    above_0: Iterable[str],
    from_0: Iterable[str],
) -> None:
    """Refuses flows that cannot be those of a run in a network with so many hosts.

    `source` begins the message. `above_0` and `from_0` name the columns whose values must be above
    0, and at least 0.
    """
    only = f"the network has the hosts 0 to {hosts - 1} only"
    src, dst = column["src"], column["dst"]
    problems = {
        f"src: {only}": (src < 0) | (src >= hosts),
        f"dst: {only}": (dst < 0) | (dst >= hosts),
        "a flow has the same src and dst": src == dst,
        **{f"{name} must be above 0": column[name] <= 0 for name in above_0},
        **{f"{name} must not be below 0": column[name] < 0 for name in from_0},
    }
    for problem, is_wrong in problems.items():
        if is_wrong.any():
            raise ScenarioError(f"{source}: {problem}")


def numbering(listed: pa.Table | Mapping[str, npt.NDArray[Any]]) -> Whole:
    """The order in which a run numbers the flows of a list, as places in the list."""
    # What decides first comes last.
    return np.lexsort([np.asarray(listed[key]) for key in ("size_bytes", "dst", "src", "start_ns")])


def as_listed(flows: pa.Table, order: Whole) -> pa.Table:
    """A run's flows in the order of the list. `order` is how the run numbers them."""
    return flows.sort_by("flow_id").take(np.argsort(order))


def fct_ns(flows: pa.Table, column: str = "fct_ps") -> Floats:
    """The completion times of a run's flows, infinite for those that are not complete."""
    found: Floats = flows[column].cast("double").fill_null(math.inf).to_numpy() / 1e3
    return found
