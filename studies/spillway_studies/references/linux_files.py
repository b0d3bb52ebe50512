"""The folder of runs of Linux's own TCP and queueing disciplines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from spillway.base import csv_file
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import Floats, arrays, check_file, check_folder, foreign
from spillway_studies.references.numbers import Json, percentile

WINDOW_S = (10, 30)
"""The time of a run of endless flows that is compared."""
OF_TRANSFERS = {"median": 0.5, "p99": 0.99}
"""The percentiles of transfers that are compared."""
_CONTROLS = {"reno": "newreno", "cubic": "cubic"}
"""Our names of Linux's congestion controllers."""
_AQM = re.compile(r"pfifo([1-9]\d{0,5})|(red|codel|pie|fqcodel)(-ecn)?")
"""The queueing disciplines. Behind `pfifo` there is its limit, behind others perhaps `-ecn`."""
_RATE = re.compile(r"([1-9]\d{0,4})mbit")
_LAYOUT = "it has runs.csv, queue.parquet, tcp.parquet and fct.parquet"
_FILES = {
    "queue.parquet": {"t_ms": "int64", "qlen": "int64"},
    "tcp.parquet": {"t_ms": "int64", "flow": "int64"},
    "fct.parquet": {"i": "int64", "t0": "double", "recv_ms": "double", "done_ms": "double"},
}
_COLUMNS = ("id", "aqm", "cc", "n", "rtt", "rate", "seed", "hystart", "bottle", "size")
_COUNTED = ("goodput", "drops_s", "marks_s")


@dataclass(frozen=True)
class Setting:
    """What runs with several seeds have in common."""

    aqm: str
    """Its name, such as `pfifo100` or `codel-ecn`."""
    cc: str
    flows: int
    """The number of endless flows."""
    rtt_ms: float
    rate_mbps: int
    has_hystart: bool
    size: int
    """Bytes of each transfer, one after the other; 0 if there are none."""

    @property
    def name(self) -> str:
        """A name such as `codel_cubic_n4_rtt20_40M`."""
        size = f"_fct{self.size // 1000}k" if self.size else ""
        hystart = "" if self.has_hystart else "_nohs"
        path = f"rtt{self.rtt_ms:g}_{self.rate_mbps}M"
        return f"{self.aqm}_{self.cc}_n{self.flows}_{path}{size}{hystart}"

    @property
    def controls(self) -> list[str]:
        """Our congestion controllers; of `reno+cubic` each has one half of the endless flows."""
        return [_CONTROLS[kind] for kind in self.cc.split("+")]


@dataclass(frozen=True)
class Run:
    """A run of the kernel."""

    setting: Setting
    seed: int
    numbers: dict[str, float]
    """The numbers that are compared."""
    starts_ms: list[int] = field(default_factory=list)
    """When each endless flow starts, to a tenth of a second; empty if that is not known."""
    recv_ms: Floats = field(default_factory=lambda: np.array([]))
    """The times of the transfers, until the receiver has the last byte."""
    first_s: float = 0.0
    """When the first transfer starts."""
    pauses_ms: list[float] = field(default_factory=list)
    """How long after the answer to each transfer the next one starts."""


def numbers_of(goodput: float, lengths: Floats, drops: float, marks: float) -> dict[str, float]:
    """The compared numbers of endless flows. `lengths` are samples of the queue."""
    return {
        "goodput": goodput,
        "mean queue": float(lengths.mean()),
        "p99 of the queue": float(np.percentile(lengths, 99)),
        "drops": drops,
        "marks": marks,
    }


def numbers_of_transfers(times_ms: Floats) -> dict[str, float]:
    """The compared numbers of transfers."""
    return {name: percentile(times_ms, p) for name, p in OF_TRANSFERS.items()}


def runs(folder: Path) -> tuple[list[Run], list[str]]:
    """The runs in the folder, and those that are left out, with the reason.

    Raises:
        ScenarioError: a file or a column is missing, or a value cannot be.
    """
    check_folder(folder, _LAYOUT)
    path = folder / "runs.csv"
    check_file(path, _LAYOUT)
    rows = []
    for line, row in csv_file.rows(path):
        if None in row or None in row.values():
            raise ScenarioError(f"{path}: line {line} has too few or too many values")
        rows.append(row)
    if not rows:
        raise ScenarioError(f"{path}: there are no runs", _LAYOUT)
    for column in (*_COLUMNS, *_COUNTED):
        if column not in rows[0]:
            raise ScenarioError(f"{path}: there is no column {column}", _LAYOUT)
    tables = {name: _table(folder / name, types) for name, types in _FILES.items()}
    found, left_out = [], []
    for row in rows:
        if row["bottle"] == "htb":
            found.append(_run(path, row, tables))
        else:
            # Its packets wait for tokens outside of the queue that the AQM sees.
            left_out.append(f"{row['id']}: its bottleneck is {row['bottle']}, not htb")
    return found, left_out


