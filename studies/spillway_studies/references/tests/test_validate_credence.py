"""Comparing with another simulator's run: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway_studies.references import credence
from support import change

NAME = "load0.4-burst0.5.parquet"
SIZES = (5_000, 20_000, 90_000, 200_000, 500_000, 1_000_000, 2_000_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reference of a few flows, one after another, and of one query."""
    folder = tmp_path / "reference"
    folder.mkdir()
    start = [1_101_000_000 + 10_000_000 * place for place in range(len(SIZES) + 1)]
    listed = [
        {
            "flow_id": place,
            "src": place,
            "dst": 16 + place,
            "size_bytes": size,
            "start_ns": start[place],
            "class": "background",
            "open_ns": start[place],
        }
        for place, size in enumerate(SIZES)
    ]
    listed += [
        {
            "flow_id": len(SIZES) + sender,
            "src": 16 + sender,
            "dst": 0,
            "size_bytes": 32_896,
            "start_ns": start[-1],
            "class": "incast",
            "open_ns": 500_000_150 + 1_000_000 * sender,
        }
        for sender in range(16)
    ]
    output = []
    for flow in listed:
        alone = 24_000 + flow["size_bytes"] * 0.8
        is_incast = flow["class"] == "incast"
        is_short = flow["size_bytes"] < 100_000
        fct = alone * 8.5 if is_incast else alone * (1.1 if is_short else 1.08) + 24_000
        output.append(
            {
                "size_bytes": flow["size_bytes"],
                "fct_ns": fct,
                "slowdown": fct / alone,
                "flowstart_us": float(f"{flow['start_ns'] / 1e3 - 10e6:.6g}"),
                "priority": 1,
                "incast": int(is_incast),
            }
        )
    pq.write_table(pa.Table.from_pylist(listed), folder / f"flows-{NAME}")
    for sharing in ("dt", "lqd"):
        pq.write_table(pa.Table.from_pylist(output), folder / f"{sharing}-{NAME}")
    return folder


def test_flows_are_compared_one_by_one(command, folder):
    found = command("validate", "credence", folder, "--json")
    # The made-up reference takes 7% longer than it should, but 4% where flows are not short.
    names = ["dt short p50", "dt incast p50", "lqd short p50", "lqd incast p50"]
    assert found.status == 1
    assert [each.rsplit(" ", 1)[0] for each in found.json["bounds"]["broken"]] == names
    assert " 4 differ (" in found.err.splitlines()[-1]
    assert list(found.json) == ["dt", "lqd", "bounds"]
    for comparison in (found.json[sharing] for sharing in ("dt", "lqd")):
        kinds = {kind["flows"]: kind for kind in comparison["ours"]["flow_by_flow"]}
        assert [(name, kind["matched"]) for name, kind in kinds.items()] == [
            ("background", 7),
            ("short", 3),
            ("medium", 2),
            ("long", 2),
        ]
        # Flows that meet no others: a round trip for the handshake, one more, and the bytes.
        assert kinds["background"]["correlation"] > 0.999
        assert kinds["background"]["median_ratio"] == pytest.approx(1, abs=0.05)
        assert len(comparison["rows"]) == len(comparison["ours"]["percentiles"]) == 12
        assert all(row["drawn_min_max"] is None for row in comparison["rows"])
        assert comparison["drawn"] == [] and comparison["differences"] == {}
    assert "within 5%" in found.err and "with one change" not in found.err


def test_paths_and_differences_are_further_runs(command, folder):
    found = command("validate", "credence", folder, "--paths", 2, "--differences", "--json")
    assert found.status == 1 and len(found.json["bounds"]["broken"]) == 4
    for comparison in (found.json[sharing] for sharing in ("dt", "lqd")):
        assert len(comparison["drawn"]) == 2
        for place, row in enumerate(comparison["rows"]):
            drawn = [run["percentiles"][place] for run in comparison["drawn"]]
            assert row["drawn_min_max"] == [min(drawn), max(drawn)]
        assert list(comparison["differences"]) == [
            *credence.DIFFERENCES,
            "paths drawn, hash_seeds=same",
            "paths drawn, hash_seeds=per-switch",
        ]
        slow_start = comparison["differences"]["transport.slow_start=true"]
        assert slow_start["percentiles"] != comparison["ours"]["percentiles"]
    assert "over drawn paths" in found.err and "lqd with one change" in found.err


