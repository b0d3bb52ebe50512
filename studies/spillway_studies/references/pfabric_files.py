"""The folder of the runs of YAPS (NetSys/simulator) with pFabric."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spillway.base import csv_file
from spillway.base.arguments import plain_int
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway_studies.references.files import check_folder, foreign
from spillway_studies.references.flow_lists import check

HOSTS = 144
"""The hosts of the reference's network."""
_TYPES = dict.fromkeys(("id", "src", "dst", "size_bytes", "start_ns"), "int64") | {
    "recv_fct_ns": "double",
    "data_drops": "int64",
    "timeouts": "int64",
}
"""The columns of every flow."""
_SPINES = 4
"""The number of spines, among which the reference chooses by sender, receiver and flow."""
_IN_RACK, _SPRAYED = -1, -2
"""The spines that the reference gives to flows that need none, and whose packets take all."""
_LAYOUT = "the flows of a run are in flows_RUN.parquet, small cases in micro_cases.csv"
_CUT_THROUGH = "cut"
"""What the name of a run has whose switches send packets on before they have them."""
_SMALL = "micro_cases.csv"


@dataclass(frozen=True)
class Run:
    """A run of the reference."""

    name: str
    """Such as websearch_60_ecmp."""
    flows: pa.Table
    is_sprayed: bool
    """Whether packets of one flow take all paths, and not one that is known."""


@dataclass(frozen=True)
class Reference:
    """What the folder holds."""

    runs: list[Run]
    small: dict[str, pa.Table]
    """The flows of every small case, by its name."""
    left_out: list[str]
    """What is not compared, and why."""


def runs(folder: Path) -> Reference:
    """The runs and the small cases in the folder.

    Raises:
        ScenarioError: there is neither; one lacks something, or is of another network.
    """
    check_folder(folder, _LAYOUT)
    found, left_out = [], []
    for file in sorted(folder.glob("flows_*.parquet")):
        name = file.stem.removeprefix("flows_")
        if _CUT_THROUGH in name.split("_"):
            reason = "its switches send packets on before they have them, which ours do not"
            left_out.append(f"{file.name}: {reason}")
        else:
            found.append(_run(name, file))
    small = {}
    if (folder / _SMALL).is_file():
        small = _small(folder / _SMALL)
    else:
        left_out.append(f"small cases: there is no {_SMALL}")
    if not found and not small:
        raise ScenarioError(f"{folder}: there are no runs of pFabric", _LAYOUT)
    return Reference(found, small, left_out)


def spines(flows: pa.Table) -> npt.NDArray[np.int64]:
    """The spine of each flow, by the reference's rule. In a rack it has no meaning."""
    src, dst, ids = (flows[name].to_numpy() for name in ("src", "dst", "id"))
    chosen: npt.NDArray[np.int64] = (src + dst + ids) % _SPINES
    return chosen


def _run(name: str, file: Path) -> Run:
    columns = taken(foreign(file), {**_TYPES, "core": "int64"}, str(file))
    flows = pa.table(columns)
    _check(str(file), flows)
    return Run(name, flows, _is_sprayed(file, flows))


def _small(path: Path) -> dict[str, pa.Table]:
    """The flows of every small case."""
    rows: dict[str, list[dict[str, int]]] = {}
    for number, row in csv_file.rows(path):
        try:
            values = {name: plain_int(row[name]) for name in _TYPES}
            rows.setdefault(row["case"], []).append(values)
        except (KeyError, TypeError, ValueError) as error:
            wanted = f"expected case, {', '.join(_TYPES)}"
            raise ScenarioError(f"{path}, line {number}: no whole numbers; {wanted}") from error
    if not rows:
        raise ScenarioError(f"{path}: there are no flows")
    cases = {name: pa.Table.from_pylist(listed) for name, listed in rows.items()}
    for name, flows in cases.items():
        _check(f"{path}: {name}", flows)
    return cases


def _check(source: str, flows: pa.Table) -> None:
    """Refuses flows that cannot be those of a run in the reference's network."""
    if not flows.num_rows:
        raise ScenarioError(f"{source}: there are no flows")
    columns = {name: flows[name].to_numpy() for name in _TYPES}
    above_0, from_0 = ("size_bytes", "recv_fct_ns"), ("start_ns", "data_drops", "timeouts")
    check(source, columns, HOSTS, above_0, from_0)


def _is_sprayed(path: Path, flows: pa.Table) -> bool:
    """Whether packets of a flow took all spines. Refuses flows whose spines are not known here."""
    core = flows["core"].to_numpy()
    across = core != _IN_RACK
    if across.any() and (core[across] == _SPRAYED).all():
        return True
    if (core != spines(flows))[across].any():
        raise ScenarioError(
            f"{path}: core is not always (src + dst + id) % {_SPINES}, or {_IN_RACK} in a rack",
            f"it may also be {_SPRAYED} for all flows that leave their rack: packets are sprayed",
        )
    return False
