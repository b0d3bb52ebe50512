"""Comparison with YAPS (NetSys/simulator): pFabric, flow by flow and in small cases."""

from __future__ import annotations

import csv
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway import parquet
from spillway.agreement import WITHIN, Agreement, Bounds, of_pairs
from spillway.errors import ScenarioError
from spillway.run import run_to
from spillway.scenario import Scenario
from spillway.validate.files import read
from spillway.validate.tables import shown_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from rich.console import Group

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]

MEDIAN_WITHIN, TAIL_WITHIN, COUNT_WITHIN = 0.02, 0.05, 0.05
"""How far medians, tails, and numbers of drops and timeouts may be from the reference's."""
TIED_WITHIN = 0.05
"""How far the mean ratio of times, drops and timeouts may be off in a small case with ties."""
PERCENTILES = (0.5, 0.95, 0.99)
WITHOUT_TIES = ("two_to_one", "nic_three", "nic_elephants")
"""The small cases in which no two events at one time and port decide anything."""
_COLUMNS = ("id", "src", "dst", "size_bytes", "start_ns", "recv_fct_ns", "data_drops", "timeouts")
_PLACES = 4
"""The number of spines, among which the reference chooses by sender, receiver and flow."""
_IN_RACK = -1
"""The spine that the reference gives to flows that need none."""


@dataclass(frozen=True)
class Number:
    """One compared number."""

    name: str
    reference: float
    ours: float
    within: float
    """The greatest difference that is allowed, as a fraction of the reference."""

    @property
    def difference(self) -> float:
        """The difference of ours from the reference, as a fraction of it."""
        if self.reference:
            return self.ours / self.reference - 1
        return math.inf if self.ours else 0.0

    @property
    def agrees(self) -> bool:
        """Whether it is within its bound."""
        return abs(self.difference) <= self.within


@dataclass(frozen=True)
class Case:
    """One small case."""

    name: str
    flows: int
    same: int
    """Flows that complete in the same nanosecond."""
    mean_ratio: float
    """The mean of our completion time over the reference's."""
    timeouts: tuple[int, int]
    """The reference's and ours."""
    drops: tuple[int, int]

    @property
    def must_agree(self) -> bool:
        """Whether every flow has to complete in the same nanosecond."""
        return self.name in WITHOUT_TIES

    @property
    def agrees(self) -> bool:
        """Whether everything is the same, or near where ties decide."""
        if self.must_agree:
            counts = self.timeouts[0] == self.timeouts[1] and self.drops[0] == self.drops[1]
            return self.same == self.flows and counts
        near = abs(self.mean_ratio - 1) <= TIED_WITHIN
        return near and all(
            abs(ours - there) <= TIED_WITHIN * there for there, ours in (self.timeouts, self.drops)
        )