def _table(path: Path, types: dict[str, str]) -> dict[str, dict[str, Floats]]:
    """The columns of a file, by the run."""
    check_file(path, _LAYOUT)
    table = foreign(path)
    columns = arrays(table, types, path)
    if "id" not in table.column_names:
        raise ScenarioError(f"{path}: there is no column id", _LAYOUT)
    ids, place = np.unique(np.asarray(table["id"].to_pylist(), dtype=str), return_inverse=True)
    return {
        str(run): {name: values[place == number] for name, values in columns.items()}
        for number, run in enumerate(ids)
    }


def _run(path: Path, row: dict[str, str], tables: dict[str, dict[str, dict[str, Floats]]]) -> Run:
    setting, where = _setting(path, row), f"{path}: {row['id']}"
    queue, tcp, fct = (tables[file].get(row["id"]) for file in _FILES)
    if setting.size:
        own = _transfers(where, fct)
    else:
        goodput, drops, marks = (_number(path, row, column) for column in _COUNTED)
        numbers = numbers_of(goodput, _lengths(where, queue), drops, marks)
        own = {"numbers": numbers, "starts_ms": _starts(where, tcp, setting.flows)}
    return Run(setting, int(_number(path, row, "seed")), **own)


def _transfers(where: str, fct: dict[str, Floats] | None) -> Json:
    """What is known of transfers, by the fields of a run. `where` begins what is told of errors."""
    if fct is None:
        raise ScenarioError(f"{where}: fct.parquet has no transfer of it")
    order = np.argsort(fct["i"])
    start_ms, done, recv = 1e3 * fct["t0"][order], fct["done_ms"][order], fct["recv_ms"][order]
    pauses = (start_ms[1:] - start_ms[:-1] - done[:-1]).tolist()
    first = float(start_ms[0] / 1e3)
    if first < 0 or not (recv > 0).all() or min(pauses, default=0) < 0:
        raise ScenarioError(f"{where}: transfers must come one after the other, in fct.parquet")
    numbers = numbers_of_transfers(recv)
    return {"numbers": numbers, "recv_ms": recv, "first_s": first, "pauses_ms": pauses}


def _lengths(where: str, queue: dict[str, Floats] | None) -> Floats:
    """The samples of the queue in the time that is compared."""
    if queue is None:
        raise ScenarioError(f"{where}: queue.parquet has no sample of it")
    begin, end = WINDOW_S
    lengths = queue["qlen"][(queue["t_ms"] >= 1e3 * begin) & (queue["t_ms"] < 1e3 * end)]
    if not len(lengths):
        raise ScenarioError(f"{where}: queue.parquet has no sample from {begin} s on")
    return lengths


def _starts(where: str, tcp: dict[str, Floats] | None, flows: int) -> list[int]:
    """When endless flows start: the first row comes within a tenth of a second of that."""
    seen = [] if tcp is None else [tcp["t_ms"][tcp["flow"] == flow] for flow in range(flows)]
    starts = [max(int(times.min()) - 50, 0) for times in seen if len(times)]
    if len(starts) != flows:
        raise ScenarioError(f"{where}: tcp.parquet lacks one of its flows")
    return starts


def _number(path: Path, row: dict[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        problem = f"{column} is {row[column]!r}, not a number from 0 on"
        raise ScenarioError(f"{path}: {row['id']}: {problem}")
    return value


def _setting(path: Path, row: dict[str, str]) -> Setting:
    rate = _RATE.fullmatch(row["rate"])
    known = {
        "aqm": (
            _AQM.fullmatch(row["aqm"]),
            "pfifo and its limit, or red, codel, pie or fqcodel, perhaps with -ecn",
        ),
        "cc": (
            all(kind in _CONTROLS for kind in row["cc"].split("+")),
            "reno, cubic, or reno+cubic",
        ),
        "rate": (rate, "whole Mbit/s, such as 40mbit"),
    }
    for column, (is_known, expected) in known.items():
        if not is_known:
            told = f"{path}: {row['id']}: {column} is {row[column]!r}"
            raise ScenarioError(told, f"known: {expected}")
    flows, size, rtt = (_number(path, row, column) for column in ("n", "size", "rtt"))
    if rtt < 1 or not (flows or size) or int(flows) > 60:
        problem = f"{path}: {row['id']}: it has {flows:g} flows and an RTT of {rtt:g} ms"
        raise ScenarioError(problem, "at least 1 ms, and up to 60 flows or transfers")
    assert rate is not None
    has_hystart = _number(path, row, "hystart") != 0
    return Setting(row["aqm"], row["cc"], int(flows), rtt, int(rate[1]), has_hystart, int(size))
