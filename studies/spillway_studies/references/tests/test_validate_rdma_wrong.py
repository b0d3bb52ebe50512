"""Folders of the public RDMA simulator's runs that are wrong, or of which something is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdma_reference
from rdma_reference import write_config, write_flows

from support import change


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two senders that begin together; see `rdma_reference`."""
    return rdma_reference.folder(tmp_path / "reference")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"CC_MODE": "99"}, "CC_MODE 99 is not known here"),
        ({"CC_MODE": "3"}, "HAS_WIN: 0 is not known under HPCC (CC_MODE 3)"),
        ({"RATE_BOUND": "0"}, "RATE_BOUND: 0 is not known here, only 1"),
        ({"TOPOLOGY_FILE": "x.txt"}, "there is no inputs/x.txt"),
        ({"TOPOLOGY_FILE": "x", "FLOW_FILE": "y"}, "there is no inputs/x and no inputs/y"),
    ],
)
def test_a_run_that_cannot_be_repeated_is_left_out(command, folder, settings, says):
    write_config(folder / "C", "other", **settings)
    found = command("validate", "rdma", folder, "--json")
    assert found.status == 0, found.err
    (told,) = found.json["left_out"]
    assert told.startswith("C/other: ") and says in told
    (folder / "C" / "incast.config.txt").unlink()
    found = command("validate", "rdma", folder)
    assert found.status == 2
    assert f"{folder}: there is nothing to compare: C/" in found.err
    assert says in " ".join(found.err.split())


