"""Experiments on a real Slurm, whose workers, jobs and controller are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import slurm_here
import spillway
from experiment_here import DURATION, SEEDS, VARY, asked, bits, claims, kill_one, workers
from spillway import SpillwayError
from spillway.experiment import manifest
from spillway.experiment.engines import slurm
from support import TINY

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(bool(slurm_here.missing()), reason="Slurm is not installed"),
    pytest.mark.skipif(os.getuid() != 0, reason="Slurm's daemons need root"),
]


@pytest.fixture
def cluster(tmp_path_factory):
    """A new one for every test: a controller that was killed may keep a node waiting."""
    with slurm_here.running(tmp_path_factory.mktemp("slurm"), most=3) as there:
        yield there


@pytest.fixture(scope="module")
def local():
    """What the runs come to in this process."""
    return bits(asked(None).run())


@pytest.fixture
def begin(cluster, tmp_path):
    """Starts the command in a folder with a name that shells and Slurm would take apart."""
    out = tmp_path / "an ex%periment"

    def run(*more: str) -> subprocess.Popen[str]:
        asking = ["compare", TINY, "--vary", VARY, "--seeds", SEEDS, "--set", DURATION]
        engine = ["--on", "slurm", "--workers", "4", "--sbatch", "--time=10"]
        return subprocess.Popen(
            [sys.executable, "-m", "spillway", *asking, *engine, "--out", out, *more],
            env=cluster.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    run.out = out
    return run


def test_arrays_compute_the_same_bits(begin, local):
    process = begin()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    # The site allows arrays of three.
    assert "with 3 jobs" in err and "with 1 job" in err
    assert bits(spillway.load(begin.out)) == local
    said = [file.read_text() for file in (begin.out / "slurm").iterdir()]
    computed = [int(text.partition(" of ")[0]) for text in said if "computed here" in text]
    assert sum(computed) == 24 and len([count for count in computed if count]) > 1


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_when_workers_jobs_and_the_controller_are_killed(
    begin, cluster, local, seed
):
    chance, done, ends = random.Random(seed), [], []

    def a_worker():
        return kill_one(begin.out)

    def a_job():
        jobs = cluster.ask("squeue", "-h", "-r", "-t", "RUNNING", "-o", "%F_%K").split()
        return bool(jobs) and cluster.ask("scancel", jobs[0]) == ""

    def the_controller():
        cluster.kill("slurmctld")
        time.sleep(0.5)
        cluster.start("slurmctld")
        cluster.wait()
        return True

    order = [a_worker, a_job, the_controller, a_worker]
    chance.shuffle(order)
    until = time.monotonic() + 150
    while not ends or ends[-1] != 0:
        assert time.monotonic() < until, (done, ends)
        process = begin()
        while process.poll() is None and order and time.monotonic() < until:
            if order[-1]():
                done.append(order.pop().__name__)
                time.sleep(chance.uniform(0.5, 2))
            else:
                time.sleep(0.02)
        # It ends by an error if all are killed before anything is done; the same goes on.
        process.communicate(timeout=100)
        ends.append(process.returncode)
    assert done
    assert bits(spillway.load(begin.out)) == local
    assert claims(begin.out) == []


def test_another_version_is_refused_by_name(cluster, tmp_path, monkeypatch):
    out = tmp_path / "out"
    experiment = asked(out)
    file = out / "experiment.json"
    whole = json.loads(file.read_text())
    whole["experiment"]["results"]["sharing.lqd"] = 99
    file.write_text(json.dumps({**whole, "sha256": manifest._digest(whole["experiment"])}))
    monkeypatch.setattr(slurm, "SETTLE_S", 1.0)
    monkeypatch.setattr(slurm, "POLL_S", 0.5)
    for name in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(name, cluster.environment[name])
    with pytest.raises(SpillwayError, match=r"another Spillway: sharing\.lqd 99 there, 1 here"):
        experiment.run(on="slurm", workers=2)


def test_what_sbatch_refuses(begin):
    process = begin("--sbatch", "--partition=nowhere")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and "invalid partition" in err


def test_ctrl_c_ends_the_jobs(begin, cluster):
    process = begin()
    until = time.monotonic() + 60
    while not workers(begin.out):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "the same command goes on from there" in err
    while workers(begin.out):
        assert time.monotonic() < until
        time.sleep(0.1)
    # They have ended in order.
    assert claims(begin.out) == []
