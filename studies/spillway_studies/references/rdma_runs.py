"""A run of the public RDMA simulator as a scenario, what we cannot repeat, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spillway.base import parquet
from spillway.base.result_schema import TIERS
from spillway.formats.rdma.config import NotKnownError
from spillway.formats.rdma.source import USUAL_PORT
from spillway.formats.rdma.topology import Topology
from spillway.formats.rdma.translate import translate
from spillway.result.result import Result
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.scenario.variants import at
from spillway.tasks.run import Report
from spillway_studies.references.files import Floats, Whole, as_listed, fct_ns, numbering
from spillway_studies.references.rdma_files import Reference
from spillway_studies.references.rdma_output import neighbours

_TAKEN = ("completion", "routing", "switch", "nic", "transport", "event")
"""The keys that our run takes from the scenario of `spillway import rdma`."""
_DIFFERENCES: Mapping[str, Mapping[str, Any]] = {
    "exact times of packets on lines": {"topology.whole_ns": None},
    "our own hash": {"routing.hash": None},
    "next hops in ascending order": {"routing.next_hops": None},
    "complete with the last byte": {"completion": None},
    "marks on arrival": {"switch.aqm.marks_at": "arrival"},
    "switches have a queue of its own for acks": {
        "switch.queues_per_port": 2,
        "switch.scheduling": "strict",
    },
    "hosts' acks and data in one queue": {"nic.queues": 1, "nic.ack_queue": 0, "nic.data_queue": 0},
    "hosts' flows first come, first served": {"nic.scheduling": "fifo"},
    "hosts' flows at their own pace, whatever waits": {"nic.queue_pairs": False},
    "pauses stop hosts' acks": {"nic.pauses_acks": True},
    "pauses spare hosts' acks": {"nic.pauses_acks": False},
    "the packet that crosses is shared": {"switch.pfc.crosses_into": "shared"},
    "headroom by need (`auto`)": {"switch.pfc.headroom": "auto"},
    "alpha 1/8 at all ports": {"switch.pfc.alpha_of": "all", "switch.pfc.alpha": 0.125},
    "pause frames of 64 bytes": {"switch.pfc.frame": "64B"},
    "the first cut at once": {"transport.first_cut": "at-once"},
    "timers from the last cut": {"transport.timers": "from-cut"},
    "each cut clamps the target": {"transport.clamp_target": "always"},
    "notifications as packets": {"transport.cnp": "packet"},
    "round trips from when a packet goes to the NIC": {"transport.rtt_from": "host"},
}
"""One change of settings at a time: a way of the simulator, and its settings without it."""


def cannot(reference: Reference) -> str | None:
    """Why a run cannot be repeated, if so.

    Raises:
        ScenarioError: a setting is wrong.
    """
    if len(reference.source.flows.groups) > 1:
        return "its flows have several priorities"
    ports = set(reference.source.flows.ports)
    if reference.topology.has_choices and ports != {USUAL_PORT}:
        return f"its flows go to other ports than {USUAL_PORT}, by which paths are chosen"
    if reference.topology.has_choices and reference.hop_order == "neither":
        return "its next hops are neither in ascending nor in descending order"
    try:
        translate(reference.source, next_hops=reference.hop_order)
    except NotKnownError as error:
        return error.why
    return None


def plan(reference: Reference, place: Path) -> tuple[Scenario, list[str]]:
    """The run as a scenario, and what is approximated, since no setting for it is known here.

    It takes its keys from the scenario of `spillway import rdma`, and records what is compared. The
    list of flows is written into `place`.
    """
    told = translate(reference.source, next_hops=reference.hop_order)
    settings, file = told.scenario, written(reference, place, None)
    tables = {name: rows for name, rows in told.topology.items() if rows}
    begin = reference.begin_ns
    last = max(int(reference.flows["start_ns"].max()) + 1_000, reference.window_ns[1])
    record: dict[str, Any] = {"drops": False, "pauses": True}
    if reference.queue is not None:
        record["queue_interval"] = f"{reference.queue.step_ns}ns"
    if reference.completed is None:
        middle, end = reference.window_ns
        # Samples at the start, in the middle and at the end.
        record["windows"] = list(range(len(reference.flows["src"])))
        record["window_interval"] = f"{end - middle}ns"
    scenario = Scenario(
        {
            "name": reference.name.replace("/", "-"),
            "duration": f"{last - begin}ns",
            "stop": f"{max(reference.stop_ns, last) - begin}ns",
            **{key: settings[key] for key in _TAKEN if key in settings},
            "topology": {**settings["topology"], "clocks": "exact", **tables},
            "traffic": [{"name": "flows", "kind": "flows", "file": str(file.resolve())}],
            "record": record,
        }
    )
    return scenario, told.notes


def moved(reference: Reference, scenario: Scenario, seed: int, place: Path) -> Scenario:
    """The scenario with starts that are moved by a seed, and marks that are drawn anew."""
    file = written(reference, place, seed)
    return scenario.set({"traffic.flows.file": str(file.resolve()), "seed": seed + 1})


def changes(scenario: Scenario) -> dict[str, Scenario]:
    """The scenario with one difference at a time. What changes nothing is left out."""
    known = scenario.resolved
    found = {}
    for name, settings in _DIFFERENCES.items():
        values = {
            path: value
            for key, value in settings.items()
            for path in _everywhere(known, key)
            if at(known, path) not in (None, value)
        }
        if values:
            found[name] = scenario.set(values)
    return found


def _everywhere(known: Mapping[str, Any], key: str) -> list[str]:
    """A key, and the same key of the tiers of switches that have a value of their own."""
    head, _, rest = key.partition(".")
    if head != "switch":
        return [key]
    own = rest.split(".")[0]
    tiers = (tier for tier in TIERS if tier in known["switch"])
    return [key, *(f"switch.{tier}.{rest}" for tier in tiers if own in known["switch"][tier])]


def written(reference: Reference, place: Path, moved_by: int | None) -> Path:
    """Writes the list of flows. With a seed each start is moved by less than a microsecond."""
    file = place / f"{reference.name.replace('/', '-')}-{moved_by or 0}.parquet"
    listed = pa.table({**reference.flows, "start_ps": starts_ps(reference, moved_by)})
    parquet.write(listed.drop_columns(["start_ns"]), file)
    return file


def starts_ps(reference: Reference, moved_by: int | None) -> Whole:
    """When flows start, from the start of our run; with a seed, less than a microsecond later."""
    starts = (reference.flows["start_ns"] - reference.begin_ns) * 1_000
    if moved_by is None:
        return starts
    return starts + np.random.default_rng(moved_by).integers(0, 10**6, len(starts))


# What a run has left -----------------------------------------------------------------------------


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
        tiers = dict.fromkeys(reference.topology.hosts, "host") | reference.tiers
        pauses = _by_tier(reference, [(tiers[node], lasted) for node, lasted in reference.pauses])
    return Outcome(queue, delivered, None if completed is None else completed.fct_ns, pauses)


def run(reference: Reference, scenario: Scenario, seed: int | None, report: Report) -> Outcome:
    """Runs a scenario, whose starts were moved by this seed."""
    result = run_whole(scenario, report)
    begin, end = (1_000 * (time - reference.begin_ns) for time in reference.window_ns)
    listed = reference.flows | {"start_ns": starts_ps(reference, seed)}
    times = fct_ns(as_listed(result.flows, numbering(listed)))
    return Outcome(
        None if reference.queue is None else _queue(reference, result, begin, end),
        None if reference.completed is not None else _delivered(reference, result, begin, end),
        None if reference.completed is None else times,
        None if reference.pauses is None else _pauses(reference, result),
    )


def _queue(reference: Reference, result: Result, begin: int, end: int) -> Floats:
    """The samples of the compared queue; those that are empty have no row."""
    assert reference.queue is not None
    node, tiers = reference.queue.node, reference.tiers
    place = [switch for switch, tier in tiers.items() if tier == tiers[node]].index(node)
    table = result.queues
    port = own_port(reference.topology, node, reference.queue.neighbour)
    switch = pc.equal(table["switch"].cast("string"), f"{tiers[node]}{place}")
    table = table.filter(pc.and_(switch, pc.equal(table["port"], port)))
    step = 1_000 * reference.queue.step_ns
    first, last = -(-begin // step), end // step
    found = np.zeros(last - first + 1)
    rows = table["time_ps"].to_numpy() // step - first
    inside = (rows >= 0) & (rows < len(found))
    found[rows[inside]] = table["bytes"].to_numpy()[inside]
    return found


def own_port(topology: Topology, node: int, neighbour: int) -> int:
    """The number that a switch's port has here: hosts in order, then switches in order."""
    return sorted(neighbours(topology, node)).index(neighbour)