def test_flows_with_a_timeout_are_counted_by_class(command, folder):
    path = folder / f"dt-{NAME}"
    # Two short flows, one medium, no long one, and three of the query.
    slow = [2e7 + size if size in (5_000, 20_000, 200_000) else size for size in SIZES]
    change(path, "fct_ns", slow + [1.1e7] * 3 + [3e5] * 13)
    outcome = command("validate", "credence", folder, "--json")
    none = {"short": 0, "medium": 0, "long": 0, "incast": 0}
    late = {"short": 2, "medium": 1, "long": 0, "incast": 3}
    found = outcome.json
    assert found["dt"]["reference"]["flows_over_least_timeout"] == late
    assert found["lqd"]["reference"]["flows_over_least_timeout"] == none
    assert found["dt"]["ours"]["flows_over_least_timeout"] == none
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in outcome.err.splitlines()]
    for kind, count in late.items():
        assert ["dt", f"{kind} flows over 10 ms", str(count), "0"] in rows


def test_flows_of_a_query_share_their_fate_in_intervals(command, folder):
    path = folder / f"dt-{NAME}"
    change(path, "slowdown", [*(1.1 + place / 10 for place in range(7)), *range(10, 26)])
    rows = command("validate", "credence", folder, "--json").json["dt"]["rows"]
    incast = {row["percentile"]: row for row in rows if row["class"] == "incast"}
    # There is one query: whichever is drawn, it is that one.
    assert [row["reference_interval"] for row in incast.values()] == [[17, 17], [24, 24], [24, 24]]
    medians = [row for row in rows if row["class"] == "short" and row["percentile"] == 0.5]
    assert medians[0]["reference_interval"] == pytest.approx([1.1, 1.3])


def test_counts_that_the_folder_does_not_have_are_explained(command, folder):
    shown = command("validate", "credence", folder).out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines()]
    assert [row[2] for row in rows if len(row) == 4 and row[1] in ("drops", "marks")] == ["*"] * 4
    assert "* the folder has no such counts" in " ".join(shown.split())
    assert "over drawn paths" not in shown


@pytest.mark.parametrize(
    ("file", "hint"), [("flows", "it holds the flows"), ("lqd", "it holds the output")]
)
def test_a_missing_file_is_told(command, folder, file, hint):
    (folder / f"{file}-{NAME}").unlink()
    found = command("validate", "credence", folder)
    assert found.status == 2 and found.out == ""
    assert f"error: there is no file {folder / f'{file}-{NAME}'}" in found.err
    assert f"hint: {hint} of the reference run" in found.err


def test_wrong_files_are_told(command, folder):
    path = folder / f"dt-{NAME}"
    path.write_text("size_bytes,fct_ns\n")
    found = command("validate", "credence", folder)
    assert found.status == 2 and f"error: {path}: cannot be read as Parquet" in found.err

    path = folder / f"flows-{NAME}"
    change(path, "open_ns", [None] * 23)
    found = command("validate", "credence", folder)
    assert found.status == 2 and "column open_ns: some flows have no value" in found.err

    change(path, "open_ns", None)
    found = command("validate", "credence", folder)
    assert found.status == 2 and f"error: {path}: there is no column open_ns" in found.err
    assert "hint: the flows of the reference run: src, dst, start_ns, open_ns, class" in found.err


def test_the_output_of_another_run_is_told(command, folder):
    path = folder / f"dt-{NAME}"
    change(path, "flowstart_us", [-8.8e6] * 23)
    found = command("validate", "credence", folder)
    assert found.status == 2
    assert f"error: {path}: it has 0 of the background flows" in found.err
    assert "hint: the flows and the output must be of one run" in found.err


def test_paths_cannot_be_fewer_than_none(command, folder):
    found = command("validate", "credence", folder, "--paths", -1)
    assert found.status == 2 and "'--paths'" in found.err
