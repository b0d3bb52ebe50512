"""What a run has left: the RDMA simulator's, or ours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from spillway.result.result import Result
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.flow_lists import as_listed, fct_ns, numbering
from spillway_studies.references.kinds import Floats
from spillway_studies.references.rdma_files import Reference
from spillway_studies.references.rdma_network import TIERS
from spillway_studies.references.rdma_runs import starts_ps


@dataclass(frozen=True)
class Outcome:
    """What a run has left, the reference's or ours."""

    queue: Floats | None
    """The samples of the compared queue in the compared time, in bytes."""
    delivered: Floats | None
    """The bytes of each flow in the compared time."""
    fct_ns: Floats | None
    """In the order of the list of flows; infinite if a flow is not complete."""
    pauses: dict[str, Floats] | None
    """How long each pause lasted in ns, by the tier that was paused."""


def of_reference(reference: Reference) -> Outcome:
    """What the reference has left."""
    begin, end = reference.window_ns
    queue = delivered = pauses = None
    if (found := reference.queue) is not None:
        queue = found.queue_bytes[(found.time_ns >= begin) & (found.time_ns <= end)]
    if (sent := reference.progress) is not None and reference.completed is None:
        rows = [np.interp((begin, end), sent.time_ns, row, left=0.0) for row in sent.acked_bytes]
        delivered = np.array([last - first for first, last in rows])
    completed = reference.completed
    if reference.pauses is not None:
        tiers = dict.fromkeys(reference.network.topology.hosts, "host") | reference.network.tiers
        nodes = reference.pauses.node.tolist()
        who = [tiers[node] for node in nodes]
        pauses = _by_tier(reference, who, reference.pauses.time_ns)
    return Outcome(queue, delivered, None if completed is None else completed.fct_ns, pauses)


def run(reference: Reference, scenario: Scenario, seed: int | None, report: Report) -> Outcome:
    """Runs a scenario, whose starts were moved by this seed."""
    result = run_whole(scenario, report)
    begin, end = (1_000 * (time - reference.begin_ns) for time in reference.window_ns)
    return Outcome(
        None if reference.queue is None else _queue(reference, result, begin, end),
        None if reference.completed is not None else _delivered(reference, result, begin, end),
        None if reference.completed is None else _times(reference, result, seed),
        None if reference.pauses is None else _pauses(reference, result),
    )


def _queue(reference: Reference, result: Result, begin: int, end: int) -> Floats:
    """The samples of the compared queue; those that are empty have no row."""
    assert reference.queue is not None
    network, node = reference.network, reference.queue.node
    tier = network.tiers[node]
    place = [switch for switch, its in network.tiers.items() if its == tier].index(node)
    table = result.queues
    port = network.own_port(node, reference.queue.neighbour)
    wanted = pc.and_(
        pc.equal(table["switch"].cast("string"), f"{tier}{place}"), pc.equal(table["port"], port)
    )
    table = table.filter(wanted)
    step = 1_000 * int(reference.queue.time_ns[1] - reference.queue.time_ns[0])
    first, last = -(-begin // step), end // step
    found = np.zeros(last - first + 1)
    rows = table["time_ps"].to_numpy() // step - first
    inside = (rows >= 0) & (rows < len(found))
    found[rows[inside]] = table["bytes"].to_numpy()[inside]
    return found


def _delivered(reference: Reference, result: Result, begin: int, end: int) -> Floats:
    """The bytes of each flow that arrived in the compared time."""
    table, flows = result.windows, result.flows.sort_by("flow_id")
    size = flows["size_bytes"].to_numpy()
    ended = flows["fct_ps"].cast("double").fill_null(np.inf).to_numpy() + flows["start_ps"]
    found = []
    for time in (begin, end):
        rows = table.filter(pc.equal(table["time_ps"], time)).sort_by("flow_id")
        by_flow = np.zeros(len(reference.flows.src))
        by_flow[rows["flow_id"].to_numpy()] = rows["delivered_bytes"].to_numpy()
        # A flow that is complete is not told any more.
        found.append(np.where(ended <= time, size, by_flow))
    return found[1] - found[0]


def _times(reference: Reference, result: Result, seed: int | None) -> Floats:
    """Completion times in the order of the list."""
    listed = vars(reference.flows) | {"start_ns": starts_ps(reference, seed)}
    return fct_ns(as_listed(result.flows, numbering(listed)))


def _pauses(reference: Reference, result: Result) -> dict[str, Floats]:
    """How long each pause that ended lasted, by who was paused."""
    table = result.pauses.drop_null()
    names = table["paused"].cast("string").to_pylist()
    lasted = (table["end_ps"].to_numpy() - table["begin_ps"].to_numpy()) / 1e3
    return _by_tier(reference, [name.rstrip("0123456789") for name in names], lasted)


def _by_tier(reference: Reference, who: list[str], lasted: Floats) -> dict[str, Floats]:
    """The times of pauses by who was paused, and of all if it may have been several tiers."""
    tiers = [tier for tier in TIERS if tier in reference.network.tiers.values()]
    paused = np.array(who, dtype=object)
    found = {name: lasted[paused == name] for name in ("host", *tiers)}
    # A single switch is never paused.
    return found | {"all": lasted} if len(tiers) > 1 else {"host": found["host"]}
