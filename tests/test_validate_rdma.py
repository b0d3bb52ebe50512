"""Comparing with the public RDMA simulator: what comes of it, and what wrong folders say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway.rdma.topology import read_topology
from spillway.validate.rdma_files import runs
from spillway.validate.rdma_network import Network, hop_order, network_of
from spillway.validate.rdma_runs import changes, plan
from support import change

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two senders that begin together, at line rate, to one receiver; nothing is marked or paused.

    The receiver's port sends a packet every LINE from LINE + DELAY on: host 0's last one is number
    2 PACKETS - 1, host 1's the next.
    """
    place = tmp_path / "reference"
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
    (reference,) = runs(folder).read
    assert reference.queue is not None
    assert (reference.queue.node, reference.queue.neighbour) == (3, 2)
    # Host 1 receives, too.
    write_flows(folder, "two.txt", [(0, 2, 100_000, "2.0"), (2, 1, 100_000, "2.0")])
    flows = {"src": [0, 2], "dst": [2, 1]}
    for column, values in flows.items():
        change(folder / "C" / "incast.fct.parquet", column, values)
    (reference,) = runs(folder).read
    assert reference.queue is None
    says = "no REF_Q_PORTS tells the port of incast.q.parquet: the queue is not compared"
    assert says in reference.lacks
    file.write_text(settings + "REF_Q_PORTS 1 3 2\n")
    (reference,) = runs(folder).read
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
    found = runs(folder)
    names = ["C/incast", "deep/er/run", "linked/incast", "top"]
    assert [each.name for each in found.read] == names
    assert found.missing == ["deep/other: there is no other.config.txt"]


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


def test_settings_are_changed_one_at_a_time(command, folder):
    found = command("validate", "rdma", folder, "--differences", "--json")
    assert found.status == 0, found.err
    differences = found.json["C/incast"]["differences"]
    assert {
        "exact times of packets on lines",
        "complete with the last byte",
        "hosts' acks and data in one queue",
        "the packet that crosses is shared",
    } <= set(differences)
    # There is one path, acks are already spared, and all ports have one rate.
    for name in ("our own hash", "pauses spare hosts' acks", "alpha 1/8 at all ports"):
        assert name not in differences
    places = [each["what"] for each in found.json["C/incast"]["numbers"]]
    last = places.index("slowdown up to 100 KB p95")
    # The ack takes 2 (11 + 1,000) ns; a packet 209.6 ns instead of 209, 201 times.
    assert differences["complete with the last byte"][last] == pytest.approx(44_009 / 25_000)
    exact = (201 * 209.6 + 2 * DELAY + 2 * (12 + DELAY)) / 25_000
    assert differences["exact times of packets on lines"][last] == pytest.approx(exact)
    shown = command("validate", "rdma", folder, "--differences").out
    assert "one change at a time" in shown and "pause frames of 64 bytes" in shown


def test_the_scenario_is_the_reference_s_network(folder):
    leaf_spine(folder)
    reference = next(run for run in runs(folder).read if run.name == "C/fabric")
    # 2.000000577 is a little less in binary; the second flow of the pair has the port 10,001.
    assert reference.flows.start_ns.tolist() == [2_000_000_576, 2_000_999_999]
    assert reference.completed is not None
    assert reference.completed.fct_ns.tolist() == [8_500, 8_300]
    planned = plan(reference, folder)
    found = planned.scenario.resolved
    assert found["topology"]["whole_ns"] is True
    assert [host["rate"] for host in found["topology"]["host"]] == ["100000000000bps"] * 4
    assert {link["rate"] for link in found["topology"]["link"]} == {"200000000000bps"}
    assert (found["routing"]["hash"], found["routing"]["next_hops"]) == ("murmur3", "descending")
    assert found["completion"] == "last-ack"
    leaf, spine = found["switch"], found["switch"]["spine"]
    assert leaf["buffer"] == "2MiB"
    assert leaf["aqm"]["min"] == "400KB" and spine["aqm"]["min"] == "800KB"
    assert leaf["aqm"]["max"] == "1600KB" and spine["aqm"]["max"] == "3200KB"
    # A leaf's ports to spines have twice the thresholds of its others.
    assert leaf["aqm"]["marks_at"] == "departure"
    assert (leaf["aqm"]["thresholds_of"], leaf["pfc"]["alpha_of"]) == ("rate", "rate")
    # An eighth for ports of 100 Gbps, a quarter for those of 200 Gbps.
    assert (leaf["pfc"]["alpha"], spine["pfc"]["alpha"]) == (0.125, 0.25)
    assert leaf["pfc"]["crosses_into"] == "headroom"
    assert (leaf["pfc"]["frame"], leaf["pfc"]["reserve"]) == ("43B", "4096B")
    assert leaf["pfc"]["resume_offset"] == "3072B"
    nic = found["nic"]
    assert (nic["scheduling"], nic["queues"], nic["ack_queue"]) == ("per-flow-rr", 2, 0)
    assert nic["pauses_acks"] is False
    senders = {
        "kind": "dcqcn",
        "mss": "1000B",
        "header": "48B",
        "ack_size": "60B",
        "alpha_interval": "1us",
        "decrease_interval": "4us",
        "increase_timer": "300us",
        "fast_recovery": 1,
        "hyper_after": 2,
        "rate_step": "8Mbps",
        "hyper_step": "80Mbps",
        "min_rate": "100Mbps",
        "clamp_target": "after-increase",
        "timers": "free-running",
        "first_cut": "after-interval",
        "cnp": "ack-flag",
        "window": "none",
    }
    assert {key: found["transport"][key] for key in senders} == senders
    assert planned.lacks == []
    assert {"our own hash", "next hops in ascending order"} <= set(changes(planned))


