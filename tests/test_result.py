"""Results: saved, loaded, run again."""

import pyarrow as pa
import pytest

import spillway
from spillway import Result
from spillway.base.result_schema import TABLES
from support import TINY, names, without_cost


def test_a_result_is_saved_and_loaded(tiny, tmp_path):
    tiny.save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert loaded.summary == tiny.summary and loaded.scenario == tiny.scenario
    for name in ("flows", "queues", "drops"):
        assert loaded.table(name).to_pylist() == tiny.table(name).to_pylist()


def test_every_table_of_the_core_has_a_property():
    """They are written out, so that editors complete them and type checkers know them."""
    properties = {
        name: given
        for name, given in vars(Result).items()
        if isinstance(given, property) and given.fget.__annotations__["return"] == "pa.Table"
    }
    assert sorted(properties) == sorted(TABLES)
    result = Result({}, "", tables={name: pa.table({name: [1]}) for name in properties})
    for name, given in properties.items():
        assert getattr(result, name).schema.names == [name]
        assert given.__doc__.startswith(("A row", "Samples", "The", "Arrivals", "Bursts", "What"))


def test_a_saved_result_is_what_the_run_would_have_written(tiny, tmp_path):
    tiny.save(tmp_path / "saved")
    spillway.run(TINY, out=tmp_path / "written")
    assert names(tmp_path / "written") == names(tmp_path / "saved")
    assert names(tmp_path / "saved") == [
        "SHA256SUMS",
        "drops.parquet",
        "flows.parquet",
        "queues.parquet",
        "scenario.toml",
        "summary.json",
        "switches.parquet",
    ]


def test_a_result_runs_again_to_the_bit(tmp_path):
    first = spillway.run(TINY, set=["switch.sharing=lqd"], seed=3, out=tmp_path / "first")
    again = spillway.run(tmp_path / "first", out=tmp_path / "again")
    assert without_cost(first.summary) == without_cost(again.summary)
    for name in ("flows.parquet", "queues.parquet", "drops.parquet", "scenario.toml"):
        written = [(tmp_path / run / name).read_bytes() for run in ("first", "again")]
        assert written[0] == written[1], name


def test_files_that_a_scenario_names_go_with_its_result(tmp_path):
    (tmp_path / "sizes.txt").write_text("1000 0\n20000 1\n")
    listed = "src,dst,size_bytes,start_ns\n0,4,5000,10\n5,1,80000,20\n"
    (tmp_path / "list.csv").write_text(listed)
    scenario = tmp_path / "scenario.toml"
    list_section = '[[traffic]]\nname = "a list"\nkind = "flows"\nfile = "list.csv"\n'
    text = TINY.read_text().replace("hadoop-hpcc", "sizes.txt")
    scenario.write_text(text.replace("[record]", f"{list_section}[record]"))
    first = spillway.run(scenario, out=tmp_path / "first")
    (tmp_path / "sizes.txt").unlink()
    (tmp_path / "list.csv").unlink()
    inputs = names(tmp_path / "first" / "inputs")
    assert inputs == ["a_list.file.csv", "background.sizes.txt"]
    again = spillway.run(tmp_path / "first", out=tmp_path / "again")
    assert without_cost(first.summary) == without_cost(again.summary)
    flows = [(tmp_path / run / "flows.parquet").read_bytes() for run in ("first", "again")]
    scenarios = [(tmp_path / run / "scenario.toml").read_bytes() for run in ("first", "again")]
    assert flows[0] == flows[1] and scenarios[0] == scenarios[1]


def test_what_was_not_recorded_is_not_there(tiny):
    with pytest.raises(spillway.SpillwayError, match="no windows"):
        Result(tiny.summary, tiny.scenario).table("windows")


def test_a_folder_without_a_result_is_refused(tmp_path):
    with pytest.raises(spillway.SpillwayError, match="holds no result"):
        Result.load(tmp_path)
