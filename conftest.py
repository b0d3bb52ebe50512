"""Fixtures: the command line within a process and as one, and a run of a tiny scenario."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import spillway
from spillway import cli
from support import TINY, Outcome


def pytest_sessionstart() -> None:
    """Ctrl-C means what it says, also in the background of a shell, which mutes it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        status = cli.invoke([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(status, out, err)

    return run


@pytest.fixture
def start(tmp_path: Path):
    """Starts a command as a process of its own."""
    running: list[subprocess.Popen[str]] = []

    def run(*arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "spillway", *map(str, arguments)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def tiny() -> spillway.Result:
    """A run of the tiny scenario, its tables in memory."""
    return spillway.run(TINY)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch):
    """Puts a formula in the place of the simulations of `spillway.tune`; each takes a second."""
    from spillway.tuning import confirm, search
    from tune_runs import fake

    def put(formula):
        made = fake(formula)
        monkeypatch.setattr(search, "Runs", made)
        monkeypatch.setattr(confirm, "Runs", made)
        return made

    return put