def test_windows_are_the_largest_product_of_all_pairs(folder):
    leaf_spine(folder)
    write_config(folder / "C", "incast", HAS_WIN="1", VAR_WIN="1")
    by_name = {run.name: run for run in runs(folder).read}
    # 2 (1,000 + 1,000) + 2 * 200 ns at 40 Gbps.
    transport = plan(by_name["C/incast"], folder).scenario.resolved["transport"]
    assert (transport["window"], transport["vary_window"]) == ("22KB", True)


HPCC = {"CC_MODE": "3", "HAS_WIN": "1", "VAR_WIN": "1", "U_TARGET": "0.95", "MI_THRESH": "0"}


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


@pytest.mark.parametrize(
    ("settings", "senders"),
    [
        (HPCC, {"kind": "hpcc", "header": "48B", "telemetry_bytes": "42B", "max_stage": 0}),
        (
            {"CC_MODE": "7"},
            {"kind": "timely", "header": "56B", "ack_size": "60B", "rtt_from": "nic"},
        ),
        (
            {"CC_MODE": "8", "EWMA_GAIN": "0.0625", "DCTCP_RATE_AI": "615Mb/s"},
            {"kind": "dctcp-rdma", "g": 0.0625, "rate_step": "615Mbps", "header": "48B"},
        ),
    ],
)
def test_every_scheme_has_a_transport(folder, settings, senders):
    write_config(folder / "C", "incast", **settings)
    (reference,) = runs(folder).read
    planned = plan(reference, folder)
    found = planned.scenario.resolved
    assert {key: found["transport"][key] for key in senders} == senders
    is_timely = senders["kind"] == "timely"
    assert ("round trips from when a packet goes to the NIC" in changes(planned)) == is_timely
    # 4 us, and 200 ns for 1,000 bytes on each of two links.
    assert found["topology"]["base_rtt"] == "4400ns"


def test_pause_frames_may_have_no_effect(folder):
    write_config(folder / "C", "incast", PFC_ON="0")
    (reference,) = runs(folder).read
    switch = plan(reference, folder).scenario.resolved["switch"]
    assert (switch["pfc"]["kind"], switch["pfc"]["obeyed"]) == ("dynamic", False)


def test_lost_packets_are_sent_again_by_go_back_n(folder):
    links = "".join(f"{host} 3 40Gbps 1us {0.001 * (host == 0):g}\n" for host in range(3))
    (folder / "inputs" / "lossy.txt").write_text(f"4 1 3\n3\n{links}")
    write_config(folder / "C", "incast", TOPOLOGY_FILE="lossy.txt")
    (reference,) = runs(folder).read
    found = plan(reference, folder).scenario.resolved
    (event,) = found["event"]
    assert (event["kind"], event["rate"], {event["a"], event["b"]}) == (
        "link-loss",
        0.001,
        {"n0", "n3"},
    )
    senders = {"retransmit": "go-back-n", "nack_interval": "500us", "ack_timeout": "none"}
    assert {key: found["transport"][key] for key in senders} == senders


def read_network(file: Path) -> Network:
    return network_of(read_topology(file), file)


def test_ports_have_our_numbers(folder):
    leaf_spine(folder)
    network = read_network(folder / "inputs" / "fabric.txt")
    assert network.tiers == {4: "leaf", 5: "leaf", 6: "spine", 7: "spine"}
    assert [network.own_port(4, node) for node in (0, 1, 6, 7)] == [0, 1, 2, 3]
    assert [network.own_port(7, node) for node in (4, 5)] == [0, 1]
    assert network.has_choices
    assert not read_network(folder / "inputs" / "star.txt").has_choices


@pytest.mark.parametrize(
    ("hops", "order"),
    [("6 7", "ascending"), ("7 6", "descending"), ("7 6\n5,0,2,6 7", "neither")],
)
def test_next_hops_have_an_order(tmp_path, hops, order):
    file = tmp_path / "routes.csv"
    file.write_text(f"switch,dst,n_next,next_hops_in_order\n4,0,1,0\n4,2,2,{hops}\n")
    assert hop_order(file) == order


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
