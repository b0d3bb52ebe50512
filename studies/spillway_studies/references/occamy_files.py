"""The files of Occamy's reference: runs, small cases, and what becomes of their packets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import Whole, check_file, check_folder, table
from spillway_studies.references.numbers import Json
from spillway_studies.references.occamy_replay import (
    SCHEDULERS,
    SCHEMES,
    Outcome,
    Run,
)
from spillway_studies.references.occamy_rules import is_rounded_alike

TIED = "tied"
"""What is added to the kind of runs whose fates depend on the order of tied events."""
_LAYOUT = "it holds runs.csv, arrivals.parquet and fates.parquet"
_CASES = "micro.csv"
_SETTINGS = {
    "scheme": "string",
    "sched": "string",
    "alpha": "float64",
    **dict.fromkeys(("buffer_bytes", "queues", "ecn_k"), "int64"),
}
_RUN = {"run": "int64", "list": "string", "tie_sensitive_packets": "int64"}
_ARRIVAL = dict.fromkeys(("id", "time_ns", "port", "queue", "bytes"), "int64")
_FATE = dict.fromkeys(("run", "id", "fate", "wait_ns", "ce"), "int64")
_FOUND = dict.fromkeys(
    ("fate", "t_out_ns", "ce", "q_before", "used_before", "threshold_before"), "int64"
)


@dataclass(frozen=True)
class Found:
    """Runs of a folder."""

    count: int
    """How many the folder has."""
    runs: list[Run]
    """Those that can be repeated here."""
    left_out: list[str]
    """The others, and why."""


def found_runs(folder: Path) -> Found:
    """The runs of a folder.

    Raises:
        ScenarioError: a file is missing, or lacks something.
    """
    check_folder(folder, _LAYOUT)
    found = {
        name: _read(folder / name, types)
        for name, types in {
            "runs.csv": _RUN | _SETTINGS,
            "arrivals.parquet": _ARRIVAL | {"list": "string"},
            "fates.parquet": _FATE,
        }.items()
    }
    arrivals, fates = found["arrivals.parquet"], found["fates.parquet"]
    rows = found["runs.csv"].to_pylist()
    kept: list[Run] = []
    left_out: Counter[str] = Counter()
    for row in rows:
        packets = arrivals.filter(pc.equal(arrivals["list"], row["list"])).sort_by("id")
        of_run = fates.filter(pc.equal(fates["run"], row["run"])).sort_by("id")
        if not packets.num_rows or not packets["id"].equals(of_run["id"]):
            raise ScenarioError(
                f"{folder}: run {row['run']}: arrivals and fates are not of the same packets",
                _LAYOUT,
            )
        outcome = Outcome(
            _whole(of_run, "fate"), _whole(of_run, "wait_ns"), _whole(of_run, "ce") > 0
        )
        kind = row["list"].split("-")[2]
        if row["tie_sensitive_packets"]:
            kind = f"{kind}, {TIED}"
        _keep(row | {"name": f"run {row['run']}", "kind": kind}, packets, outcome, kept, left_out)
    return Found(len(rows), kept, _told(left_out))


def found_cases(folder: Path) -> Found:
    """The small cases of a folder, which may have none.

    Raises:
        ScenarioError: their file lacks something.
    """
    if not (folder / _CASES).is_file():
        return Found(0, [], [])
    types = {"case": "string", **_SETTINGS, **_ARRIVAL, **_FOUND}
    packets = _read(folder / _CASES, types, may_be_unknown=("threshold_before",))
    names = pc.unique(packets["case"]).to_pylist()
    kept: list[Run] = []
    left_out: Counter[str] = Counter()
    for name in names:
        case = packets.filter(pc.equal(packets["case"], name)).sort_by("id")
        row = case.slice(0, 1).to_pylist()[0]
        is_told = row["scheme"] != "PUSHOUT"
        outcome = Outcome(
            _whole(case, "fate"),
            _whole(case, "t_out_ns") - _whole(case, "time_ns"),
            _whole(case, "ce") > 0,
            _whole(case, "q_before"),
            _whole(case, "used_before"),
            _whole(case, "threshold_before") if is_told else None,
        )
        _keep(row | {"name": name, "kind": name}, case, outcome, kept, left_out)
    return Found(len(names), kept, _told(left_out))


def _read(file: Path, types: Mapping[str, str], may_be_unknown: tuple[str, ...] = ()) -> pa.Table:
    check_file(file, _LAYOUT)
    return pa.table(taken(table(file), types, str(file), may_be_unknown))


def _whole(packets: pa.Table, column: str) -> Whole:
    found: Whole = packets[column].to_numpy()
    return found


def _keep(
    row: Json, packets: pa.Table, outcome: Outcome, kept: list[Run], left_out: Counter[str]
) -> None:
    """Adds a run to those kept, or counts why it is left out."""
    arrivals = {name: _whole(packets, name) for name in _ARRIVAL}
    if row["scheme"] not in SCHEMES:
        left_out[f"under {row['scheme']}, which is not known here"] += 1
    elif row["sched"] not in SCHEDULERS:
        left_out[f"with {row['sched']}, which is not known here"] += 1
    elif not all(is_rounded_alike(int(size)) for size in set(arrivals["bytes"].tolist())):
        left_out["with packets whose time on a line would be rounded otherwise"] += 1
    else:
        settings = {name: row[name] for name in ("name", "kind", "scheme", "alpha", "queues")}
        run = Run(
            **settings,
            buffer_bytes=row["buffer_bytes"],
            scheduler=row["sched"],
            mark_above_bytes=row["ecn_k"],
            arrivals=arrivals,
            found=outcome,
        )
        kept.append(run)


def _told(left_out: Counter[str]) -> list[str]:
    return [f"runs {what}: {count}" for what, count in left_out.items()]
