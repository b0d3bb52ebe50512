"""Comparing with ns-3's queue discs: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway_studies.references.aqm_discs import DISCS, disc_of

# Joined and left in us, found, left in the queue. Waits: 5, 81, 80, 80, 0 us.
PASSAGES = [(0, 5, 0, 2), (1, 82, 1, 2), (2, 82, 2, 1), (5, 85, 2, 0), (90, 90, 0, 0)]
RED2 = [False, False, True, True, False]
TCN = [False, True, False, False, False]
ALONE_NS = {1_448: 22_403.2, 2_896: 23_604.8, 14_480: 33_217.6}
"""The time of a flow that meets no other: 20 us, a packet on the second link, all on the first."""


def write_trace(
    folder: Path, disc: str, marks: Sequence[bool], passages: Sequence[tuple[int, ...]] = PASSAGES
) -> Path:
    """A trace of eight senders."""
    names = ("enq_ps", "deq_ps", "found", "left")
    columns = dict(zip(names, map(list, zip(*passages, strict=True)), strict=True))
    for name in names[:2]:
        columns[name] = [1_000_000 * us for us in columns[name]]
    file = folder / f"trace_n8_{disc}.parquet"
    pq.write_table(pa.table({**columns, "marked": list(marks)}), file)
    return file


def write_summary(folder: Path, *rows: str) -> Path:
    """A summary with a row of the other family, and these."""
    file = folder / "summary.csv"
    head = "family,disc,cc,n,goodput_gbps,q_mean,q_p99\n"
    file.write_text(head + "F,red70,dctcp,16,,,\n" + "".join(f"{row}\n" for row in rows))
    return file


def write_flows(folder: Path, factor: float = 1.0) -> tuple[Path, Path]:
    """Flows that meet no others, not in the order of their starts, with their times."""
    flows = [(1, 4, 1_448, 9_000_000), (0, 4, 2_896, 3_000_000), (1, 4, 14_480, 5_000_000)]
    lines = ["src,dst,size_bytes,start_ns", *(",".join(map(str, flow)) for flow in flows)]
    listed, times = folder / "F_flows.csv", folder / "F_fct.parquet"
    listed.write_text("\n".join(lines) + "\n")
    fct = [factor * ALONE_NS[size] for _, _, size, _ in flows]
    # Not in the order of the list.
    table = {"disc": ["red70"] * 3, "flow": [2, 0, 1], "fct_ns": [fct[2], fct[0], fct[1]]}
    pq.write_table(pa.table(table), times)
    return listed, times


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "reference"
    folder.mkdir()
    return folder


def test_discs_are_aqms_of_ours():
    assert disc_of("red70").aqm == {"kind": "ecn", "threshold": "70pkt", "at_threshold": "mark"}
    slope = {"kind": "red", "form": "point-slope", "min": "15000B"}
    for name, more in {
        "redslope0.75": {"max": "500000B", "slope": 0.75, "spacing": "wait"},
        "redslope0.5_nowait": {"max": "500000B", "slope": 0.5, "spacing": "uniform-ns3"},
        # From 15 KB + 1 MB / 5 on the probability is 1.
        "redslope5": {"max": "215000B", "slope": 5.0, "spacing": "wait"},
    }.items():
        disc = disc_of(name)
        assert disc.aqm == slope | more and disc.is_random and disc.queue_limit == "3MB"
    at_random = {name for name in DISCS if disc_of(name).is_random}
    assert at_random == {"pie", "pie_nodrop", "pie_stock"}
    assert disc_of("pie").aqm == disc_of("pie_nodrop").in_runs != disc_of("pie").in_runs
    assert disc_of("pie").in_runs["mark_up_to"] < 1
    for name in ("red", "red0", "redslope", "redslope0", "redslope0.0", "blue", "codel2"):
        assert disc_of(name) is None, name


def test_marks_are_compared_packet_by_packet(command, folder):
    write_trace(folder, "red2", RED2)
    write_trace(folder, "tcn", TCN)
    found = command("validate", "aqm", folder, "--json")
    assert found.status == 0 and found.json["bounds"]["compared"] == 2
    marks = [(each["disc"], each["senders"], each["differ"]) for each in found.json["marks"]]
    assert marks == [("red2", 8, 0), ("tcn", 8, 0)]
    assert found.err.splitlines()[-1].startswith("of 2 numbers 2 agree; marks the same or, ")

    write_trace(folder, "tcn", [False, True, True, False, False])
    found = command("validate", "aqm", folder, "--json")
    assert found.status == 1
    assert found.json["bounds"]["broken"] == ["marks tcn n8 1 of 5 packets"]
    assert [each["verdict"] for each in found.json["marks"]] == ["agrees", "differs"]


def test_marks_of_a_random_disc_are_counted(command, folder):
    # From the 31st on every packet finds 30, p = 6.667 * (0.045 - 0.015) = 0.2, and the gaps of
    # marks are 5 to 9, each as often as the others.
    packets = 4_230
    passages = [(k, k + 30, min(k, 30), min(packets - 1 - k, 30)) for k in range(packets)]
    for gap, status in ((7, 0), (6, 1), (8, 1)):
        marks = [k > 30 and k % gap == 0 for k in range(packets)]
        write_trace(folder, "redslope6.667", marks, passages)
        found = command("validate", "aqm", folder, "--json")
        assert found.status == status, gap
        (counted,) = found.json["marks"]
        assert counted["random"] and counted["differ"] is None
        assert counted["ours"] == pytest.approx(600, abs=4)
        # A gap's deviation is sqrt(2), that of 600 marks sqrt(2 * 600) / 7 = 4.95; 2.576 of them
        # on each side.
        low, high = counted["interval"]
        assert high - low == pytest.approx(2 * 2.576 * 4.95, rel=0.2)
    off = counted["ours"] / counted["reference"] - 1
    assert found.json["bounds"]["broken"] == [f"marks redslope6.667 n8 {off:+.1%}"]
    assert "the number of marks is compared, not each" in " ".join(found.err.split())


def test_queues_of_endless_senders_are_compared(command, folder):
    # Two flows and 70 packets: the disc holds at most 73, and there is one below it.
    write_summary(folder, "S,red70,dctcp,2,9.64,66.3,74", "S,red70,newreno,2,9.64,99,74")
    found = command("validate", "aqm", folder, "--json")
    assert found.status == 1
    first, second = found.json["queues"]
    assert (first["transport"], second["transport"]) == ("dctcp", "newreno")
    assert first["mean"]["verdict"] == first["p99"]["verdict"] == "agrees"
    assert first["goodput_gbps"]["ours"] == pytest.approx(9.64, abs=0.001)
    assert first["empty"] == 0
    assert second["mean"]["verdict"] == "differs" and second["mean"] != first["mean"]
    (broken,) = [each for each in found.json["bounds"]["broken"] if " mean " in each]
    assert broken.startswith("queue red70 newreno n2 mean -")


def test_completion_times_are_compared_by_size(command, folder):
    write_flows(folder)
    found = command("validate", "aqm", folder, "--json")
    assert found.status == 0
    (times,) = found.json["completion_times"]
    assert times["unfinished"] == times["marks"] == times["drops"] == 0
    rows = {(row["class"], row["percentile"]): row for row in times["rows"]}
    assert {kind for kind, _ in rows} == {"le100k_nicfree", "le100k", "all"}
    assert rows["all", 0.5]["reference_us"] == 23.6048
    assert all(row["ours_us"] == pytest.approx(row["reference_us"]) for row in rows.values())
    assert {row["flows"] for row in rows.values()} == {3}

    write_flows(folder, factor=1.06)
    found = command("validate", "aqm", folder, "--json")
    assert found.status == 1
    assert found.json["bounds"]["broken"] == [
        f"times red70 {kind} p50 -5.7%" for kind in ("le100k_nicfree", "le100k", "all")
    ]


def test_short_flows_behind_others_of_their_sender_are_told_apart(command, folder):
    _, times = write_flows(folder)
    # The third starts 4 ms before the first, which is not free if the third takes so long.
    table = pq.read_table(times)
    pq.write_table(table.set_column(2, "fct_ns", [[4e6 + 1, 22_403.2, 23_604.8]]), times)
    found = command("validate", "aqm", folder, "--json")
    rows = found.json["completion_times"][0]["rows"]
    assert {row["flows"] for row in rows if row["class"] == "le100k_nicfree"} == {2}
    assert {row["flows"] for row in rows if row["class"] == "le100k"} == {3}


def test_what_is_missing_or_unknown_is_left_out_and_told(command, folder):
    write_trace(folder, "red2", RED2)
    write_trace(folder, "blue", RED2)
    write_summary(folder, "S,tcn,dctcp,2,9.64,66.3,74", "S,tcn,bbr,2,9.64,66.3,74")
    write_flows(folder)[1].unlink()
    found = command("validate", "aqm", folder, "--json")
    assert found.json["left_out"] == [
        "there is no F_fct.parquet: completion times are not compared",
        "blue: no AQM of ours is known by this name",
        "red2: the folder has no queues",
        "tcn: the folder has no marks",
        "bbr: no transport of ours is known by this name",
    ]
    assert len(found.json["marks"]) == len(found.json["queues"]) == 1
    shown = command("validate", "aqm", folder).out
    for each in found.json["left_out"]:
        assert f"left out: {each}" in shown

    for name in ("F_flows.csv", "summary.csv"):
        (folder / name).unlink()
    found = command("validate", "aqm", folder, "--json")
    assert found.status == 0
    assert found.json["left_out"][:2] == [
        "there is no summary.csv: queues are not compared",
        "there is no F_flows.csv: completion times are not compared",
    ]


def test_a_folder_with_nothing_to_compare_is_told(command, folder):
    for place, problem in (
        (folder / "nowhere", f"there is no folder {folder / 'nowhere'}"),
        (folder, f"{folder}: there is nothing to compare: there is no trace_nN_DISC.parquet"),
    ):
        found = command("validate", "aqm", place)
        assert found.status == 2 and found.out == ""
        assert f"error: {problem}" in " ".join(found.err.split())


def refused(command, folder: Path) -> str:
    """What is told of a wrong folder."""
    found = command("validate", "aqm", folder)
    assert found.status == 2 and found.out == ""
    return " ".join(found.err.split())


def test_wrong_traces_are_told(command, folder):
    file = write_trace(folder, "red2", RED2)
    table = pq.read_table(file)
    pq.write_table(table.drop_columns(["found"]), file)
    assert f"error: {file}: it has no found" in refused(command, folder)
    pq.write_table(table.set_column(2, "found", [[0, 1, None, 2, 0]]), file)
    assert f"error: {file}: found is not always known" in refused(command, folder)
    pq.write_table(table.set_column(2, "found", [[0, 1, -2, 2, 0]]), file)
    assert f"error: {file}: found: " in refused(command, folder)
    pq.write_table(table.set_column(2, "found", [[0, 1, 3, 2, 0]]), file)
    told = "packet 2 (from 0): its times, or the lengths that it found and left, cannot be"
    assert f"error: {file}: {told}" in refused(command, folder)
    file.write_text("enq_ps\n")
    assert f"error: {file}: cannot be read as Parquet" in refused(command, folder)


def test_wrong_summaries_are_told(command, folder):
    file = write_summary(folder, "S,red70,dctcp,0,9.64,66.3,74")
    told = "red70 under dctcp, n = 0: n, q_mean and q_p99 must be above 0"
    assert f"error: {file}: {told}" in refused(command, folder)
    write_summary(folder, "S,red70,dctcp,2,9.64,,74")
    assert f"error: {file}: q_mean is not always known" in refused(command, folder)
    write_summary(folder, "S,red70,dctcp,two,9.64,66.3,74")
    assert f"error: {file}: n: " in refused(command, folder)
    write_summary(folder, "S,red70,dctcp,2")
    assert f"error: {file}: cannot be read as CSV: " in refused(command, folder)
    file.write_text("disc,cc\nred70,dctcp\n")
    assert f"error: {file}: it has no family" in refused(command, folder)


def test_wrong_flows_and_times_are_told(command, folder):
    listed, times = write_flows(folder)
    table = pq.read_table(times)
    pq.write_table(table.slice(0, 2), times)
    told = refused(command, folder)
    assert f"error: {times}: red70: its flows are not 0 to 2, each once" in told
    assert "hint: the flows and the output must be of one run" in told
    pq.write_table(table.set_column(2, "fct_ns", [[1.0, 0.0, 1.0]]), times)
    assert f"error: {times}: fct_ns must be above 0" in refused(command, folder)
    pq.write_table(table.drop_columns(["disc"]), times)
    assert f"error: {times}: it has no disc" in refused(command, folder)
    write_flows(folder)
    listed.write_text("src,dst,size_bytes,start_ns\n")
    assert f"error: {listed}: there are no flows" in refused(command, folder)
    listed.write_text("src,dst,size_bytes\n1,4,1448\n")
    assert f"error: {listed}: it has no start_ns" in refused(command, folder)
    listed.write_text("src,dst,size_bytes,start_ns\n" + 3 * "4,4,1448,0\n")
    assert f"{listed}" in refused(command, folder)


@pytest.mark.parametrize("option", [("--paths", 1), ("--differences",), ("--others",)])
def test_options_of_other_references_are_refused(command, folder, option):
    write_trace(folder, "red2", RED2)
    found = command("validate", "aqm", folder, *option)
    assert found.status == 2 and f"error: {option[0]}: " in found.err
    assert "hint: leave it away" in found.err
