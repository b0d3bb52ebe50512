"""The folder of the runs of PIAS's own program for ns-2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from spillway.base import csv_file
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import arrays, check_folder, foreign
from spillway_studies.references.flow_lists import check, numbering
from spillway_studies.references.kinds import Booleans, Floats, Whole

HOSTS = 24
"""The hosts of the reference's network."""
SHORT_BYTES = 100_000
"""Flows of fewer bytes are compared."""
WORKLOADS = ("datamining", "websearch")
LOADS = (50, 60, 70, 80, 90)
"""The loads in percent for which PIAS's program has thresholds."""
_NAME = re.compile(r"flows_([a-z]+)_pias_(\d+)_(\w+)\.parquet")
_LAYOUT = "a run's file is called flows_WORKLOAD_pias_LOAD_ID.parquet"
_WITHOUT_WARM_UP = "nowarm"
_MEAN = "mean_reused_conn"


@dataclass(frozen=True)
class Reference:
    """A run of the reference: its flows, in the order of their starts."""

    name: str
    """Such as websearch_pias_60_24h."""
    workload: str
    load: int
    """In percent."""
    is_warmed_up: bool
    """Whether every pair of hosts has a connection before the first flow."""
    src: Whole
    dst: Whole
    size_bytes: Whole
    start_ns: Whole
    fct_ns: Floats
    """Until the sender has everything acknowledged."""
    ideal_ns: Floats
    """The time of the flow alone in the network."""
    is_first: Booleans
    """Whether it is the first flow of its connection."""

    @property
    def thresholds(self) -> str:
        """The name of the thresholds of this workload and load."""
        return f"{self.workload}-{self.load / 100:g}"

    @property
    def is_short(self) -> Booleans:
        """Which flows are short."""
        return self.size_bytes < SHORT_BYTES

    @property
    def is_compared(self) -> Booleans:
        """Which flows are compared: short ones on connections that were used before."""
        return self.is_short & ~self.is_first


def runs(folder: Path) -> tuple[list[Reference], list[str]]:
    """The runs in the folder, and the names of files with flows that are no runs of PIAS.

    Raises:
        ScenarioError: there is none; one lacks something, or is of another workload or network.
    """
    check_folder(folder, _LAYOUT)
    files = sorted(folder.glob("flows_*.parquet"))
    named = [(file, _NAME.fullmatch(file.name)) for file in files]
    found = [_run(file, *match.groups()) for file, match in named if match]
    if not found:
        raise ScenarioError(f"{folder}: there are no runs of PIAS", _LAYOUT)
    _check_means(folder / "summary.csv", found)
    return found, [file.name for file, match in named if not match]


def _run(file: Path, workload: str, load: str, run_id: str) -> Reference:
    if workload not in WORKLOADS or int(load) not in LOADS:
        loads = ", ".join(f"{known}" for known in LOADS)
        raise ScenarioError(
            f"{file}: PIAS has no thresholds for {workload} at {load}%",
            f"they are known for {' and '.join(WORKLOADS)} at {loads}%",
        )
    types = dict.fromkeys(("src", "dst", "size_bytes", "start_ns"), "int64")
    types |= {"fct_ns": "double", "ideal_ns": "double", "first_on_conn": "bool"}
    columns = arrays(foreign(file), types, file)
    check(str(file), columns, HOSTS, ("size_bytes", "fct_ns", "ideal_ns"), ("start_ns",))
    order = numbering(columns)
    reference = Reference(
        f"{workload}_pias_{load}_{run_id}",
        workload,
        int(load),
        _WITHOUT_WARM_UP not in run_id,
        *(column[order] for column in columns.values()),
    )
    if not reference.is_compared.any():
        raise ScenarioError(
            f"{file}: no flow under {SHORT_BYTES // 1000} KB is on a used connection",
            "only such flows are compared",
        )
    return reference


def _check_means(path: Path, found: list[Reference]) -> None:
    """Refuses a summary whose means are not those of the runs, if there is one."""
    if not path.is_file():
        return
    rows = {(row.get("run"), row.get("bin")): row for _, row in csv_file.rows(path)}
    for run in found:
        row = rows.get((run.name, "<100KB"))
        if row is None:
            continue
        try:
            told = float(row[_MEAN])
        except (KeyError, TypeError, ValueError) as error:
            raise ScenarioError(f"{path}: {run.name}: {_MEAN} is no number") from error
        mean = float((run.fct_ns / run.ideal_ns)[run.is_compared].mean())
        if not abs(mean / told - 1) < 1e-3:
            raise ScenarioError(
                f"{path}: {run.name}: {_MEAN} is {told:g} there, and {mean:g} in its flows",
                "the flows and the summary must be of one run",
            )
