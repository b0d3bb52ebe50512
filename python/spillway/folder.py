"""Output: written beside its place as `NAME.partial`, and renamed when whole."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from spillway import checksums
from spillway.errors import ScenarioError

SUMMARY, SCENARIO, INPUTS = "summary.json", "scenario.toml", "inputs"
"""What a result's folder has beside tables."""
_MARK = "INCOMPLETE"


def check_file(file: Path) -> None:
    """Refuses a place where no file can be written, before anything is done for it."""
    if not file.parent.is_dir():
        raise ScenarioError(
            f"there is no folder {file.parent}", "make it first, or write elsewhere"
        )
    if file.is_dir():
        raise ScenarioError(f"{file} is a folder", "give the file a name of its own")
    if file.exists() and not file.is_file():
        raise ScenarioError(f"{file} is no plain file", "give the file a name of its own")


def check_new_file(file: Path, force: bool) -> None:
    """The same, and a file that is there unless `force` is given."""
    check_file(file)
    if os.path.lexists(file) and not force:
        hint = "choose another place with --out, or replace it with --force"
        raise ScenarioError(f"{file} is there already", hint)


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A context in which a file is written as `FILE.partial`; it is renamed when it is whole."""
    partial = file.with_name(file.name + ".partial")
    try:
        yield partial
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


class OutputFolder:
    """A context in which a folder is written at `partial`.

    It takes its place when the context ends well. When it does not, nothing is left; when the
    process is killed, only `DIR.partial` is, which the next run to the same place replaces.
    """

    def __init__(self, place: str | Path, force: bool = False) -> None:
        self.place = Path(place)
        self.partial = self.place.with_name(self.place.name + ".partial")
        self.force = force
        self._lock = -1

    def check(self) -> None:
        """Refuses a place that is taken."""
        if not self.place.name:
            raise ScenarioError(f"{self.place} is not a folder to write to", "give --out a name")
        above = next(each for each in self.place.absolute().parents if os.path.lexists(each))
        if not above.is_dir():
            raise ScenarioError(f"{above} is not a folder", "choose another place with --out")
        if not os.access(above, os.W_OK | os.X_OK):
            raise ScenarioError(f"{above} may not be written to", "choose another place with --out")
        if not os.path.lexists(self.place):
            return
        if not self.force:
            hint = "choose another place with --out, or replace it with --force"
            raise ScenarioError(f"{self.place} is there already", hint)
        if not _is_result(self.place):
            hint = "--force replaces only what an earlier run has written"
            raise ScenarioError(f"{self.place} is not a result and is not replaced", hint)

    def __enter__(self) -> Self:
        self.check()
        self.place.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.partial.mkdir()
        except FileExistsError:
            self._take_over()
        self._lock = _locked(self.partial / _MARK)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            os.close(self._lock)
            shutil.rmtree(self.partial, ignore_errors=True)

    def _commit(self) -> None:
        checksums.write(self.partial, but=_MARK)
        (self.partial / _MARK).unlink()
        if os.path.lexists(self.place):
            self.check()
            old = self.place.with_name(self.place.name + ".replaced")
            shutil.rmtree(old, ignore_errors=True)
            self.place.rename(old)
            self.partial.rename(self.place)
            shutil.rmtree(old)
        else:
            self.partial.rename(self.place)

    def _take_over(self) -> None:
        """Empties what a killed run has left, and only that."""
        mark = self.partial / _MARK
        if not mark.is_file():
            hint = "move it away, or choose another place with --out"
            raise ScenarioError(f"{self.partial} is there already, and no run's", hint)
        os.close(_locked(mark))
        shutil.rmtree(self.partial)
        self.partial.mkdir()


def _locked(mark: Path) -> int:
    """A mark that no other process can hold as long as it is open."""
    lock = os.open(mark, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        hint = "wait for it, or choose another place with --out"
        raise ScenarioError(f"another run is writing to {mark.parent}", hint) from None
    os.truncate(lock, 0)
    os.write(lock, b"The run that writes here has not ended: this is no result.\n")
    return lock


def _is_result(place: Path) -> bool:
    return place.is_dir() and ((place / SUMMARY).is_file() or not any(place.iterdir()))
