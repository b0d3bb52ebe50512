"""Comparison with YAPS (NetSys/simulator): pFabric, flow by flow and in small cases."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.base import parquet
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references.agreement import WITHIN, Agreement, Bounds, of_pairs
from spillway_studies.references.pfabric_files import runs, spines
from spillway_studies.references.tables import shown_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]

MEDIAN_WITHIN, TAIL_WITHIN, COUNT_WITHIN = 0.02, 0.05, 0.05
"""How far medians, tails, and numbers of drops and timeouts may be from the reference's."""
TIED_WITHIN = 0.05
"""How far the mean ratio of times, drops and timeouts may be off in a small case with ties."""
PERCENTILES = (0.5, 0.95, 0.99)


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
    must_agree: bool
    """Whether every flow has to complete in the same nanosecond: it does so, too, if ports choose
    before what arrives at that moment is queued, so this case hangs on no such tie."""

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
class Compared:
    """One run of the reference, and ours."""

    run: str
    """Such as websearch_60_ecmp."""
    sprayed: bool
    """Whether packets of one flow take all paths, and not one that is known."""
    numbers: list[Number]
    flow_by_flow: list[Agreement]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        numbers = [
            asdict(each) | {"difference": each.difference, "agrees": each.agrees}
            for each in self.numbers
        ]
        flows = [asdict(each) for each in self.flow_by_flow]
        return {"sprayed": self.sprayed, "numbers": numbers, "flow_by_flow": flows}


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

    runs: list[Compared]
    cases: list[Case]
    left_out: list[str]
    """What is not compared, and why."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        cases = [asdict(each) | {"agrees": each.agrees} for each in self.cases]
        return {
            "runs": {found.run: found.document for found in self.runs},
            "cases": cases,
            "left_out": self.left_out,
            "bounds": asdict(self.bounds),
        }

    @property
    def bounds(self) -> PFabricBounds:
        """Of all numbers, and of the small cases."""
        numbers = [(found.run, one) for found in self.runs for one in found.numbers]
        broken = [
            f"{run} {one.name} {one.difference:+.1%}" for run, one in numbers if not one.agrees
        ]
        broken += [
            f"{case.name}: {case.same} of {case.flows} flows the same, mean ratio "
            f"{case.mean_ratio:.4f}"
            for case in self.cases
            if not case.agrees
        ]
        return PFabricBounds(len(numbers) + len(self.cases), [], broken)


def pfabric(folder: Path, *, jobs: int = 2) -> Validation:
    """YAPS with pFabric: runs with one path for each flow or with sprayed packets, and small cases.

    `folder` holds the flows of runs with their times (`flows_RUN.parquet`), small cases
    (`micro_cases.csv`), or both. Our flows take the paths that they took there; sprayed packets
    take others.

    Raises:
        ScenarioError: there is neither; or a file lacks something.
    """
    reference = runs(folder)
    small = list(reference.small.items())
    with TemporaryDirectory() as place:
        wholes = [
            partial(_run, run.flows, Path(place) / f"{run.name}.parquet", sprayed=run.is_sprayed)
            for run in reference.runs
        ]
        cases = [
            partial(_run, table, Path(place) / f"{number}-{first}.parquet", ports_first=first)
            for number, (_, table) in enumerate(small)
            for first in (False, True)
        ]
        ours = all_of(lambda call, report: call(report=report), [*wholes, *cases], jobs)
    pairs = zip(ours[len(wholes) :: 2], ours[len(wholes) + 1 :: 2], strict=True)
    found = [_case(name, table, *both) for (name, table), both in zip(small, pairs, strict=True)]
    compared = [
        Compared(run.name, run.is_sprayed, *_compared(run.flows, *own))
        for run, own in zip(reference.runs, ours[: len(wholes)], strict=True)
    ]
    return Validation(compared, found, reference.left_out)


def _run(
    flows: pa.Table,
    file: Path,
    *,
    report: Report,
    sprayed: bool = False,
    ports_first: bool = False,
) -> tuple[pa.Table, int]:
    """Our times and timeouts of these flows, in their order, and how many data packets are lost."""
    import numpy as np
    import pyarrow as pa

    # Runs number their flows in this order.
    order = np.lexsort(
        [flows[name].to_numpy() for name in ("size_bytes", "dst", "src", "start_ns")]
    )
    spine = pa.array(spines(flows))
    listed = {name: flows[name] for name in ("src", "dst", "size_bytes", "start_ns")}
    if not sprayed:
        listed |= {"path": spine, "ack_path": spine}
    parquet.write(pa.table(listed).take(order), file)
    last = math.ceil(int(flows["start_ns"].to_numpy().max()) / 1e9)
    changes: dict[str, Any] = {"duration": f"{last + 1}s", "stop": f"{last + 20}s"}
    changes |= {"routing.kind": "spray"} if sprayed else {}
    changes |= {"topology.arrivals_first": False} if ports_first else {}
    result = run_whole(scenario_of(str(file)).set(changes), report)
    table = result.flows.sort_by("flow_id").take(np.argsort(order))
    # The reference counts acks that are dropped apart.
    return table, int(result.summary["repairs"]["all"]["lost_packets"])


def scenario_of(file: str) -> Scenario:
    """The reference's network and senders, with its peculiarities and these flows."""
    resolved = Scenario.load("pfabric-yaps").resolved
    resolved["traffic"] = [{"name": "list", "kind": "flows", "file": file}]
    return Scenario(resolved)


