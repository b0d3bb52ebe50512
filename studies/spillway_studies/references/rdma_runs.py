"""A run of the public RDMA simulator as a scenario, and what of it we cannot repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spillway.base import parquet
from spillway.formats.rdma.config import NotKnownError
from spillway.formats.rdma.topology import Link
from spillway.formats.rdma.translate import Translation, translate
from spillway.scenario.scenario import Scenario
from spillway_studies.references.kinds import Whole
from spillway_studies.references.rdma_files import Reference
from spillway_studies.references.rdma_network import TIERS, Network

_RECEIVING_PORT = 100
_TAKEN = ("completion", "routing", "switch", "nic", "transport", "event")
"""What a run has as `spillway import rdma` tells it."""


@dataclass(frozen=True)
class Planned:
    """A run that can be repeated."""

    reference: Reference
    scenario: Scenario
    lacks: list[str]
    """What is approximated, since no setting for it is known here, in words."""


@dataclass(frozen=True)
class Difference:
    """A setting that stands for a way of the simulator, and what it is without it."""

    name: str
    values: Mapping[str, Any]


DIFFERENCES = (
    Difference("exact times of packets on lines", {"topology.whole_ns": None}),
    Difference("our own hash", {"routing.hash": None}),
    Difference("next hops in ascending order", {"routing.next_hops": None}),
    Difference("complete with the last byte", {"completion": None}),
    Difference("marks on arrival", {"switch.aqm.marks_at": "arrival"}),
    Difference(
        "switches have a queue of its own for acks",
        {"switch.queues_per_port": 2, "switch.scheduling": "strict"},
    ),
    Difference(
        "hosts' acks and data in one queue",
        {"nic.queues": 1, "nic.ack_queue": 0, "nic.data_queue": 0},
    ),
    Difference("hosts' flows first come, first served", {"nic.scheduling": "fifo"}),
    Difference("hosts' flows at their own pace, whatever waits", {"nic.queue_pairs": False}),
    Difference("pauses stop hosts' acks", {"nic.pauses_acks": True}),
    Difference("pauses spare hosts' acks", {"nic.pauses_acks": False}),
    Difference("the packet that crosses is shared", {"switch.pfc.crosses_into": "shared"}),
    Difference("headroom by need (`auto`)", {"switch.pfc.headroom": "auto"}),
    Difference("alpha 1/8 at all ports", {"switch.pfc.alpha_of": "all", "switch.pfc.alpha": 0.125}),
    Difference("pause frames of 64 bytes", {"switch.pfc.frame": "64B"}),
    Difference("the first cut at once", {"transport.first_cut": "at-once"}),
    Difference("timers from the last cut", {"transport.timers": "from-cut"}),
    Difference("each cut clamps the target", {"transport.clamp_target": "always"}),
    Difference("notifications as packets", {"transport.cnp": "packet"}),
    Difference("round trips from when a packet goes to the NIC", {"transport.rtt_from": "host"}),
)
"""One change of settings at a time."""


def cannot(reference: Reference) -> str | None:
    """Why a run cannot be repeated, if so.

    Raises:
        ScenarioError: a setting is wrong.
    """
    if len(reference.flows.priorities) > 1:
        return "its flows have several priorities"
    if reference.network.has_choices and reference.flows.receiving_ports != {_RECEIVING_PORT}:
        return f"its flows go to other ports than {_RECEIVING_PORT}, by which paths are chosen"
    if reference.network.has_choices and reference.hop_order == "neither":
        return "its next hops are neither in ascending nor in descending order"
    try:
        translated(reference)
    except NotKnownError as error:
        return str(error).removeprefix(f"{reference.source.config.file}: ")
    return None


def translated(reference: Reference) -> Translation:
    """The run as `spillway import rdma` has it.

    Raises:
        ScenarioError: a setting is wrong; `NotKnownError`: it is fine there, and not known here.
    """
    return translate(reference.source, next_hops=reference.hop_order)


def plan(reference: Reference, place: Path) -> Planned:
    """The run as a scenario. The list of flows is written into `place`."""
    told = translated(reference)
    given = described(reference, told, written(reference, place, None))
    return Planned(reference, Scenario(given), told.notes)


def changes(planned: Planned) -> dict[str, Scenario]:
    """The scenario with one difference at a time. What changes nothing is left out."""
    known = planned.scenario.resolved
    found = {}
    for difference in DIFFERENCES:
        values: dict[str, Any] = {}
        for key, value in difference.values.items():
            for path in _everywhere(known, key):
                if _at(known, path) not in (None, value):
                    values[path] = value
        if values:
            found[difference.name] = planned.scenario.set(values)
    return found


def _everywhere(known: Mapping[str, Any], key: str) -> list[str]:
    """A key, and the same key of the tiers of switches that have a value of their own."""
    head, _, rest = key.partition(".")
    if head != "switch":
        return [key]
    own = rest.split(".")[0]
    tiers = (tier for tier in TIERS if tier in known["switch"])
    return [key, *(f"switch.{tier}.{rest}" for tier in tiers if own in known["switch"][tier])]


def _at(known: Mapping[str, Any], key: str) -> Any:
    """The value of a key, by its dotted path; None if there is none."""
    found: Any = known
    for name in key.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def written(reference: Reference, place: Path, moved_by: int | None) -> Path:
    """Writes the list of flows. With a seed each start is moved by less than a microsecond."""
    file = place / f"{reference.name.replace('/', '-')}-{moved_by or 0}.parquet"
    flows = reference.flows
    columns = {"src": flows.src, "dst": flows.dst, "size_bytes": flows.size_bytes}
    parquet.write(pa.table(columns | {"start_ps": starts_ps(reference, moved_by)}), file)
    return file


def starts_ps(reference: Reference, moved_by: int | None) -> Whole:
    """When flows start, from the start of our run; with a seed, less than a microsecond later."""
    starts = (reference.flows.start_ns - reference.begin_ns) * 1_000
    if moved_by is None:
        return starts
    return starts + np.random.default_rng(moved_by).integers(0, 10**6, len(starts))


def described(reference: Reference, told: Translation, flows: Path) -> dict[str, Any]:
    """The scenario of a run, with these flows: what is told of it, and what is compared."""
    settings = told.scenario
    begin = reference.begin_ns
    last = max(int(reference.flows.start_ns.max()) + 1_000, reference.window_ns[1])
    record: dict[str, Any] = {"drops": False, "pauses": True}
    if reference.queue is not None:
        step = int(reference.queue.time_ns[1] - reference.queue.time_ns[0])
        record["queue_interval"] = f"{step}ns"
    if reference.completed is None:
        middle, end = reference.window_ns
        # Samples at the start, in the middle and at the end.
        record["windows"] = list(range(len(reference.flows.src)))
        record["window_interval"] = f"{end - middle}ns"
    return {
        "name": reference.name.replace("/", "-"),
        "duration": f"{last - begin}ns",
        "stop": f"{max(reference.stop_ns, last) - begin}ns",
        **{key: settings[key] for key in _TAKEN if key in settings},
        "topology": {**settings["topology"], "clocks": "exact", **_graph(reference.network)},
        "traffic": [{"name": "flows", "kind": "flows", "file": str(flows.resolve())}],
        "record": record,
    }


def _graph(network: Network) -> dict[str, list[dict[str, str]]]:
    """The tables of the topology, with rates and delays as whole bits and nanoseconds."""
    topology = network.topology
    links = sorted(
        (link for link in topology.links if {link.a, link.b} <= topology.switch_set),
        key=lambda link: (min(link.a, link.b), max(link.a, link.b)),
    )
    tables = {
        "switch": [{"name": f"n{node}", "tier": tier} for node, tier in network.tiers.items()],
        "host": [
            {"name": f"n{host}", "switch": f"n{topology.switch(host)}"} | _line(topology.link(host))
            for host in topology.hosts
        ],
        "link": [
            {"a": f"n{min(link.a, link.b)}", "b": f"n{max(link.a, link.b)}"} | _line(link)
            for link in links
        ],
    }
    return {name: rows for name, rows in tables.items() if rows}


def _line(link: Link) -> dict[str, str]:
    return {"rate": f"{link.rate_bps}bps", "delay": f"{link.delay_ns}ns"}
