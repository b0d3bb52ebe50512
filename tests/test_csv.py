"""CSV by RFC 4180: what is written is read, and what readers differ on is refused."""

import pyarrow as pa
import pytest

import spillway
from spillway import ScenarioError
from spillway.base import csv_file, parquet
from spillway.scenario import flow_export
from spillway.theory.slotted import Arrivals
from support import TINY

NAMES = [" a ", "a", "#a", "=1+1", "\tb", "b", 'p"q', "x,y"]
QUOTES = {
    '0,1,"5,0\n': "line 2, column 3",
    '0,1,5,0\n0,"1" ,5,0\n': "line 3, column 2",
    '0,1,5,0\n0,1,"5"5,0\n': "line 3, column 3",
    '0,1,5"",0\n': "line 2, column 3",
}


def traffic(names):
    return [
        {
            "name": name,
            "kind": "poisson",
            "sizes": "keyvalue",
            "load": 0.05,
            "load_of": "host",
            "destinations": "uniform",
            "flows": 3,
        }
        for name in names
    ]


def test_every_class_comes_back_as_it_was(tmp_path):
    star = {"duration": "1ms", "topology": {"kind": "star", "hosts": 4}}
    given = spillway.Scenario({**star, "traffic": traffic(NAMES)})
    told = flow_export.write(given.read(), tmp_path / "list.csv")
    section = {"name": "list", "kind": "flows", "file": "list.csv"}
    back = spillway.Scenario({**star, "traffic": [section]}, tmp_path)
    assert {*spillway.run(back).flows["class"].to_pylist()} == {*NAMES}
    again = flow_export.write(back.read(), tmp_path / "again.csv")
    assert again["classes"] == told["classes"] and {*told["classes"]} == {*NAMES}
    assert flow_export.is_list(tmp_path / "list.csv")
    table = csv_file.read(tmp_path / "list.csv")
    assert {*table["class"].to_pylist()} == {*NAMES}
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "list.csv").read_bytes()


def test_a_list_without_need_has_no_quotes(tmp_path):
    flow_export.write(spillway.Scenario(TINY).read(), tmp_path / "list.csv")
    assert '"' not in (tmp_path / "list.csv").read_text()


@pytest.mark.parametrize("rows", QUOTES)
def test_quotes_that_are_not_closed_or_doubled_are_refused(tmp_path, rows):
    file = tmp_path / "x.csv"
    file.write_text(f"src,dst,size_bytes,start_ns\n{rows}")
    problem = f"x.csv: {QUOTES[rows]}: a quote is not closed, or not doubled"
    for read in (csv_file.read, lambda file: list(csv_file.rows(file)), Arrivals.read):
        with pytest.raises(ScenarioError, match=problem):
            read(file)


def test_values_may_hold_commas_quotes_and_lines(tmp_path):
    file = tmp_path / "x.csv"
    file.write_bytes(b'a,"b"\r\n"x,""y""\nz",1\r\n,2\r\n')
    table = csv_file.read(file)
    assert table.to_pylist() == [{"a": 'x,"y"\nz', "b": 1}, {"a": "", "b": 2}]
    assert list(csv_file.rows(file)) == [(3, {"a": 'x,"y"\nz', "b": "1"}), (4, {"a": "", "b": "2"})]
    csv_file.write(table, tmp_path / "again.csv")
    assert csv_file.read(tmp_path / "again.csv").equals(table)


def test_a_list_in_parquet_may_have_such_names_too(tmp_path):
    names = pa.array(NAMES)
    places = list(range(len(NAMES)))
    columns = {"src": places, "dst": [8] * 8, "size_bytes": [9] * 8, "start_ns": places}
    parquet.write(pa.table({**columns, "class": names}), tmp_path / "list.parquet")
    table = parquet.read(tmp_path / "list.parquet")
    csv_file.write(table, tmp_path / "list.csv")
    given = {"duration": "1ms", "topology": {"kind": "star", "hosts": 9}}
    for file in ("list.csv", "list.parquet"):
        section = {"name": "list", "kind": "flows", "file": file}
        read = spillway.Scenario({**given, "traffic": [section]}, tmp_path).read()
        assert {*flow_export.write(read, tmp_path / f"{file}.out.csv")["classes"]} == {*NAMES}


def test_a_byte_order_mark_may_come_first(tmp_path):
    file = tmp_path / "marked.csv"
    file.write_bytes(b'\xef\xbb\xbf"index",b\r\n0,"1"\r\n')
    assert list(csv_file.rows(file)) == [(2, {"index": "0", "b": "1"})]
    assert csv_file.read(file).to_pydict() == {"index": [0], "b": [1]}
