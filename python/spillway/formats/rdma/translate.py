"""A run of the public RDMA simulator as a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spillway.formats.rdma.config import CONWEAVE, WITHOUT_EFFECT, Config
from spillway.formats.rdma.source import USUAL_PORT, Source
from spillway.formats.rdma.switches import switches_of, tiers_of
from spillway.formats.rdma.topology import Paths, Topology
from spillway.formats.rdma.transports import HEADER_BYTES, transport_of
from spillway.formats.rdma.units import rate_text, shown, time_text, whole_of

_MS = 10**6
_LONGEST_NS = 4 * 10**15
"""Simulated time is at most 53 days."""
_ORIGINS = {
    "stop": "SIMULATOR_STOP_TIME",
    "duration": "FLOW_FILE",
    "traffic": "FLOW_FILE",
    "topology": "TOPOLOGY_FILE",
    "window": "TOPOLOGY_FILE",
    "event": "LINK_DOWN",
    "kind": "CC_MODE",
    "mss": "PACKET_PAYLOAD_SIZE",
    "g": "EWMA_GAIN",
    "alpha_interval": "ALPHA_RESUME_INTERVAL",
    "decrease_interval": "RATE_DECREASE_INTERVAL",
    "increase_timer": "RP_TIMER",
    "fast_recovery": "FAST_RECOVERY_TIMES",
    "hyper_after": "FAST_RECOVERY_TIMES",
    "rate_step": "RATE_AI",
    "hyper_step": "RATE_HAI",
    "min_rate": "MIN_RATE",
    "eta": "U_TARGET",
    "max_stage": "MI_THRESH",
    "telemetry_units": "INT_MULTI",
    "min": "KMIN_MAP",
    "max": "KMAX_MAP",
    "max_probability": "PMAX_MAP",
    "buffer": "BUFFER_SIZE",
    "headroom": "BUFFER_SIZE",
}
"""The simulator's keys behind those of a scenario, by the latter's last or first step."""
_BALANCERS = {2: "DRILL", 3: "CONGA", 6: "LetFlow", 9: "ConWeave"}
_FAILURES_FROM_NS = 2 * 10**9
"""The simulator counts the time of a failure from its second 2 on."""


@dataclass
class Translation:
    """A scenario, and what became of each key of the settings.

    Attributes:
        scenario: the scenario, without the topology's tables and the flows.
        topology: the tables of the graph.
        flows: the rows of the list of flows.
        translated: keys that the scenario has.
        without_effect: keys that change nothing, and why.
        ignored: keys that were to be passed over.
        notes: what is unlike the simulator, in words.
    """

    scenario: dict[str, Any]
    topology: dict[str, list[dict[str, Any]]]
    flows: list[dict[str, Any]]
    translated: list[str]
    without_effect: dict[str, str]
    ignored: list[str]
    notes: list[str]


def node_name(node: int) -> str:
    """What a scenario calls a node of the simulator."""
    return f"n{node}"


def translate(source: Source, *, plain: bool = False, next_hops: str = "descending") -> Translation:
    """The scenario of a run.

    With `plain` it has none of the simulator's own ways of timing, hashing and completing; what
    was set for the run stays. `next_hops` is the order in which switches count next hops.

    Raises:
        ScenarioError: a setting is not known here.
    """
    config, topology = source.config, source.topology
    notes: list[str] = []
    _check_forks(config, notes)
    paths = Paths(topology, config.count("PACKET_PAYLOAD_SIZE"))
    groups = source.flows.groups
    transport = transport_of(config, paths, plain, notes)
    switches = switches_of(config, topology, groups, plain, notes)
    notes += _of_inputs(source, plain)
    times = _times(source, paths, notes)
    routing = {"kind": "ecmp", "hash": "murmur3", "next_hops": next_hops}
    scenario: dict[str, Any] = {
        "name": source.name,
        "duration": time_text(times["duration"]),
        "stop": time_text(times["stop"]),
        **({} if plain else {"completion": "last-ack"}),
        "topology": {
            "kind": "graph",
            **({"clocks": "exact"} if plain else {"whole_ns": True}),
            "base_rtt": time_text(paths.largest_rtt_ns),
        },
        # The simulator's hash, where there is a choice.
        **({} if plain or not topology.has_choices else {"routing": routing}),
        "switch": switches,
        # Acks first, then queue pairs in turn.
        "nic": {
            "scheduling": "per-flow-rr",
            "queues": 2,
            "ack_queue": 0,
            "data_queue": 1,
            "queue_pairs": True,
            "pauses_acks": not config.flag("ACK_HIGH_PRIO"),
        },
        "transport": transport,
        "traffic": [{"name": "flows", "kind": "flows", "origin": time_text(times["origin"])}],
        **_events(source, times["origin"]),
        "record": {"pauses": True} if config.has_pauses() else {},
    }
    return Translation(
        scenario,
        _graph(topology, tiers_of(topology)),
        _rows(source, len(groups) > 1),
        [key for key in config.values if key in config.asked],
        {
            key: WITHOUT_EFFECT.get(key, "with the other settings nothing depends on it")
            for key in config.values
            if key in WITHOUT_EFFECT or key not in config.asked
        },
        list(config.ignored),
        [*(f"{key} is given twice: the last one counts" for key in config.repeated), *notes],
    )


def origin_of(source: Source, path: str) -> str:
    """What a key of the scenario comes from: a file, and its key and value there."""
    steps = path.split(".")
    key = _ORIGINS.get(steps[0]) or _ORIGINS.get(steps[-1], "")
    if key == "RATE_AI" and source.config.text("CC_MODE") == "8":
        key = "DCTCP_RATE_AI"
    if key in ("TOPOLOGY_FILE", "FLOW_FILE"):
        return str(source.topology_file if key == "TOPOLOGY_FILE" else source.flow_file)
    if key not in source.config.values:
        return str(source.config.file)
    return f"{source.config.file}: {key}: {shown(source.config.text(key))}"


def _times(source: Source, paths: Paths, notes: list[str]) -> dict[str, int]:
    """Where the run begins in the simulator's time, its duration and its end, in ns.

    The duration is until the last flow begins, or as long as the busiest host needs at least.
    """
    flows, topology = source.flows.flows, source.topology
    begin = min(flow.start_ns for flow in flows) // _MS * _MS
    end = source.config.end_ns()
    late = sum(1 for flow in flows if flow.start_ns > end)
    if late == len(flows):
        raise source.config.wrong("SIMULATOR_STOP_TIME", "is before the first flow begins")
    if late:
        notes.append(f"{late} flows begin after SIMULATOR_STOP_TIME, and are left out")
    if end - begin > _LONGEST_NS:
        end = begin + _LONGEST_NS
        longest = time_text(_LONGEST_NS)
        notes.append(f"SIMULATOR_STOP_TIME: no run lasts that long; stop is {longest}")
    payload = source.config.count("PACKET_PAYLOAD_SIZE")
    busy: dict[tuple[int, bool], int] = {}
    for flow in flows:
        wire = flow.size_bytes + HEADER_BYTES * ((flow.size_bytes - 1) // payload + 1)
        for end_of in ((flow.src, True), (flow.dst, False)):
            busy[end_of] = busy.get(end_of, 0) + wire
    most = max(wire * 8 * 10**9 // topology.link(host).rate_bps for (host, _), wire in busy.items())
    last = max(flow.start_ns for flow in flows)
    duration = max(last - begin + 1, most + paths.largest_rtt_ns)
    stop = max(1, end - begin)
    return {"origin": begin, "duration": min(duration, stop), "stop": stop}


def _check_forks(config: Config, notes: list[str]) -> None:
    """Refuses what only forks of the simulator do, and notes where they differ a little."""
    if mode := config.whole("LB_MODE"):
        name = f" ({_BALANCERS[mode]})" if mode in _BALANCERS else ""
        raise config.not_known(
            "LB_MODE",
            f"is not known here{name}, only 0: each flow has the path that its hash chooses",
        )
    if config.number("NIC_TOTAL_PAUSE_TIME"):
        raise config.not_known("NIC_TOTAL_PAUSE_TIME", "is not known here, only 0")
    if any(key in config.values for key in CONWEAVE):
        notes.append(
            "thresholds and headroom of switches, and where acks wait there, are those of HPCC's "
            "program, not of ConWeave's"
        )


def _events(source: Source, origin_ns: int) -> dict[str, Any]:
    """Random losses, and the link that fails."""
    topology, config = source.topology, source.config
    usual = config.number("ERROR_RATE_PER_LINK")
    if usual > 1:
        raise config.wrong("ERROR_RATE_PER_LINK", "is no probability")
    events: list[dict[str, Any]] = [
        {
            "kind": "link-loss",
            "a": node_name(link.a),
            "b": node_name(link.b),
            "at": "0us",
            "rate": link.loss or usual,
        }
        for link in topology.links
        if link.loss or usual
    ]
    words = config.text("LINK_DOWN").split()
    numbers = [number for word in words if (number := whole_of(word)) is not None]
    if len(numbers) < len(words):
        raise config.wrong("LINK_DOWN", "is not a time and two nodes", "such as: 3000 32 36")
    time_us, a, b = numbers
    if time_us:
        if not any({link.a, link.b} == {a, b} for link in topology.links):
            raise config.wrong("LINK_DOWN", "is no link of the topology")
        at = _FAILURES_FROM_NS + 1_000 * time_us - origin_ns
        if at < 0:
            raise config.wrong("LINK_DOWN", "is before the first flow begins")
        down = {"kind": "link-down", "a": node_name(a), "b": node_name(b), "at": time_text(at)}
        events.append(down)
    return {"event": events} if events else {}


def _graph(topology: Topology, tiers: dict[int, str]) -> dict[str, list[dict[str, Any]]]:
    """Switches, hosts and links. Links are sorted, so that ports are in the order of nodes."""

    def line(rate_bps: int, delay_ns: int) -> dict[str, str]:
        return {"rate": rate_text(rate_bps), "delay": time_text(delay_ns)}

    hosts = [(host, topology.switch(host), topology.link(host)) for host in topology.hosts]
    links = sorted(
        (link for link in topology.links if {link.a, link.b} <= topology.switch_set),
        key=lambda link: (min(link.a, link.b), max(link.a, link.b)),
    )
    return {
        "switch": [{"name": node_name(node), "tier": tiers[node]} for node in topology.switches],
        "host": [
            {"name": node_name(host), "switch": node_name(switch)}
            | line(link.rate_bps, link.delay_ns)
            for host, switch, link in hosts
        ],
        "link": [
            {"a": node_name(min(link.a, link.b)), "b": node_name(max(link.a, link.b))}
            | line(link.rate_bps, link.delay_ns)
            for link in links
        ],
    }


def _rows(source: Source, has_groups: bool) -> list[dict[str, Any]]:
    """The list of flows. Hosts are numbered in order; a class tells the port, if it is unusual."""
    place = {host: number for number, host in enumerate(source.topology.hosts)}
    has_classes = source.flows.ports != [USUAL_PORT]
    return [
        {
            "src": place[flow.src],
            "dst": place[flow.dst],
            "size_bytes": flow.size_bytes,
            "start_ns": flow.start_ns,
            **({"priority": flow.group} if has_groups else {}),
            **({"class": f"port{flow.port}"} if has_classes else {}),
        }
        for flow in source.flows.flows
    ]


def _of_inputs(source: Source, plain: bool) -> list[str]:
    """Notes on topology and flows."""
    topology, flows = source.topology, source.flows
    notes = []
    if topology.left_over:
        announced = f"the {len(topology.links)} links that it announces are read, as there"
        notes.append(f"{source.topology_file}: it has more; {announced}")
    if flows.left_over:
        announced = f"the {len(flows.flows)} flows that it announces are read, as there"
        notes.append(f"{source.flow_file}: it has {flows.left_over} more; {announced}")
    if not flows.is_sorted:
        notes.append(
            f"{source.flow_file}: flows are not in the order of their starts, as they must be there"
        )
    if len(flows.groups) > 1:
        notes.append(
            "a host's flows of several priority groups wait for each other where one is paused"
        )
    if topology.has_choices and not plain:
        if flows.ports != [USUAL_PORT]:
            notes.append(
                f"paths are those of flows to port {USUAL_PORT}, to whichever port they go"
            )
        if topology.hosts[-1] > topology.switches[0]:
            notes.append(
                "paths are others than there: hosts must have the first numbers, for the hash"
            )
    moved = [
        switch
        for switch in topology.switches
        if (ends := [link.other(switch) for link in topology.links_of[switch]])
        != [*sorted(set(ends) - topology.switch_set), *sorted(set(ends) & topology.switch_set)]
    ]
    if moved:
        notes.append(
            f"ports of {len(moved)} switches are numbered by the nodes at their other ends (hosts "
            "first), not in the order of links: pauses name them so"
        )
    return notes
