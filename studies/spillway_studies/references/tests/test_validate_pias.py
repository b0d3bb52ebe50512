"""Comparing with PIAS's own program: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway_studies.references.pias import DIFFERENCES, runs, scenario
from support import change

RUN = "websearch_pias_60_24h"
FLOWS = f"flows_{RUN}.parquet"
HANDSHAKE = 2 * (2 * 32 + 2 * 8 + 2 * 20_400)
"""A request of 40 bytes to another rack, and its answer, in ns."""
WAIT = 680
"""How long the sender waits: the first ack comes from another rack after 84,680 ns, and the window
of 70 packets is sent after 84,000 ns."""


def alone(packets: int, *, in_rack: bool = False) -> int:
    """The time until the sender of a lone flow has everything acknowledged, in ns.

    The sender's link takes 1,200 ns for each packet. The last one then needs 1,200 ns at the
    receiver's link, and 300 ns at each of two links of 40 Gbps between racks. Its ack needs 32 ns
    at 10 Gbps and 8 ns at 40 Gbps. Hosts' links are 20,200 ns long, others 200 ns.
    """
    there = packets * 1_200 + 1_200 + (0 if in_rack else 2 * 300)
    back = 2 * 32 + (0 if in_rack else 2 * 8)
    return there + back + 2 * (2 * 20_200 + (0 if in_rack else 2 * 200))


def flow(number: int, src: int, dst: int, packets: int, first: bool) -> dict[str, object]:
    """A flow that starts 3 ms after the one before, when that is over."""
    least = alone(packets, in_rack=src // 8 == dst // 8)
    time = least + (WAIT if packets > 70 else 0)
    return {
        "id": number,
        "src": src,
        "dst": dst,
        "conn": 0,
        "first_on_conn": first,
        "size_bytes": 1_460 * packets,
        "start_ns": 3_000_000 * number,
        "fct_ns": float(time),
        "ideal_ns": least,
        "slowdown": time / least,
        "timeouts": 0,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Flows on a first connection and on used ones, all alone in the network."""
    listed = [
        (0, 9, 20, True),
        (0, 9, 20, False),
        (1, 2, 10, True),
        (0, 9, 20, False),
        (23, 8, 200, True),
        (0, 9, 20, False),
        (0, 9, 1_000, False),
    ]
    flows = [flow(number, *each) for number, each in enumerate(listed)]
    pq.write_table(pa.Table.from_pylist(flows), tmp_path / FLOWS)
    return tmp_path


def summary(folder: Path, mean: str, *, run: str = RUN) -> None:
    """A summary of one run."""
    lines = ["run,bin,flows,mean_reused_conn", f"{run},<100KB,5,{mean}", f"{run},>=1MB,1,2.5"]
    (folder / "summary.csv").write_text("\n".join(lines) + "\n")


def test_what_is_the_same_agrees(command, folder):
    summary(folder, "1.0")
    found = command("validate", "pias", folder, "--json")
    assert found.status == 0, found.err
    document = found.json
    (rows, others) = (document[RUN][name] for name in ("rows", "others"))
    assert document[RUN]["count"] == 3
    shown = [(row["flows"], row["percentile"], row["ours"]) for row in rows]
    # 20 packets, another rack: 24,000 + 83,480 ns.
    assert shown == [
        *(("slowdown", p, 1.0) for p in (0.5, 0.95, 0.99)),
        *(("time", p, 107.48) for p in (0.5, 0.95, 0.99)),
    ]
    assert {(row["reference"], row["difference"]) for row in rows} == {(1.0, 0.0), (107.48, 0.0)}
    assert [(each["flows"], each["count"]) for each in others] == [
        ("under 100 KB, first", 2),
        ("up to 1 MB, first", 1),
        ("from 1 MB, others", 1),
    ]
    assert all(each["ours"] == each["reference"] for each in others)
    counts = document[RUN]["counts"]
    assert (counts["drops"], counts["timeouts"]) == (0, 0)
    assert document["left_out"] == []
    assert document["bounds"] == {"compared": 6, "undecided": [], "broken": []}


def test_what_differs_breaks_a_bound(command, folder):
    times = pq.read_table(folder / FLOWS)["fct_ns"].to_pylist()
    # Medians may be 5% off, tails 15%.
    for factor, broken in [(1.04, 0), (1.06, 2), (1.2, 6)]:
        change(folder / FLOWS, "fct_ns", [factor * ns for ns in times])
        found = command("validate", "pias", folder, "--json")
        names = [name.rpartition(" ")[0] for name in found.json["bounds"]["broken"]]
        assert (found.status, len(names)) == (1 if broken else 0, broken)
        if broken == 2:
            assert names == [f"{RUN} slowdown p50", f"{RUN} time p50"]