def test_several_priorities_are_left_out(command, folder):
    (folder / "inputs" / "mixed.txt").write_text("2\n0 2 3 100 9 2.0\n1 2 4 100 9 2.0\n")
    write_config(folder / "C", "mixed", FLOW_FILE="mixed.txt")
    (told,) = command("validate", "rdma", folder, "--json").json["left_out"]
    assert told == "C/mixed: its flows have several priorities"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (
            lambda folder: (folder / "C" / "incast.config.txt").write_text("CC_MODE 1\n"),
            "incast.config.txt: it has no TOPOLOGY_FILE",
        ),
        (lambda folder: write_config(folder / "C", "incast", PFC_ON="yes"), "PFC_ON: yes is no"),
        (lambda folder: write_config(folder / "C", "incast", CC_MODE="1.5"), "CC_MODE: 1.5 is no"),
        (lambda folder: write_config(folder / "C", "incast", RATE_AI="8"), "RATE_AI: 8 is no rate"),
        (
            lambda folder: write_config(folder / "C", "incast", KMIN_MAP="1 1000"),
            "KMIN_MAP has 2 of 3 values",
        ),
        (
            lambda folder: write_config(folder / "C", "incast", KMIN_MAP="1 1000 5"),
            "KMIN_MAP: 1 1000 5 has no value for ports of 40000000000 bps",
        ),
        (
            lambda folder: write_config(folder / "C", "incast", REF_Q_PORTS="1 3 9"),
            "REF_Q_PORTS: switch 3 has no port 9",
        ),
        (
            lambda folder: write_config(folder / "C", "incast", REF_Q_PORTS="2 3 1 3 2"),
            "REF_Q_PORTS names not one port of a switch",
        ),
        (
            lambda folder: (folder / "inputs" / "star.txt").write_text("4 1\n"),
            "star.txt: it ends where the number of links should be",
        ),
        (
            lambda folder: (folder / "inputs" / "star.txt").write_text("4 1 9\n3\n"),
            "star.txt: it ends where link 1 of 9 should be",
        ),
        (
            lambda folder: (folder / "inputs" / "star.txt").write_text(
                "4 1 3\n0\n" + "".join(f"{host} 0 40Gbps 1us 0\n" for host in (1, 2, 3))
            ),
            "star.txt: the nodes must be hosts, from 0 on, and then switches",
        ),
        (
            lambda folder: (folder / "inputs" / "star.txt").write_text("4 1 0\n3\n"),
            "star.txt: 3 hosts are announced, and 0 links",
        ),
        (
            lambda folder: (folder / "inputs" / "star.txt").write_text("4 1 3\n3\n0 3 9x 1ns 0\n"),
            "star.txt: line 3: 9x is no rate",
        ),
        (
            lambda folder: (folder / "inputs" / "two.txt").write_text("2\n0 2 3 100 9\n"),
            "two.txt: line 2: 0 2 3 100 9 is no flow",
        ),
        (
            lambda folder: (folder / "inputs" / "two.txt").write_text("2\n0 2 3 100 9 2.0\n"),
            "two.txt: it has 1 flows, and 2 are announced",
        ),
        (
            lambda folder: (folder / "inputs" / "two.txt").write_text("1\n2 2 3 100 9 2.0\n"),
            "two.txt: line 2: the flow leads from host 2 to itself",
        ),
        (
            lambda folder: write_flows(folder, "two.txt", [(0, 3, 9, "2.0")]),
            "two.txt: line 2: 3 is no host of the topology",
        ),
        (
            lambda folder: change(folder / "C" / "incast.fct.parquet", "sport", [1, 2]),
            "incast.fct.parquet: it has a flow that is not listed: (0, 2, 1)",
        ),
        (
            lambda folder: change(folder / "C" / "incast.fct.parquet", "src", [0, 0]),
            "incast.fct.parquet: a flow is in it twice",
        ),
        (
            lambda folder: change(folder / "C" / "incast.fct.parquet", "size_bytes", [1, 2]),
            "incast.fct.parquet: sizes are not those of the list",
        ),
        (
            lambda folder: change(folder / "C" / "incast.fct.parquet", "fct_ns", None),
            "incast.fct.parquet: it has no fct_ns",
        ),
        (
            lambda folder: change(
                folder / "C" / "incast.q.parquet", "time_ns", [time**2 for time in range(60)]
            ),
            "incast.q.parquet: its times are not at equal distances",
        ),
        (
            lambda folder: (folder / "C" / "incast.pfc.csv").write_text(
                "time_ns,node,is_switch,port,pause\n2000000001,1,0,1,1\n2000000002,9,0,1,0\n"
            ),
            "incast.pfc.csv: row 2: the topology has no node 9",
        ),
        (
            lambda folder: (folder / "C" / "incast.fct.parquet").write_bytes(b"no table"),
            "incast.fct.parquet",
        ),
        (
            lambda folder: (folder / "C" / "incast.config.txt").write_bytes(b"CC_MODE \xff"),
            "incast.config.txt cannot be read",
        ),
        (
            lambda folder: (folder / "C" / "incast.config.txt").write_text("KMIN_MAP\nCC_MODE"),
            "incast.config.txt: line 1: KMIN_MAP has 0 of 1 values",
        ),
        # What our own settings refuse: three ports' headroom is more than the buffer.
        (
            lambda folder: (folder / "inputs" / "star.txt").write_text(
                "4 1 3\n3\n" + "".join(f"{host} 3 40Gbps 1ms 0\n" for host in range(3))
            ),
            "headroom",
        ),
    ],
)
def test_a_run_with_a_wrong_file_is_left_out_and_others_are_compared(command, folder, spoil, says):
    inputs, runs_of = folder / "inputs", folder / "C"
    for name in ("star", "two"):
        (inputs / f"good-{name}.txt").write_text((inputs / f"{name}.txt").read_text())
    write_config(runs_of, "good", TOPOLOGY_FILE="good-star.txt", FLOW_FILE="good-two.txt")
    for kind in ("fct.parquet", "q.parquet", "summary.txt"):
        (runs_of / f"good.{kind}").write_bytes((runs_of / f"incast.{kind}").read_bytes())
    spoil(folder)
    found = command("validate", "rdma", folder)
    assert found.status == 1, found.err
    assert found.out.splitlines()[-1].endswith("; 1 run is left out for a wrong file (C/incast)")
    assert "wrong, and left out: C/incast: " in found.out
    document = command("validate", "rdma", folder, "--json").json
    (told,) = document["wrong"]
    assert told.startswith("C/incast: ")
    assert says in told
    assert document["bounds"]["wrong_runs"] == ["C/incast"]
    assert document["bounds"]["compared"] == 5
    # With nothing else to compare, that is an error.
    (runs_of / "good.config.txt").unlink()
    found = command("validate", "rdma", folder)
    assert found.status == 2
    assert says in " ".join(found.err.split())


def test_a_folder_without_runs_is_refused(command, folder):
    (folder / "C" / "incast.config.txt").unlink()
    for place, says in (
        (folder, f"{folder}: there are no runs"),
        (folder / "x", "there is no folder"),
    ):
        found = command("validate", "rdma", place)
        assert found.status == 2
        assert says in " ".join(found.err.split())


def test_options_that_say_nothing_here_are_refused(command, folder):
    for option, says in (
        (("--paths", "2"), "--paths: the paths of rdma are known"),
        (("--others",), "--others: nothing else is known of rdma"),
    ):
        found = command("validate", "rdma", folder, *option)
        assert found.status == 2
        assert says in found.err
