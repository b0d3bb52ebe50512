"""The folder of the reference's runs of queue discs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import ONE_RUN, Floats, Whole, arrays, check_folder, foreign
from spillway_studies.references.files import table as table_of
from spillway_studies.references.numbers import Json

_TRACE = re.compile(r"trace_n(\d+)_(.+)\.parquet")


@dataclass(frozen=True)
class Found:
    """What a folder holds. What it lacks is empty here."""

    traces: list[tuple[str, int, Path]]
    """Disc, senders, file."""
    queues: list[Json]
    """The rows of the summary: queues at the port of the receiver, in packets."""
    listed: Path
    """The list of flows."""
    flows: dict[str, Whole]
    """Its columns."""
    times: dict[str, Floats]
    """The completion times in ns, in the order of the list, by disc."""
    left_out: list[str]
    """What the folder lacks, or has but cannot be compared, in words."""


def read_folder(folder: Path) -> Found:
    """Everything in the folder but the packets of traces."""
    check_folder(folder, "it holds the output of the reference")
    named = [(_TRACE.fullmatch(file.name), file) for file in folder.iterdir()]
    traces = sorted((match[2], int(match[1]), file) for match, file in named if match)
    summary, listed, fct = (
        folder / name for name in ("summary.csv", "F_flows.csv", "F_fct.parquet")
    )
    queues = _queues(summary) if summary.is_file() else []
    flows = _flows(listed) if listed.is_file() else {}
    times = _times(fct, len(flows["src"])) if flows and fct.is_file() else {}
    left_out = []
    if not traces:
        left_out.append("there is no trace_nN_DISC.parquet: marks are not compared")
    if not summary.is_file():
        left_out.append("there is no summary.csv: queues are not compared")
    if missing := [file.name for file in (listed, fct) if not file.is_file()]:
        left_out.append(f"there is no {missing[0]}: completion times are not compared")
    return Found(traces, queues, listed, flows, times, left_out)


def _queues(file: Path) -> list[Json]:
    """The runs with endless senders."""
    summary = table_of(file)
    family = taken(summary, {"family": "string"}, str(file))["family"]
    texts = dict.fromkeys(("disc", "cc"), "string")
    numbers = dict.fromkeys(("goodput_gbps", "q_mean", "q_p99"), "double")
    endless = summary.filter(pc.equal(family, "S"))
    rows: list[Json] = pa.table(
        taken(endless, {**texts, "n": "int64", **numbers}, str(file))
    ).to_pylist()
    for row in rows:
        if min(row["n"], row["q_mean"], row["q_p99"]) <= 0:
            name = f"{row['disc']} under {row['cc']}, n = {row['n']}"
            raise ScenarioError(f"{file}: {name}: n, q_mean and q_p99 must be above 0")
    return rows


def _flows(file: Path) -> dict[str, Whole]:
    types = dict.fromkeys(("src", "dst", "size_bytes", "start_ns"), "int64")
    listed = arrays(table_of(file), types, file)
    if not len(listed["src"]):
        raise ScenarioError(f"{file}: there are no flows")
    return listed


def _times(file: Path, count: int) -> dict[str, Floats]:
    """The completion times of so many flows by disc."""
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
