"""The engine of Slurm with a real one, whose workers, jobs and daemons are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import slurm_here
import spillway
import worker
from spillway import SpillwayError
from spillway.experiments.engines import slurm
from spillway.tasks.store import Store

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(bool(slurm_here.missing()), reason="Slurm is not installed"),
    pytest.mark.skipif(os.getuid() != 0, reason="Slurm's daemons need root"),
]
SCRIPT = str(Path(worker.__file__))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with slurm_here.running(tmp_path_factory.mktemp("slurm"), most=4) as there:
        yield there


@pytest.fixture
def begin(cluster, tmp_path, monkeypatch):
    """Has Slurm compute an experiment; True, False, or the error."""
    monkeypatch.setattr(slurm, "POLL_S", 0.3)
    monkeypatch.setattr(slurm, "SETTLE_S", 2.0)
    for name in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(name, cluster.environment[name])
    monkeypatch.setenv("PYTHONPATH", str(Path(spillway.__file__).parents[1]))
    folder = tmp_path / "an ex%periment"
    folder.mkdir()

    def run(told=print, options=(), workers=6, **manifest) -> bool:
        (folder / worker.MANIFEST).write_text(json.dumps(manifest))
        command = [sys.executable, SCRIPT, str(folder)]
        return slurm.run(
            folder,
            command,
            lambda: worker.left(folder),
            workers=workers,
            cores=1,
            options=options,
            told=told,
        )

    run.folder = folder
    return run


def processes(folder: Path) -> list[int]:
    """The workers at work on an experiment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(folder) in line and os.fsencode(SCRIPT) in line:
            found.append(int(place.name))
    return found


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def check_whole(folder: Path, tasks: int) -> None:
    store = Store(folder / "results")
    store.refresh()
    assert not store.damaged
    for number in range(tasks):
        key = f"k{number}"
        assert store.get(key) is not None and store.file(key).read_text() == key
        assert (folder / "runs" / key / "table").is_file()


def test_everything_is_computed_by_arrays(begin):
    told = []
    assert begin(told.append, tasks=24, seconds=0.4)
    check_whole(begin.folder, 24)
    assert next(line for line in told if "job array" in line).endswith("with 4 jobs")
    store = Store(begin.folder / "results")
    store.refresh()
    # More than one has worked.
    assert len({store.get(f"k{number}")["by"] for number in range(24)}) > 1
    assert len(list((begin.folder / "results" / "segments").iterdir())) > 1


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_when_workers_jobs_and_the_controller_are_killed(begin, cluster, seed):
    chance, over, done = random.Random(seed), threading.Event(), []

    def one_worker():
        for process in chance.sample(processes(begin.folder)[:1], 1):
            os.kill(process, signal.SIGKILL)

    def one_job():
        jobs = cluster.ask("squeue", "-h", "-r", "-t", "RUNNING", "-o", "%F_%K").split()
        cluster.ask("scancel", *jobs[:1])

    def the_controller():
        cluster.kill("slurmctld")
        over.wait(1)
        cluster.start("slurmctld")

    def kill():
        for what in order:
            if over.wait(chance.uniform(1, 3)):
                return
            try:
                what()
            except (AssertionError, ValueError):
                # Nobody is at work, or the controller is away.
                continue
            done.append(what.__name__)

    order = [one_worker, one_job, the_controller, one_worker]
    chance.shuffle(order)
    killer = threading.Thread(target=kill)
    killer.start()
    results = []
    try:
        # It ends by an error if everybody is killed before anything is done; then it goes on.
        for _ in range(10):
            try:
                results.append(begin(tasks=40, seconds=0.5, workers=4))
                break
            except SpillwayError as error:
                results.append(str(error))
    finally:
        over.set()
        killer.join()
    print(done, results)
    assert results[-1] is True and done
    check_whole(begin.folder, 40)
    cluster.wait()


def test_nothing_is_lost_when_the_node_dies(begin, cluster):
    """Slurm notices when it does not answer for ten seconds, and begins its jobs again."""
    told = []

    def die():
        cluster.kill("slurmd")
        for process in processes(begin.folder):
            for each in (parent(process), process):
                with suppress(OSError):
                    os.kill(each, signal.SIGKILL)
        time.sleep(13)
        cluster.start("slurmd")

    def note(line):
        told.append(line)
        if line == "Slurm: 4 running" and told.count(line) == 1:
            killer.start()

    killer = threading.Thread(target=die)
    assert begin(note, tasks=60, seconds=0.3, workers=4)
    killer.join()
    check_whole(begin.folder, 60)
    assert told.count("Slurm: 4 running") == 2
    cluster.wait()


def test_jobs_that_reach_their_time_limit_are_followed_by_others(begin, cluster):
    told = []

    def limit(line):
        told.append(line)
        if "running" in line and sum("job array" in line for line in told) == 1:
            time.sleep(2)
            for job in cluster.ask("squeue", "-h", "-r", "-o", "%i").split():
                # As the limit does; a minute is the shortest there is.
                cluster.ask("scancel", "--signal=TERM", "--batch", job)

    assert begin(limit, tasks=24, seconds=0.5, workers=3)
    check_whole(begin.folder, 24)
    assert sum("job array" in line for line in told) == 2


def test_a_worker_that_refuses_is_heard(begin):
    with pytest.raises(SpillwayError, match=r"error: made by Spillway 0.1, this is 0.2"):
        begin(tasks=3, seconds=0.1, refuse="made by Spillway 0.1, this is 0.2")


def test_what_sbatch_refuses(begin):
    with pytest.raises(SpillwayError, match=r"refuses the jobs: .*invalid partition"):
        begin(tasks=3, seconds=0.1, options=["--partition=nowhere"])


def test_ctrl_c_ends_the_jobs(begin, cluster):
    def interrupt(line):
        if "running" in line:
            time.sleep(1)
            signal.raise_signal(signal.SIGINT)

    assert begin(interrupt, tasks=100, seconds=1) is False
    until = time.monotonic() + 20
    while processes(begin.folder):
        assert time.monotonic() < until
        time.sleep(0.1)
    # They have ended in order.
    assert not list((begin.folder / "results" / "claims").iterdir())
    assert begin(tasks=4, seconds=0.1)
    check_whole(begin.folder, 4)
