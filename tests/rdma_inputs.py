"""Files of the public RDMA simulator, made up: settings, topologies and flows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

SETTINGS = {
    "ENABLE_QCN": "1",
    "USE_DYNAMIC_PFC_THRESHOLD": "1",
    "PACKET_PAYLOAD_SIZE": "1000",
    "TOPOLOGY_FILE": "topology.txt",
    "FLOW_FILE": "flow.txt",
    "TRACE_FILE": "trace.txt",
    "TRACE_OUTPUT_FILE": "mix.tr",
    "FCT_OUTPUT_FILE": "fct.txt",
    "PFC_OUTPUT_FILE": "pfc.txt",
    "SIMULATOR_STOP_TIME": "2.1",
    "CC_MODE": "1",
    "ALPHA_RESUME_INTERVAL": "1",
    "RATE_DECREASE_INTERVAL": "4",
    "CLAMP_TARGET_RATE": "0",
    "RP_TIMER": "300",
    "EWMA_GAIN": "0.00390625",
    "FAST_RECOVERY_TIMES": "1",
    "RATE_AI": "20Mb/s",
    "RATE_HAI": "200Mb/s",
    "MIN_RATE": "1000Mb/s",
    "DCTCP_RATE_AI": "615Mb/s",
    "ERROR_RATE_PER_LINK": "0.0000",
    "L2_CHUNK_SIZE": "4000",
    "L2_ACK_INTERVAL": "1",
    "L2_BACK_TO_ZERO": "0",
    "HAS_WIN": "0",
    "GLOBAL_T": "1",
    "VAR_WIN": "0",
    "FAST_REACT": "0",
    "U_TARGET": "0.95",
    "MI_THRESH": "0",
    "INT_MULTI": "4",
    "MULTI_RATE": "0",
    "SAMPLE_FEEDBACK": "0",
    "PINT_LOG_BASE": "1.05",
    "PINT_PROB": "1.0",
    "RATE_BOUND": "1",
    "ACK_HIGH_PRIO": "1",
    "LINK_DOWN": "0 0 0",
    "ENABLE_TRACE": "0",
    "KMAX_MAP": "3 100000000000 1600 200000000000 3200 400000000000 6400",
    "KMIN_MAP": "3 100000000000 400 200000000000 800 400000000000 1600",
    "PMAX_MAP": "3 100000000000 0.2 200000000000 0.20 400000000000 0.2",
    "BUFFER_SIZE": "8",
    "QLEN_MON_FILE": "qlen.txt",
    "QLEN_MON_START": "2000000000",
    "QLEN_MON_END": "3000000000",
    "DATA_RATE": "100Gbps",
    "LINK_DELAY": "1us",
    "PAUSE_TIME": "5",
}
"""Every key of the simulator: DCQCN, without a window, with its values for 100 Gbps."""

HPCC = {"CC_MODE": "3", "HAS_WIN": "1", "VAR_WIN": "1", "FAST_REACT": "1", "RATE_AI": "40Mb/s"}
TIMELY = {"CC_MODE": "7", "RATE_AI": "100Mb/s", "RATE_HAI": "500Mb/s"}
DCTCP = {"CC_MODE": "8", "HAS_WIN": "1", "VAR_WIN": "1", "EWMA_GAIN": "0.0625"}

Flow = tuple[int, int, int, str]
"""Source, destination, bytes and start in seconds."""


def settings(**changes: str | None) -> str:
    """The text of a file of settings; a key that is None is left out."""
    values = SETTINGS | changes
    return "".join(f"{key} {value}\n" for key, value in values.items() if value is not None)


def topology(nodes: int, switches: Iterable[int], links: Iterable[str]) -> str:
    """The text of a topology."""
    switches, links = list(switches), list(links)
    head = f"{nodes} {len(switches)} {len(links)}\n{' '.join(map(str, switches))}\n"
    return head + "".join(f"{link}\n" for link in links)


def star(hosts: int, rate: str = "100Gbps", delay: str = "1000ns", loss: str = "0.000000") -> str:
    """Hosts around one switch, which has the last number."""
    links = (f"{host} {hosts} {rate} {delay} {loss}" for host in range(hosts))
    return topology(hosts + 1, [hosts], links)


def leaf_spine() -> str:
    """Two leaves, 4 and 5, with two hosts of 100 Gbps each; two spines, 200 Gbps; 1 us a link."""
    hosts = [f"{host} {4 + host // 2} 100Gbps 1000ns 0" for host in range(4)]
    links = [f"{leaf} {spine} 200Gbps 1us 0" for leaf in (4, 5) for spine in (6, 7)]
    return topology(8, range(4, 8), hosts + links)


def fat_tree(k: int = 4) -> str:
    """Hosts, then edge, aggregation and core switches; hosts 100 Gbps, the others 400 Gbps."""
    half = k // 2
    hosts, tier = k * half * half, k * half
    edge, aggregation, core = hosts, hosts + tier, hosts + 2 * tier
    links = [f"{host} {edge + host // half} 100Gbps 0.001ms 0.0" for host in range(hosts)]
    links += [
        f"{edge + pod * half + low} {aggregation + pod * half + high} 400Gbps 1000ns 0.0"
        for pod in range(k)
        for low in range(half)
        for high in range(half)
    ]
    links += [
        f"{aggregation + pod * half + place} {core + place * half + up} 400Gbps 1000ns 0.0"
        for pod in range(k)
        for place in range(half)
        for up in range(half)
    ]
    return topology(core + half * half, range(edge, core + half * half), links)


def dumbbell(loss: str = "0.01") -> str:
    """Hosts 0 and 1 at switch 4, 2 and 3 at switch 5; the link between loses packets."""
    hosts = [f"{host} {4 + host // 2} 100Gbps 1000ns 0" for host in range(4)]
    return topology(6, [4, 5], [*hosts, f"4 5 100Gbps 1000ns {loss}"])


def flow_list(flows: Iterable[Flow], group: int = 3, port: int = 100) -> str:
    """The text of a list of flows."""
    rows = [f"{src} {dst} {group} {port} {size} {start}\n" for src, dst, size, start in flows]
    return f"{len(rows)}\n" + "".join(rows)


def write_inputs(
    folder: Path, network: str, flows: str | Iterable[Flow], **changes: str | None
) -> Path:
    """Writes the three files of a run into a folder, and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.txt").write_text(settings(**changes))
    (folder / "topology.txt").write_text(network)
    text = flows if isinstance(flows, str) else flow_list(flows)
    (folder / "flow.txt").write_text(text)
    return folder
