"""Workers as jobs of Slurm, in job arrays.

The jobs of a call share a name that no others have, by which they are found and cancelled even if
an answer of Slurm was lost. Results show what is done, so Slurm's accounting may be off: Slurm is
only asked whether there are still jobs to wait for.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.interrupts import deferred
from spillway.experiment.engines import Left, Told, last_lines, untold

OUTPUTS = "slurm"
"""The folder, within that of the experiment, to which jobs write what they print."""
POLL_S = 5.0
"""The time between two looks at what is left, and at the jobs."""
SETTLE_S = 60.0
"""How long results of jobs that have ended may take to be seen: NFS keeps folders this long."""
PATIENCE_S = 1800.0
"""How long Slurm may give no answer, as while its controller is restarted."""
ANSWER_S = 120.0
"""How long one of its commands may take."""
_MOST = 1001
"""Jobs in one array: Slurm's own limit, where the site's cannot be read."""
_OVER = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
"""States of a job that has ended."""


class _Job(NamedTuple):
    id: str
    state: str
    reason: str


class _SilentError(Exception):
    """Slurm gives no answer, or none that can be understood."""


def run(
    folder: Path,
    command: Sequence[str],
    left: Left,
    *,
    workers: int,
    cores: int,
    options: Sequence[str] = (),
    told: Told = untold,
) -> bool:
    """Has jobs run `command` until no key is left. Returns whether none is.

    There are `workers` jobs, each with `cores` cores.

    When all have ended and keys are left, as after a time limit, they are submitted again,
    unless they have done nothing. `options` are for sbatch, such as "--time=2:00:00". Jobs begin in
    a folder of their own, so `command` names absolute paths. Ctrl-C cancels the jobs and gives
    False.

    Raises `ScenarioError` if there is no Slurm or it refuses the jobs, and `SpillwayError` if they
    end without doing anything, are cancelled by others, or Slurm gives no answer for half an hour.
    """
    jobs = _Jobs(folder, command, cores, options, told)
    is_done = False
    try:
        while keys := len(left()):
            jobs.submit(min(workers, keys))
            _wait(jobs, left)
            if left() and jobs.are_cancelled():
                raise SpillwayError("its jobs were cancelled in Slurm", "start it again to go on")
            if not _is_less_left(left, keys):
                raise jobs.nothing_done()
        is_done = True
    except KeyboardInterrupt:
        return False
    finally:
        with deferred():
            jobs.cancel(only_waiting=is_done)
    return True


def _wait(jobs: _Jobs, left: Left) -> None:
    """Waits until no key or no job is left."""
    heard = time.monotonic()
    while left():
        try:
            if not jobs.look():
                return
            heard = time.monotonic()
        except _SilentError as error:
            if time.monotonic() - heard > PATIENCE_S:
                raise SpillwayError(f"Slurm gives no answer: {error}") from error
        time.sleep(POLL_S)


def _is_less_left(left: Left, before: int) -> bool:
    """Whether anything was done, as soon as that can be seen."""
    until = time.monotonic() + SETTLE_S
    while len(left()) >= before:
        if time.monotonic() >= until:
            return False
        time.sleep(min(1.0, POLL_S))
    return True


class _LateError(_SilentError):
    """Slurm has not answered in time; it may still do what it was asked."""


class _Jobs:
    """The jobs of a call."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        cores: int,
        options: Sequence[str],
        told: Told,
    ) -> None:
        self._outputs = folder.absolute() / OUTPUTS
        self._name = f"spillway-{secrets.token_hex(4)}"
        # The command takes the shell's place, and gets its signals.
        self._script = f"#!/bin/sh\nexec {shlex.join(command)}\n"
        self._options = (
            *options,
            f"--job-name={self._name}",
            f"--chdir={self._outputs}",
            "--output=%A_%a.out",
            "--error=%A_%a.out",
            "--open-mode=append",
            "--nodes=1",
            "--ntasks=1",
            f"--cpus-per-task={cores}",
        )
        self._told = told
        self._clusters: set[str] = set()
        self._is_known = False
        """Whether Slurm has, or may have, got any of the jobs."""
        self._earlier: set[str] = set()
        """The jobs that had ended, and the outputs that existed, at the last submission."""
        self._states: dict[str, str] = {}
        """The other jobs, as they were last seen."""
        self._said = ""

    def submit(self, workers: int) -> None:
        """Submits this many jobs, or fewer if Slurm refuses some."""
        self._outputs.mkdir(exist_ok=True)
        self._earlier.update(self._states, (file.stem for file in self._outputs.iterdir()))
        self._states.clear()
        most = self._most_in_array()
        for begin in range(0, workers, most):
            size = min(most, workers - begin)
            try:
                answer = self._submitted(size, is_first=begin == 0)
            except _SilentError as error:
                if begin == 0:
                    raise ScenarioError(f"Slurm refuses the jobs: {error}") from error
                self._told(f"Slurm refuses {workers - begin} of {workers} jobs: {error}")
                return
            array, _, cluster = answer.strip().partition(";")
            self._clusters.update({cluster} - {""})
            self._told(f"Slurm: job array {array} with {size} {'job' if size == 1 else 'jobs'}")

    def _submitted(self, size: int, is_first: bool) -> str:
        """Submits an array. If Slurm took jobs before, the first array is tried for long."""
        line = ("sbatch", "--parsable", *self._options, f"--array=0-{size - 1}")
        until = time.monotonic() + (PATIENCE_S if is_first and self._is_known else 0)
        while True:
            try:
                with deferred():
                    answer = self._ask(line, self._script)
                self._is_known = True
                return answer
            except _SilentError as error:
                self._is_known |= isinstance(error, _LateError)
                if time.monotonic() >= until:
                    raise
                self._told(f"Slurm: {error}")
            time.sleep(POLL_S)

    def look(self) -> bool:
        """Whether any of the jobs waits or runs. Raises `_SilentError`."""
        line = ("squeue", "--noheader", "--array", f"--user={os.getuid()}", f"--name={self._name}")
        answer = self._ask((*line, *self._where(), "--states=all", "--format=%F_%K %T %r"))
        jobs = [_Job(*each.split(maxsplit=2)) for each in answer.splitlines() if _JOB.match(each)]
        jobs = [job for job in jobs if job.id not in self._earlier]
        for job in jobs:
            if self._states.get(job.id) != job.state and job.state in _OVER - {"COMPLETED"}:
                said = last_lines(self._output(job.id), 3) or job.reason
                self._told(f"Slurm: job {job.id} {job.state}: {said}")
            self._states[job.id] = job.state
        there = [job for job in jobs if job.state not in _OVER]
        # Jobs that Slurm has forgotten have ended.
        for id in self._states.keys() - {job.id for job in jobs}:
            if self._states[id] not in _OVER:
                self._states[id] = "COMPLETED"
        self._say(there)
        return bool(there)

    def are_cancelled(self) -> bool:
        """Whether somebody has cancelled all of them."""
        return set(self._states.values()) == {"CANCELLED"}

    def nothing_done(self) -> SpillwayError:
        """The error that the jobs have ended without doing anything."""
        files = sorted(file for file in self._outputs.iterdir() if file.stem not in self._earlier)
        # Most jobs print the same.
        said: dict[str, Path] = {}
        for file in files:
            said.setdefault(last_lines(file.read_text(errors="replace")), file)
        parts = [f"{file}:\n{text or '(empty)'}" for text, file in list(said.items())[:3]]
        states = Counter(self._states.values())
        ends = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        text = f"the jobs have ended without a result ({ends or 'unknown to Slurm'})"
        if not parts:
            hint = f"can all nodes write to {self._outputs}?"
            return SpillwayError(f"{text} or any output", hint)
        return SpillwayError("\n\n".join([text, *parts]))

    def cancel(self, only_waiting: bool) -> None:
        """Cancels the jobs, or only those that have not begun. Tells the user of a failure."""
        if not self._is_known:
            return
        line = ["scancel", f"--name={self._name}", *self._where()]
        if only_waiting:
            line.append("--state=PENDING")
        for _ in range(3):
            try:
                self._ask(line)
                return
            except _SilentError as error:
                problem = error
            time.sleep(min(1.0, POLL_S))
        self._told(f"jobs may still run: {shlex.join(line)} has failed: {problem}")

    def _say(self, there: Sequence[_Job]) -> None:
        """Tells the user how many jobs run and wait, and for what, whenever that changes."""
        counts = Counter(
            "running" if job.state == "RUNNING" else f"{job.state.lower()} ({job.reason})"
            for job in there
        )
        said = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
        if said and said != self._said:
            self._told(f"Slurm: {said}")
            self._said = said

    def _output(self, job: str) -> str:
        try:
            return (self._outputs / f"{job}.out").read_text(errors="replace")
        except OSError:
            return ""

    def _most_in_array(self) -> int:
        try:
            settings = self._ask(("scontrol", "show", "config"))
        except _SilentError:
            settings = ""
        found = re.search(r"^MaxArraySize\s*=\s*(\d+)", settings, re.MULTILINE)
        return max(1, int(found[1])) if found else _MOST

    def _where(self) -> tuple[str, ...]:
        """The option that names the jobs' clusters, which may not be this machine's."""
        return (f"--clusters={','.join(sorted(self._clusters))}",) if self._clusters else ()

    def _ask(self, line: Sequence[str], given: str = "") -> str:
        """The output of a command of Slurm. Raises `_SilentError`."""
        try:
            # Its own session keeps Ctrl-C from reaching it.
            done = subprocess.run(
                line,
                input=given,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=ANSWER_S,
                start_new_session=True,
                check=False,
            )
        except FileNotFoundError as error:
            raise ScenarioError(
                f"there is no Slurm here: no {line[0]}",
                "start it on a machine from which jobs can be submitted",
            ) from error
        except subprocess.TimeoutExpired as error:
            raise _LateError(f"{line[0]} does not end") from error
        except OSError as error:
            raise _SilentError(f"{line[0]}: {error.strerror}") from error
        if done.returncode != 0:
            raise _SilentError(last_lines(done.stderr) or f"{line[0]} has failed")
        return done.stdout


_JOB = re.compile(r"\d+_\S+ [A-Z_]+ \S")
