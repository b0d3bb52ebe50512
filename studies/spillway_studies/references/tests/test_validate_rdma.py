"""Comparing with the public RDMA simulator: what comes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rdma_reference
from rdma_reference import BEGIN, LINE, PACKETS, endless, numbers, write_config, write_flows

from spillway_studies.references.rdma_files import runs
from support import change


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two senders that begin together; see `rdma_reference`."""
    return rdma_reference.folder(tmp_path / "reference")


def test_what_is_the_same_agrees(command, folder):
    found = command("validate", "rdma", folder, "--json")
    assert found.status == 0, found.err
    told = numbers(found.json, "C/incast")
    assert list(told) == [
        "queue mean",
        "queue deviation",
        "queue p99",
        "slowdown up to 100 KB p50",
        "slowdown up to 100 KB p95",
        "pauses host",
        "pauses host time",
    ]
    # (209 + 1,000 + 199 * 209 + 1,000 + 2,022) / 25,000, and one packet more.
    assert told["slowdown up to 100 KB p50"]["reference"] == pytest.approx(45_822 / 25_000)
    assert told["slowdown up to 100 KB p95"]["reference"] == pytest.approx(46_031 / 25_000)
    # Our senders take 209.6 ns for a packet, and the port sends all the time.
    for name in ("slowdown up to 100 KB p50", "slowdown up to 100 KB p95"):
        assert told[name]["ours"] == pytest.approx(told[name]["reference"], rel=1e-12)
    # At most two packets more or less wait at any time.
    assert told["queue mean"]["ours"] == pytest.approx(told["queue mean"]["reference"], abs=2.1)
    assert [told[name]["verdict"] for name in told] == ["agrees"] * 5 + ["told"] * 2
    assert found.json["bounds"] == {
        "compared": 5,
        "undecided": [],
        "broken": [],
        "wrong_runs": [],
    }
    flows = found.json["C/incast"]["flow_by_flow"][0]
    assert (flows["matched"], flows["within"]) == (2, [1.0, 1.0, 1.0])


def test_endless_flows_are_compared_by_their_second_half(command, folder):
    endless(folder)
    found = command("validate", "rdma", folder, "--json")
    assert found.status == 0, found.err
    told = numbers(found.json, "A/alone")
    assert list(told) == ["goodput", "fairness", "pauses host", "pauses host time"]
    assert told["goodput"]["reference"] == pytest.approx(8_000 / LINE, rel=1e-3)
    assert told["goodput"]["ours"] == pytest.approx(8_000 / LINE, rel=5e-3)
    assert told["fairness"]["reference"] == told["fairness"]["ours"] == 1.0
    assert found.json["A/alone"]["notes"][0] == "there is no q.parquet: the queue is not compared"


