"""Experiments on a Ray of two nodes, which share the disk or do not, and of which some die."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spillway
from experiment_here import asked, bits, claims

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="the extra ray is not installed"
    ),
]
HERE = Path(__file__).parent
APART = pytest.mark.parametrize("options", [(), ("--apart",)], ids=["shared", "apart"])


@pytest.fixture(scope="module")
def local():
    """What the runs come to in this process."""
    return bits(asked(None).run())


def drive(folder: Path, *options: str) -> list[str]:
    """What a driver beside a cluster of its own prints.

    Ray ends a driver that cancels a task at the moment at which the task is done, and says that
    this is a bug of Ray. Such a driver begins anew.
    """
    package = Path(spillway.__file__).parents[1]
    path = os.pathsep.join(map(str, (package, HERE, HERE.parent)))
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, HERE / "ray_here.py", folder, *options],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=170,
        )
        print(done.stdout, done.stderr)
        if done.returncode == 0 or "discovered a bug in Ray" not in done.stderr:
            break
        shutil.rmtree(folder)
    assert done.returncode == 0
    return done.stdout.splitlines()


@APART
def test_nodes_compute_the_same_bits(tmp_path, local, options):
    lines = drive(tmp_path / "out", *options)
    assert lines[-1] == "whole"
    assert any("share the disk" in line for line in lines) == bool(options)
    assert bits(spillway.load(tmp_path / "out")) == local


@APART
def test_nothing_is_lost_when_workers_and_nodes_die(tmp_path, local, options):
    lines = drive(tmp_path / "out", *options, "--kill", "1.5")
    assert lines[-1] == "whole" and "killed a node" in lines
    assert bits(spillway.load(tmp_path / "out")) == local


@APART
def test_ctrl_c_ends_the_workers(tmp_path, options):
    lines = drive(tmp_path / "out", *options, "--interrupt")
    assert lines[-1] == "interrupted"
    assert 0 < spillway.load(tmp_path / "out").done < 24
    assert claims(tmp_path / "out") == []


def test_without_a_cluster_there_is_an_error(tmp_path):
    script = "import sys; sys.path += sys.argv[1:3]; from experiment_here import asked\n"
    script += "asked(sys.argv[3]).run(on='ray')"
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    # There Ray looks for a cluster: it may have the address of one that was killed.
    environment["RAY_TMPDIR"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", script, HERE, HERE.parent, tmp_path / "out"],
        env={**environment, "PYTHONPATH": str(Path(spillway.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "no Ray cluster answers at 'auto'\nhint: `ray start --head` starts one" in done.stderr