def test_flows_that_are_not_sound_are_not_compared(command, folder):
    times = pq.read_table(folder / FLOWS)["fct_ns"].to_pylist()
    for place in (0, 2, 4, 6):
        times[place] *= 9
    change(folder / FLOWS, "fct_ns", times)
    found = command("validate", "pias", folder, "--json")
    assert found.status == 0
    ratios = [each["reference"][0] / each["ours"][0] for each in found.json[RUN]["others"]]
    assert ratios == pytest.approx([9.0, 9.0, 9.0], rel=1e-12)


def test_tables_show_what_is_compared_and_what_is_not(command, folder):
    pq.write_table(pa.table({"x": [1]}), folder / "flows_websearch_dctcp_60_24h.parquet")
    found = command("validate", "pias", folder, "--paths", "2")
    assert found.status == 0
    shown = rows_of(found.out)
    for p in ("50", "95", "99"):
        ones = ["1.00", "1.00 .. 1.00", "1.00", "1.00 .. 1.00", "+0.0%", "agrees"]
        assert ["slowdown", p, *ones] in shown
        times = ["107.48", "107.48 .. 107.48", "107.48", "107.48 .. 107.48", "+0.0%", "agrees"]
        assert ["time in us", p, *times] in shown
    assert ["up to 1 MB, first", "1", *6 * ["1.00"]] in shown
    words = " ".join(found.out.split())
    assert "of 6 numbers 6 agree; medians within 5%, tails within 15%" in words
    assert "left out: flows_websearch_dctcp_60_24h.parquet" in words
    assert "ours: 0 drops, " in words and " marks, 0 timeouts" in words


