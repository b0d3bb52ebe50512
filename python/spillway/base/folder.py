"""Output: written under another name, and renamed when it is complete.

A folder is written at `NAME.partial`, which its writer holds; a file under a name that no other
writer has, so that several may write the same one.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from spillway.base import checksums
from spillway.base.errors import FileError, ScenarioError

SUMMARY, SCENARIO, INPUTS = "summary.json", "scenario.toml", "inputs"
"""The contents of a result's folder besides tables."""
MARK = "INCOMPLETE"
"""The file in an incomplete folder that marks it as such; the folder's writer locks it."""


def path_of(given: object) -> Path:
    """A path that a user has given."""
    try:
        path = Path(given)  # type: ignore[arg-type]
        is_possible = b"\0" not in os.fsencode(path)
    except (TypeError, UnicodeError):
        is_possible = False
    if not is_possible:
        raise ScenarioError(f"{given!r} is no path")
    return path


def check_plain(file: Path) -> None:
    """Refuses an input that exists but is not a regular file, such as a device."""
    try:
        is_other = file.exists() and not file.is_file() and not file.is_dir()
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}") from error
    if is_other:
        raise FileError(f"{file} cannot be read: it is no plain file")


def check_file(file: Path) -> None:
    """Refuses a path where no file can be written, before any work is done."""
    _check_name(file)
    if not file.parent.is_dir():
        raise FileError(f"there is no folder {file.parent}", "make it first, or write elsewhere")
    if file.is_dir():
        raise FileError(f"{file} is a folder", "give the file a name of its own")
    if file.exists() and not file.is_file():
        raise FileError(f"{file} is no plain file", "give the file a name of its own")
    if checksums.lists(file):
        raise ScenarioError(f"{file} is part of a result, and is not replaced", _ELSEWHERE)
    check_folder(file.parent)


def check_folder(folder: Path) -> None:
    """Refuses a folder in which no file can be made, or which itself cannot be made."""
    above = folder
    try:
        places = (folder.absolute(), *folder.absolute().parents)
        above = next(place for place in places if os.path.lexists(place))
        if not above.is_dir():
            raise FileError(f"{above} is not a folder", _ELSEWHERE)
        # Permissions do not tell everything, so a nameless file is made.
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise FileError(f"{above} cannot be written to: {error.strerror}", _ELSEWHERE) from error
    _check_name(folder)


def check_place(folder: Path) -> None:
    """Refuses a path that cannot be a new folder's, or where none can be made."""
    if folder.name in ("", ".."):
        raise FileError(
            f"{folder} is not a folder to write to",
            "name a folder that is not there yet",
            typed="--out takes the name of a folder that is not there yet",
        )
    check_folder(folder.parent)
    _check_name(folder)


