"""Workers as jobs of Slurm, whose commands are scripts here that note how they were called."""

from __future__ import annotations

import os
import re
import shlex
import signal
from pathlib import Path

import pytest

from spillway import ScenarioError, SpillwayError
from spillway.experiment.engines import slurm


class Fake:
    """Commands that answer as tests say; `left` is a file with a number."""

    def __init__(self, folder: Path, experiment: Path) -> None:
        self._folder = folder
        self.experiment = experiment
        self.told: list[str] = []
        self.looks = 0
        self.at_look = lambda number: None
        self.set_left(10)
        self.answers("sbatch", "echo 7; echo 0 >left")
        self.answers("squeue", "echo 7_0 RUNNING None")
        self.answers("scancel", "true")
        self.answers("scontrol", "echo 'MaxArraySize            = 4'")

    def answers(self, name: str, script: str) -> None:
        """What a command does; `$calls` is how often it was called, this time included."""
        file = self._folder / name
        where = shlex.quote(str(self._folder))
        head = f'#!/bin/sh\ncd {where}\necho "$@" >>{name}.log\ncat >{name}.given\n'
        file.write_text(f"{head}calls=$(wc -l <{name}.log)\nout={self.outputs}\n{script}\n")
        file.chmod(0o755)

    @property
    def outputs(self) -> Path:
        return self.experiment / slurm.OUTPUTS

    def calls(self, name: str) -> list[str]:
        log = self._folder / f"{name}.log"
        return log.read_text().splitlines() if log.exists() else []

    def given(self, name: str) -> str:
        return (self._folder / f"{name}.given").read_text()

    def set_left(self, number: int) -> None:
        (self._folder / "left").write_text(str(number))

    def left(self) -> range:
        self.looks += 1
        self.at_look(self.looks)
        return range(int((self._folder / "left").read_text()))

    def run(self, *command: str, workers: int = 2, **given) -> bool:
        return slurm.run(
            self.experiment,
            command or ("work",),
            self.left,
            workers=workers,
            cores=3,
            told=self.told.append,
            **given,
        )


@pytest.fixture
def fake(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm, "POLL_S", 0.01)
    monkeypatch.setattr(slurm, "SETTLE_S", 0.05)
    (tmp_path / "bin").mkdir()
    (tmp_path / "experiment").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return Fake(tmp_path / "bin", tmp_path / "experiment")


def test_workers_are_arrays_within_the_site_s_limit(fake):
    assert fake.run("a b", "it's", workers=9, options=["--time=5", "--cpus-per-task=1"])
    calls = fake.calls("sbatch")
    assert [call.split()[-1] for call in calls] == ["--array=0-3", "--array=0-3", "--array=0-0"]
    assert fake.given("sbatch") == "#!/bin/sh\nexec 'a b' 'it'\"'\"'s'\n"
    # What is ours comes last, and holds.
    assert re.match(r"--parsable --time=5 --cpus-per-task=1 --job-name=spillway-\w+ ", calls[0])
    assert f" --chdir={fake.outputs} " in calls[0] and " --cpus-per-task=3 " in calls[0]
    # Those that did not begin are not needed.
    (call,) = fake.calls("scancel")
    assert re.fullmatch(r"--name=spillway-\w{8} --state=PENDING", call)


def test_there_are_no_more_jobs_than_tasks(fake):
    fake.set_left(1)
    fake.answers("scontrol", "exit 1")
    assert fake.run(workers=5)
    assert [call.split()[-1] for call in fake.calls("sbatch")] == ["--array=0-0"]


def test_nothing_is_asked_of_slurm_if_nothing_is_left(fake):
    fake.set_left(0)
    assert fake.run() and not fake.calls("sbatch") and not fake.calls("scancel")


def test_jobs_that_have_ended_are_submitted_again_as_long_as_something_is_done(fake):
    fake.answers("sbatch", "echo $calls; echo $((3 - calls)) >left")
    fake.answers("squeue", "true")
    assert fake.run()
    assert len(fake.calls("sbatch")) == 3


def test_jobs_that_do_nothing_are_an_error_with_what_they_say(fake):
    script = "for job in 0 1 2; do echo error: another version >$out/7_$job.out; done"
    fake.answers("sbatch", f"{script}; echo 7")
    fake.answers("squeue", "for job in 0 1; do echo 7_$job FAILED NonZeroExitCode; done")
    with pytest.raises(SpillwayError) as error:
        fake.run()
    assert str(error.value) == (
        "the jobs have ended without a result (2 FAILED)\n\n"
        f"{fake.outputs / '7_0.out'}:\nerror: another version"
    )
    assert "Slurm: job 7_1 FAILED: error: another version" in fake.told


