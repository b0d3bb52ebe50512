"""The files that a run was made of, as its result keeps them: those, all of them, and no others."""

import tomllib

import pyarrow as pa
import pytest

import spillway
from spillway.base import parquet
from spillway.plugins import Sharing
from support import TINY, names

LIST = "src,dst,size_bytes,start_ns\n0,4,{size},10\n5,1,80000,20\n"


def listed(name: str, file: str) -> str:
    return f'[[traffic]]\nname = "{name}"\nkind = "flows"\nfile = "{file}"\n'


def sizes(result: spillway.Result) -> dict[str, list[int]]:
    """The sizes of every class's flows."""
    found: dict[str, list[int]] = {}
    for row in result.flows.select(["class", "size_bytes"]).to_pylist():
        found.setdefault(row["class"], []).append(row["size_bytes"])
    return {name: sorted(own) for name, own in found.items()}


def replayed(first: spillway.Result, folder) -> spillway.Result:
    """The result run again from its folder, without which all else is gone."""
    again = spillway.run(folder)
    assert again.flows.equals(first.flows)
    return again


@pytest.mark.parametrize("value", ["websearch", "20KB", "1KB..30KB"])
def test_a_file_named_like_sizes_is_not_what_ran(value, tmp_path):
    (tmp_path / value).write_text("100 0\n101 1\n")
    (tmp_path / "cs").write_text("nothing that anybody reads")
    (tmp_path / "own.toml").write_text(TINY.read_text().replace("hadoop-hpcc", value))
    first = spillway.run(tmp_path / "own.toml", set=["switch.sharing=cs"], out=tmp_path / "first")
    assert "inputs" not in names(tmp_path / "first")
    assert min(sizes(first)["background"]) > 101
    replayed(first, tmp_path / "first")


@pytest.mark.filterwarnings("ignore:.*it was trained (where|with)")
@pytest.mark.filterwarnings("ignore:.*outside of what it was trained on")
def test_a_file_named_like_a_model_is_not_what_ran(tmp_path):
    (tmp_path / "default").write_text("no model")
    credence = "switch.sharing={ kind = 'credence', oracle = 'forest' }"
    (tmp_path / "own.toml").write_text(TINY.read_text())
    first = spillway.run(tmp_path / "own.toml", set=[credence], out=tmp_path / "first")
    assert "inputs" not in names(tmp_path / "first")
    replayed(first, tmp_path / "first")


def test_copies_of_sections_with_like_names_are_apart(tmp_path):
    sections = {
        "a b": 1000,
        "a_b": 2000,
        "a/b": 3000,
        "a.b": 4000,
        "é": 5000,
        "è": 6000,
        "A B": 7000,
    }
    text = TINY.read_text()
    for number, (name, size) in enumerate(sections.items()):
        (tmp_path / f"{number}.csv").write_text(LIST.format(size=size))
        text += listed(name, f"{number}.csv")
    (tmp_path / "own.toml").write_text(text)
    first = spillway.run(tmp_path / "own.toml", out=tmp_path / "first")
    own = {name: sorted([size, 80000]) for name, size in sections.items()}
    again = replayed(first, tmp_path / "first")
    assert own.items() <= sizes(first).items() and sizes(again) == sizes(first)
    copies = names(tmp_path / "first" / "inputs")
    assert len({name.casefold() for name in copies}) == len(sections)


def test_a_section_that_is_named_like_another_s_place_keeps_its_file(tmp_path):
    (tmp_path / "list.csv").write_text(LIST.format(size=1000))
    given = tomllib.loads(TINY.read_text())
    given["traffic"][0]["name"] = "1"
    given["traffic"].append({"name": "0", "kind": "flows", "file": "list.csv"})
    first = spillway.run(spillway.Scenario(given, tmp_path), out=tmp_path / "first")
    written = tomllib.loads((tmp_path / "first" / "scenario.toml").read_text())["traffic"]
    assert [section.get("file") for section in written] == [None, None, "inputs/0.file.csv"]
    replayed(first, tmp_path / "first")


def test_a_file_that_two_keys_name_is_copied_once(tmp_path):
    (tmp_path / "list.csv").write_text(LIST.format(size=1000))
    text = TINY.read_text() + listed("a", "list.csv") + listed("b", "./list.csv")
    (tmp_path / "own.toml").write_text(text)
    first = spillway.run(tmp_path / "own.toml", out=tmp_path / "first")
    assert names(tmp_path / "first" / "inputs") == ["a.file.csv"]
    replayed(first, tmp_path / "first")


def test_a_file_whose_name_is_all_ending_keeps_it(tmp_path):
    columns = {"src": [0], "dst": [4], "size_bytes": [1000], "start_ns": [10]}
    parquet.write(pa.table(columns), tmp_path / ".parquet")
    (tmp_path / "own.toml").write_text(TINY.read_text() + listed("a", ".parquet"))
    first = spillway.run(tmp_path / "own.toml", out=tmp_path / "first")
    assert names(tmp_path / "first" / "inputs") == ["a.file.parquet"]
    replayed(first, tmp_path / "first")


