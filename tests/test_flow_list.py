"""Lists of flows in Parquet: read, and refused with the file and the column."""

import pyarrow as pa
import pytest

import spillway
from spillway import ScenarioError
from spillway.base import parquet
from support import TINY

FLOWS = {
    "src": pa.array([0, 5, 2], pa.int64()),
    "dst": pa.array([4, 1, 6], pa.int64()),
    "size_bytes": pa.array([1000, 2000, 50_000], pa.int64()),
    "start_ns": pa.array([30, 10, 20], pa.int64()),
}


def run(folder, **columns):
    parquet.write(pa.table({**FLOWS, **columns}), folder / "list.parquet")
    return replay(folder)


def replay(folder):
    text = TINY.read_text()
    section = '[[traffic]]\nname = "list"\nkind = "flows"\nfile = "list.parquet"\n\n'
    given = text[: text.index("[[traffic]]")] + section + text[text.index("[record]") :]
    return spillway.run(spillway.Scenario(given, folder))


def test_a_list_is_sent(tmp_path):
    flows = run(tmp_path).flows.sort_by("flow_id")
    assert flows["src"].to_pylist() == [5, 2, 0]
    assert flows["start_ps"].to_pylist() == [10_000, 20_000, 30_000]
    assert set(flows["class"].to_pylist()) == {"list"}


def test_optional_columns_say_nothing_where_they_are_empty(tmp_path):
    result = run(
        tmp_path,
        **{"class": pa.array(["a", "b", "a"]).dictionary_encode()},
        priority=pa.array([1, None, 0], pa.uint8()),
        query_id=pa.array([None, 7.0, None], pa.float64()),
        path=pa.nulls(3),
        comment=pa.array(["other", "columns are", "ignored"]),
    )
    flows = result.flows.sort_by("flow_id")
    assert flows["class"].to_pylist() == ["b", "a", "a"]
    assert flows["priority"].to_pylist() == [None, 0, 1]
    assert flows["query_id"].to_pylist() == [7, None, None]


def test_picoseconds_are_exact(tmp_path):
    result = run(tmp_path, start_ps=pa.array([1, 3, 2], pa.uint64()))
    assert sorted(result.flows["start_ps"].to_pylist()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"src": pa.array([0, -1, 2])}, "list.parquet: column src: "),
        ({"src": pa.array(["a", "b", "c"])}, "column src: values of type string"),
        ({"src": pa.array([0, None, 2])}, "row 2, column src: there is no value"),
        ({"dst": pa.array([0, 2**40, 2])}, "column dst: "),
        ({"dst": pa.array([4, 99, 6])}, "row 2, column dst: 99 is not a host"),
        ({"dst": pa.array([4, 5, 6])}, "row 2, column dst: 5 is the sender too"),
        ({"size_bytes": pa.array([1.5, 2.0, 3.0])}, "column size_bytes: "),
        ({"size_bytes": pa.array([0, 1, 1])}, "row 1, column size_bytes: 0 bytes"),
        ({"start_ns": pa.array([2**62, 1, 1])}, "row 1, column start_ns: "),
        ({"priority": pa.array([256, 1, 1])}, "column priority: 256 is more than 254"),
        ({"query_id": pa.array([None, -1, 1])}, "column query_id: -1 is below 0"),
        ({"class": pa.array([1, 2, 3])}, "column class: int64 values are not names"),
        ({"class": pa.array(["a", None, "b"])}, "column class: some flows have none"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, columns, error):
    with pytest.raises(ScenarioError) as caught:
        run(tmp_path, **columns)
    assert error in str(caught.value)
    assert caught.value.path.startswith("traffic")


@pytest.mark.parametrize("column", ["src", "dst", "size_bytes", "start_ns"])
def test_a_column_that_is_missing_is_named(tmp_path, column):
    columns = {name: values for name, values in FLOWS.items() if name != column}
    parquet.write(pa.table(columns), tmp_path / "list.parquet")
    with pytest.raises(ScenarioError, match=f"there is no column {column}") as caught:
        replay(tmp_path)
    assert "src, dst, size_bytes and start_ns" in (caught.value.hint or "")


def test_a_file_that_is_missing_or_something_else_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"list\.parquet: there is no such file"):
        replay(tmp_path)
    (tmp_path / "list.parquet").write_text("src,dst\n")
    with pytest.raises(ScenarioError, match=r"list\.parquet: cannot be read as Parquet"):
        replay(tmp_path)
