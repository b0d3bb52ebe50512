"""Comparison with YAPS (NetSys/simulator): pFabric, flow by flow and in small cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from rich.table import Table

from spillway.base import csv_file, parquet
from spillway.base.arguments import plain_int
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway.base.threads import all_of
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.files import (
    Floats,
    Whole,
    as_listed,
    check_flows,
    check_folder,
    fct_ns,
    foreign,
    numbering,
)
from spillway_studies.references.numbers import (
    PERCENTILES,
    Json,
    Verdict,
    agreements,
    compared,
    nearest_rank,
    percentile_name,
)
from spillway_studies.references.tables import WITHIN_COLUMNS, shares, shown_table, texts
from spillway_studies.references.validation import Validation, validation

_MEDIAN_WITHIN, _TAIL_WITHIN, _COUNT_WITHIN = 0.02, 0.05, 0.05
"""How far medians, tails, and numbers of drops and timeouts may be from the reference's."""
_TIED_WITHIN = 0.05
"""How far the mean ratio of times, drops and timeouts may be off in a small case with ties."""
_RULE = (
    f"medians of slowdown within {100 * _MEDIAN_WITHIN:g}%, tails within {100 * _TAIL_WITHIN:g}%, "
    f"drops and timeouts within {100 * _COUNT_WITHIN:g}%; small cases without ties to the "
    "nanosecond, with ties mean ratio, drops and timeouts within "
    f"{100 * _TIED_WITHIN:g}%"
)
_HOSTS = 144
"""The hosts of the reference's network."""
_SPINES = 4
"""The number of spines, among which the reference chooses by sender, receiver and flow."""
_IN_RACK, _SPRAYED = -1, -2
"""Codes in the column `core`: -1 for a flow within a rack, -2 for a flow whose packets are sprayed.
"""
_TYPES = dict.fromkeys(("id", "src", "dst", "size_bytes", "start_ns"), "int64") | {
    "recv_fct_ns": "double",
    "data_drops": "int64",
    "timeouts": "int64",
}
"""The columns of every flow."""
_LAYOUT = "the flows of a run are in flows_RUN.parquet, small cases in micro_cases.csv"
_CUT_THROUGH = "cut"
"""Part of the names of runs with cut-through switches."""
_SMALL = "micro_cases.csv"


def pfabric(folder: Path, *, jobs: int = 2) -> Validation:
    """YAPS with pFabric: runs with one path for each flow or with sprayed packets, and small cases.

    `folder` holds the flows of runs with their times (`flows_RUN.parquet`), small cases
    (`micro_cases.csv`), or both. Our flows take the paths that they took there; sprayed packets
    take others.

    Raises:
        ScenarioError: there is neither; or a file lacks something.
    """
    large, small, left_out = _read(folder)
    with TemporaryDirectory() as place:
        calls = [
            partial(_run, flows, Path(place) / f"{name}.parquet", sprayed=_is_sprayed(flows))
            for name, flows in large.items()
        ]
        calls += [
            partial(_run, flows, Path(place) / f"{number}-{first}.parquet", ports_first=first)
            for number, flows in enumerate(small.values())
            for first in (False, True)
        ]
        ours = iter(all_of(lambda call, report: call(report=report), calls, jobs))
    runs = {name: _compare(flows, *next(ours)) for name, flows in large.items()}
    cases = [_case(name, flows, next(ours)[0], next(ours)[0]) for name, flows in small.items()]
    shown = [table for name, run in runs.items() for table in _tables(name, run)]
    return validation(
        {"runs": runs, "cases": cases, "left_out": left_out},
        [*shown, *([_cases_table(cases)] if cases else []), *texts(left_out)],
        [
            *(
                (f"{name} {row['name']}", row["difference"], _verdict(row))
                for name, run in runs.items()
                for row in run["numbers"]
            ),
            *(
                (
                    f"{case['name']}:",
                    f"{case['same']} of {case['flows']} flows the same, "
                    f"mean ratio {case['mean_ratio']:.4f}",
                    _verdict(case),
                )
                for case in cases
            ),
        ],
        _RULE,
    )


# Files -------------------------------------------------------------------------------------------


