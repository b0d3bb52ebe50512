"""A run of the public RDMA simulator as a scenario, and what of it we cannot repeat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway import parquet
from spillway.errors import ScenarioError
from spillway.scenario import Scenario
from spillway.validate.rdma_files import Config, Reference
from spillway.validate.rdma_network import TIERS, Network, Port

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

HEADER_BYTES, ACK_BYTES, PAUSE_BYTES = 48, 60, 43
"""On the wire: what data has beside its payload (PPP 14, IPv4 20, UDP 8, numbers 6); acks; pause
frames (14, 20 and 9)."""
_RESERVE, _RESUME = 4_096, 3_072
_SLOWEST_ALPHA = 1 / 8
"""What ports at the rate of NICs may have of the free buffer; those of twice the rate have twice
that."""
_RECEIVING_PORT = 100
_NAMES = {1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP", 10: "HPCC-PINT"}
_FIXED = {
    "ENABLE_QCN": "1",
    "USE_DYNAMIC_PFC_THRESHOLD": "1",
    "LINK_DOWN": "0 0 0",
    "RATE_BOUND": "1",
}
"""Settings of which we repeat one value only."""


@dataclass(frozen=True)
class Planned:
    """A run that can be repeated."""

    reference: Reference
    scenario: Scenario
    lacks: list[str]
    """What is approximated, since no setting for it is known here, in words."""


@dataclass(frozen=True)
class Wish:
    """A setting that is asked for if it is known here. Otherwise something else stands for it."""

    key: str
    value: Any
    otherwise: str
    if_uneven: bool
    """Whether it only matters if ports of a switch have unlike rates."""


WISHES = (
    Wish("switch.pfc.alpha_of", "rate", "alpha is that of a switch's slowest ports", True),
    Wish("switch.pfc.headroom", "3bdp", "each port has the mean headroom of its switch", True),
    Wish("nic.queue_pairs", True, "flows' packets pile up in NICs that are busy or paused", False),
)


@dataclass(frozen=True)
class Difference:
    """A setting that stands for a way of the simulator, and what it is without it."""

    name: str
    values: Mapping[str, Any]


def _dcqcn(config: Config) -> dict[str, Any]:
    """DCQCN as Mellanox's NICs have it, in the simulator's reading."""
    steps = config.whole("FAST_RECOVERY_TIMES")
    clamps = config.whole("CLAMP_TARGET_RATE") == 1
    return {
        "kind": "dcqcn",
        "preset": "simulator",
        "g": config.number("EWMA_GAIN"),
        "alpha_interval": f"{config.number('ALPHA_RESUME_INTERVAL'):g}us",
        "decrease_interval": f"{config.number('RATE_DECREASE_INTERVAL'):g}us",
        "clamp_target": "always" if clamps else "after-increase",
        "increase_timer": f"{config.number('RP_TIMER'):g}us",
        "fast_recovery": steps,
        "hyper_after": steps + 1,
        "rate_step": f"{config.rate('RATE_AI')}bps",
        "hyper_step": f"{config.rate('RATE_HAI')}bps",
        "min_rate": f"{config.rate('MIN_RATE')}bps",
    }


SCHEMES: dict[int, Callable[[Config], dict[str, Any]]] = {1: _dcqcn}
"""The transport's keys, by the simulator's number of the scheme (CC_MODE)."""

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
)
"""One change of settings at a time."""


def cannot(reference: Reference) -> str | None:
    """Why a run cannot be repeated, if so."""
    config = reference.config
    mode = config.whole("CC_MODE")
    if mode not in SCHEMES:
        return f"{_NAMES.get(mode, 'its scheme')} (CC_MODE {mode}) is not repeated yet"
    for key, value in _FIXED.items():
        if config.text(key) != value:
            return f"{key} is {config.text(key)}, and only {value} is repeated"
    losses = config.number("ERROR_RATE_PER_LINK") > 0
    losses = losses or any(link.error_rate > 0 for link in reference.network.links)
    if losses or reference.has_losses or not config.has_pfc:
        return "packets may be lost, which needs retransmission by go-back-N"
    if config.whole("HAS_WIN") and not config.whole("GLOBAL_T"):
        return "GLOBAL_T is 0: windows by pairs of hosts are not repeated"
    if len(reference.flows.priorities) > 1:
        return "its flows have several priorities"
    if reference.network.has_choices and reference.flows.receiving_ports != {_RECEIVING_PORT}:
        return f"its flows go to other ports than {_RECEIVING_PORT}, by which paths are chosen"
    if reference.network.has_choices and reference.hop_order == "neither":
        return "its next hops are neither in ascending nor in descending order"
    return None


def plan(reference: Reference, place: Path) -> Planned:
    """The run as a scenario. The list of flows is written into `place`."""
    given = described(reference, written(reference, place, None))
    scenario, lacks = Scenario(given), []
    for wish in WISHES:
        if wish.if_uneven and not _is_uneven(reference.network):
            continue
        values = dict.fromkeys(_everywhere(given, wish.key), wish.value)
        try:
            scenario.set(values).read()
        except ScenarioError as error:
            if error.path not in values:
                raise
            value = json.dumps(wish.value)
            lacks.append(f"{wish.key} = {value} is not known here: {wish.otherwise}")
        else:
            scenario = scenario.set(values)
    if lines := _uneven_marks(reference):
        lacks.append(lines)
    return Planned(reference, scenario, lacks)


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
    import pyarrow as pa

    file = place / f"{reference.name.replace('/', '-')}-{moved_by or 0}.parquet"
    flows = reference.flows
    columns = {"src": flows.src, "dst": flows.dst, "size_bytes": flows.size_bytes}
    parquet.write(pa.table(columns | {"start_ps": starts_ps(reference, moved_by)}), file)
    return file


def starts_ps(reference: Reference, moved_by: int | None) -> Whole:
    """When flows start, from the start of our run; with a seed, less than a microsecond later."""
    import numpy as np

    starts = (reference.flows.start_ns - reference.begin_ns) * 1_000
    if moved_by is None:
        return starts
    return starts + np.random.default_rng(moved_by).integers(0, 10**6, len(starts))


def described(reference: Reference, flows: Path) -> dict[str, Any]:
    """The scenario of a run, with these flows."""
    config, network = reference.config, reference.network
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
    routing: dict[str, Any] = {"kind": "ecmp"}
    if network.has_choices:
        routing |= {"hash": "murmur3", "next_hops": reference.hop_order}
    return {
        "name": reference.name.replace("/", "-"),
        "duration": f"{last - begin}ns",
        "stop": f"{max(reference.stop_ns, last) - begin}ns",
        "completion": "last-ack",
        "topology": _topology(network),
        "routing": routing,
        "switch": _switches(config, network),
        "nic": {
            "scheduling": "per-flow-rr",
            "queues": 2,
            "ack_queue": 0,
            "data_queue": 1,
            "pauses_acks": config.whole("ACK_HIGH_PRIO") == 0,
        },
        "transport": _transport(config, network),
        "traffic": [{"name": "flows", "kind": "flows", "file": str(flows.resolve())}],
        "record": record,
    }


def _topology(network: Network) -> dict[str, Any]:
    links = sorted(
        (link for link in network.links if min(link.a, link.b) >= network.hosts),
        key=lambda link: (min(link.a, link.b), max(link.a, link.b)),
    )
    hosts = [network.ports[host][0] for host in range(network.hosts)]
    found: dict[str, Any] = {
        "kind": "graph",
        "whole_ns": True,
        "switch": [
            {"name": f"n{switch}", "tier": network.tiers[switch]} for switch in network.switches
        ],
        "host": [
            {"name": f"n{port.node}", "switch": f"n{port.neighbour}"}
            | _line(port.rate_bps, port.delay_ns)
            for port in hosts
        ],
    }
    if links:
        found["link"] = [
            {"a": f"n{min(link.a, link.b)}", "b": f"n{max(link.a, link.b)}"}
            | _line(link.rate_bps, link.delay_ns)
            for link in links
        ]
    return found


def _line(rate_bps: int, delay_ns: int) -> dict[str, str]:
    return {"rate": f"{rate_bps}bps", "delay": f"{delay_ns}ns"}


def _ports(network: Network) -> dict[str, list[Port]]:
    """The ports of the first switch of each tier. Switches of a tier are alike in these runs."""
    found: dict[str, list[Port]] = {}
    for switch in network.switches:
        found.setdefault(network.tiers[switch], network.ports[switch])
    return found


def _is_uneven(network: Network) -> bool:
    """Whether ports of one switch have unlike rates."""
    return any(len({port.rate_bps for port in ports}) > 1 for ports in _ports(network).values())


def _uneven_marks(reference: Reference) -> str | None:
    """What is said where ports of one switch would mark by unlike thresholds."""
    maps = [reference.config.by_rate(key) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")]
    for tier, ports in _ports(reference.network).items():
        rates = sorted({port.rate_bps for port in ports})
        if len({tuple(by_rate.get(rate) for by_rate in maps) for rate in rates}) > 1:
            return f"all ports of a {tier} switch mark as its slowest ones do"
    return None


def _switches(config: Config, network: Network) -> dict[str, Any]:
    """The switches: the first tier's settings, and those of other tiers where they differ."""
    tiers = {
        tier: {"aqm": _marks(config, ports), "pfc": _pfc(network, ports)}
        for tier, ports in _ports(network).items()
    }
    leaf = tiers.pop("leaf")
    return {
        "buffer": f"{_buffer(config)}B",
        "queues_per_port": 1,
        "sharing": "cs",
        "release": "start",
        **leaf,
        **{tier: settings for tier, settings in tiers.items() if settings != leaf},
    }


