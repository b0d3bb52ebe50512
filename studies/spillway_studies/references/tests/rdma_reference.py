"""A folder of reference runs of the public RDMA simulator, made up so that all is known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BEGIN = 2_000_000_000
LINE, ACK, DELAY = 209, 11, 1_000
"""What 1,048 and 60 bytes take at 40 Gbps, cut to whole ns, and the delay of a link."""
PACKETS = 100

CONFIG = {
    "ENABLE_QCN": "1",
    "USE_DYNAMIC_PFC_THRESHOLD": "1",
    "PACKET_PAYLOAD_SIZE": "1000",
    "TOPOLOGY_FILE": "star.txt",
    "FLOW_FILE": "two.txt",
    "SIMULATOR_STOP_TIME": "2.0002",
    "CC_MODE": "1",
    "ALPHA_RESUME_INTERVAL": "1",
    "RATE_DECREASE_INTERVAL": "4",
    "CLAMP_TARGET_RATE": "0",
    "RP_TIMER": "300",
    "EWMA_GAIN": "0.00390625",
    "FAST_RECOVERY_TIMES": "1",
    "RATE_AI": "8Mb/s",
    "RATE_HAI": "80Mb/s",
    "MIN_RATE": "100Mb/s",
    "ERROR_RATE_PER_LINK": "0.0000",
    "L2_ACK_INTERVAL": "1",
    "HAS_WIN": "0",
    "GLOBAL_T": "1",
    "VAR_WIN": "0",
    "RATE_BOUND": "1",
    "ACK_HIGH_PRIO": "1",
    "LINK_DOWN": "0 0 0",
    "KMAX_MAP": "1 40000000000 100000",
    "KMIN_MAP": "1 40000000000 100000",
    "PMAX_MAP": "1 40000000000 0.01",
    "BUFFER_SIZE": "12",
    "PFC_ON": "1",
    "REF_Q_PORTS": "1 3 3",
}


def write_config(folder: Path, run: str, **settings: str) -> None:
    """The settings of a run."""
    lines = [f"{key} {value}" for key, value in (CONFIG | settings).items()]
    (folder / f"{run}.config.txt").write_text("\n".join(lines) + "\n")


def write_flows(folder: Path, name: str, flows: list[tuple[int, int, int, str]]) -> None:
    """A list of flows."""
    lines = [f"{src} {dst} 3 100 {size} {start}" for src, dst, size, start in flows]
    (folder / "inputs" / name).write_text("\n".join([str(len(flows)), *lines]) + "\n")


def queue_at(time: int) -> int:
    """What waits at the receiver's port so many ns after both flows have begun.

    Packet k of each sender comes after LINE + DELAY + LINE k; the port begins one every LINE.
    """
    first = LINE + DELAY
    if time < first:
        return 0
    turns = (time - first) // LINE + 1
    return 1_048 * (min(2 * turns, 2 * PACKETS) - min(turns, 2 * PACKETS))


def folder(place: Path) -> Path:
    """Two senders that begin together, at line rate, to one receiver; nothing is marked or paused.

    The receiver's port sends a packet every LINE from LINE + DELAY on: host 0's last one is number
    2 PACKETS - 1, host 1's the next.
    """
    for name in ("inputs", "C"):
        (place / name).mkdir(parents=True)
    links = "".join(f"{host} 3 40Gbps 1000ns 0.0\n" for host in range(3))
    (place / "inputs" / "star.txt").write_text(f"4 1 3\n3\n{links}")
    write_flows(place, "two.txt", [(src, 2, 1_000 * PACKETS, "2.000000000") for src in (0, 1)])
    write_config(place / "C", "incast")
    fct = [LINE + DELAY + number * LINE + DELAY + 2 * (ACK + DELAY) for number in (199, 200)]
    flows = {
        "src": [0, 1],
        "dst": [2, 2],
        "sport": [10_000, 10_000],
        "size_bytes": [1_000 * PACKETS] * 2,
        "fct_ns": fct,
        "ideal_fct_ns": [25_000] * 2,
    }
    pq.write_table(pa.table(flows), place / "C" / "incast.fct.parquet")
    times = range(0, 60_000, 1_000)
    queue = {
        "time_ns": [BEGIN + time for time in times],
        "queue_bytes": [queue_at(time) for time in times],
    }
    pq.write_table(pa.table(queue), place / "C" / "incast.q.parquet")
    (place / "C" / "incast.summary.txt").write_text("link_tx_pfc 0 bytes 0\n")
    return place


def endless(folder: Path) -> None:
    """A run with one sender, whose flow does not end: a packet every LINE, and an empty queue."""
    (folder / "A").mkdir()
    write_flows(folder, "one.txt", [(0, 2, 1_000_000_000, "2.000000000")])
    write_config(folder / "A", "alone", FLOW_FILE="one.txt")
    times = np.arange(100_000, 1_000_001, 100_000)
    rate = {
        "time_ns": BEGIN + times,
        "src": [0] * len(times),
        "sport": [10_000] * len(times),
        "snd_una": times // LINE * 1_000,
    }
    pq.write_table(pa.table(rate), folder / "A" / "alone.rate.parquet")
    (folder / "A" / "alone.unfinished.csv").write_text("src\n0\n")
    (folder / "A" / "alone.summary.txt").write_text("link_tx_pfc 0 bytes 0\n")


def leaf_spine(folder: Path) -> None:
    """Two leaves with two hosts of 100 Gbps each, and two spines, 1 us for each link."""
    hosts = "".join(f"{host} {4 + host // 2} 100Gbps 1000ns 0\n" for host in range(4))
    links = "".join(f"{leaf} {spine} 200Gbps 1us 0\n" for leaf in (4, 5) for spine in (6, 7))
    (folder / "inputs" / "fabric.txt").write_text(f"8 4 8\n4 5 6 7\n{hosts}{links}")
    (folder / "inputs" / "routes_fabric.csv").write_text(
        "switch,dst,n_next,next_hops_in_order\n4,0,1,0\n4,2,2,7 6\n"
    )
    write_flows(folder, "pairs.txt", [(0, 2, 2_500, "2.000000577"), (0, 2, 999, "2.001")])
    maps = {"KMIN_MAP": "400", "KMAX_MAP": "1600", "PMAX_MAP": "0.2"}
    write_config(
        folder / "C",
        "fabric",
        TOPOLOGY_FILE="fabric.txt",
        FLOW_FILE="pairs.txt",
        SIMULATOR_STOP_TIME="2.003",
        BUFFER_SIZE="2",
        **{
            key: f"2 100000000000 {value} 200000000000 {float(value) * (1 + key.startswith('K')):g}"
            for key, value in maps.items()
        },
    )
    flows = {
        "src": [0, 0],
        "dst": [2, 2],
        "sport": [10_001, 10_000],
        "size_bytes": [999, 2_500],
        "fct_ns": [8_300, 8_500],
        "ideal_fct_ns": [8_300, 8_500],
    }
    pq.write_table(pa.table(flows), folder / "C" / "fabric.fct.parquet")


def numbers(document: dict[str, object], run: str) -> dict[str, dict[str, object]]:
    """The numbers of a run, by what they are."""
    found = document[run]
    assert isinstance(found, dict)
    return {each["what"]: each for each in found["numbers"]}
