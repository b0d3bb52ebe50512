"""Comparison with Occamy's simulation: the fate and the time of every packet at one switch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from spillway.base import parquet
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway.base.threads import all_of
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.files import (
    Whole,
    as_listed,
    check_file,
    check_folder,
    numbering,
    table,
)
from spillway_studies.references.numbers import Json, Verdict
from spillway_studies.references.tables import shown_table, texts
from spillway_studies.references.validation import Validation, validation

_LAYOUT = "it holds runs.csv, arrivals.parquet and fates.parquet"
_RUN = {"run": "int64", "alpha": "int64", "buffer_bytes": "int64", "queues": "int64"}
_NAMES = {"list": "string", "scheme": "string", "sched": "string"}
_ARRIVAL = dict.fromkeys(("id", "time_ns", "port", "queue", "bytes"), "int64")
_FATE = dict.fromkeys(("run", "id", "fate", "wait_ns"), "int64")
_PORTS = 8
_PORT_GBPS, _SENDER_GBPS = 10, 8_000
_HEADER = 40
_FULL, _REFUSED, _EXPELLED, _SENT = 1, 2, 3, 4
"""Fates. Packets that are refused because the buffer is full count as those over their threshold:
the reference itself does not tell them apart."""
_WITHIN_NS = 1
"""The reference has whole nanoseconds."""
_ROUNDED = "mix"
"""Lists with sizes whose transmission is no whole number of nanoseconds: not bounded."""
_SCHEDULERS = {"-": "fifo", "RR": "rr", "PQ": "strict"}
_RULE = (
    f"every packet has the reference's fate, at its time within {_WITHIN_NS} ns; lists whose "
    "packets take no whole number of nanoseconds are only shown"
)


def occamy(folder: Path, *, jobs: int = 2) -> Validation:
    """Occamy's simulation: one switch with eight ports, under DT, Occamy and push-out.

    `folder` holds the runs (`runs.csv`), the packets that arrive (`arrivals.parquet`), and what
    becomes of each (`fates.parquet`). Every run is repeated here with the same packets.

    Raises:
        ScenarioError: a file is missing, or lacks something.
    """
    runs, left_out = _runs(folder)
    with TemporaryDirectory() as place:
        ours = all_of(lambda run, report: _outcome(run, Path(place), report), runs, jobs)
    groups: dict[tuple[str, str, int, str], Json] = {}
    for run, own in zip(runs, ours, strict=True):
        key = (run.scheme, run.kind, run.queues, run.scheduler)
        names = dict(zip(("scheme", "list", "queues", "scheduler"), key, strict=True))
        empty = names | dict.fromkeys(("runs", "packets", "expelled", "fates", "times"), 0)
        group = groups.setdefault(key, empty)
        for name, count in _compared(run, own).items():
            group[name] += count
    rows = [groups[key] for key in sorted(groups)]
    return validation(
        {"groups": rows, "left_out": left_out},
        [_shown(rows), *texts(left_out)],
        [
            (
                f"{row['scheme']} {row['list']}, queues {row['queues']} ({row['scheduler']}):",
                f"{row['fates'] + row['times']} of {row['packets']} packets",
                _verdict(row),
            )
            for row in rows
        ],
        _RULE,
    )


def _verdict(row: Json) -> Verdict:
    if row["list"] == _ROUNDED:
        return Verdict.told
    return Verdict.outside if row["fates"] or row["times"] else Verdict.near


def _shown(rows: Iterable[Json]) -> Table:
    columns = {
        "sharing": "scheme",
        "list": "list",
        "queues": "queues",
        "scheduler": "scheduler",
        "runs": "runs",
        "packets": "packets",
        "expelled": "expelled",
        "other fate": "fates",
        "other time": "times",
    }
    lines = (
        [f"{row[name]:,}" if isinstance(row[name], int) else row[name] for name in columns.values()]
        for row in rows
    )
    return shown_table("Packets that differ", list(columns), lines)


# Files -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run of the reference."""

    number: int
    list: str
    scheme: str
    alpha: int
    buffer_bytes: int
    queues: int
    scheduler: str
    arrivals: Mapping[str, Whole]
    """The packets, by column, in order of time."""
    fate: Whole
    wait_ns: Whole

    @property
    def kind(self) -> str:
        """What packets the list has: `fix`, `quad` or `mix`."""
        return self.list.split("-")[2]


def _runs(folder: Path) -> tuple[list[Run], list[str]]:
    """The runs that can be repeated here, and what is left out, and why."""
    check_folder(folder, _LAYOUT)
    found = {
        name: _read(folder / name, types)
        for name, types in {
            "runs.csv": _RUN | _NAMES,
            "arrivals.parquet": _ARRIVAL | {"list": "string"},
            "fates.parquet": _FATE,
        }.items()
    }
    arrivals, fates = found["arrivals.parquet"], found["fates.parquet"]
    runs, why = (
        [],
        dict.fromkeys(("DRR, whose order is another", "push-out, whose victims are others"), 0),
    )
    for row in found["runs.csv"].to_pylist():
        if row["scheme"] not in _SHARING:
            why["push-out, whose victims are others"] += 1
        elif row["sched"] not in _SCHEDULERS:
            why["DRR, whose order is another"] += 1
        else:
            source = f"{folder}: run {row['run']}"
            runs.append(_run(row, arrivals, fates, source))
    left_out = [f"runs under {what}: {count}" for what, count in why.items() if count]
    return runs, left_out