def _buffer(config: Config) -> int:
    """The bytes of a switch's buffer."""
    return round(config.number("BUFFER_SIZE") * 2**20)


def _marks(config: Config, ports: list[Port]) -> dict[str, Any] | str:
    """RED at the departure, by the thresholds of the slowest ports; none if no queue gets there."""
    rate = min(port.rate_bps for port in ports)
    low, high, most = (config.by_rate(key) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP"))
    if rate not in low.keys() & high.keys() & most.keys():
        raise ScenarioError(f"{config.file}: it has no thresholds for ports of {rate} bps")
    if 1_000 * low[rate] >= _buffer(config):
        return "none"
    return {
        "kind": "red",
        "min": f"{round(1_000 * low[rate])}B",
        "max": f"{round(1_000 * high[rate])}B",
        "max_probability": most[rate],
        "marks_at": "departure",
        "not_ect": "pass",
    }


def _pfc(network: Network, ports: list[Port]) -> dict[str, Any]:
    """Dynamic thresholds with headroom of three times rate and delay."""
    headroom = sum(3 * port.rate_bps * port.delay_ns // (8 * 10**9) for port in ports)
    slowest = min(port.rate_bps for port in ports)
    return {
        "kind": "dynamic",
        "alpha": _SLOWEST_ALPHA * slowest / network.nic_bps,
        "reserve": f"{_RESERVE}B",
        "resume_offset": f"{_RESUME}B",
        "headroom": f"{headroom // len(ports)}B",
        "crosses_into": "headroom",
        "frame": f"{PAUSE_BYTES}B",
    }


def _transport(config: Config, network: Network) -> dict[str, Any]:
    window: dict[str, Any] = {}
    if config.whole("HAS_WIN"):
        window["window"] = f"{network.largest_window}B"
        window["vary_window"] = config.whole("VAR_WIN") == 1
    return {
        **SCHEMES[config.whole("CC_MODE")](config),
        **window,
        "mss": f"{config.whole('PACKET_PAYLOAD_SIZE')}B",
        "header": f"{HEADER_BYTES}B",
        "ack_size": f"{ACK_BYTES}B",
        "ack_every": config.whole("L2_ACK_INTERVAL"),
        # The simulator has no timeouts, and nothing is lost in runs that are repeated.
        **dict.fromkeys(("initial_rto", "min_rto", "max_rto"), "100s"),
    }
