"""Results by their keys, in a folder that several processes may share.

segments/   records: the results (`segment`)
files/      what is too large for a record, a file for each key, complete when it is there
claims/     who computes what now (`claims`)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from spillway.base.folder import check_folder, whole_file
from spillway.tasks.claims import Claims
from spillway.tasks.segment import OVER, Place, Segment, document, made, places, segments, sync

SEGMENTS, FILES, CLAIMS = FOLDERS = ("segments", "files", "claims")
"""The folders of a store."""


class Store:
    """Results that are kept, and found again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = Claims(folder / CLAIMS)
        self.damaged = 0
        """Lines that were passed over since their checksum is wrong."""
        self._own = Segment(folder / SEGMENTS, self._release)
        self._read: dict[Path, int] = {}
        self._over: set[Path] = set()
        self._put: list[str] = []
        self._places: dict[str, Place] = {}
        self._lock = threading.Lock()

    def check(self) -> None:
        """Refuses a folder that cannot be used, before anything is computed."""
        for name in FOLDERS:
            check_folder(self.folder / name)

    def refresh(self) -> list[str]:
        """Finds results that others have added since the last call. Returns their keys."""
        new = []
        with self._lock:
            for file in segments(self.folder / SEGMENTS):
                if file in self._over or file == self._own.path:
                    continue
                found, self._read[file], damaged = places(file, self._read.get(file, 0))
                self.damaged += damaged
                for place in found:
                    if place.key == OVER:
                        self._over.add(file)
                    else:
                        self._places[place.key] = place
                        new.append(place.key)
        return new

    def has(self, key: str) -> bool:
        """Whether there is a result, as far as the last `refresh` has seen."""
        return key in self._places

    def get(self, key: str) -> Any:
        """The result of a key, None if there is none that can be read."""
        place = self._places.get(key)
        if place is None:
            return None
        try:
            return document(place)
        except ValueError:
            self.forget(key)
            return None

    def forget(self, key: str) -> None:
        """Ignores a result from now on, since it turned out to be damaged."""
        with self._lock:
            self._places.pop(key, None)

    def put(self, key: str, result: Any, write: Callable[[Path], object] | None = None) -> None:
        """Keeps a result: a document of JSON and, if `write` is given, what it writes to a file.

        A claim is let go of when the result is on the disk. Raises `OSError`.
        """
        if write is not None:
            folder = self.file(key).parent
            made(folder)
            with whole_file(self.file(key)) as partial:
                write(partial)
                sync(partial)
            sync(folder)
        place = self._own.append(key, result)
        with self._lock:
            self._places[key] = place
            self._put.append(key)

    def file(self, key: str) -> Path:
        """Where the file of a result is, if it has one."""
        return self.folder / FILES / key

    def tidy(self) -> None:
        """Removes claims of keys with a result: a killed process may have left them."""
        with suppress(FileNotFoundError):
            for file in (self.folder / CLAIMS).iterdir():
                if self.has(file.name):
                    file.unlink(missing_ok=True)

    def close(self) -> None:
        """Syncs what was written, and lets go of all claims. Raises `OSError`."""
        try:
            self._own.close()
        finally:
            self.claims.close()

    def _release(self) -> None:
        with self._lock:
            put, self._put = self._put, []
        for key in put:
            self.claims.release(key)


class Memory:
    """Results that last as long as the process."""

    def __init__(self) -> None:
        self.claims = Alone()
        self._results: dict[str, Any] = {}

    def refresh(self) -> list[str]:
        """Keys that other processes have added: always none, since memory is not shared."""
        return []

    def has(self, key: str) -> bool:
        """Whether there is a result."""
        return key in self._results

    def get(self, key: str) -> Any:
        """The result of a key, None if there is none."""
        return self._results.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keeps a result."""
        self._results[key] = result

    def close(self) -> None:
        """There is nothing to be synced."""


class Alone:
    """Claims where nobody else claims anything."""

    def take(self, key: str) -> bool:  # noqa: ARG002
        """The key is free."""
        return True

    def release(self, key: str) -> None:
        """Lets go of a key."""