def _read(folder: Path) -> tuple[dict[str, pa.Table], dict[str, pa.Table], list[str]]:
    """The flows of the runs and of the small cases in the folder, and what is left out, and why.

    Raises:
        ScenarioError: there is neither; one lacks something, or is of another network.
    """
    check_folder(folder, _LAYOUT)
    found, left_out = {}, []
    for file in sorted(folder.glob("flows_*.parquet")):
        name = file.stem.removeprefix("flows_")
        if _CUT_THROUGH in name.split("_"):
            reason = "its switches send packets on before they have them, which ours do not"
            left_out.append(f"{file.name}: {reason}")
        else:
            found[name] = _flows(file)
    small = {}
    if (folder / _SMALL).is_file():
        small = _small(folder / _SMALL)
    else:
        left_out.append(f"small cases: there is no {_SMALL}")
    if not found and not small:
        raise ScenarioError(f"{folder}: there are no runs of pFabric", _LAYOUT)
    return found, small, left_out


def _flows(file: Path) -> pa.Table:
    """The flows of a run. Their spines must be known here, or all packets must be sprayed."""
    flows = pa.table(taken(foreign(file), {**_TYPES, "core": "int64"}, str(file)))
    _check(str(file), flows)
    core = flows["core"].to_numpy()
    if not _is_sprayed(flows) and (core != _spines(flows))[core != _IN_RACK].any():
        raise ScenarioError(
            f"{file}: core is not always (src + dst + id) % {_SPINES}, or {_IN_RACK} in a rack",
            f"it may also be {_SPRAYED} for all flows that leave their rack: packets are sprayed",
        )
    return flows


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
    check_flows(source, columns, _HOSTS, above_0, from_0)


def _is_sprayed(flows: pa.Table) -> bool:
    """Whether packets of a flow were sprayed over all spines, and did not take a known one."""
    core = flows["core"].to_numpy()
    across = core[core != _IN_RACK]
    return len(across) > 0 and bool((across == _SPRAYED).all())


def _spines(flows: pa.Table) -> Whole:
    """The spine of each flow, by the reference's rule. In a rack it has no meaning."""
    src, dst, ids = (flows[name].to_numpy() for name in ("src", "dst", "id"))
    chosen: Whole = (src + dst + ids) % _SPINES
    return chosen


# Runs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What the reference or we have of the same flows, in the order of their list."""

    fct_ns: Floats
    """Completion times at the receiver."""
    timeouts: int
    drops: int
    """How many data packets are lost."""


def _of_reference(flows: pa.Table) -> Outcome:
    times = flows["recv_fct_ns"].cast("double").to_numpy()
    return Outcome(times, _sum(flows, "timeouts"), _sum(flows, "data_drops"))


def _run(
    flows: pa.Table,
    file: Path,
    *,
    report: Report,
    sprayed: bool = False,
    ports_first: bool = False,
) -> tuple[Outcome, Floats]:
    """Runs these flows, and tells what comes of them and their times alone in the network.

    The list is written into `file`.
    """
    order = numbering(flows)
    spine = pa.array(_spines(flows))
    listed = {name: flows[name] for name in ("src", "dst", "size_bytes", "start_ns")}
    if not sprayed:
        listed |= {"path": spine, "ack_path": spine}
    parquet.write(pa.table(listed).take(order), file)
    last = math.ceil(int(flows["start_ns"].to_numpy().max()) / 1e9)
    changes: Json = {"duration": f"{last + 1}s", "stop": f"{last + 20}s"}
    changes |= {"routing.kind": "spray"} if sprayed else {}
    changes |= {"topology.arrivals_first": False} if ports_first else {}
    result = run_whole(scenario_of(str(file)).set(changes), report)
    ours = as_listed(result.flows, order)
    # The reference counts acks that are dropped apart.
    drops = int(result.summary["repairs"]["all"]["lost_packets"])
    return Outcome(fct_ns(ours), _sum(ours, "timeouts"), drops), ours["ideal_ps"].to_numpy() / 1e3


def scenario_of(file: str) -> Scenario:
    """The reference's network and senders, with its peculiarities and these flows."""
    traffic = [{"name": "list", "kind": "flows", "file": file}]
    return Scenario(Scenario.load("pfabric-yaps").resolved | {"traffic": traffic})


def _sum(table: pa.Table, name: str) -> int:
    return int(table[name].to_numpy().sum())


# Large runs: slowdowns, drops and timeouts, and flows one by one ---------------------------------


