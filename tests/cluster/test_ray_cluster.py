"""The engine of Ray with two nodes, which share the disk or do not, and of which some die."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spillway
import worker
from spillway.tasks.store import Store

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="the extra ray is not installed"
    ),
]
HERE = Path(__file__).parent


def drive(folder: Path, *options: str, workers: int = 2, **manifest) -> list[str]:
    """What a driver beside a cluster of its own prints."""
    folder.mkdir(exist_ok=True)
    (folder / worker.MANIFEST).write_text(json.dumps(manifest))
    path = os.pathsep.join([str(Path(spillway.__file__).parents[1]), str(HERE)])
    done = subprocess.run(
        [sys.executable, HERE / "ray_here.py", folder, str(workers), *options],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    print(done.stdout)
    assert done.returncode == 0
    return done.stdout.splitlines()


def check_whole(folder: Path, tasks: int) -> None:
    store = Store(folder / "results")
    store.refresh()
    assert not store.damaged
    for number in range(tasks):
        key = f"k{number}"
        assert store.get(key) is not None and store.file(key).read_text() == key
        assert (folder / "runs" / key / "table").stat().st_size == len(key) * 250_000
    # The token has gone.
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize("options", [(), ("--apart",)], ids=["shared", "apart"])
def test_everything_is_computed(tmp_path, options):
    folder = tmp_path / "experiment"
    lines = drive(folder, *options, tasks=12, seconds=0.4, bytes=500_000)
    assert lines[-1] == "result True"
    assert any("share the disk" in line for line in lines) == bool(options)
    check_whole(folder, 12)


@pytest.mark.parametrize("options", [(), ("--apart",)], ids=["shared", "apart"])
def test_nothing_is_lost_when_nodes_die(tmp_path, options):
    folder = tmp_path / "experiment"
    lines = drive(folder, *options, "--kill", "4", tasks=30, seconds=0.5, bytes=500_000)
    assert lines[-1] == "result True"
    assert any("vanished, and is started again" in line for line in lines)
    check_whole(folder, 30)


@pytest.mark.parametrize("options", [(), ("--apart",)], ids=["shared", "apart"])
def test_a_worker_that_refuses_is_heard(tmp_path, options):
    told = "made by Spillway 0.1, this is 0.2"
    lines = drive(tmp_path / "e", *options, tasks=3, seconds=0.1, refuse=told)
    assert f"status 2: error: {told}" in lines[-1]


@pytest.mark.parametrize("options", [(), ("--apart",)], ids=["shared", "apart"])
def test_ctrl_c_ends_the_workers(tmp_path, options):
    folder = tmp_path / "experiment"
    lines = drive(folder, *options, "--interrupt", tasks=100, seconds=0.5)
    assert lines[-1] == "result False"
    assert 0 < len(worker.left(folder)) < 100
    assert not list((folder / "results" / "claims").iterdir())


def test_without_a_cluster_there_is_an_error(tmp_path):
    script = "from pathlib import Path; from spillway.experiments.engines import ray; import sys\n"
    script += "ray.run(Path(sys.argv[1]), ['work'], lambda: ['a'], workers=1, cores=1)"
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    path = str(Path(spillway.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        env={**environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert "no Ray cluster answers at 'auto'\nhint: `ray start --head` starts one" in done.stderr
