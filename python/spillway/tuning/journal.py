"""A study as a journal: a file of lines to which several append, also after a full disk.

Optuna's own appends to whatever is there. If the last line was cut off in the middle, by a full
disk or a loss of power, the next one joins it, and nothing can be read any more. So whoever holds
the lock, and is about to append, takes such a line away first: what it says has not happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optuna.exceptions import StorageInternalError
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from spillway.base.errors import SpillwayError

_BEGIN = b'{"op_code":'
"""What every line begins with."""


class DamagedError(SpillwayError):
    """A file that is no journal, or one that is damaged elsewhere than in a last, partial line."""

    def __init__(self, file: str, line: int | None = None) -> None:
        where = "" if line is None else f" in line {line}"
        super().__init__(
            f"{file} is no journal of a study, or is damaged{where}",
            "keep the study elsewhere, or put a copy in its place",
        )


class _Lock(JournalFileSymlinkLock):
    """The lock of those who append; whoever has it finds whole lines only."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._file = file

    def acquire(self) -> bool:
        found = super().acquire()
        try:
            _cut(self._file)
        except BaseException:
            self.release()
            raise
        return found


class _Backend(JournalFileBackend):
    """Optuna's, whose failures are those of a storage."""

    def __init__(self, file: str) -> None:
        self.lock = _Lock(file)
        self._file = file
        super().__init__(file, self.lock)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        try:
            super().append_logs(logs)
        except OSError as error:
            raise StorageInternalError(str(error)) from error

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        try:
            yield from super().read_logs(log_number_from)
        except ValueError as error:
            raise DamagedError(self._file) from error


def opened(file: str) -> JournalStorage:
    """The study of a journal, which is begun if it is not there. Refuses what is no journal."""
    backend = _Backend(file)
    try:
        backend.lock.acquire()
        try:
            _check(file)
        finally:
            backend.lock.release()
        return JournalStorage(backend)
    except (OSError, SpillwayError, StorageInternalError):
        raise
    except Exception as error:
        # Optuna checks nothing of what it reads.
        raise DamagedError(file) from error


def _cut(file: str) -> None:
    """Takes away a last line that was not written to its end."""
    with Path(file).open("r+b") as content:
        size = content.seek(0, 2)
        content.seek(max(0, size - 1))
        if content.read(1) in (b"", b"\n"):
            return
        content.seek(0)
        partial = content.read().rpartition(b"\n")[2]
        # After a loss of power what was not written may be zeros.
        written = partial.rstrip(b"\0")[: len(_BEGIN)]
        if not _BEGIN.startswith(written):
            raise DamagedError(file)
        content.truncate(size - len(partial))


def _check(file: str) -> None:
    """Refuses a journal with a line that no study has written."""
    for number, line in enumerate(Path(file).read_bytes().splitlines(), 1):
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not {"op_code", "worker_id"} <= found.keys():
            raise DamagedError(file, number)