def test_a_flow_that_ends_has_all_its_bytes(command, folder):
    """Host 0's 3 MB take 627 us: neither program tells of the flow any more at the end of 1 ms.

    In the second half it gets 3,000 packets less 500 us // LINE, 608 KB; host 1's flow, which is
    endless, 2,392 KB. They share no line.
    """
    endless(folder)
    links = "".join(f"{host} 4 40Gbps 1000ns 0.0\n" for host in range(4))
    (folder / "inputs" / "four.txt").write_text(f"5 1 4\n4\n{links}")
    flows = [(0, 2, 3_000_000, "2.000000000"), (1, 3, 10**9, "2.000000000")]
    write_flows(folder, "one.txt", flows)
    write_config(folder / "A", "alone", FLOW_FILE="one.txt", TOPOLOGY_FILE="four.txt")
    times = np.arange(100_000, 1_000_001, 100_000)
    rows = [(src, time) for src in (0, 1) for time in times.tolist() if src or time < 627_000]
    rate = {
        "time_ns": [BEGIN + time for _, time in rows],
        "src": [src for src, _ in rows],
        "sport": [10_000] * len(rows),
        "snd_una": [time // LINE * 1_000 for _, time in rows],
    }
    pq.write_table(pa.table(rate), folder / "A" / "alone.rate.parquet")
    found = command("validate", "rdma", folder, "--json")
    assert found.status == 0, found.err
    told = numbers(found.json, "A/alone")
    assert told["goodput"]["reference"] == pytest.approx(8 * (608_000 + 2_392_000) / 500_000)
    assert told["goodput"]["ours"] == pytest.approx(48.0, rel=5e-3)


def test_rates_are_not_read_where_times_are_compared(command, folder):
    """Those of a host with two flows, to two receivers, name neither."""
    write_flows(folder, "two.txt", [(0, dst, 9_000, "2.000000000") for dst in (1, 2)])
    file = folder / "C" / "incast.fct.parquet"
    for column, values in (("src", [0, 0]), ("dst", [1, 2]), ("size_bytes", [9_000] * 2)):
        change(file, column, values)
    rate = {"time_ns": [BEGIN], "src": [0], "sport": [10_000], "snd_una": [0]}
    pq.write_table(pa.table(rate), folder / "C" / "incast.rate.parquet")
    found = command("validate", "rdma", folder, "--json")
    assert found.json["wrong"] == [], found.err
    file.unlink()
    found = command("validate", "rdma", folder)
    assert "left out" not in found.out
    assert "which two have in common: rates are not compared" in " ".join(found.out.split())


def test_flows_that_are_not_told_are_not_compared(command, folder):
    """Of two flows one is told: the other is not complete if a list of such flows has it."""
    file = folder / "C" / "incast.fct.parquet"
    pq.write_table(pq.read_table(file).slice(1), file)
    found = command("validate", "rdma", folder, "--json")
    assert found.status == 0, found.err
    told = numbers(found.json, "C/incast")
    assert "slowdown up to 100 KB p95" not in told
    # Host 1's, which is the last one here, too.
    assert told["slowdown up to 100 KB p50"]["reference"] == pytest.approx(46_031 / 25_000)
    assert told["slowdown up to 100 KB p50"]["ours"] == pytest.approx(46_031 / 25_000)
    says = "incast.fct.parquet has 1 of 2 flows: the others are not compared"
    assert found.json["C/incast"]["notes"] == [says]
    unfinished = "src,sport,dst,size_bytes,snd_nxt,snd_una\n0,10000,2,100000,9000,8000\n"
    (folder / "C" / "incast.unfinished.csv").write_text(unfinished)
    found = command("validate", "rdma", folder, "--json")
    complete = numbers(found.json, "C/incast")["complete flows"]
    assert (complete["reference"], complete["ours"], complete["verdict"]) == (1, 2, "differs")
    (note,) = found.json["C/incast"]["notes"]
    assert note.startswith("1 of 2 flows are not complete there: how many are is compared")


def test_files_without_rows_are_files_that_are_missing(command, folder):
    endless(folder)
    for file in ("A/alone.rate", "C/incast.fct", "C/incast.q"):
        path = folder / f"{file}.parquet"
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    found = command("validate", "rdma", folder, "--json")
    assert (found.json["left_out"], found.json["wrong"]) == ([], [])
    for run, notes in (
        ("A/alone", ["alone.rate.parquet has no rows: rates are not compared"]),
        (
            "C/incast",
            [
                "incast.fct.parquet has no flows: completion times are not compared",
                "incast.q.parquet has less than three samples: the queue is not compared",
            ],
        ),
    ):
        assert set(notes) <= set(found.json[run]["notes"])
        assert list(numbers(found.json, run)) == ["pauses host", "pauses host time"]


def test_the_queue_is_the_receiver_s_unless_another_is_named(command, folder):
    file = folder / "C" / "incast.config.txt"
    settings = file.read_text().replace("REF_Q_PORTS 1 3 3\n", "")
    file.write_text(settings)
    (reference,) = runs(folder)[0]
    assert reference.queue is not None
    assert (reference.queue.node, reference.queue.neighbour) == (3, 2)
    # Host 1 receives, too.
    write_flows(folder, "two.txt", [(0, 2, 100_000, "2.0"), (2, 1, 100_000, "2.0")])
    flows = {"src": [0, 2], "dst": [2, 1]}
    for column, values in flows.items():
        change(folder / "C" / "incast.fct.parquet", column, values)
    (reference,) = runs(folder)[0]
    assert reference.queue is None
    says = "no REF_Q_PORTS tells the port of incast.q.parquet: the queue is not compared"
    assert says in reference.lacks
    file.write_text(settings + "REF_Q_PORTS 1 3 2\n")
    (reference,) = runs(folder)[0]
    assert reference.queue is not None and reference.queue.neighbour == 1


def test_no_run_is_passed_over_in_silence(command, folder):
    """Runs may lie at any depth, also behind links; outputs without settings are named."""
    file = folder / "C" / "incast.config.txt"
    settings = file.read_text().replace("star.txt", "mix/star.txt")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "linked").symlink_to(folder / "C")
    for name in ("deep/er/run", "top"):
        (folder / f"{name}.config.txt").write_text(settings)
        for kind in ("fct.parquet", "summary.txt"):
            (folder / f"{name}.{kind}").write_bytes((folder / "C" / f"incast.{kind}").read_bytes())
    (folder / "deep" / "other.pfc.csv").write_text("time_ns,node,is_switch,port,pause\n")
    read, missing, _ = runs(folder)
    names = ["C/incast", "deep/er/run", "linked/incast", "top"]
    assert [each.name for each in read] == names
    assert missing == ["deep/other: there is no other.config.txt"]


