"""Records of one writer: a file that only grows, one line for each record.

A line is the CRC-32 of what follows as eight digits, a key, and a JSON document. A writer that was
killed, or a full disk, leaves at most a part of the last line, which readers pass over; a line that
was damaged does not hide those behind it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SYNC_S = 1.0
"""What is written is on the disk after this time."""
END = ".log"
_KEY = re.compile(r"[A-Za-z0-9_.=-]+")


class Place(NamedTuple):
    """Where a record is."""

    key: str
    file: Path
    offset: int
    length: int


class Segment:
    """A writer's file, made when the first record is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._file = -1
        self.path = folder
        """The file, once there is one."""
        self._size = 0
        self._synced = 0.0
        self._later: threading.Timer | None = None

    def append(self, key: str, document: Any) -> Place:
        """Writes a record. If that fails, nothing of it is left, or a part that readers pass over.

        Raises `OSError`.
        """
        line = _line(key, document)
        with self._lock:
            if self._file < 0:
                self._open()
            offset = self._size
            try:
                written = os.write(self._file, line)
                if written < len(line):
                    os.write(self._file, line[written:])
            except OSError:
                # The next record must not follow a part of this one on the same line.
                self._close()
                raise
            self._size += len(line)
            self._sync_soon()
            return Place(key, self.path, offset, len(line))

    def close(self) -> None:
        """Syncs and closes the file; another record would begin a new one."""
        with self._lock:
            self._close()

    def _open(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self.path = self._folder / f"{secrets.token_hex(8)}{END}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o644)
        self._size = 0
        # So that the file itself is there after a loss of power.
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _close(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._file >= 0:
            file, self._file = self._file, -1
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def _sync_soon(self) -> None:
        """Syncs now if that was long ago, else a second after the last time."""
        since = time.monotonic() - self._synced
        if since >= SYNC_S:
            os.fsync(self._file)
            self._synced = time.monotonic()
        elif self._later is None:
            self._later = threading.Timer(SYNC_S - since, self._sync)
            self._later.daemon = True
            self._later.start()

    def _sync(self) -> None:
        with self._lock:
            self._later = None
            if self._file >= 0:
                os.fsync(self._file)
                self._synced = time.monotonic()


def places(file: Path, offset: int) -> tuple[list[Place], int, int]:
    """The records from an offset on, where to go on later, and how many lines are damaged."""
    with file.open("rb") as content:
        content.seek(offset)
        lines = content.read().split(b"\n")
    found, damaged = [], 0
    # Behind the last line feed there is nothing, or what is not whole yet.
    for line in lines[:-1]:
        record = _read(line)
        if record is None:
            damaged += 1
        else:
            found.append(Place(record[0], file, offset, len(line) + 1))
        offset += len(line) + 1
    return found, offset, damaged


def document(place: Place) -> Any:
    """The document of a record. Raises `ValueError` if it is damaged, or there is none."""
    try:
        with place.file.open("rb") as content:
            content.seek(place.offset)
            record = _read(content.read(place.length).rstrip(b"\n"))
    except OSError as error:
        raise ValueError(str(error)) from error
    if record is None or record[0] != place.key:
        raise ValueError(f"{place.file} is damaged")
    return json.loads(record[1])


def segments(folder: Path) -> Iterator[tuple[Path, int]]:
    """All files of records in a folder, and their sizes."""
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.endswith(END)]
    except FileNotFoundError:
        return
    for entry in sorted(entries, key=lambda entry: entry.name):
        yield Path(entry.path), entry.stat().st_size


def _line(key: str, document: Any) -> bytes:
    assert _KEY.fullmatch(key), key
    body = f"{key} {json.dumps(document, separators=(',', ':'))}".encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(line: bytes) -> tuple[str, bytes] | None:
    """Key and document of a line; None if it is damaged."""
    sum_, _, body = line.partition(b" ")
    key, space, text = body.partition(b" ")
    if not space or sum_ != b"%08x" % zlib.crc32(body):
        return None
    return key.decode(), text