def _times(flows: pa.Table, ours: pa.Table) -> tuple[Floats, Floats]:
    """Completion times at the receiver in nanoseconds, the reference's and ours."""
    there = flows["recv_fct_ns"].cast("double").to_numpy()
    here = ours["fct_ps"].cast("double").fill_null(math.inf).to_numpy() / 1e3
    return there, here


def _sum(table: pa.Table, name: str) -> int:
    return int(table[name].to_numpy().sum())


def _case(
    name: str, flows: pa.Table, run: tuple[pa.Table, int], ports_first: tuple[pa.Table, int]
) -> Case:
    ours, drops = run
    there, here = _times(flows, ours)
    _, other = _times(flows, ports_first[0])
    must_agree = bool((here == other).all()) and drops == ports_first[1]
    timeouts = _sum(flows, "timeouts"), _sum(ours, "timeouts")
    same = int((there == here).sum())
    lost = _sum(flows, "data_drops"), drops
    return Case(name, len(there), same, float((here / there).mean()), timeouts, lost, must_agree)


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
    from rich.text import Text

    parts: list[Table | Text] = []
    for run in validation.runs:
        parts += [_numbers(run), _flow_by_flow(run)]
    if validation.cases:
        parts.append(_cases(validation.cases))
    return Group(*parts, *(Text(f"left out: {each}") for each in validation.left_out))


def _numbers(run: Compared) -> Table:
    numbers = shown_table(
        f"{run.run}, YAPS and Spillway: slowdowns, drops, timeouts",
        ["count", "reference", "ours", "difference", ""],
    )
    for one in run.numbers:
        shown = (f"{value:,.6g}" for value in (one.reference, one.ours))
        verdict = "agrees" if one.agrees else "differs"
        numbers.add_row(one.name, *shown, f"{one.difference:+.1%}", verdict)
    if run.sprayed:
        numbers.caption = "packets are sprayed, here otherwise than there"
    return numbers


def _flow_by_flow(run: Compared) -> Table:
    flows = shown_table(
        f"{run.run}, FCT flow by flow: Spillway's to the reference's",
        ["flows", "compared", "median ratio", *(f"within {100 * bound:g}%" for bound in WITHIN)],
    )
    for found in run.flow_by_flow:
        shares = (f"{100 * share:.0f}%" for share in found.within)
        flows.add_row(found.flows, f"{found.matched:,}", f"{found.median_ratio:.4f}", *shares)
    return flows


def _cases(found: list[Case]) -> Table:
    cases = shown_table(
        "Small cases",
        ["count", "flows the same", "mean ratio", "timeouts", "ours", "drops", "ours", ""],
    )
    for case in found:
        verdict = "agrees" if case.agrees else "differs"
        if case.agrees and case.same < case.flows:
            verdict = "near, has ties"
        cases.add_row(
            case.name,
            f"{case.same} of {case.flows}",
            f"{case.mean_ratio:.4f}",
            *(f"{count:,}" for count in (*case.timeouts, *case.drops)),
            verdict,
        )
    return cases