def test_jobs_that_do_nothing_and_say_nothing(fake):
    fake.answers("sbatch", "echo 7")
    fake.answers("squeue", "true")
    with pytest.raises(SpillwayError) as error:
        fake.run()
    assert str(error.value) == (
        "the jobs have ended without a result (unknown to Slurm) or any output"
    )
    assert error.value.hint == f"can all nodes write to {fake.outputs}?"


def test_one_that_fails_is_told_while_others_go_on(fake):
    fake.answers("sbatch", "echo no memory >$out/7_1.out; echo 7")
    script = "echo 7_0 RUNNING None; echo 7_1 OUT_OF_MEMORY OutOfMemory; echo 7_2 PENDING Priority"
    fake.answers("squeue", script)
    fake.at_look = lambda number: number == 6 and fake.set_left(0)
    assert fake.run()
    assert fake.told == [
        "Slurm: job array 7 with 2 jobs",
        "Slurm: job 7_1 OUT_OF_MEMORY: no memory",
        "Slurm: 1 pending (Priority), 1 running",
    ]


def test_jobs_that_others_cancel_are_not_submitted_again(fake):
    fake.answers("sbatch", "echo 7; echo 3 >left")
    fake.answers("squeue", "echo 7_0 CANCELLED None")
    with pytest.raises(SpillwayError, match="its jobs were cancelled in Slurm") as error:
        fake.run()
    assert error.value.hint == "start it again to go on"


def test_what_sbatch_refuses_is_an_error(fake):
    fake.answers("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1")
    with pytest.raises(ScenarioError) as error:
        fake.run()
    assert str(error.value) == (
        "Slurm refuses the jobs: sbatch: error: invalid partition specified: x"
    )
    assert not fake.calls("scancel")


def test_fewer_jobs_will_do(fake):
    fake.answers("sbatch", "[ $calls = 1 ] || { echo limit >&2; exit 1; }; echo 7; echo 0 >left")
    assert fake.run(workers=9)
    assert "Slurm refuses 5 of 9 jobs: limit" in fake.told


def test_a_controller_that_is_away_is_waited_for(fake):
    fake.answers("sbatch", "[ $calls != 2 ] || { echo away >&2; exit 1; }; echo $calls")
    fake.answers("squeue", "[ $calls -gt 3 ] || { echo away >&2; exit 1; }; echo 1 >left")
    fake.at_look = lambda number: len(fake.calls("sbatch")) == 3 and fake.set_left(0)
    assert fake.run()
    assert (len(fake.calls("squeue")), len(fake.calls("sbatch"))) == (4, 3)
    assert "Slurm: away" in fake.told


def test_a_controller_that_stays_away_is_an_error(fake, monkeypatch):
    monkeypatch.setattr(slurm, "PATIENCE_S", 0)
    fake.answers("sbatch", "echo 7")
    fake.answers("squeue", "echo 'slurm_load_jobs error: Unable to contact' >&2; exit 1")
    with pytest.raises(SpillwayError, match=r"gives no answer: slurm_load_jobs error: Unable"):
        fake.run()


def test_a_command_that_hangs_is_not_waited_for(fake, monkeypatch):
    monkeypatch.setattr(slurm, "ANSWER_S", 0.1)
    fake.answers("sbatch", "exec sleep 10")
    with pytest.raises(ScenarioError, match="Slurm refuses the jobs: sbatch does not end"):
        fake.run()
    # The job may be there nevertheless.
    assert len(fake.calls("scancel")) == 1


def test_ctrl_c_cancels_the_jobs(fake):
    fake.answers("sbatch", "echo 7")
    fake.at_look = lambda number: number == 4 and signal.raise_signal(signal.SIGINT)
    assert fake.run() is False
    (call,) = fake.calls("scancel")
    name = re.search(r"--job-name=(\S+)", fake.calls("sbatch")[0])
    assert name and call == f"--name={name[1]}"


def test_jobs_that_cannot_be_cancelled_are_told(fake):
    fake.answers("sbatch", "echo 7")
    fake.answers("scancel", "echo no >&2; exit 1")
    fake.at_look = lambda number: number == 4 and signal.raise_signal(signal.SIGINT)
    assert fake.run() is False
    assert re.fullmatch(
        r"jobs may still run: scancel --name=spillway-\w+ has failed: no", fake.told[-1]
    )


def test_jobs_of_another_cluster_are_found_there(fake):
    fake.answers("sbatch", "echo '7;east'")
    fake.at_look = lambda number: number == 4 and fake.set_left(0)
    assert fake.run()
    assert "--clusters=east" in fake.calls("squeue")[0]
    assert "--clusters=east" in fake.calls("scancel")[0]


def test_without_slurm_there_is_an_error(fake, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ScenarioError, match="there is no Slurm here: no s") as error:
        fake.run()
    assert error.value.hint == "start it on a machine from which jobs can be submitted"
