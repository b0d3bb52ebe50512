"""The functions that Ray's nodes run. They get this file by value, so it imports no other."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

RESULTS, RUNS = "results", "runs"
"""Folders of an experiment that hold what workers write."""
CLAIMS = "claims"
_END_S = 60.0
"""How long a worker that is told to stop may take."""
_SAID = 4000
"""Bytes that are kept of what a worker prints, at its end."""


class Answer(NamedTuple):
    """How a worker has ended."""

    status: int
    said: str
    seconds: float
    files: dict[str, bytes]
    """What it has written, by path within the experiment; empty where the disk is shared."""


def in_place(folder: str, token: str, command: Sequence[str]) -> Answer | None:
    """Runs a worker in the experiment's folder; None if this node does not share it."""
    if not Path(folder, token).is_file():
        return None
    return Answer(*_run(command, Path(folder)), {})


def in_copy(
    folder: str, command: Sequence[str], files: dict[str, bytes], keys: Sequence[str]
) -> Answer:
    """Runs a worker for these keys, in a copy of the experiment's folder."""
    with tempfile.TemporaryDirectory(prefix="spillway-") as made:
        # Its files may name the folder, so the copy has the same name.
        copy = Path(made, Path(folder).name)
        copy.mkdir()
        write(copy, files)
        only = Path(made, "keys")
        only.write_text("".join(f"{key}\n" for key in keys))
        line = [str(copy) if part == folder else part for part in command]
        ended = _run([*line, "--only", str(only)], copy)
        written = [
            file
            for part in (RESULTS, RUNS)
            for file in sorted((copy / part).rglob("*"))
            if file.is_file() and not _is_passing(file.relative_to(copy))
        ]
        came = {file.relative_to(copy).as_posix(): file.read_bytes() for file in written}
        return Answer(*ended, came)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files by their paths within a folder."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _is_passing(file: Path) -> bool:
    """Whether a file is a claim, or a part of something that was not completed."""
    return file.parts[:2] == (RESULTS, CLAIMS) or any(
        part.endswith(".partial") for part in file.parts
    )


def _run(command: Sequence[str], folder: Path) -> tuple[int, str, float]:
    """Status, last output and seconds of a command, whose `python` is Ray's on this node."""
    begin = time.monotonic()
    line = [sys.executable if part == "python" else part for part in command]
    with tempfile.TemporaryFile() as output:
        worker = subprocess.Popen(
            line,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_ends_with_parent(),
        )
        try:
            while True:
                # Ray's way to cancel a task is an exception between two steps of Python.
                with suppress(subprocess.TimeoutExpired):
                    status = worker.wait(0.2)
                    break
        finally:
            if worker.poll() is None:
                worker.terminate()
                with suppress(subprocess.TimeoutExpired):
                    worker.wait(_END_S)
                worker.kill()
                worker.wait()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - _SAID))
        said = output.read().decode(errors="replace")
        return status, said, time.monotonic() - begin


def _ends_with_parent() -> Callable[[], object] | None:
    """A function that has Linux stop this process when its parent is killed; None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    on_death = 1  # PR_SET_PDEATHSIG
    return lambda: prctl(on_death, signal.SIGTERM)