@dataclass(frozen=True)
class PFabricBounds(Bounds):
    """The bounds of this validation."""

    @property
    def rule(self) -> str:
        """The bounds in words."""
        return (
            f"medians of slowdown within {100 * MEDIAN_WITHIN:g}%, tails within "
            f"{100 * TAIL_WITHIN:g}%, drops and timeouts within {100 * COUNT_WITHIN:g}%; small "
            "cases without ties to the nanosecond, with ties mean ratio, drops and timeouts within "
            f"{100 * TIED_WITHIN:g}%"
        )


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation."""

    numbers: list[Number]
    flow_by_flow: list[Agreement]
    cases: list[Case]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        numbers = [
            asdict(each) | {"difference": each.difference, "agrees": each.agrees}
            for each in self.numbers
        ]
        cases = [
            asdict(each) | {"must_agree": each.must_agree, "agrees": each.agrees}
            for each in self.cases
        ]
        return {
            "numbers": numbers,
            "flow_by_flow": [asdict(each) for each in self.flow_by_flow],
            "cases": cases,
            "bounds": asdict(self.bounds),
        }

    @property
    def bounds(self) -> PFabricBounds:
        """Of all numbers, and of the small cases."""
        broken = [f"{one.name} {one.difference:+.1%}" for one in self.numbers if not one.agrees]
        broken += [
            f"{case.name}: {case.same} of {case.flows} flows the same, mean ratio "
            f"{case.mean_ratio:.4f}"
            for case in self.cases
            if not case.agrees
        ]
        return PFabricBounds(len(self.numbers) + len(self.cases), [], broken)


def pfabric(folder: Path, *, jobs: int = 2) -> Validation:
    """YAPS with pFabric: websearch at 60% with one path for each flow, and small cases.

    `folder` holds the flows of a run with their times (`flows_websearch_60_ecmp.parquet`) and the
    small cases (`micro_cases.csv`). Our flows take the paths that they took there.
    """
    listed = folder / "flows_websearch_60_ecmp.parquet"
    flows = read(listed, "the flows", (*_COLUMNS, "core"))
    _check_paths(listed, flows)
    small = _small(folder / "micro_cases.csv")
    with TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as pool:
        whole = pool.submit(_run, str(listed), flows, Path(place) / "flows.parquet")
        runs = {
            name: pool.submit(_run, name, table, Path(place) / f"{number}.parquet")
            for number, (name, table) in enumerate(small.items())
        }
        cases = [_case(name, small[name], *run.result()) for name, run in runs.items()]
        numbers, by_flow = _compared(flows, *whole.result())
    return Validation(numbers, by_flow, cases)


def _small(path: Path) -> dict[str, pa.Table]:
    """The flows of every small case."""
    import pyarrow as pa

    if not path.is_file():
        raise ScenarioError(f"there is no file {path}", "it holds small cases of the reference")
    rows: dict[str, list[dict[str, int]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                values = {name: int(row[name]) for name in _COLUMNS}
                rows.setdefault(row["case"], []).append(values)
            except (KeyError, TypeError, ValueError) as error:
                wanted = f"expected case, {', '.join(_COLUMNS)}"
                raise ScenarioError(f"{path}, line {number}: no whole numbers; {wanted}") from error
    if not rows:
        raise ScenarioError(f"{path}: there are no flows")
    return {name: pa.Table.from_pylist(listed) for name, listed in rows.items()}


def _spines(flows: pa.Table) -> npt.NDArray[np.int64]:
    """The spine of each flow, by the reference's rule. In a rack it has no meaning."""
    src, dst, ids = (flows[name].to_numpy() for name in ("src", "dst", "id"))
    spines: npt.NDArray[np.int64] = (src + dst + ids) % _PLACES
    return spines


def _check_paths(path: Path, flows: pa.Table) -> None:
    """Refuses flows that took other spines: their paths are not known here."""
    core = flows["core"].to_numpy()
    if ((core != _spines(flows)) & (core != _IN_RACK)).any():
        raise ScenarioError(
            f"{path}: core is not always (src + dst + id) % {_PLACES}, or {_IN_RACK} in a rack",
            "the run must have one path for each flow",
        )


def _run(source: str, flows: pa.Table, file: Path) -> tuple[pa.Table, int]:
    """Our times and timeouts of these flows, in their order, and the number of drops."""
    import pyarrow as pa

    spine = pa.array(_spines(flows))
    columns = ("src", "dst", "size_bytes", "start_ns")
    listed = {name: flows[name] for name in columns} | {"path": spine, "ack_path": spine}
    parquet.write(pa.table(listed), file)
    result = run_to(None, scenario_of(str(file)))
    table = result.flows.sort_by("flow_id")
    for name in ("src", "dst", "size_bytes"):
        if table[name].to_pylist() != flows[name].to_pylist():
            raise ScenarioError(f"{source}: its flows are not in order of their starts")
    return table, sum(result.summary["drops"].values())


def scenario_of(file: str) -> Scenario:
    """The reference's network and senders, with its peculiarities and these flows."""
    resolved = Scenario.load("pfabric").resolved
    resolved["traffic"] = [{"name": "list", "kind": "flows", "file": file}]
    resolved["duration"], resolved["stop"] = "1s", "10s"
    resolved["transport"] |= {"probe_after": 0, "knows_receiver": True}
    resolved["topology"]["arrivals_first"] = True
    return Scenario(resolved)


