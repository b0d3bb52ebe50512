"""Comparing with ABM's program: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import spillway
from spillway_studies.references import abm, abm_others, numbers
from spillway_studies.references.abm_runs import in_order
from spillway_studies.references.numbers import Verdict
from spillway_studies.references.replayed import HASHES

RUNS = {"dctcp": "load0.4-burst0.5", "cubic": "load0.4-burst0.3"}
SIZES = (2_000, 40_000, 65_000, 400_000, 2_000_000)
QUERIES, SENDERS, BURST = 2, 4, 15_000


def listed_flows() -> list[dict[str, Any]]:
    """One that was lost, some of the background, one after another, and two queries."""

    def flow(number: int, src: int, dst: int, size: int, start_ns: int) -> dict[str, Any]:
        return {
            "flow_id": number,
            "src": src,
            "dst": dst,
            "size_bytes": size,
            "start_ns": start_ns,
            "class": "background",
            "query_id": None,
            "lost": number == 0,
            "path": number % 8,
            "ack_path": (3 * number) % 8,
        }

    flows = [flow(0, 3, 40, 1_000_000, 1_000)]
    for place, size in enumerate(SIZES):
        flows.append(flow(1 + place, place, 32 + place, size, 20_000_000 * (1 + place)))
    for query in range(QUERIES):
        for sender in range(SENDERS):
            start = 200_000_000 + 20_000_000 * query
            answer = flow(len(flows), 32 + sender, query, BURST, start)
            flows.append(answer | {"class": "incast", "query_id": query})
    return flows


def output_of(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Times as the closed form has them, where it does; half a millisecond for queries."""
    rows = []
    for flow in flows:
        if flow["lost"]:
            continue
        is_incast = flow["class"] == "incast"
        alone = abm.uncontended_ns(np.array([flow["size_bytes"]]))[0]
        rows.append(
            {
                "flow_id": None if is_incast else flow["flow_id"],
                "query_id": flow["query_id"],
                "rank": flow["flow_id"] % SENDERS if is_incast else None,
                "fct_ns": 500_000 + flow["flow_id"] if is_incast else round(alone),
            }
        )
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reference of a few flows."""
    folder = tmp_path / "reference"
    (folder / "flows").mkdir(parents=True)
    (folder / "runs").mkdir()
    flows = listed_flows()
    for transport, load in RUNS.items():
        listed = pa.Table.from_pylist(flows)
        pq.write_table(listed, folder / "flows" / f"flows-{load}.parquet")
        output = pa.Table.from_pylist(output_of(flows))
        pq.write_table(output, folder / "runs" / f"{transport}-dt-{load}.parquet")
    return folder


def test_the_closed_form_is_what_hands_reckon():
    # 40,000 bytes are 28 packets of 1400 and one of 800. 120 us of links; 8 frames of 58 bytes for
    # the handshake, an ack of 54, 28 + 3 frames of 1454 and one of 854: 46,446 bytes, 0.8 ns each.
    assert abm.uncontended_ns(np.array([40_000])).tolist() == [pytest.approx(157_156.8)]
    # A packet alone is sent four times: 464 + 54 + 4 * 554 bytes.
    assert abm.uncontended_ns(np.array([500])).tolist() == [pytest.approx(122_187.2)]
    # 8 frames of 4 bytes less, and no ack before the data.
    assert pytest.approx(68.8) == abm.SHORTER_HERE_NS


def test_flows_are_set_side_by_side(command, folder):
    found = command("validate", "abm", folder, "--json")
    *transports, bounds = found.json
    assert transports == list(RUNS) and bounds == "bounds"
    for comparison in (found.json[transport] for transport in transports):
        rows = {(row["class"], row["percentile"]): row for row in comparison["rows"]}
        assert {kind for kind, _ in rows} == {"short", "medium", "large", "incast"}
        assert rows["short", 0.5]["flows"] == 3 and rows["incast", 0.5]["flows"] == 8
        assert rows["short", 0.99]["agrees"] and rows["short", 0.99]["drawn_min_max"] is None
        # Three flows are small enough for the closed form, and meet nobody.
        uncontended = comparison["ours"]["uncontended"]
        assert uncontended["flows"] == uncontended["ours_exactly"] == uncontended["both"] == 3
        kinds = {kind["flows"]: kind for kind in comparison["ours"]["flow_by_flow"]}
        assert kinds["background"]["matched"] == len(SIZES)
        assert kinds["incast, by rank"]["matched"] == QUERIES * SENDERS
        assert comparison["drawn"] == [] and comparison["differences"] == {}
    assert "within 5%" in found.err and "with one change" not in found.err


def test_a_broken_bound_is_the_status_and_the_last_line(command, folder):
    # Ours as the reference: nothing differs. Then one class takes longer there.
    for experiment in abm.EXPERIMENTS:
        path = folder / "runs" / f"{experiment.transport}-dt-{experiment.load}.parquet"
        listed, reference = abm.read_reference(folder, experiment)
        scenario = abm.replay(experiment, listed, folder / "flows.parquet")
        ours, _ = in_order(listed, reference, spillway.run(scenario).flows)
        rows = zip(pq.read_table(path).to_pylist(), ours.fct_ns.tolist(), strict=True)
        pq.write_table(
            pa.Table.from_pylist([row | {"fct_ns": round(ns)} for row, ns in rows]), path
        )
    found = command("validate", "abm", folder)
    assert (found.status, found.err) == (0, "")
    rule = "; medians within 5%, tails within 15%"
    last = found.out.splitlines()[-1]
    assert last.startswith("of ") and last.endswith(f" agree{rule}")

    rows = pq.read_table(path).to_pylist()
    slower = [
        row if row["query_id"] is None else row | {"fct_ns": 200_000 + row["rank"]} for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(slower), path)
    found = command("validate", "abm", folder)
    assert found.status == 1
    last = found.out.splitlines()[-1]
    assert " 3 differ (" in last and last.endswith(rule)
    for p in (50, 95, 99):
        assert f"{experiment.transport} incast p{p} -" in last
    assert "dctcp" not in last


def test_a_query_s_flows_take_what_arithmetic_says(folder):
    # Four senders of 15,000 bytes, in 10 packets of 1454 bytes and one of 1054, on ways of their
    # own into one port. It is busy from the first packet on, which comes after 40 us of links and
    # three packets: the last of the flows is through when the port has sent all four.
    found = abm.abm(folder, jobs=1).document["dctcp"]["ours"]
    slowest = 40_000 + 0.8 * (3 * 1454 + 4 * (10 * 1454 + 1054))
    size = BURST + ((BURST - 1) / 1400 + 1) * 64
    percentile = found["percentiles"][abm.PLACES.index(("incast", 0.99))]
    assert percentile == pytest.approx(slowest / (80_000 + 0.8 * size), rel=0.03)


def test_paths_and_differences_are_further_runs(folder, monkeypatch):
    monkeypatch.setattr(abm, "DIFFERENCES", ("nic.fifo_packets=0, switch.port_fifo_packets=0",))
    found = abm.abm(folder, paths=1, jobs=1, differences=True).document
    for own in abm.EXPERIMENTS:
        comparison = found[own.transport]
        assert len(comparison["drawn"]) == 1
        assert all(row["drawn_min_max"] is not None for row in comparison["rows"])
        hashes = [f"paths drawn, {each}" for each in HASHES]
        assert list(comparison["differences"]) == [*abm.DIFFERENCES, *own.differences, *hashes]


def test_other_schemes_stand_beside_what_was_published(command, folder):
    found = command("validate", "abm", folder, "--others", "--json")
    assert list(found.json) == [*RUNS, "others", "bounds"]
    others = {(run["transport"], run["scheme"]): run for run in found.json["others"]}
    assert [run.scheme for run in abm_others.OTHERS] == [scheme for _, scheme in others]
    for (transport, _), run in others.items():
        short, *incast = run["places"]
        assert (short["flows"], short["percentile"]) == ("short", 0.99)
        # Short flows meet nobody: the second of the three, of 40,000 bytes.
        alone = (157_156.8 - 68.8) / (80_000 + 0.8 * (40_000 + (39_999 / 1400 + 1) * 64))
        bound = {"powertcp": 0.05, "timely": 0.05}.get(transport, 1e-9)
        assert short["ours"] == pytest.approx(alone, rel=bound)
        assert [(place["flows"], place["percentile"]) for place in incast] == [
            ("incast", 0.99),
            ("incast", 0.5),
        ]
        assert run["answer_bytes"] == (BURST if transport == "cubic" else 92_160)
    fab = others["cubic", "FAB"]["places"]
    assert [place["reference"] for place in fab] == [17.01, 108.6, 7.32]
    assert fab[0]["difference"] == pytest.approx(fab[0]["ours"] / 17.01 - 1)
    # 94.9 is no slowdown of flows that nobody hinders.
    assert not others["cubic", "CS"]["places"][1]["agrees"]
    assert "the published percentiles" in found.err
    # ABM by its paper stands beside what another ABM did: no bound is on that.
    broken = found.json["bounds"]["broken"]
    assert found.status == 1 and any(name.startswith("cubic/CS incast p99") for name in broken)
    assert not any("by its paper" in name for name in broken)
    shown = sum(len(found.json[transport]["rows"]) for transport in RUNS)
    assert found.json["bounds"]["compared"] == shown + 3 * (len(others) - 1)

    found = command("validate", "credence", folder, "--others")
    assert found.status == 2 and "--others: nothing else is known of credence" in found.err


def test_a_number_agrees_that_is_near_and_is_undecided_inside_the_interval():
    def verdict(p, reference, ours, interval):
        return abm_others.place("incast", p, reference, ours, interval)["verdict"]

    assert verdict(0.5, 100.0, 104.9, (104.0, 106.0)) is Verdict.near
    assert verdict(0.5, 100.0, 106.0, (104.0, 107.0)) is Verdict.outside
    assert verdict(0.99, 100.0, 114.9, (110.0, 120.0)) is Verdict.near
    assert verdict(0.99, 100.0, 117.0, (110.0, 120.0)) is Verdict.outside
    assert verdict(0.99, 100.0, 20.0, (15.0, 101.0)) is Verdict.undecided


def test_every_change_is_one_to_the_scenario():
    scenario = spillway.Scenario.load("abm")
    for change in abm.DIFFERENCES:
        assert scenario.set(*change.split(", ")).resolved != scenario.resolved


def test_the_interval_of_incast_resamples_queries():
    # Two queries, each all alike: a resampled median is one of both, never in between.
    groups = [np.full(10, 1.0), np.full(10, 5.0)]
    assert numbers.bootstrap(groups, 0.5) == (1.0, 5.0)
    assert numbers.bootstrap([np.arange(1.0, 101.0)], 0.5) == (50.0, 50.0)


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("flows/flows-load0.4-burst0.3.parquet", "it holds the flows"),
        ("runs/dctcp-dt-load0.4-burst0.5.parquet", "it holds the output"),
    ],
)
def test_a_missing_file_is_told(command, folder, file, hint):
    (folder / file).unlink()
    found = command("validate", "abm", folder)
    assert found.status == 2 and found.out == ""
    assert f"error: there is no file {folder / file}" in found.err
    assert f"hint: {hint} of the reference run" in found.err


def test_wrong_columns_are_told(command, folder):
    path = folder / "flows" / "flows-load0.4-burst0.5.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["ack_path"]), path)
    found = command("validate", "abm", folder)
    assert found.status == 2 and f"error: {path}: there is no column ack_path" in found.err

    nothing = pa.array([None] * len(table), pa.int64())
    pq.write_table(table.drop_columns(["src"]).append_column("src", nothing), path)
    found = command("validate", "abm", folder)
    assert found.status == 2 and "column src: some flows have no value" in found.err


def test_the_output_of_another_run_is_told(command, folder):
    path = folder / "runs" / "cubic-dt-load0.4-burst0.3.parquet"
    table = pq.read_table(path)
    pq.write_table(table.filter(pc.not_equal(table["fct_ns"], table["fct_ns"][0])), path)
    found = command("validate", "abm", folder)
    assert found.status == 2
    assert f"error: {path}: its flows are not those of the list" in found.err
    assert "hint: the flows and the output must be of one run" in found.err