def rows_of(shown: str) -> list[list[str]]:
    """The cells of the tables."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines()]


def test_settings_are_changed_one_at_a_time(command, folder):
    found = command("validate", "pias", folder, "--differences", "--json")
    assert found.status == 0
    differences = found.json[RUN]["differences"]
    assert list(differences) == list(DIFFERENCES)
    # A lone flow is the same with any of them.
    assert all(values == [1.0] * 3 + [107.48] * 3 for values in differences.values())
    shown = command("validate", "pias", folder, "--differences").out
    assert "one change at a time" in shown and "alpha begins at 1" in shown


def test_without_a_warm_up_the_first_flow_opens_its_connection(command, folder):
    (folder / FLOWS).rename(folder / f"flows_{RUN}_nowarm.parquet")
    found = command("validate", "pias", folder, "--json")
    # Used connections are open all the same.
    assert found.status == 0
    first = found.json[f"{RUN}_nowarm"]["others"][0]
    assert first["flows"] == "under 100 KB, first"
    assert first["ours"][0] == pytest.approx(1 + HANDSHAKE / alone(20), rel=1e-12)


def test_every_run_has_the_thresholds_of_its_workload_and_load(command, folder):
    for name in ("websearch_pias_80_24h", "datamining_pias_50_24h"):
        pq.write_table(pq.read_table(folder / FLOWS), folder / f"flows_{name}.parquet")
    found, left_out = runs(folder)
    assert left_out == []
    told = {
        run.name: scenario(run, folder).resolved["transport"]["tagging"]["thresholds"]
        for run in found
    }
    assert told == {
        "datamining_pias_50_24h": "datamining-0.5",
        RUN: "websearch-0.6",
        "websearch_pias_80_24h": "websearch-0.8",
    }
    document = command("validate", "pias", folder, "--json").json
    assert list(document) == [*told, "left_out", "bounds"]
    assert document["bounds"]["compared"] == 18


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: folder.rename(f"{folder}-moved"), "there is no folder {}"),
        (lambda folder: (folder / FLOWS).unlink(), "{}: there are no runs of PIAS"),
        (
            lambda folder: (folder / FLOWS).rename(folder / "flows.parquet"),
            "{}: there are no runs of PIAS",
        ),
        (
            lambda folder: (folder / FLOWS).rename(folder / "flows_hadoop_pias_60_24h.parquet"),
            "{}/flows_hadoop_pias_60_24h.parquet: PIAS has no thresholds for hadoop at 60%",
        ),
        (
            lambda folder: (folder / FLOWS).rename(folder / "flows_websearch_pias_40_24h.parquet"),
            "PIAS has no thresholds for websearch at 40%",
        ),
        (
            lambda folder: (folder / FLOWS).write_text("src,dst\n"),
            f"{FLOWS}",
        ),
        (
            lambda folder: change(folder / FLOWS, "first_on_conn", None),
            f"{{}}/{FLOWS}: it has no first_on_conn",
        ),
        (
            lambda folder: change(folder / FLOWS, "first_on_conn", [True] * 7),
            f"{{}}/{FLOWS}: no flow under 100 KB is on a used connection",
        ),
        (
            lambda folder: change(folder / FLOWS, "fct_ns", [math.nan, *[1.0] * 6]),
            f"{{}}/{FLOWS}: fct_ns is not always finite",
        ),
        (
            lambda folder: change(folder / FLOWS, "fct_ns", [None, *[1.0] * 6]),
            f"{{}}/{FLOWS}: fct_ns is not always known",
        ),
        (
            lambda folder: change(folder / FLOWS, "ideal_ns", [0] * 7),
            f"{{}}/{FLOWS}: ideal_ns must be above 0",
        ),
        (
            lambda folder: change(folder / FLOWS, "start_ns", [-1] * 7),
            f"{{}}/{FLOWS}: start_ns must not be below 0",
        ),
        (
            lambda folder: change(folder / FLOWS, "dst", [24] * 7),
            f"{{}}/{FLOWS}: dst: the network has the hosts 0 to 23 only",
        ),
        (
            lambda folder: change(folder / FLOWS, "dst", [0] * 7),
            f"{{}}/{FLOWS}: a flow has the same src and dst",
        ),
        (
            lambda folder: summary(folder, "1.17"),
            f"{{}}/summary.csv: {RUN}: mean_reused_conn is 1.17 there, and 1 in its flows",
        ),
        (
            lambda folder: summary(folder, "many"),
            f"{{}}/summary.csv: {RUN}: mean_reused_conn is no number",
        ),
    ],
)
def test_a_folder_that_lacks_something_is_refused(command, folder, spoil, says):
    spoil(folder)
    found = command("validate", "pias", folder)
    assert found.status == 2
    assert says.format(folder) in found.err


def test_a_summary_of_other_runs_says_nothing(command, folder):
    summary(folder, "1.17", run="websearch_pias_80_24h")
    assert command("validate", "pias", folder, "--json").status == 0


def test_the_option_for_percentiles_alone_is_refused(command, folder):
    found = command("validate", "pias", folder, "--others")
    assert found.status == 2
    assert "--others: nothing else is known of pias" in found.err


def test_the_scenario_is_the_reference_s_network(folder):
    found = scenario(runs(folder)[0][0], folder).resolved
    network = found["topology"]
    assert [network[key] for key in ("leaves", "spines", "hosts_per_leaf")] == [3, 2, 8]
    assert (network["host_rate"], network["fabric_rate"]) == ("10Gbps", "40Gbps")
    assert (network["host_delay"], network["fabric_delay"]) == ("20.2us", "200ns")
    assert found["routing"]["kind"] == "spray"
    # 240 packets for each of ten ports of a leaf, and three of a spine, in eight queues.
    for tier, buffer in (("leaf", "3600000B"), ("spine", "1080000B")):
        settings = found["switch"] | found["switch"].get(tier, {})
        assert settings["buffer"] == buffer
        assert settings["sharing"] == {"kind": "sp", "form": "share", "share": 0.0}
        assert (settings["queues_per_port"], settings["scheduling"]["kind"]) == (8, "strict")
        # An arriving full packet makes more than 65 packets if it finds more than 64.
        assert (settings["aqm"]["threshold"], settings["aqm"]["scope"]) == ("96000B", "port")
        assert settings["aqm"]["at_threshold"] == "pass"
    assert (found["nic"]["queue_limit"], found["nic"]["queues"]) == ("360000B", 8)
    assert found["nic"]["aqm"]["threshold"] == "96000B"
    senders = {
        "kind": "dctcp",
        "mss": "1460B",
        "header": "40B",
        "ack_size": "40B",
        "ack_every": 1,
        "g": 0.0625,
        "alpha0": 0.0,
        "initial_window": "70pkt",
        "connections": "open",
        "restart_each": True,
    }
    assert {key: found["transport"][key] for key in senders} == senders
    recovery = dict.fromkeys(("initial_rto", "min_rto", "max_rto"), "2ms")
    recovery["kind"] = "timeout-only"
    assert {key: found["transport"]["recovery"][key] for key in recovery} == recovery
    tagging = found["transport"]["tagging"]
    assert (tagging["kind"], tagging["acks"], tagging["reset_after"]) == ("pias", "with-first", 0)
    assert (tagging["counts_packet"], tagging["repairs"]) == (False, "as-before")
