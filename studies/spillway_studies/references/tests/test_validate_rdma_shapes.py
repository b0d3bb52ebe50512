"""Runs of the public RDMA simulator of every scheme, rate and topology: flows alone, by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway_studies.references.rdma_files import runs
from spillway_studies.references.rdma_runs import plan

BEGIN = 2_000_000_000
SCHEMES = {
    "DCQCN": ({"CC_MODE": "1"}, 48, 60),
    "DCQCN without CNPs' effect": ({"CC_MODE": "1", "ENABLE_QCN": "0"}, 48, 60),
    "DCQCN, a fixed window": ({"CC_MODE": "1", "HAS_WIN": "1"}, 48, 60),
    "DCQCN, a window with the rate": ({"CC_MODE": "1", "HAS_WIN": "1", "VAR_WIN": "1"}, 48, 60),
    "HPCC": ({"CC_MODE": "3", "HAS_WIN": "1", "VAR_WIN": "1"}, 90, 88),
    "TIMELY": ({"CC_MODE": "7"}, 56, 60),
    "TIMELY, a window": ({"CC_MODE": "7", "HAS_WIN": "1", "VAR_WIN": "1"}, 56, 60),
    "DCTCP": ({"CC_MODE": "8", "HAS_WIN": "1", "VAR_WIN": "1"}, 48, 60),
    "DCTCP without a window": ({"CC_MODE": "8"}, 48, 60),
}
"""The settings of a scheme, the bytes of its data beside the payload, and those of an ack."""

TIMES_NS = {
    1_048: (335, 209, 83, 41, 20),
    1_056: (337, 211, 84, 42, 21),
    1_090: (348, 217, 87, 43, 21),
    60: (19, 11, 4, 2, 1),
    88: (28, 17, 7, 3, 1),
}
"""What packets of so many bytes take at 25, 40, 100, 200 and 400 Gbps: measured there."""
RATES = (25, 40, 100, 200, 400)

PATHS = {
    # The rates of the lines from the sender to the receiver, as multiples of a host's.
    "star": (1, 1),
    "leaf-spine": (1, 2, 2, 1),
    "three levels": (1, 1, 4, 4, 1, 1),
}
"""Topologies in which two hosts have one path of links."""


def time_ns(size: int, gbps: int) -> int:
    """The time of a packet: the greatest whole number of nanoseconds below the exact one."""
    return -(-8 * size // gbps) - 1


def test_times_are_those_that_were_measured():
    for size, times in TIMES_NS.items():
        assert tuple(time_ns(size, gbps) for gbps in RATES) == times


def last_there_and_back(packets: list[int], ack: int, lines: list[int], delay: int) -> int:
    """When the ack of the last packet is back, if all leave one after the other. Rates in Gbps.

    On each line a packet begins when it is there and the one before it has left.
    """
    there = [0] * len(packets)
    for line in lines:
        there = _through(there, [time_ns(size, line) for size in packets], delay)
    for line in reversed(lines):
        there = _through(there, [time_ns(ack, line)] * len(packets), delay)
    return there[-1]


def _through(comes: list[int], takes: list[int], delay: int) -> list[int]:
    free, goes = 0, []
    for at, time in zip(comes, takes, strict=True):
        free = max(free, at) + time
        goes.append(free + delay)
    return goes


def write_chain(folder: Path, lines: list[int], delay: int) -> None:
    """Two hosts at the ends of a chain of switches. Hosts have the first numbers."""
    nodes = [0, *range(2, 1 + len(lines)), 1]
    links = [
        f"{a} {b} {rate}Gbps {delay}ns 0.000000"
        for (a, b), rate in zip(pairwise(nodes), lines, strict=True)
    ]
    switches = " ".join(map(str, nodes[1:-1]))
    text = f"{len(nodes)} {len(nodes) - 2} {len(links)}\n{switches}\n" + "\n".join(links) + "\n"
    (folder / "inputs" / "chain.txt").write_text(text)


def write_run(folder: Path, size: int, fct_ns: int, rates: list[int], **settings: str) -> None:
    """A run of one flow, of which only its completion time is left."""
    (folder / "inputs" / "one.txt").write_text(f"1\n0 1 3 100 {size} 2.000000000\n")
    known = {
        "PACKET_PAYLOAD_SIZE": "1000",
        "TOPOLOGY_FILE": "chain.txt",
        "FLOW_FILE": "one.txt",
        "SIMULATOR_STOP_TIME": "2.01",
        "ALPHA_RESUME_INTERVAL": "50",
        "RATE_DECREASE_INTERVAL": "50",
        "RP_TIMER": "55",
        "EWMA_GAIN": "0.00390625",
        "FAST_RECOVERY_TIMES": "1",
        "RATE_AI": "20Mb/s",
        "RATE_HAI": "200Mb/s",
        "DCTCP_RATE_AI": "615Mb/s",
        "MIN_RATE": "100Mb/s",
        "GLOBAL_T": "1",
        "VAR_WIN": "0",
        "HAS_WIN": "0",
        "U_TARGET": "0.95",
        "MI_THRESH": "0",
        "INT_MULTI": "4",
        "MULTI_RATE": "0",
        "BUFFER_SIZE": "16",
        "PFC_ON": "1",
    }
    for key, value in (("KMIN_MAP", "100"), ("KMAX_MAP", "400"), ("PMAX_MAP", "0.2")):
        each = sorted(set(rates))
        known[key] = " ".join([str(len(each)), *(f"{rate * 10**9} {value}" for rate in each)])
    lines = [f"{key} {value}" for key, value in (known | settings).items()]
    (folder / "E" / "lone.config.txt").write_text("\n".join(lines) + "\n")
    flow = {
        "src": [0],
        "dst": [1],
        "sport": [10_000],
        "size_bytes": [size],
        "fct_ns": [fct_ns],
        "ideal_fct_ns": [10_000],
    }
    pq.write_table(pa.table(flow), folder / "E" / "lone.fct.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of runs."""
    for name in ("inputs", "E"):
        (tmp_path / "reference" / name).mkdir(parents=True)
    return tmp_path / "reference"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_flow_alone_takes_what_it_takes_there(command, folder, scheme, path):
    settings, header, ack = SCHEMES[scheme]
    for gbps, delay, size in ((25, 1_000, 2_500), (40, 2_000, 9_001), (100, 1_000, 12_000)):
        lines = [gbps * times for times in PATHS[path]]
        write_chain(folder, lines, delay)
        full, rest = divmod(size, 1_000)
        packets = [1_000 + header] * full + ([rest + header] if rest else [])
        # All packets leave before the first ack comes, at the line's rate.
        fct = last_there_and_back(packets, ack, lines, delay)
        pfc = str(int(gbps != 25))
        write_run(folder, size, fct, lines, PFC_ON=pfc, **settings)
        found = command("validate", "rdma", folder, "--json")
        assert found.status == 0, found.err
        (told, *_) = found.json["E/lone"]["numbers"]
        assert told["what"] == "slowdown up to 100 KB p50"
        assert told["ours"] == pytest.approx(told["reference"], rel=1e-12), (gbps, size)