def _delivered(reference: Reference, result: Result, begin: int, end: int) -> Floats:
    """The bytes of each flow that arrived in the compared time."""
    table, flows = result.windows, result.flows.sort_by("flow_id")
    size = flows["size_bytes"].to_numpy()
    ended = flows["fct_ps"].cast("double").fill_null(np.inf).to_numpy() + flows["start_ps"]
    found = []
    for time in (begin, end):
        rows = table.filter(pc.equal(table["time_ps"], time)).sort_by("flow_id")
        by_flow = np.zeros(len(reference.flows["src"]))
        by_flow[rows["flow_id"].to_numpy()] = rows["delivered_bytes"].to_numpy()
        # Complete flows are no longer recorded.
        found.append(np.where(ended <= time, size, by_flow))
    return found[1] - found[0]


def _pauses(reference: Reference, result: Result) -> dict[str, Floats]:
    """How long each pause that ended lasted, by who was paused."""
    table = result.pauses.drop_null()
    names = table["paused"].cast("string").to_pylist()
    lasted = (table["end_ps"].to_numpy() - table["begin_ps"].to_numpy()) / 1e3
    who = (name.rstrip("0123456789") for name in names)
    return _by_tier(reference, list(zip(who, lasted.tolist(), strict=True)))


def _by_tier(reference: Reference, pauses: list[tuple[str, float]]) -> dict[str, Floats]:
    """The times of pauses by who was paused, and of all if it may have been several tiers."""
    tiers = [tier for tier in TIERS if tier in reference.tiers.values()]
    found = {
        name: np.array([lasted for who, lasted in pauses if who == name], dtype=float)
        for name in ("host", *tiers)
    }
    # A single switch is never paused.
    if len(tiers) == 1:
        return {"host": found["host"]}
    return found | {"all": np.array([lasted for _, lasted in pauses], dtype=float)}
