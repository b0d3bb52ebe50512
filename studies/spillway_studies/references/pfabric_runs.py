"""The runs of YAPS with pFabric as scenarios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from spillway.base import parquet
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.flow_lists import as_listed, fct_ns, numbering
from spillway_studies.references.kinds import Floats
from spillway_studies.references.pfabric_files import spines


@dataclass(frozen=True)
class Outcome:
    """What the reference or we have of the same flows, in the order of their list."""

    fct_ns: Floats
    """Completion times at the receiver."""
    timeouts: int
    drops: int
    """How many data packets are lost."""


def of_reference(flows: pa.Table) -> Outcome:
    """What the reference has."""
    times = flows["recv_fct_ns"].cast("double").to_numpy()
    return Outcome(times, _sum(flows, "timeouts"), _sum(flows, "data_drops"))


def run(
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
    ours = as_listed(result.flows, order)
    # The reference counts acks that are dropped apart.
    drops = int(result.summary["repairs"]["all"]["lost_packets"])
    return Outcome(fct_ns(ours), _sum(ours, "timeouts"), drops), ours["ideal_ps"].to_numpy() / 1e3


def scenario_of(file: str) -> Scenario:
    """The reference's network and senders, with its peculiarities and these flows."""
    resolved = Scenario.load("pfabric-yaps").resolved
    resolved["traffic"] = [{"name": "list", "kind": "flows", "file": file}]
    return Scenario(resolved)


def _sum(table: pa.Table, name: str) -> int:
    return int(table[name].to_numpy().sum())