@pytest.mark.filterwarnings("ignore:.*it was trained (where|with)")
@pytest.mark.filterwarnings("ignore:.*outside of what it was trained on")
def test_tiers_that_take_over_a_file_take_over_its_copy(tmp_path):
    from spillway.learning.oracle import Model

    Model.load("default").save(tmp_path / "mine")
    credence = "switch.sharing={ kind = 'credence', oracle = 'forest', model = 'mine' }"
    scenario = spillway.Scenario(TINY.read_text(), tmp_path).set(
        credence, "switch.leaf.buffer=50KB"
    )
    first = spillway.run(scenario, out=tmp_path / "first")
    switch = tomllib.loads((tmp_path / "first" / "scenario.toml").read_text())["switch"]
    assert switch["sharing"]["model"] == switch["leaf"]["sharing"]["model"]
    assert names(tmp_path / "first" / "inputs") == ["switch.leaf.sharing.model"]
    replayed(first, tmp_path / "first")


class WithHistory(Sharing):
    """A parameter that is called like a key of another policy, which names a file."""

    id = "same"
    history: str = "none"

    def admit(self, arrival, buffer):
        return True


def test_a_parameter_of_a_plug_in_names_no_file(tmp_path):
    (tmp_path / "history").write_text("not a history")
    scenario = spillway.Scenario(TINY.read_text(), tmp_path, plugins=[WithHistory])
    chosen = scenario.set("switch.sharing={ kind = 'same', history = 'history' }")
    first = spillway.run(chosen, out=tmp_path / "first")
    assert names(tmp_path / "first" / "inputs") == ["same.py", "support.py"]
    text = (tmp_path / "first" / "scenario.toml").read_text()
    assert tomllib.loads(text)["switch"]["sharing"]["history"] == "history"
    assert first.status == "complete"


def test_plug_ins_of_one_id_have_a_copy_each(tmp_path):
    for room, base, hook, answer in (
        ("sharing", "Sharing", "admit", "True"),
        ("aqm", "Aqm", "on_arrival", "Verdict.PASS"),
    ):
        text = f"from spillway.plugins import {base}, Verdict\n\nclass Same({base}):\n"
        text += (
            f"    id = 'same'\n\n    def {hook}(self, arrival, buffer):\n        return {answer}\n"
        )
        (tmp_path / f"{room}.py").write_text(text)
    from spillway.plugins import load

    plugins = [load(f"{tmp_path}/{room}.py:Same") for room in ("sharing", "aqm")]
    both = ["switch.sharing=same", "switch.aqm=same"]
    spillway.run(TINY, plugins=plugins, set=both, out=tmp_path / "out")
    inputs = tmp_path / "out" / "inputs"
    assert names(inputs) == ["same-2.py", "same.py"]
    texts = {(inputs / name).read_text() for name in names(inputs)}
    assert texts == {(tmp_path / f"{room}.py").read_text() for room in ("sharing", "aqm")}


def test_a_file_that_has_changed_since_the_run_is_not_saved_with_it(tmp_path):
    (tmp_path / "list.csv").write_text(LIST.format(size=1000))
    (tmp_path / "own.toml").write_text(TINY.read_text() + listed("a", "list.csv"))
    result = spillway.run(tmp_path / "own.toml")
    (tmp_path / "list.csv").write_text(LIST.format(size=1001))
    for _ in range(2):
        with pytest.raises(spillway.SpillwayError, match=r"list\.csv has changed since"):
            result.save(tmp_path / "saved")
        assert "saved" not in names(tmp_path)
        (tmp_path / "list.csv").unlink(missing_ok=True)


def test_a_result_that_is_saved_again_keeps_its_files(tmp_path):
    (tmp_path / "list.csv").write_text(LIST.format(size=1000))
    (tmp_path / "own.toml").write_text(TINY.read_text() + listed("a", "list.csv"))
    first = spillway.run(tmp_path / "own.toml", out=tmp_path / "first")
    spillway.Result.load(tmp_path / "first").save(tmp_path / "second")
    replayed(first, tmp_path / "second")


def test_what_python_leaves_beside_a_copy_is_no_part_of_the_result(tmp_path):
    chosen = ["switch.sharing=same"]
    first = spillway.run(TINY, plugins=WithHistory, set=chosen, out=tmp_path / "first")
    (tmp_path / "first" / "inputs" / "__pycache__").mkdir()
    (tmp_path / "first" / "inputs" / "__pycache__" / "same.pyc").write_bytes(b"")
    assert spillway.run(tmp_path / "first", plugins=WithHistory).flows.equals(first.flows)
    spillway.Result.load(tmp_path / "first").save(tmp_path / "second")
    assert "__pycache__" not in names(tmp_path / "second" / "inputs")
