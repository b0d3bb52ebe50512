"""`spillway export rdma`: completion times and pauses in the public RDMA simulator's formats."""

from __future__ import annotations

from pathlib import Path

import pytest

import spillway
from rdma_inputs import (
    DCTCP,
    HPCC,
    TIMELY,
    dumbbell,
    fat_tree,
    leaf_spine,
    star,
    write_inputs,
)
from spillway.formats import rdma
from support import TINY

LINE, ACK, DELAY = 83, 4, 1_000
"""What 1,048 and 60 bytes take at 100 Gbps, cut to whole ns, and the delay of a link."""


def run(folder: Path, network: str, flows, **changes: str | None) -> Path:
    """The result of an imported scenario."""
    source = rdma.read_source(write_inputs(folder, network, flows, **changes))
    rdma.write(rdma.translate(source), source, folder / "scenario.toml")
    spillway.run(folder / "scenario.toml", out=folder / "result")
    return folder / "result"


def rows(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text().splitlines()]


def slowdowns(file: Path, port: str = "100") -> list[tuple[int, float]]:
    """Sizes and slowdowns of flows to a port, read by columns 4 to 8, as scripts do."""
    found = [(int(row[4]), int(row[6]) / int(row[7])) for row in rows(file) if row[3] == port]
    return sorted((size, max(1.0, slowdown)) for size, slowdown in found)


@pytest.mark.parametrize(
    ("scheme", "line", "ack", "packets"),
    [({}, LINE, ACK, 1_000), (DCTCP, LINE, ACK, 20), (TIMELY, 84, ACK, 20), (HPCC, 87, 7, 10)],
    ids=["dcqcn", "dctcp", "timely", "hpcc"],
)
def test_a_lone_flow_to_the_nanosecond(command, tmp_path, scheme, line, ack, packets):
    """All packets leave back to back; the last takes two lines, and its ack two more.

    What the simulator takes for the flow alone has 48 bytes of headers for every scheme, and the
    first packet's payload on both lines: 4,000 ns of delays, 160 ns, and all bytes at 100 Gbps.
    """
    folder = run(tmp_path / "in", star(3), [(0, 2, 1_000 * packets, "2.000000000")], **scheme)
    done = command("export", "rdma", folder, "--fct", "fct.txt")
    assert done.status == 0 and "1 completion times written to fct.txt" in done.out
    fct = (packets + 1) * line + 2 * ack + 4 * DELAY
    alone = 4_160 + packets * 1_048 * 8 // 100
    assert (tmp_path / "fct.txt").read_text() == (
        f"0b000001 0b000201 10000 100 {1_000 * packets} 2000000000 {fct} {alone}\n"
    )


def test_an_incast_in_the_order_of_completion(command, tmp_path):
    flows = [(src, 4, 50_000, "2.001") for src in (0, 1, 2, 3, 0)]
    folder = run(tmp_path / "in", star(5), flows)
    done = command("export", "rdma", folder, "--fct", "fct.txt", "--json")
    assert done.json == {"fct": "fct.txt", "pfc": None, "flows": 5, "unfinished": 0, "frames": None}
    found = rows(tmp_path / "fct.txt")
    ends = [int(row[5]) + int(row[6]) for row in found]
    assert ends == sorted(ends)
    # The simulator reads 2.001 s as a binary fraction, and cuts it.
    assert {row[5] for row in found} == {"2000999999"}
    ports = sorted((row[0], row[2]) for row in found)
    assert ports[:2] == [("0b000001", "10000"), ("0b000001", "10001")]
    # 250 packets pass one line: the last is complete no sooner than that.
    assert ends[-1] - 2_000_999_999 >= 250 * LINE
    assert [size for size, _ in slowdowns(tmp_path / "fct.txt")] == [50_000] * 5


def test_ports_and_numbers_of_nodes_are_those_of_the_files(command, tmp_path):
    links = "".join(f"0 {host} 100Gbps 1us 0\n" for host in (1, 2, 3))
    flows = "2\n1 3 3 100 1000 2\n2 3 3 200 2000 2\n"
    folder = run(tmp_path / "in", f"4 1 3\n0\n{links}", flows)
    command("export", "rdma", folder, "--fct", "fct.txt")
    assert {tuple(row[:5]) for row in rows(tmp_path / "fct.txt")} == {
        ("0b000101", "0b000301", "10000", "100", "1000"),
        ("0b000201", "0b000301", "10000", "200", "2000"),
    }
    assert [size for size, _ in slowdowns(tmp_path / "fct.txt", "200")] == [2_000]


