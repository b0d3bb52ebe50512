"""Comparison with PIAS's own program for ns-2: short flows on connections that were used before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from spillway.base import csv_file, parquet
from spillway.base.errors import ScenarioError
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.files import (
    Booleans,
    Floats,
    arrays,
    check_flows,
    check_folder,
    fct_ns,
    foreign,
    numbering,
)
from spillway_studies.references.numbers import (
    PERCENTILES,
    Json,
    bootstrap,
    ends,
    judged,
    percentile,
    percentile_row,
)
from spillway_studies.references.tables import changes_tables, percentiles, shown_table, texts
from spillway_studies.references.validation import Outcomes, Validation, run_each, validation

_WORDS = {"slowdown": "slowdown", "time": "time in us"}
_HOSTS, _LEAVES, _SPINES = 24, 3, 2
_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000
"""Flows of fewer bytes than the first are compared."""
_WORKLOADS = ("datamining", "websearch")
_LOADS = (50, 60, 70, 80, 90)
"""The loads in percent for which PIAS's program has thresholds."""
_NAME = re.compile(r"flows_([a-z]+)_pias_(\d+)_(\w+)\.parquet")
_LAYOUT = "a run's file is called flows_WORKLOAD_pias_LOAD_ID.parquet"
_WITHOUT_WARM_UP = "nowarm"
_MEAN = "mean_reused_conn"
_FULL_PACKET = 1_500
_PORT_BYTES = 240 * _FULL_PACKET
"""What all queues of a port may hold together."""
_MARKED_ABOVE = 65 * _FULL_PACKET - _FULL_PACKET
"""Bytes at a port with which an arriving full packet is marked. The reference compares 65 packets
with what there is after the arrival."""
_FIRST_NS = 1_000_000_000
"""When the first flow may start; before, connections are warmed up."""
_LATEST_NS = 10_000_000_000
_WARM_UP_NS = (100_000_000, 600_000_000)
_WARM_UP_BYTES = 5 * 1_460

DIFFERENCES: dict[str, Json] = {
    "windows go on from flow to flow": {"transport.restart_each": None},
    "each flow has a connection of its own": {
        "transport.restart_each": None,
        "transport.connections": "own",
        "transport.handshake": False,
    },
    "alpha begins at 1": {"transport.alpha0": 1.0},
    "one path for each flow": {"routing.kind": "ecmp"},
    "windows make room for what has arrived": {
        "transport.recovery.kind": "sack",
        "transport.recovery.dupthresh": 1_000_000,
    },
    "losses found by times (`rack`)": {"transport.recovery": "rack"},
    "hosts' NICs without limit": {"nic.queue_limit": None},
    "hosts' NICs without limit and marks": {"nic.queue_limit": None, "nic.aqm": None},
    "windows do not grow with a backlog in the NIC": {"transport.host_backlog": "1bdp"},
    "marks by the queue, not the port": {"switch.aqm.scope": "queue"},
    "all data in one queue": {"transport.tagging": {"kind": "las", "levels": 1}},
}
"""One change of settings at a time."""


def pias(folder: Path, *, paths: int = 0, jobs: int = 2, differences: bool = False) -> Validation:
    """PIAS's program (HKUST-SING/PIAS-NS2): 24 hosts, strict priorities, DCTCP, sprayed packets.

    `folder` holds the flows of runs with their times, `flows_WORKLOAD_pias_LOAD_ID.parquet`.
    Compared are the completion times of flows under 100 KB on connections that were used before.
    `paths` is the number of further runs with other random paths; `differences` adds one run for
    each setting that is changed.
    """
    references, left_out = runs(folder)
    found = []
    with TemporaryDirectory() as place:
        for reference in references:
            given = scenario(reference, Path(place))
            drawn = [given.set({"seed": seed}) for seed in range(2, paths + 2)]
            ways = DIFFERENCES if differences else {}
            changed = {name: given.set(change) for name, change in ways.items()}
            found.append(_compare(reference, run_each(_measured, given, drawn, changed, jobs)))
    return validation(
        {each["run"]: each for each in found} | {"left_out": left_out},
        [*(table for each in found for table in _tables(each)), *texts(left_out)],
        (one for each in found for one in judged(each["run"], each["rows"], "flows")),
    )


