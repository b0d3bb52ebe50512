"""The folder of the reference's runs of queue discs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import ONE_RUN, arrays, check_folder, foreign, table
from spillway_studies.references.kinds import Floats, Whole

_TRACE = re.compile(r"trace_n(\d+)_(.+)\.parquet")


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


@dataclass(frozen=True)
class Found:
    """What a folder holds. What it lacks is empty here."""

    traces: list[tuple[str, int, Path]]
    """Disc, senders, file."""
    queues: list[Queue]
    flows: Listed | None
    times: dict[str, Floats]
    """The completion times in ns, in the order of the list, by disc."""
    left_out: list[str]
    """What the folder lacks, or has but cannot be compared, in words."""


def read_folder(folder: Path) -> Found:
    """Everything in the folder but the packets of traces."""
    check_folder(folder, "it holds the output of the reference")
    named = [(_TRACE.fullmatch(file.name), file) for file in folder.iterdir()]
    traces = sorted((match[2], int(match[1]), file) for match, file in named if match)
    queues, flows = _queues(folder / "summary.csv"), _flows(folder / "F_flows.csv")
    times = None if flows is None else _times(folder / "F_fct.parquet", len(flows.src))
    left_out = []
    if not traces:
        left_out.append("there is no trace_nN_DISC.parquet: marks are not compared")
    if queues is None:
        left_out.append("there is no summary.csv: queues are not compared")
    if times is None:
        missing = "F_flows.csv" if flows is None else "F_fct.parquet"
        left_out.append(f"there is no {missing}: completion times are not compared")
    return Found(traces, queues or [], flows, times or {}, left_out)


def read_trace(file: Path) -> Trace:
    """The packets of a trace."""
    types = dict.fromkeys(("enq_ps", "deq_ps"), "uint64")
    types |= dict.fromkeys(("found", "left"), "uint32")
    return Trace(*arrays(foreign(file), types | {"marked": "bool"}, file).values())


def _queues(file: Path) -> list[Queue] | None:
    """The runs with endless senders; None if there is no summary."""
    if not file.is_file():
        return None
    summary = table(file)
    family = taken(summary, {"family": "string"}, str(file))["family"]
    texts = dict.fromkeys(("disc", "cc"), "string")
    numbers = dict.fromkeys(("goodput_gbps", "q_mean", "q_p99"), "double")
    endless = summary.filter(pc.equal(family, "S"))
    columns = taken(endless, {**texts, "n": "int64", **numbers}, str(file))
    values = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    rows = [Queue(*row) for row in values]
    for row in rows:
        if min(row.senders, row.mean, row.p99) <= 0:
            name = f"{row.disc} under {row.transport}, n = {row.senders}"
            raise ScenarioError(f"{file}: {name}: n, q_mean and q_p99 must be above 0")
    return rows


def _flows(file: Path) -> Listed | None:
    """The list of flows; None if there is none."""
    if not file.is_file():
        return None
    types = dict.fromkeys(("src", "dst", "size_bytes", "start_ns"), "int64")
    listed = Listed(file, **arrays(table(file), types, file))
    if not len(listed.src):
        raise ScenarioError(f"{file}: there are no flows")
    return listed


def _times(file: Path, count: int) -> dict[str, Floats] | None:
    """The completion times of so many flows by disc; None if there are none."""
    if not file.is_file():
        return None
    types = {"disc": "string", "flow": "int64", "fct_ns": "double"}
    disc, flow, fct = arrays(foreign(file), types, file).values()
    if (fct <= 0).any():
        raise ScenarioError(f"{file}: fct_ns must be above 0")
    times = {}
    for name in sorted(set(disc.tolist())):
        rows = disc == name
        order = np.argsort(flow[rows])
        if not np.array_equal(flow[rows][order], np.arange(count)):
            problem = f"{file}: {name}: its flows are not 0 to {count - 1}, each once"
            raise ScenarioError(problem, ONE_RUN)
        times[name] = fct[rows][order]
    return times