def _compare(flows: pa.Table, here: Outcome, ideal: Floats) -> Json:
    """Compares a run with ours and the times of its flows alone in the network."""
    there, size = _of_reference(flows), flows["size_bytes"].to_numpy()
    short, long = size < 100_000, size >= 1_000_000
    classes = {"short": short, "medium": ~short & ~long, "long": long, "all": size > 0}
    classes = {kind: members for kind, members in classes.items() if members.sum() > 1}
    numbers = []
    for kind, members in classes.items():
        for p in PERCENTILES:
            within = _MEDIAN_WITHIN if p == 0.5 else _TAIL_WITHIN
            reference, ours = (
                nearest_rank((each.fct_ns / ideal)[members], p) for each in (there, here)
            )
            numbers.append(_number(percentile_name(kind, p), reference, ours, within))
    numbers.append(_number("drops", there.drops, here.drops, _COUNT_WITHIN))
    numbers.append(_number("timeouts", there.timeouts, here.timeouts, _COUNT_WITHIN))
    by_flow = agreements(classes, there.fct_ns, here.fct_ns)
    return {"sprayed": _is_sprayed(flows), "numbers": numbers, "flow_by_flow": by_flow}


def _number(name: str, reference: float, ours: float, within: float) -> Json:
    row = {"name": name, "reference": reference, "ours": ours, "within": within}
    row = compared(row, within)
    verdict = row.pop("verdict")
    return row | {"agrees": verdict is Verdict.near}


def _verdict(row: Json) -> Verdict:
    return Verdict.near if row["agrees"] else Verdict.outside


def _tables(name: str, run: Json) -> list[Table]:
    """What agrees and what does not: numbers, flows one by one."""
    numbers = shown_table(
        f"{name}, YAPS and Spillway: slowdowns, drops, timeouts",
        ["count", "reference", "ours", "difference", ""],
        (
            [
                one["name"],
                f"{one['reference']:,.6g}",
                f"{one['ours']:,.6g}",
                f"{one['difference']:+.1%}",
                _verdict(one),
            ]
            for one in run["numbers"]
        ),
        "packets are sprayed, here otherwise than there" if run["sprayed"] else "",
    )
    by_flow = shown_table(
        f"{name}, FCT flow by flow: Spillway's to the reference's",
        ["flows", "compared", "median ratio", *WITHIN_COLUMNS],
        (
            [each["flows"], f"{each['matched']:,}", f"{each['median_ratio']:.4f}", *shares(each)]
            for each in run["flow_by_flow"]
        ),
    )
    return [numbers, by_flow]


# Small cases, which may be the same to the nanosecond --------------------------------------------


def _case(name: str, flows: pa.Table, here: Outcome, ports_first: Outcome) -> Json:
    """Compares a case, of which we have two runs: the second with ports that choose first.

    If our flows complete in the same nanosecond in both runs, the case depends on no tie, that is,
    on whether ports choose before a packet that arrives at the same moment is queued. Then the
    reference's must do so, too.
    """
    there = _of_reference(flows)
    hangs_on_no_tie = bool((here.fct_ns == ports_first.fct_ns).all())
    must_agree = hangs_on_no_tie and here.drops == ports_first.drops
    same = int((there.fct_ns == here.fct_ns).sum())
    mean_ratio = float((here.fct_ns / there.fct_ns).mean())
    counts = [(there.timeouts, here.timeouts), (there.drops, here.drops)]
    if must_agree:
        agrees = same == flows.num_rows and all(first == ours for first, ours in counts)
    else:
        near = (abs(ours - first) <= _TIED_WITHIN * first for first, ours in counts)
        agrees = abs(mean_ratio - 1) <= _TIED_WITHIN and all(near)
    return {
        "name": name,
        "flows": flows.num_rows,
        "same": same,
        "mean_ratio": mean_ratio,
        "timeouts": counts[0],
        "drops": counts[1],
        "must_agree": must_agree,
        "agrees": agrees,
    }


def _cases_table(found: Sequence[Json]) -> Table:
    return shown_table(
        "Small cases",
        ["count", "flows the same", "mean ratio", "timeouts", "ours", "drops", "ours", ""],
        (
            [
                case["name"],
                f"{case['same']} of {case['flows']}",
                f"{case['mean_ratio']:.4f}",
                *(f"{count:,}" for count in (*case["timeouts"], *case["drops"])),
                "near, has ties"
                if case["agrees"] and case["same"] < case["flows"]
                else _verdict(case),
            ]
            for case in found
        ),
    )
