"""Records of one writer: a file that only grows, one line for each record.

A line is the CRC-32 of what follows as eight digits, a key, and a JSON document; empty lines lie
between. A writer that was killed, or a full disk, leaves at most a part of the last line, which
readers pass over; damage of one line does not reach the next.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

SYNC_S = 1.0
"""Records are on the disk after this time."""
END = ".log"
OVER = "."
"""The key of the last record of a writer that has ended in order."""
_KEY = re.compile(r"[A-Za-z0-9_.=-]+")


class Place(NamedTuple):
    """Where a record is."""

    key: str
    file: Path
    offset: int
    length: int


class Segment:
    """A writer's file, made when the first record is written."""

    def __init__(self, folder: Path, synced: Callable[[], object] = lambda: None) -> None:
        """`synced` is called whenever all that was written is on the disk."""
        self._folder = folder
        self._told = synced
        self._lock = threading.Lock()
        self._file = -1
        self.path = folder
        """The file, once there is one."""
        self._size = 0
        self._synced = 0.0
        self._later: threading.Timer | None = None
        self._failed: OSError | None = None

    def append(self, key: str, document: Any) -> Place:
        """Writes a record. If that fails, nothing of it is left, or a part that readers pass over.

        Raises `OSError`, also if what was written before could not be synced.
        """
        line = _line(key, document)
        with self._lock:
            self._raise()
            if self._file < 0 or not os.fstat(self._file).st_nlink:
                self._close()
                self._open()
            offset = self._size
            try:
                _write(self._file, line)
            except OSError:
                # The next record must not follow a part of this one on the same line.
                self._close()
                raise
            self._size += len(line)
            self._sync_soon()
            return Place(key, self.path, offset, len(line))

    def close(self) -> None:
        """Syncs and closes the file; another record would begin a new one.

        Raises `OSError`.
        """
        with self._lock:
            if self._file >= 0 and self._failed is None:
                # Without this record readers only look at the file again and again.
                with suppress(OSError):
                    _write(self._file, _line(OVER, None))
            self._close()
            self._raise()

    def _raise(self) -> None:
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    def _open(self) -> None:
        made(self._folder)
        self.path = self._folder / f"{secrets.token_hex(8)}{END}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o644)
        self._size = 0
        sync(self._folder)

    def _close(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._file >= 0:
            self._sync()
            os.close(self._file)
            self._file = -1

    def _sync(self) -> None:
        """Syncs. The next record, or the end, raises a failure."""
        try:
            os.fsync(self._file)
        except OSError as error:
            self._failed = error
            return
        self._synced = time.monotonic()
        self._told()

    def _sync_soon(self) -> None:
        """Syncs now if the last sync was long ago, else a second after it."""
        since = time.monotonic() - self._synced
        if since >= SYNC_S:
            self._sync()
        elif self._later is None:
            self._later = threading.Timer(SYNC_S - since, self._sync_later)
            self._later.daemon = True
            self._later.start()

    def _sync_later(self) -> None:
        with self._lock:
            self._later = None
            if self._file >= 0:
                self._sync()


def made(folder: Path) -> None:
    """Makes a folder that is still there after a loss of power."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        sync(folder.parent)


def sync(path: Path) -> None:
    """Brings a file, or the names in a folder, to the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]


def places(file: Path, offset: int) -> tuple[list[Place], int, int]:
    """The records from an offset on, where to go on later, and how many lines are damaged."""
    try:
        with file.open("rb") as content:
            content.seek(offset)
            lines = content.read().split(b"\n")
    except FileNotFoundError:
        return [], offset, 0
    found, damaged = [], 0
    # Behind the last line feed there is nothing, or what is not whole yet.
    for line in lines[:-1]:
        record = _read(line)
        if record is not None:
            found.append(Place(record[0], file, offset, len(line) + 1))
        elif line:
            damaged += 1
        offset += len(line) + 1
    return found, offset, damaged


def document(place: Place) -> Any:
    """The document of a record. Raises `ValueError` if it is damaged, or there is none."""
    try:
        with place.file.open("rb") as content:
            content.seek(place.offset)
            record = _read(content.read(place.length).strip(b"\n"))
    except OSError as error:
        raise ValueError(str(error)) from error
    if record is None or record[0] != place.key:
        raise ValueError(f"{place.file} is damaged")
    return json.loads(record[1])


def segments(folder: Path) -> list[Path]:
    """All files of records in a folder."""
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == END)
    except FileNotFoundError:
        return []


def _line(key: str, document: Any) -> bytes:
    assert _KEY.fullmatch(key), key
    body = f"{key} {json.dumps(document, separators=(',', ':'))}".encode()
    return b"\n%08x %s\n" % (zlib.crc32(body), body)


def _read(line: bytes) -> tuple[str, bytes] | None:
    """Key and document of a line; None if it is damaged."""
    sum_, _, body = line.partition(b" ")
    key, space, text = body.partition(b" ")
    if not space or sum_ != b"%08x" % zlib.crc32(body):
        return None
    return key.decode(), text
