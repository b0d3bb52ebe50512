"""Comparing with YAPS's pFabric: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FLOWS = "flows_websearch_60_ecmp.parquet"
COLUMNS = (
    "case,id,src,dst,size_bytes,start_ns,fct_ns,recv_fct_ns,data_pkts_sent,data_pkts_received,"
    "data_drops,ack_drops,timeouts"
)


def alone(packets: int) -> int:
    """The completion time of a flow between racks that is alone, at the receiver."""
    return packets * 1200 + 2600


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Flows of 1 to 1,000 packets, one after another, and a small case of two flows."""
    flows = [
        {
            "id": number,
            "src": number,
            "dst": 100 + number,
            "size_bytes": 1460 * packets,
            "start_ns": 5_000_000 * number,
            "recv_fct_ns": alone(packets),
            "core": (100 + 3 * number) % 4,
            "data_drops": 0,
            "timeouts": 0,
        }
        for number, packets in enumerate([1, 2, 10, 100, 200, 700, 1000])
    ]
    pq.write_table(pa.Table.from_pylist(flows), tmp_path / FLOWS)
    rows = ["two_to_one,0,0,5,73000,0,86064,85600,50,50,0,0,0"]
    rows += ["two_to_one,1,1,5,29200,10007,26857,26393,20,20,0,0,0"]
    (tmp_path / "micro_cases.csv").write_text("\n".join([COLUMNS, *rows]) + "\n")
    return tmp_path


def test_what_is_the_same_agrees(command, folder):
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 0, found.err
    document = found.json
    assert all(number["difference"] == 0 for number in document["numbers"])
    kinds = [each["flows"] for each in document["flow_by_flow"]]
    assert kinds == ["short", "medium", "long", "all"]
    (case,) = document["cases"]
    assert (case["same"], case["flows"], case["agrees"]) == (2, 2, True)
    assert document["bounds"]["broken"] == []


def test_what_differs_breaks_a_bound(command, folder):
    table = pq.read_table(folder / FLOWS)
    times = [1.03 * ns for ns in table["recv_fct_ns"].to_pylist()]
    place = table.column_names.index("recv_fct_ns")
    pq.write_table(table.set_column(place, "recv_fct_ns", [times]), folder / FLOWS)
    cases = folder / "micro_cases.csv"
    cases.write_text(cases.read_text().replace("26393", "26394"))
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 1
    broken = found.json["bounds"]["broken"]
    # Medians may be 2% off, tails 5%.
    assert [each.rpartition(" ")[0] for each in broken[:4]] == [
        f"{kind} p50" for kind in ("short", "medium", "long", "all")
    ]
    assert broken[4:] == ["two_to_one: 1 of 2 flows the same"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda folder: (folder / FLOWS).unlink(), f"there is no file {{}}/{FLOWS}"),
        (lambda folder: (folder / "micro_cases.csv").unlink(), "there is no file {}/micro_cases"),
        (
            lambda folder: (folder / "micro_cases.csv").write_text("case,id\na,b\n"),
            "{}/micro_cases.csv, line 2: no whole numbers; expected case, id",
        ),
    ],
)
def test_a_folder_that_lacks_something_is_refused(command, folder, change, says):
    change(folder)
    found = command("validate", "pfabric", folder)
    assert found.status == 2
    assert says.format(folder) in found.err


@pytest.mark.parametrize("option", [["--paths", "2"], ["--differences"]])
def test_options_of_other_references_are_refused(command, folder, option):
    found = command("validate", "pfabric", folder, *option)
    assert found.status == 2
    assert f"{option[0]}: pfabric is compared in one way alone" in found.err