def test_a_flow_that_is_not_complete_here_is_no_range(command, folder):
    """The reference's run ended long before its last flow did: ours ends there, too."""
    file = folder / "C" / "incast.fct.parquet"
    change(file, "fct_ns", [45_822, 46_000])
    write_config(folder / "C", "incast", SIMULATOR_STOP_TIME="2.00002")
    found = command("validate", "rdma", folder, "--json")
    assert "Infinity" not in found.out
    told = numbers(found.json, "C/incast")["slowdown up to 100 KB p95"]
    assert (told["ours"], told["moved"][1], told["verdict"]) == (None, None, "differs")


def test_a_folder_of_which_nothing_can_be_compared_is_no_agreement(command, folder):
    for file in (folder / "C").glob("*.parquet"):
        file.unlink()
    found = command("validate", "rdma", folder)
    assert found.status == 1
    assert found.out.strip().splitlines()[-1] == "nothing could be compared"


def test_what_differs_breaks_a_bound(command, folder):
    file = folder / "C" / "incast.fct.parquet"
    times = pq.read_table(file)["fct_ns"].to_pylist()
    # Medians may be 5% off, tails 15%; moved starts do not reach as far.
    for factor, broken in [(1.04, []), (1.1, ["p50"]), (1.3, ["p50", "p95"])]:
        change(file, "fct_ns", [round(factor * ns) for ns in times])
        change(folder / "C" / "incast.fct.parquet", "ideal_fct_ns", [25_000] * 2)
        found = command("validate", "rdma", folder)
        last = found.out.splitlines()[-1]
        assert found.status == (1 if broken else 0)
        for p in ("p50", "p95"):
            assert (f"C/incast slowdown up to 100 KB {p} -" in last) == (p in broken)
        assert "pauses within 15% where there are 100" in last


def pauses(folder: Path, count: int) -> None:
    """Pauses of host 1 of 2 us each, one every 10 us."""
    rows = [
        (BEGIN + 10_000 * number + after, pause)
        for number in range(count)
        for after, pause in ((0, 1), (2_000, 0))
    ]
    lines = [f"{time},1,0,1,{pause}" for time, pause in rows]
    text = "\n".join(["time_ns,node,is_switch,port,pause", *lines])
    (folder / "C" / "incast.pfc.csv").write_text(text + "\n")


@pytest.mark.parametrize(("count", "verdict"), [(99, "told"), (100, "differs")])
def test_few_pauses_are_told_and_many_judged(command, folder, count, verdict):
    pauses(folder, count)
    found = command("validate", "rdma", folder, "--json")
    told = numbers(found.json, "C/incast")
    assert found.status == (1 if verdict == "differs" else 0)
    for name, value in (("pauses host", count), ("pauses host time", 2.0 * count)):
        assert (told[name]["reference"], told[name]["ours"]) == (value, 0.0)
        assert told[name]["verdict"] == verdict


@pytest.mark.parametrize(
    ("ports", "says"),
    [((1,), "1 pause does not end in the list"), ((1, 2), "2 pauses do not end in the list")],
)
def test_pauses_that_do_not_end_are_left_out(command, folder, ports, says):
    pauses(folder, 3)
    file = folder / "C" / "incast.pfc.csv"
    more = "".join(f"{BEGIN + 90_000},1,0,{port},1\n" for port in ports)
    file.write_text(file.read_text() + more)
    found = command("validate", "rdma", folder, "--json")
    assert numbers(found.json, "C/incast")["pauses host"]["reference"] == 3
    assert f"{says}: left out, there and here" in found.json["C/incast"]["notes"]


def test_our_pauses_are_counted(command, folder):
    # Of 1 MiB three ports have 15,000 and 4,096 bytes each; an eighth of what is free is theirs.
    write_config(folder / "C", "incast", BUFFER_SIZE="1")
    size = 1_000 * 3 * PACKETS
    write_flows(folder, "two.txt", [(src, 2, size, "2.000000000") for src in (0, 1)])
    change(folder / "C" / "incast.fct.parquet", "size_bytes", [size] * 2)
    found = command("validate", "rdma", folder, "--json")
    told = numbers(found.json, "C/incast")
    # Both senders fill the port by 209 ns for each packet; (1,048,576 - 57,288) / 10 + 4,096
    # bytes of each are 98.5 packets. So each is paused at least once, for some time.
    assert told["pauses host"]["ours"] >= 2
    assert told["pauses host time"]["ours"] > 1


def test_flows_that_are_never_complete_are_counted(command, folder):
    """One of the two is complete there, and both are here; its time is not compared then."""
    file = folder / "C" / "incast.fct.parquet"
    change(file, "fct_ns", [pq.read_table(file)["fct_ns"][0].as_py(), None])
    found = command("validate", "rdma", folder, "--json")
    numbers = {each["what"]: each for each in found.json["C/incast"]["numbers"]}
    complete = numbers["complete flows"]
    assert (complete["reference"], complete["ours"], complete["verdict"]) == (1, 2, "differs")
    assert not any(what.startswith("slowdown") for what in numbers)
    assert found.status == 1