def test_files_that_are_missing_are_said(command, folder):
    write_chain(folder, [100, 100], 1_000)
    write_run(folder, 999, last_there_and_back([1_047], 60, [100, 100], 1_000), [100])
    told = command("validate", "rdma", folder, "--json").json["E/lone"]["notes"]
    assert told == [
        "there is no q.parquet: the queue is not compared",
        "there is no pfc.csv or pfc.parquet: pauses are not compared",
    ]
    (folder / "E" / "lone.fct.parquet").unlink()
    found = command("validate", "rdma", folder)
    assert found.status == 2
    assert "E/lone: there is nothing to compare: there is no fct.parquet or fct.csv" in " ".join(
        found.err.split()
    )


@pytest.mark.parametrize(
    ("settings", "aqm"),
    [
        ({}, {"kind": "red", "min": "100KB", "max": "400KB", "max_probability": 0.2}),
        ({"KMAX_MAP": "1 100000000000 100"}, {"min": "100KB", "max": "100KB"}),
        ({"KMIN_MAP": "1 100000000000 0"}, {"min": "0MiB", "max": "400KB"}),
        ({"PMAX_MAP": "1 100000000000 1.0"}, {"max_probability": 1.0}),
        # Never reached: the buffer is smaller.
        (
            {"KMIN_MAP": "1 100000000000 100000", "KMAX_MAP": "1 100000000000 100000"},
            {"kind": "none"},
        ),
        ({"ENABLE_QCN": "0"}, {"kind": "none"}),
    ],
)
def test_marks_may_have_any_thresholds(folder, settings, aqm):
    write_chain(folder, [100, 100], 1_000)
    write_run(folder, 999, 9_999, [100], **settings)
    (reference,) = runs(folder)[0]
    found = plan(reference, folder)[0].resolved["switch"]["aqm"]
    assert {key: found[key] for key in aqm} == aqm