def test_pauses_begin_and_end(command, tmp_path):
    """16 hosts at line rate fill a buffer of 1 MiB, and are paused and let go again."""
    flows = [(src, 16, 100_000, "2") for src in range(16)]
    nothing = "1 100000000000 100000"
    maps = {"KMIN_MAP": nothing, "KMAX_MAP": nothing, "PMAX_MAP": "1 100000000000 1"}
    folder = run(tmp_path / "in", star(17), flows, BUFFER_SIZE="1", **maps)
    done = command("export", "rdma", folder, "--pfc", "pfc.txt", "--json")
    found = [[int(word) for word in row] for row in rows(tmp_path / "pfc.txt")]
    assert done.json["frames"] == len(found) > 0
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    assert all(2_000_000_000 < row[0] < 2_100_000_000 for row in found)
    # The first pause comes after a packet and a frame of 43 bytes, which takes 3 ns, at the least.
    assert found[0][0] >= 2_000_000_000 + LINE + 3 + 2 * DELAY
    for host in range(16):
        own = [row[1:] for row in found if row[1] == host]
        assert own == [[host, 0, 1, kind] for _ in range(len(own) // 2) for kind in (1, 0)]


def test_flows_that_are_not_complete_are_left_out_and_told(command, tmp_path):
    flows = [(0, 2, 1_000, "2"), (1, 2, 100_000_000, "2")]
    folder = run(tmp_path / "in", star(3), flows, SIMULATOR_STOP_TIME="2.0001")
    done = command("export", "rdma", folder, "--fct", "fct.txt")
    assert "1 flows are not complete, and have none" in done.out
    assert len(rows(tmp_path / "fct.txt")) == 1


def test_what_cannot_be_written_is_told(command, tmp_path):
    folder = run(tmp_path / "in", star(3), [(0, 2, 1_000, "2")], PFC_ON="0")
    assert "nothing is to be written" in command("export", "rdma", folder).err
    same = command("export", "rdma", folder, "--fct", "a.txt", "--pfc", "a.txt")
    assert "--fct and --pfc are both a.txt" in same.err
    assert "it has no pauses" in command("export", "rdma", folder, "--pfc", "p.txt").err
    (tmp_path / "diary.txt").write_text("diary\n")
    assert "is there already" in command("export", "rdma", folder, "--fct", "diary.txt").err
    forced = command("export", "rdma", folder, "--fct", "diary.txt", "--force")
    assert "is not a list of completion times" in forced.err
    for force in ([], ["--force"]):
        assert command("export", "rdma", folder, "--fct", "fct.txt", *force).status == 0
    spillway.run(TINY, out=tmp_path / "tiny")
    assert "its topology is no graph" in command("export", "rdma", "tiny", "--fct", "t.txt").err


@pytest.mark.parametrize(
    ("network", "changes"),
    [
        (star(5), {"HAS_WIN": "1", "VAR_WIN": "1"}),
        (leaf_spine(), HPCC),
        (dumbbell("0.001"), TIMELY),
        (fat_tree(), DCTCP),
        (leaf_spine(), {"PFC_ON": "0"}),
        (leaf_spine(), {"LINK_DOWN": "5 4 6"}),
    ],
    ids=["star", "leaf-spine", "dumbbell", "fat-tree", "without-pauses", "failure"],
)
def test_files_go_in_and_out_by_the_command_line(command, tmp_path, network, changes):
    """Three flows to one host: two begin together, one later; no link is needed by all."""
    flows = [(0, 2, 30_000, "2"), (1, 2, 30_000, "2"), (3, 2, 1_500, "2.000001")]
    write_inputs(tmp_path / "mix", network, flows, **changes)
    for arguments in (
        ("import", "rdma", "mix", "--out", "s.toml"),
        ("run", "s.toml", "--out", "result"),
        ("export", "rdma", "result", "--fct", "fct.txt"),
    ):
        done = command(*arguments)
        assert done.status == 0, done.err
    found = rows(tmp_path / "fct.txt")
    assert sorted((row[0], row[1], row[4], row[5]) for row in found) == [
        ("0b000001", "0b000201", "30000", "2000000000"),
        ("0b000101", "0b000201", "30000", "2000000000"),
        ("0b000301", "0b000201", "1500", "2000001000"),
    ]
    ends = [int(row[5]) + int(row[6]) for row in found]
    assert ends == sorted(ends)
    # 62 packets pass the receiver's line, at 83 ns or more, and the last of them is acknowledged.
    assert ends[-1] >= 2_000_000_000 + 61 * LINE + 4 * DELAY
    assert all(int(row[6]) >= 0.9 * int(row[7]) for row in found)
