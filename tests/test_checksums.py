"""Folders of results: what is not what was written there is refused, by name."""

import shutil
import subprocess

import pytest

import spillway
from spillway import Result, Scenario, ScenarioError, UncheckedWarning
from spillway.base import checksums
from support import TINY, flipped, names

LIST = '[[traffic]]\nname = "a"\nkind = "flows"\nfile = "list.csv"\n'


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A result with a copy of a list of flows."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "list.csv").write_text("src,dst,size_bytes,start_ns\n0,4,5000,10\n5,1,80000,20\n")
    (folder / "own.toml").write_text(TINY.read_text() + LIST)
    spillway.run(folder / "own.toml", out=folder / "out")
    return folder / "out"


@pytest.fixture
def out(written, tmp_path):
    return shutil.copytree(written, tmp_path / "out")


def everything(folder):
    """All that can be read of a result."""
    result = Result.load(folder)
    tables = {name: result.table(name) for name in result.names()}
    return result.summary, result.scenario, tables, Scenario.load(folder).read().resolved


def verified(folder) -> bool:
    done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder)
    return done.returncode == 0


def test_the_list_is_one_that_others_can_check(out):
    assert verified(out)
    listed = [line.split("  ")[1] for line in (out / "SHA256SUMS").read_text().splitlines()]
    assert listed == [
        "drops.parquet",
        "flows.parquet",
        "inputs/a.file.csv",
        "queues.parquet",
        "scenario.toml",
        "summary.json",
        "switches.parquet",
    ]


def test_runs_of_a_sweep_have_their_own_lists(tmp_path):
    spillway.sweep(TINY, seeds=[1, 2], set=["duration=1ms"], out=tmp_path / "out")
    runs = names(tmp_path / "out" / "runs")
    assert len(runs) == 2
    for folder in (f"out/runs/{run}" for run in runs):
        assert verified(tmp_path / folder)


def test_no_flipped_bit_in_a_result_goes_unnoticed(out):
    everything(out)
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        whole = file.read_bytes()
        step = max(1, len(whole) // 12)
        for place in range(len(whole) % step, len(whole), step):
            file.write_bytes(flipped(whole, place))
            with pytest.raises(ScenarioError, match=str(out)):
                everything(out)
        file.write_bytes(whole)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("inputs/a.file.csv", "a.file.csv is not what was written there"), ("SHA256SUMS", "no list")],
)
def test_what_is_missing_or_no_list_is_told(out, name, problem):
    (out / name).unlink()
    if name == "SHA256SUMS":
        (out / name).write_text("nothing\n")
    with pytest.raises(ScenarioError, match=problem):
        Scenario.load(out)


def test_what_was_not_written_there_is_not_read_from_there(out):
    (out / "inputs" / "more.csv").write_text("src,dst,size_bytes,start_ns\n")
    with pytest.raises(ScenarioError, match=r"more\.csv is not in .*SHA256SUMS"):
        Scenario.load(out)


def test_a_scenario_that_was_changed_by_hand_runs_as_a_file_only(command, out):
    text = (out / "scenario.toml").read_text()
    (out / "scenario.toml").write_text(text.replace("seed = 7", "seed = 8"))
    refused = command("run", out)
    assert refused.status == 2
    assert f"error: {out}/scenario.toml is not what was written there" in refused.err
    assert "was changed by hand" in refused.err
    done = command("run", out / "scenario.toml", "--json")
    assert done.status == 0 and done.json["seed"] == 8


def test_a_folder_without_a_list_is_read_with_a_note(out):
    (out / "SHA256SUMS").unlink()
    with pytest.warns(UncheckedWarning, match="has no SHA256SUMS"):
        everything(out)


def test_a_folder_that_somebody_made_is_no_result(tmp_path):
    (tmp_path / "scenario.toml").write_text(TINY.read_text())
    assert Scenario.load(tmp_path).read().name == "tiny"


def test_a_result_is_no_json_at_all(tmp_path):
    (tmp_path / "scenario.toml").write_text(TINY.read_text())
    (tmp_path / "summary.json").write_text("{")
    checksums.write(tmp_path, but="")
    with pytest.raises(ScenarioError, match=r"summary\.json cannot be read"):
        Result.load(tmp_path)
    (tmp_path / "summary.json").write_text("[]")
    checksums.write(tmp_path, but="SHA256SUMS")
    with pytest.raises(ScenarioError, match="is no result's summary"):
        Result.load(tmp_path)