def _read(file: Path, types: Mapping[str, str]) -> pa.Table:
    check_file(file, _LAYOUT)
    found = table(file)
    if "list" in types and pa.types.is_dictionary(found.schema.field("list").type):
        place = found.column_names.index("list")
        found = found.set_column(place, "list", found["list"].cast(pa.string()))
    return pa.table(taken(found, dict(types), str(file)))


def _run(row: Json, arrivals: pa.Table, fates: pa.Table, source: str) -> Run:
    packets = arrivals.filter(pc.equal(arrivals["list"], row["list"])).sort_by("id")
    of_run = fates.filter(pc.equal(fates["run"], row["run"])).sort_by("id")
    if not packets.num_rows or not packets["id"].equals(of_run["id"]):
        raise ScenarioError(f"{source}: arrivals and fates are not of the same packets", _LAYOUT)
    fate = of_run["fate"].to_numpy()
    return Run(
        row["run"],
        row["list"],
        row["scheme"],
        row["alpha"],
        row["buffer_bytes"],
        row["queues"],
        row["sched"],
        {name: packets[name].to_numpy() for name in _ARRIVAL},
        np.where(fate == _FULL, _REFUSED, fate),
        of_run["wait_ns"].to_numpy(),
    )


# Scenario ----------------------------------------------------------------------------------------

# The senders' lines, which are fast so that packets come at any time, belong to the switch's ports
# too. So the bandwidth of the memory is that of eight ports, over all.
_OCCAMY: Json = {
    "kind": "occamy",
    "preset": "ns-3",
    "bandwidth": 16 / 15 * _PORT_GBPS / (_PORT_GBPS + _SENDER_GBPS),
}
_SHARING: Mapping[str, Json] = {
    "DT": {"kind": "dt"},
    "RR": _OCCAMY,
    "LONG": _OCCAMY | {"victim": "longest"},
}


def scenario(run: Run, file: Path) -> Scenario:
    """The run as a scenario: a flow for every packet, from a sender for its port.

    The list of flows lies in `file`.
    """
    line = {"switch": "leaf", "delay": "0us"}
    receivers = [line | {"name": f"port{port}", "rate": "10Gbps"} for port in range(_PORTS)]
    senders = [line | {"name": f"sender{port}", "rate": "8Tbps"} for port in range(_PORTS)]
    end_us = int(run.arrivals["time_ns"].max()) // 1_000 + 1
    return Scenario(
        {
            "name": run.list,
            "duration": f"{end_us}us",
            "stop": f"{end_us + 100_000}us",
            "topology": {
                "kind": "graph",
                "clocks": "exact",
                "switch": [{"name": "leaf"}],
                "host": [*receivers, *senders],
                "link": [],
            },
            "switch": {
                "buffer": f"{run.buffer_bytes}B",
                "queues_per_port": run.queues,
                "sharing": _SHARING[run.scheme] | {"alpha": run.alpha},
                "aqm": "none",
                "scheduling": _SCHEDULERS[run.scheduler],
            },
            "transport": {"kind": "udp", "mss": "9000B", "header": f"{_HEADER}B", "rate": "10Gbps"},
            "traffic": [{"name": "packets", "kind": "flows", "file": str(file.resolve())}],
        }
    )


def _outcome(run: Run, place: Path, report: Report) -> tuple[Whole, Whole]:
    """Our fate of every packet, and when it left the buffer after its arrival, in picoseconds."""
    arrivals = run.arrivals
    size, port = arrivals["bytes"], arrivals["port"]
    # A byte takes a picosecond from its sender.
    start = arrivals["time_ns"] * 1_000 - size
    listed = {
        "src": port + _PORTS,
        "dst": port,
        "size_bytes": size - _HEADER,
        "start_ps": start,
        "priority": arrivals["queue"],
    }
    file = place / f"{run.number}.parquet"
    parquet.write(pa.table(listed), file)
    result = run_whole(scenario(run, file), report)
    order = numbering({**listed, "start_ns": start})
    flows = as_listed(result.flows, order)
    fct = flows["fct_ps"].cast("int64").fill_null(0).to_numpy()
    fate = np.full(len(size), _SENT)
    # Its last bit arrives when it has been sent: at 800 ps for each byte.
    waited = fct - size - size * 8_000 // _PORT_GBPS
    drops = result.drops
    numbers = order[drops["flow_id"].to_numpy()]
    is_expelled = pc.equal(drops["reason"].cast(pa.string()), "expelled").to_numpy(False)
    fate[numbers] = np.where(is_expelled, _EXPELLED, _REFUSED)
    lost = drops["time_ps"].to_numpy().astype(np.int64) - arrivals["time_ns"][numbers] * 1_000
    waited[numbers] = lost
    return fate, waited


def _compared(run: Run, ours: tuple[Whole, Whole]) -> Json:
    """How many packets have another fate, and of the others another time."""
    fate, waited = ours
    is_other = fate != run.fate
    is_late = np.abs(waited - run.wait_ns * 1_000) > _WITHIN_NS * 1_000
    return {
        "runs": 1,
        "packets": len(fate),
        "expelled": int((run.fate == _EXPELLED).sum()),
        "fates": int(is_other.sum()),
        "times": int((is_late & ~is_other).sum()),
    }