def _check_name(path: Path) -> None:
    """Refuses a name that no file can have, or that the writers of tables cannot handle."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise FileError(f"{path} cannot be written: it is not UTF-8", _ELSEWHERE) from None
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}", _ELSEWHERE) from error


_ELSEWHERE = "choose another place"


def taken(place: Path) -> ScenarioError:
    """The error that something is there already."""
    return ScenarioError(
        f"{place} is there already",
        "choose another place, or replace it with force=True",
        typed="choose another place with --out, or replace it with --force",
    )


def check_new_file(file: Path, force: bool, what: str, is_one: Callable[[Path], bool]) -> None:
    """As `check_file`; an existing file must be of this kind, and `force` must be given."""
    check_file(file)
    if not os.path.lexists(file):
        return
    if not force:
        raise taken(file)
    if file.exists() and not is_one(file):
        raise ScenarioError(
            f"{file} is not {what}, and is not replaced", f"only {what} is replaced"
        )


@contextmanager
def whole_file(file: Path, force: bool = True) -> Iterator[Path]:
    """A context in which a file is written under a name of its own, and renamed when complete.

    Without `force` a file that has come there meanwhile is not replaced.
    """
    partial = file.parent / f".{secrets.token_hex(8)}.partial"
    try:
        yield partial
        if force:
            _replace(partial, file)
        else:
            _put_new(partial, file)
    finally:
        partial.unlink(missing_ok=True)


def _replace(partial: Path, file: Path) -> None:
    """Renames. NFS may report a failure although it was done, so what is there decides."""
    number = partial.stat().st_ino
    try:
        partial.replace(file)
    except OSError:
        if partial.exists() or not file.exists() or file.stat().st_ino != number:
            raise


def _put_new(partial: Path, file: Path) -> None:
    try:
        os.link(partial, file)
    except FileExistsError:
        raise taken(file) from None
    except OSError:
        # Not all file systems have hard links.
        if os.path.lexists(file):
            raise taken(file) from None
        partial.replace(file)


class OutputFolder:
    """A context in which a folder is written at `partial`.

    It is renamed if the context ends without an error; otherwise nothing is left. If the process is
    killed, only `DIR.partial` is left, which the next run with the same output replaces.
    """

    def __init__(
        self,
        place: str | Path,
        force: bool = False,
        is_one: Callable[[Path], bool] | None = None,
        what: str = "a result",
    ) -> None:
        """With `force` it may replace a folder of the same kind, by default of results."""
        self.place = path_of(place)
        self._is_one = is_one or is_result
        self._what = what
        self.partial = self.place.parent / f"{self.place.name}.partial"
        self._old = self.place.parent / f"{self.place.name}.replaced"
        """The previous output while it is being replaced."""
        self.force = force
        self._lock = -1

    def check(self) -> None:
        """Refuses a path that is taken, or where nothing can be written."""
        check_place(self.place)
        _check_name(self.partial)
        if os.path.lexists(self._old) and not self._is_one(self._old):
            raise ScenarioError(f"{self._old} is there already, and no run's", "move it away")
        if not os.path.lexists(self.place):
            return
        if not self.force:
            raise taken(self.place)
        if (self.place / "experiment.json").is_file():
            raise ScenarioError(
                f"{self.place} is an experiment, and is not replaced by this",
                "choose another place, or take the folder away",
            )
        if not self._is_one(self.place):
            raise ScenarioError(
                f"{self.place} is not {self._what} and is not replaced",
                "only what an earlier run has written is replaced",
            )

    def __enter__(self) -> Self:
        self.check()
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            try:
                self.partial.mkdir()
            except FileExistsError:
                self._take_over()
        except OSError as error:
            raise FileError(f"{self.partial} cannot be made: {error}", _ELSEWHERE) from error
        try:
            self._lock = locked(self.partial / MARK)
        except OSError as error:
            shutil.rmtree(self.partial, ignore_errors=True)
            raise FileError(
                f"{self.partial} cannot be written to: {error.strerror}", _ELSEWHERE
            ) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            os.close(self._lock)
            shutil.rmtree(self.partial, ignore_errors=True)

    def _commit(self) -> None:
        checksums.write(self.partial, but=MARK)
        (self.partial / MARK).unlink()
        if os.path.lexists(self.place):
            self.check()
            shutil.rmtree(self._old, ignore_errors=True)
            self.place.rename(self._old)
            self.partial.rename(self.place)
            shutil.rmtree(self._old)
        else:
            self.partial.rename(self.place)

    def _take_over(self) -> None:
        """Empties what a killed run has left, and nothing else."""
        mark = self.partial / MARK
        if not mark.is_file():
            raise ScenarioError(
                f"{self.partial} is there already, and no run's",
                "move it away, or choose another place with --out",
            )
        lock = locked(mark)
        try:
            # Under a name of its own, since another run may make `partial` at once.
            old = self.partial.with_name(f".{secrets.token_hex(8)}.partial")
            self.partial.rename(old)
            shutil.rmtree(old)
            self.partial.mkdir()
        finally:
            os.close(lock)


def locked(mark: Path) -> int:
    """A mark that no other process can hold while it is open."""
    lock = os.open(mark, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another run may have put its own folder in this place before the lock was held.
        if os.fstat(lock).st_ino != mark.stat().st_ino:
            raise FileNotFoundError
    except OSError:
        os.close(lock)
        raise ScenarioError(
            f"another run is writing to {mark.parent}",
            "wait for it, or choose another place with --out",
        ) from None
    try:
        os.truncate(lock, 0)
        os.write(lock, b"The run that writes here has not ended: this is no result.\n")
    except OSError:
        os.close(lock)
        raise
    return lock


def is_result(place: Path) -> bool:
    """Whether a folder holds a result, or nothing."""
    return place.is_dir() and ((place / SUMMARY).is_file() or not any(place.iterdir()))