def _times(flows: pa.Table, ours: pa.Table) -> tuple[Floats, Floats]:
    """Completion times at the receiver in nanoseconds, the reference's and ours."""
    there = flows["recv_fct_ns"].cast("double").to_numpy()
    here = ours["fct_ps"].cast("double").fill_null(math.inf).to_numpy() / 1e3
    return there, here


def _sum(table: pa.Table, name: str) -> int:
    return int(table[name].to_numpy().sum())


def _case(name: str, flows: pa.Table, ours: pa.Table, drops: int) -> Case:
    there, here = _times(flows, ours)
    timeouts = _sum(flows, "timeouts"), _sum(ours, "timeouts")
    same = int((there == here).sum())
    lost = _sum(flows, "data_drops"), drops
    return Case(name, len(there), same, float((here / there).mean()), timeouts, lost)


def _compared(flows: pa.Table, ours: pa.Table, drops: int) -> tuple[list[Number], list[Agreement]]:
    """The numbers of the large run, and its flows one by one."""
    import numpy as np

    there, here = _times(flows, ours)
    ideal = ours["ideal_ps"].to_numpy() / 1e3
    numbers, by_flow = [], []
    for kind, members in _classes(flows["size_bytes"].to_numpy()).items():
        if members.sum() < 2:
            continue
        for p in PERCENTILES:
            values = [
                float(np.sort((times / ideal)[members])[math.ceil(members.sum() * p) - 1])
                for times in (there, here)
            ]
            within = MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN
            numbers.append(Number(f"{kind} p{100 * p:g}", values[0], values[1], within))
        both = members & np.isfinite(here)
        by_flow.append(of_pairs(kind, int(members.sum()), there[both], here[both]))
    counts = {
        "drops": (_sum(flows, "data_drops"), drops),
        "timeouts": (_sum(flows, "timeouts"), _sum(ours, "timeouts")),
    }
    numbers += [Number(name, *values, COUNT_WITHIN) for name, values in counts.items()]
    return numbers, by_flow


def _classes(size: npt.NDArray[np.int64]) -> dict[str, Booleans]:
    """Which flows belong to which class."""
    short, long = size < 100_000, size >= 1_000_000
    return {"short": short, "medium": ~short & ~long, "long": long, "all": size > 0}


def table(validation: Validation) -> Group:
    """What agrees and what does not: numbers, flows one by one, small cases."""
    from rich.console import Group

    numbers = shown_table(
        "YAPS and Spillway: slowdowns, drops, timeouts",
        ["count", "reference", "ours", "difference", ""],
    )
    for one in validation.numbers:
        shown = (f"{value:,.6g}" for value in (one.reference, one.ours))
        verdict = "agrees" if one.agrees else "differs"
        numbers.add_row(one.name, *shown, f"{one.difference:+.1%}", verdict)
    flows = shown_table(
        "FCT flow by flow: Spillway's to the reference's",
        ["flows", "compared", "median ratio", *(f"within {100 * bound:g}%" for bound in WITHIN)],
    )
    for found in validation.flow_by_flow:
        shares = (f"{100 * share:.0f}%" for share in found.within)
        flows.add_row(found.flows, f"{found.matched:,}", f"{found.median_ratio:.4f}", *shares)
    cases = shown_table(
        "Small cases",
        ["count", "flows the same", "mean ratio", "timeouts", "ours", "drops", "ours", ""],
    )
    for case in validation.cases:
        verdict = "agrees" if case.agrees else "differs"
        if case.agrees and not case.must_agree:
            verdict = "near, has ties"
        cases.add_row(
            case.name,
            f"{case.same} of {case.flows}",
            f"{case.mean_ratio:.4f}",
            *(f"{count:,}" for count in (*case.timeouts, *case.drops)),
            verdict,
        )
    return Group(numbers, flows, cases)
