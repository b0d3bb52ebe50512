"""Replays a run of Occamy's reference: a list of packets that arrive at one switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spillway.base import parquet
from spillway.plugins.base import Plugin
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.files import Booleans, Whole, as_listed, numbering
from spillway_studies.references.numbers import Json
from spillway_studies.references.occamy_rules import (
    UNCOUNTED,
    ProgramDrr,
    ProgramPushOut,
    line_ps,
)

FULL, OVER, EXPELLED, SENT = 1, 2, 3, 4
"""Fates: refused by a full buffer or a threshold; expelled or pushed out; sent."""
_PORTS = 8
_SENDERS = 16
"""Senders take turns. The next turn comes after as many nanoseconds at least, for which no packet
occupies a sender's line."""
_PORT_GBPS, _SENDER_GBPS = 10, 8_000
_HEADER = 40
_UNMARKED = 2
"""Bytes of a packet that count in the buffer, but not where marks are decided."""

# The senders' lines, which are fast so that packets come at any time, belong to the switch's ports
# too. So the bandwidth of the memory is that of the other ports, over all.
_OCCAMY: Json = {
    "kind": "occamy",
    "preset": "ns-3",
    "bandwidth": 16 / 15 / (1 + _SENDERS * _SENDER_GBPS / (_PORTS * _PORT_GBPS)),
}
_SHARING: Mapping[str, Json] = {
    "DT": {"kind": "dt"},
    "RR": _OCCAMY,
    "LONG": _OCCAMY | {"victim": "longest"},
}
_PUSH_OUT, _STRICT, _DRR = "PUSHOUT", "PQ", "DRR"
_SCHEDULERS = {"RR": "rr", _STRICT: "strict", _DRR: ProgramDrr.id}
SCHEMES = (*_SHARING, _PUSH_OUT)
SCHEDULERS = ("-", *_SCHEDULERS)


@dataclass(frozen=True)
class Outcome:
    """What became of every packet of a run, by column."""

    fate: Whole
    wait_ns: Whole
    """When it left the buffer after its arrival; 0 if it was refused."""
    is_marked: Booleans
    queue_bytes: Whole | None = None
    """What its queue held before; `None` where the reference does not tell."""
    occupancy_bytes: Whole | None = None
    threshold_bytes: Whole | None = None


@dataclass(frozen=True)
class Run:
    """A run of the reference, or one of its small cases."""

    name: str
    kind: str
    """What packets it has: `fix`, `quad` or `mix`; or the case."""
    scheme: str
    alpha: float
    buffer_bytes: int
    queues: int
    scheduler: str
    mark_above_bytes: int
    arrivals: Mapping[str, Whole]
    """The packets, by column, in order of time."""
    found: Outcome


def scenario(run: Run, file: Path) -> Scenario:
    """The run as a scenario: a flow for every packet.

    The list of flows lies in `file`.
    """
    line = {"switch": "leaf", "delay": "0us"}
    receivers = [line | {"name": f"port{port}", "rate": "10Gbps"} for port in range(_PORTS)]
    senders = [line | {"name": f"sender{each}", "rate": "8Tbps"} for each in range(_SENDERS)]
    end_us = int(run.arrivals["time_ns"].max()) // 1_000 + 1
    longest = int(run.arrivals["bytes"].max()) + UNCOUNTED
    plugins: list[type[Plugin]] = []
    if run.scheme == _PUSH_OUT:
        plugins.append(ProgramPushOut)
        is_strict = run.scheduler == _STRICT
        sharing: Json = {"kind": ProgramPushOut.id, "spares_better": is_strict}
    else:
        sharing = _SHARING[run.scheme] | {"alpha": run.alpha}
    scheduling = _SCHEDULERS[run.scheduler] if run.queues > 1 else "fifo"
    if scheduling == ProgramDrr.id:
        plugins.append(ProgramDrr)
    keys: Mapping[str, Any] = {
        "name": run.name,
        "duration": f"{end_us}us",
        "stop": f"{end_us + 100_000}us",
        "topology": {
            "kind": "graph",
            "whole_ns": True,
            # Arrivals precede everything else of their nanosecond.
            "arrivals_first": True,
            "switch": [{"name": "leaf"}],
            "host": [*receivers, *senders],
            "link": [],
        },
        "switch": {
            "buffer": f"{run.buffer_bytes}B",
            "queues_per_port": run.queues,
            "uncounted_bytes": f"{UNCOUNTED}B",
            "sharing": sharing,
            "aqm": "none",
            "scheduling": scheduling,
        },
        "transport": {
            "kind": "udp",
            "mss": f"{longest - _HEADER}B",
            "header": f"{_HEADER}B",
            "rate": "10Gbps",
        },
        "traffic": [{"name": "packets", "kind": "flows", "file": str(file.resolve())}],
        "record": {"decisions": len(run.arrivals["id"])},
    }
    return Scenario(keys, plugins=plugins)


def replay(run: Run, place: Path, report: Report) -> Outcome:
    """What becomes of the packets here. Files for the run lie in `place`."""
    arrivals = run.arrivals
    size, came = arrivals["bytes"], arrivals["time_ns"] * 1_000
    start = came - _line_ps(size, _SENDER_GBPS)
    listed = {
        "src": _PORTS + np.arange(len(size)) % _SENDERS,
        "dst": arrivals["port"],
        "size_bytes": size + UNCOUNTED - _HEADER,
        "start_ps": start,
        "priority": arrivals["queue"],
    }
    file = place / f"{run.name}.parquet"
    parquet.write(pa.table(listed), file)
    result = run_whole(scenario(run, file), report)
    order = numbering({**listed, "start_ns": start})
    flows = as_listed(result.flows, order)
    fct = flows["fct_ps"].cast("int64").fill_null(0).to_numpy()
    waited = start + fct - _line_ps(size, _PORT_GBPS) - came
    decided = as_listed(result.decisions, order)
    queue, held = (_whole(decided[name]) for name in ("queue_bytes", "occupancy_bytes"))
    # The reference, too, finds why a packet was refused by comparing what the buffer held.
    refused = np.where(held + size > run.buffer_bytes, FULL, OVER)
    is_lost = pc.equal(decided["verdict"].cast(pa.string()), "lost").to_numpy(False)
    fate = np.where(is_lost, refused, SENT)
    drops = result.drops
    taken = pc.is_in(drops["reason"].cast(pa.string()), pa.array(["expelled", "pushed_out"]))
    drops = drops.filter(taken)
    numbers = order[drops["flow_id"].to_numpy()]
    fate[numbers] = EXPELLED
    waited[numbers] = _whole(drops["time_ps"]) - came[numbers]
    waited[is_lost] = 0
    return Outcome(
        fate,
        waited // 1_000,
        queue + size - _UNMARKED > run.mark_above_bytes,
        queue,
        held,
        _whole(decided["threshold_bytes"].fill_null(0)),
    )


def _whole(column: pa.ChunkedArray) -> Whole:
    found: Whole = column.to_numpy().astype(np.int64)
    return found


def _line_ps(size: Whole, gbps: int) -> Whole:
    return np.array([line_ps(int(each), gbps * 10**9) for each in size], np.int64)
