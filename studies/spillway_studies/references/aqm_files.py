"""The folder of the reference's runs of queue discs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base import csv_file
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import foreign

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

_TRACE = re.compile(r"trace_n(\d+)_(.+)\.parquet")
_ONE_RUN = "the flows and the output must be of one run"


@dataclass(frozen=True)
class Trace:
    """Packets in the order in which they went through the disc."""

    joined_ps: npt.NDArray[np.uint64]
    left_ps: npt.NDArray[np.uint64]
    found: npt.NDArray[np.uint32]
    remaining: npt.NDArray[np.uint32]
    marked: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Queue:
    """A row of the summary: the queue at the port of the receiver, in packets."""

    disc: str
    transport: str
    senders: int
    goodput_gbps: float
    mean: float
    p99: float


@dataclass(frozen=True)
class Listed:
    """The list of flows."""

    file: Path
    src: Whole
    dst: Whole
    size_bytes: Whole
    start_ns: Whole


def traces(folder: Path) -> list[tuple[str, int, Path]]:
    """The traces of the folder: disc, senders, file."""
    found = [(_TRACE.fullmatch(file.name), file) for file in folder.iterdir()]
    return sorted((match[2], int(match[1]), file) for match, file in found if match)


def read_trace(file: Path) -> Trace:
    """The packets of a trace."""
    types = dict.fromkeys(("enq_ps", "deq_ps"), "uint64")
    types |= dict.fromkeys(("found", "left"), "uint32")
    return Trace(*_columns(foreign(file), types | {"marked": "bool"}, file))


def read_queues(folder: Path) -> list[Queue] | None:
    """The runs with endless senders; None if the folder has no summary."""
    import pyarrow.compute as pc

    file = folder / "summary.csv"
    if not file.is_file():
        return None
    table = _csv(file)
    family = taken(table, {"family": "string"}, str(file))["family"]
    texts = dict.fromkeys(("disc", "cc"), "string")
    numbers = dict.fromkeys(("goodput_gbps", "q_mean", "q_p99"), "double")
    columns = taken(
        table.filter(pc.equal(family, "S")), {**texts, "n": "int64", **numbers}, str(file)
    )
    values = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    rows = [Queue(*row) for row in values]
    for row in rows:
        if min(row.senders, row.mean, row.p99) <= 0:
            name = f"{row.disc} under {row.transport}, n = {row.senders}"
            raise ScenarioError(f"{file}: {name}: n, q_mean and q_p99 must be above 0")
    return rows


def read_flows(folder: Path) -> Listed | None:
    """The list of flows; None if the folder has none."""
    file = folder / "F_flows.csv"
    if not file.is_file():
        return None
    names = ("src", "dst", "size_bytes", "start_ns")
    listed = Listed(file, *_columns(_csv(file), dict.fromkeys(names, "int64"), file))
    if not len(listed.src):
        raise ScenarioError(f"{file}: there are no flows")
    return listed


def read_times(folder: Path, listed: Listed) -> dict[str, Floats] | None:
    """The completion times in ns, in the order of the list, by disc; None if there are none."""
    import numpy as np

    file = folder / "F_fct.parquet"
    if not file.is_file():
        return None
    types = {"disc": "string", "flow": "int64", "fct_ns": "double"}
    columns = taken(foreign(file), types, str(file))
    disc = np.array(columns["disc"].to_pylist(), dtype=object)
    flow, fct = (columns[name].to_numpy() for name in ("flow", "fct_ns"))
    if (fct <= 0).any():
        raise ScenarioError(f"{file}: fct_ns must be above 0")
    times = {}
    for name in sorted(set(disc.tolist())):
        rows = disc == name
        order = np.argsort(flow[rows])
        if not np.array_equal(flow[rows][order], np.arange(len(listed.src))):
            raise ScenarioError(
                f"{file}: {name}: its flows are not 0 to {len(listed.src) - 1}, each once", _ONE_RUN
            )
        times[name] = fct[rows][order]
    return times


def _columns(table: pa.Table, types: Mapping[str, str], file: Path) -> Iterator[Any]:
    """The columns with these names and types, as arrays."""
    return (column.to_numpy() for column in taken(table, types, str(file)).values())


def _csv(file: Path) -> pa.Table:
    import pyarrow as pa

    try:
        return csv_file.read(file)
    except pa.ArrowException as error:
        raise ScenarioError(f"{file}: cannot be read as CSV: {error}") from error
