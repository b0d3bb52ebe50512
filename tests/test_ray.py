"""Workers as tasks of Ray: what needs no cluster. What does is in `cluster`."""

from __future__ import annotations

import sys

import pytest

from spillway import ScenarioError
from spillway.experiment.engines import ray, ray_remote

WRITES = """
import pathlib, sys
folder, (_, only) = pathlib.Path(sys.argv[1]), sys.argv[2:]
assert (folder / "inputs" / "flows").read_bytes() == b"given"
for key in pathlib.Path(only).read_text().split():
    for name in (f"results/segments/{key}.log", f"results/claims/{key}", f"results/files/{key}"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(key)
    for name in (f"{key}/tables/flows", f"{key}.partial/half"):
        (folder / "runs" / name).parent.mkdir(parents=True)
        (folder / "runs" / name).write_text(key)
print("done")
sys.exit(int(folder.name == "failing"))
"""


def test_without_ray_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ScenarioError, match="Ray is not installed") as error:
        ray.run(tmp_path, ["work"], lambda: ["a"], workers=1, cores=1)
    assert error.value.hint == "pip install 'spillway[ray]'"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["experiment", "failing"])
def test_what_a_copy_writes_comes_back(tmp_path, name):
    """Also if the worker fails: what it has done until then is done."""
    folder = str(tmp_path / name)
    files = {"inputs/flows": b"given"}
    answer = ray_remote.in_copy(folder, ["python", "-c", WRITES, folder], files, ["a", "b"])
    assert (answer.status, answer.said) == (int(name == "failing"), "done\n")
    assert answer.files == {
        f"{part}": key.encode()
        for key in "ab"
        for part in (
            f"results/files/{key}",
            f"results/segments/{key}.log",
            f"runs/{key}/tables/flows",
        )
    }


def test_a_node_that_lacks_the_token_does_nothing(tmp_path):
    assert ray_remote.in_place(str(tmp_path), "token", ["false"]) is None
    (tmp_path / "token").touch()
    answer = ray_remote.in_place(str(tmp_path), "token", ["python", "-c", "print(1); exit(3)"])
    assert answer is not None and (answer.status, answer.said, answer.files) == (3, "1\n", {})


def test_records_are_put_last_and_runs_as_a_whole(tmp_path, monkeypatch):
    order = []
    real = ray.whole_file
    monkeypatch.setattr(ray, "whole_file", lambda file: order.append(file.name) or real(file))
    (tmp_path / "runs" / "old").mkdir(parents=True)
    (tmp_path / "runs" / "old" / "table").write_bytes(b"first")
    files = {
        "results/segments/s.log": b"record",
        "results/files/a": b"file",
        "runs/new/deep/table": b"new",
        "runs/new/summary": b"summary",
        "runs/old/table": b"second",
        "runs/plain": b"plain",
    }
    ray._put(tmp_path, files)
    assert order == ["a", "plain", "s.log"]
    there = {
        file.relative_to(tmp_path).as_posix(): file.read_bytes()
        for file in tmp_path.rglob("*")
        if file.is_file()
    }
    assert there == {**files, "runs/old/table": b"first"}