# Files -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """A run of the reference: its flows, in the order of their starts."""

    name: str
    """Such as websearch_pias_60_24h."""
    thresholds: str
    """The name of the thresholds of its workload and load."""
    is_warmed_up: bool
    """Whether every pair of hosts has a connection before the first flow."""
    flows: dict[str, Any]
    """By columns. `fct_ns` is the time until the sender has everything acknowledged, `ideal_ns`
    that of the flow alone in the network, and `first_on_conn` whether its connection is new."""

    @property
    def is_compared(self) -> Booleans:
        """Which flows are compared: short ones on connections that were used before."""
        found: Booleans = (self.flows["size_bytes"] < _SHORT_BYTES) & ~self.flows["first_on_conn"]
        return found

    def slowdowns(self, fct_ns: Floats, members: Booleans) -> Floats:
        """The slowdowns of some flows, with these completion times of all."""
        found: Floats = (fct_ns / self.flows["ideal_ns"])[members]
        return found


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
    if workload not in _WORKLOADS or int(load) not in _LOADS:
        loads = ", ".join(f"{known}" for known in _LOADS)
        raise ScenarioError(
            f"{file}: PIAS has no thresholds for {workload} at {load}%",
            f"they are known for {' and '.join(_WORKLOADS)} at {loads}%",
        )
    types = dict.fromkeys(("src", "dst", "size_bytes", "start_ns"), "int64")
    types |= {"fct_ns": "double", "ideal_ns": "double", "first_on_conn": "bool"}
    columns = arrays(foreign(file), types, file)
    check_flows(str(file), columns, _HOSTS, ("size_bytes", "fct_ns", "ideal_ns"), ("start_ns",))
    order = numbering(columns)
    reference = Reference(
        f"{workload}_pias_{load}_{run_id}",
        f"{workload}-{int(load) / 100:g}",
        _WITHOUT_WARM_UP not in run_id,
        {name: column[order] for name, column in columns.items()},
    )
    if not reference.is_compared.any():
        raise ScenarioError(
            f"{file}: no flow under {_SHORT_BYTES // 1000} KB is on a used connection",
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
        mean = float(run.slowdowns(run.flows["fct_ns"], run.is_compared).mean())
        if not abs(mean / told - 1) < 1e-3:
            raise ScenarioError(
                f"{path}: {run.name}: {_MEAN} is {told:g} there, and {mean:g} in its flows",
                "the flows and the summary must be of one run",
            )


# Scenario ----------------------------------------------------------------------------------------


def scenario(reference: Reference, place: Path) -> Scenario:
    """The flows of the reference in its network. The list of flows is written into `place`.

    What comes before `_FIRST_NS` are packets that warm up connections.
    """
    file = place / f"{reference.name}.parquet"
    parquet.write(_listed(reference), file)
    aqm = {"kind": "ecn", "threshold": f"{_MARKED_ABOVE}B", "scope": "port"}
    ports = {"leaf": _HOSTS // _LEAVES + _SPINES, "spine": _LEAVES}
    # Before that time the run ends only when nothing is left in the network, not even an ack.
    end = f"{_FIRST_NS + int(reference.flows['start_ns'].max()) + _LATEST_NS}ns"
    return Scenario(
        {
            "name": reference.name,
            "duration": end,
            "stop": end,
            "topology": {
                "kind": "leaf-spine",
                "leaves": _LEAVES,
                "spines": _SPINES,
                "hosts_per_leaf": _HOSTS // _LEAVES,
                "host_rate": "10Gbps",
                "fabric_rate": "40Gbps",
                "host_delay": "20.2us",
                "fabric_delay": "200ns",
                "clocks": "exact",
            },
            "routing": {"kind": "spray"},
            "switch": {
                "queues_per_port": 8,
                "scheduling": "strict",
                "sharing": "sp",
                "aqm": aqm,
                **{tier: {"buffer": f"{count * _PORT_BYTES}B"} for tier, count in ports.items()},
            },
            "nic": {"aqm": aqm, "queue_limit": f"{_PORT_BYTES}B"},
            "transport": {
                "kind": "dctcp",
                "mss": "1460B",
                "header": "40B",
                "ack_size": "40B",
                "g": 0.0625,
                "alpha0": 0.0,
                "initial_window": "70pkt",
                "min_window": "1pkt",
                "host_backlog": "unlimited",
                "recovery": {
                    "kind": "timeout-only",
                    # The timeout is always the same.
                    **dict.fromkeys(("initial_rto", "min_rto", "max_rto"), "2ms"),
                },
                "handshake": True,
                "connections": "open",
                "restart_each": True,
                "tagging": {
                    "kind": "pias",
                    "thresholds": reference.thresholds,
                    "acks": "with-first",
                    "reset_after": 0,
                },
            },
            "traffic": [{"name": "flows", "kind": "flows", "file": str(file.resolve())}],
            "record": {"acknowledged": True, "drops": False},
        }
    )


def _listed(reference: Reference) -> pa.Table:
    """The flows, behind those that warm up connections: one for every pair of hosts."""
    flows, pairs = reference.flows, []
    if reference.is_warmed_up:
        pairs = [(src, dst) for src in range(_HOSTS) for dst in range(_HOSTS) if src != dst]
    begin, end = _WARM_UP_NS
    starts = [begin + (end - begin) * number // len(pairs) for number in range(len(pairs))]
    return pa.table(
        {
            "src": [*(src for src, _ in pairs), *flows["src"].tolist()],
            "dst": [*(dst for _, dst in pairs), *flows["dst"].tolist()],
            "size_bytes": [_WARM_UP_BYTES] * len(pairs) + flows["size_bytes"].tolist(),
            "start_ns": [*starts, *(flows["start_ns"] + _FIRST_NS).tolist()],
        }
    )


# Comparison --------------------------------------------------------------------------------------


def _measured(scenario: Scenario, report: Report) -> tuple[Floats, dict[str, int]]:
    """Our times of the reference's flows at the senders, in their order, and counts of the run.

    A time is infinite if the flow is not complete.
    """
    result = run_whole(scenario, report)
    flows = result.flows
    flows = flows.filter(pc.greater_equal(flows["start_ps"], 1000 * _FIRST_NS)).sort_by("flow_id")
    summary = result.summary
    return fct_ns(flows, "acked_ps"), {
        "drops": sum(summary["drops"].values()),
        "marks": summary["marks"],
        "timeouts": int(flows["timeouts"].to_numpy().sum()),
    }


def _compare(reference: Reference, runs: Outcomes[tuple[Floats, dict[str, int]]]) -> Json:
    """Compares all runs with the reference's."""

    def measures(fct_ns: Floats) -> dict[str, Floats]:
        """Slowdowns, and completion times in us, of the compared flows."""
        chosen = reference.is_compared
        return {"slowdown": reference.slowdowns(fct_ns, chosen), "time": fct_ns[chosen] / 1e3}

    (ours, counts), others, changed = runs
    there = measures(reference.flows["fct_ns"])
    places = [(name, p) for name in there for p in PERCENTILES]

    def told(fct_ns: Floats) -> list[float]:
        here = measures(fct_ns)
        return [percentile(here[name], p) for name, p in places]

    drawn = [told(fct_ns) for fct_ns, _ in others]
    rows = []
    for place, ((name, p), value) in enumerate(zip(places, told(ours), strict=True)):
        first, interval = percentile(there[name], p), bootstrap(there[name], p)
        seen = ends([values[place] for values in drawn])
        rows.append(percentile_row(name, p, first, interval, value, seen))
    return {
        "run": reference.name,
        "count": int(reference.is_compared.sum()),
        "rows": rows,
        "others": _others(reference, ours),
        "counts": counts,
        "differences": {change: told(fct_ns) for change, (fct_ns, _) in changed.items()},
    }


def _others(reference: Reference, ours: Floats) -> list[Json]:
    """The slowdowns of flows that are not compared, for information."""
    size, first = reference.flows["size_bytes"], reference.flows["first_on_conn"]
    short, long = size < _SHORT_BYTES, size >= _LONG_BYTES
    classes = {
        "under 100 KB, first": short & first,
        "up to 1 MB, first": ~short & ~long & first,
        "up to 1 MB, others": ~short & ~long & ~first,
        "from 1 MB, first": long & first,
        "from 1 MB, others": long & ~first,
    }
    sides = {"reference": reference.flows["fct_ns"], "ours": ours}
    return [
        {"flows": name, "count": int(members.sum())}
        | {
            side: [percentile(reference.slowdowns(fct, members), p) for p in PERCENTILES]
            for side, fct in sides.items()
        }
        for name, members in classes.items()
        if members.any()
    ]


def _tables(found: Json) -> list[Table]:
    """What agrees and what does not; then other flows, and changed settings."""
    run, rows = found["run"], found["rows"]
    counts = ", ".join(f"{number:,} {name}" for name, number in found["counts"].items())
    others = []
    for each in found["others"]:
        pairs = zip(each["reference"], each["ours"], strict=True)
        values = (f"{value:.2f}" for pair in pairs for value in pair)
        others.append([each["flows"], f"{each['count']:,}", *values])
    names = [f"{100 * p:g}{of}" for p in PERCENTILES for of in ("", ", ours")]
    parts = [
        percentiles(
            f"{run}: {found['count']:,} flows under 100 KB on used connections",
            ["class"],
            (([_WORDS[row["flows"]]], row) for row in rows),
            ",.2f",
            f"ours: {counts}",
        ),
        shown_table(
            f"{run}: slowdowns of other flows, which are not compared",
            ["class", "n", *names],
            others,
        ),
    ]
    if found["differences"]:
        names = [f"{row['flows']} {100 * row['percentile']:g}" for row in rows]
        parts += changes_tables(
            run, names, rows, found["differences"], lambda value: f"{value:,.2f}"
        )
    return parts
