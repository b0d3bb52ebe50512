"""Where a study is kept: a file of SQLite, a journal, or a database that several machines share."""

from __future__ import annotations

import contextlib
import json
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna import Study
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import check_file
from spillway.tuning import seal
from spillway.tuning.goal import Direction

FILE = "study.db"
"""The file of a study in its folder, if no other storage is given."""
_JOURNAL = ".journal"
_PAUSES_S = (0.2, 0.5, 1.0, 2.0)
_GO_ON = "the same command goes on from what has been written"
_DAMAGES = (
    "disk image is malformed",
    "malformed database schema",
    "is not a database",
    "Could not decode",
)
"""What SQLite says of a damaged file."""
_UNREADABLE = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that Optuna raises when it reads data that it did not write: it does not check them."""
_REACH = "check the address, and whether the database can be reached"
_SECRETS = ("password", "passwd", "sslpassword")
"""The keys of passwords in the query of an address."""


def storage(where: str | Path) -> BaseStorage:
    """The storage at an address such as `postgresql://...`, or in a journal `NAME.journal`.

    A path with another ending is a file of SQLite.
    """
    text = str(where)
    is_address = "://" in text
    with failures(text, _REACH if is_address else _GO_ON), warnings.catch_warnings():
        # Journals are marked as experimental.
        warnings.simplefilter("ignore")
        if is_address:
            return _database(text)
        check_file(Path(text))
        if text.endswith(_JOURNAL):
            return _journal(text)
        return RDBStorage(f"sqlite:///{text}")


def _database(address: str) -> BaseStorage:
    """A database, in which tables are made where there are none.

    Another worker may make them at the same moment; then the second attempt finds them.
    """
    try:
        make_url(address)
    except (ArgumentError, ValueError):
        raise ScenarioError(
            f"{shown(address)} is no address of a database",
            "for one: postgresql://user:password@host/name",
        ) from None
    for pause_s in _PAUSES_S:
        try:
            return RDBStorage(address)
        except ImportError as error:
            raise SpillwayError(
                f"the driver of {shown(address)} is not installed: {error.__cause__ or error}",
                "install it beside Spillway, or name another one: postgresql+DRIVER://...",
            ) from error
        except DBAPIError as error:
            if not isinstance(error, IntegrityError) and "already exists" not in str(error):
                raise
            time.sleep(pause_s)
    return RDBStorage(address)


def check(where: str) -> None:
    """Refuses what is neither an address nor a journal."""
    if "://" not in where and not where.endswith(_JOURNAL):
        raise ScenarioError(
            f"{shown(where)!r} is no storage that several can share",
            f"a journal, NAME{_JOURNAL}, or an address such as postgresql://...",
        )


def open_study(where: str | Path | None, name: str, directions: Sequence[Direction]) -> Study:
    """The study of this name, which is begun if it is not there; without a place in memory."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kept = None if where is None else storage(where)
    with failures(str(where)):
        try:
            names = [] if kept is None else optuna.get_all_study_names(kept)
            if names and str(where).endswith(FILE) and name not in names:
                raise seal.DamagedError(f"it is called {names[0]!r}")
            study = optuna.create_study(
                storage=kept, study_name=name, directions=directions, load_if_exists=True
            )
            if [each.name.lower() for each in study.directions] != list(directions):
                raise seal.DamagedError("it has other goals")
            seal.check(study)
        except _UNREADABLE as error:
            raise SpillwayError(
                f"the study in {shown(str(where))} is damaged: {error}",
                "keep the study elsewhere, or put a copy in its place",
            ) from error
        return study


def shown(where: str) -> str:
    """A storage as it may be printed: without a password.

    >>> shown("postgresql://me:secret@host/x"), shown("mysql://h:a/x?password=secret&a=b")
    ('postgresql://me:***@host/x', 'mysql://h:a/x?password=***&a=b')
    """
    within = "|".join(_SECRETS)
    hidden = re.sub(rf"([?&](?:{within})=)[^&]*", r"\1***", where, flags=re.IGNORECASE)
    return re.sub(r":(?!//).*@", ":***@", hidden)


@contextlib.contextmanager
def failures(where: str, hint: str = _GO_ON) -> Iterator[None]:
    """A context in which failures of a storage are raised as `SpillwayError`."""
    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        cause = error.__cause__ or error
        text = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
        told = f"the study in {shown(where)} cannot be kept: {text}"
        if any(damage in text for damage in _DAMAGES):
            told = f"the study in {shown(where)} cannot be read: {text}"
            hint = "what it holds is lost: begin anew with another --out or --storage"
        raise SpillwayError(told, hint) from error


# Journals -----------------------------------------------------------------------------------------


_BEGIN = b'{"op_code":'
"""The beginning of every line."""


class DamagedJournalError(SpillwayError):
    """A file that is no journal, or one that is damaged elsewhere than in a last, partial line."""

    def __init__(self, file: str, line: int | None = None) -> None:
        where = "" if line is None else f" in line {line}"
        super().__init__(
            f"{file} is no journal of a study, or is damaged{where}",
            "keep the study elsewhere, or put a copy in its place",
        )


class _Lock(JournalFileSymlinkLock):
    """The lock for appending; whoever has it finds only whole lines.

    Optuna appends to whatever is there. If the last line was cut off in the middle, by a full disk
    or a loss of power, the next one joins it, and nothing can be read any more. So whoever holds
    the lock, and is about to append, removes such a line first: what it says has not happened.
    """

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
    """Optuna's backend, whose failures count as failures of a storage."""

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
            raise DamagedJournalError(self._file) from error


def _journal(file: str) -> JournalStorage:
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
        raise DamagedJournalError(file) from error


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
            raise DamagedJournalError(file)
        content.truncate(size - len(partial))


def _check(file: str) -> None:
    """Refuses a journal with a line that no study has written."""
    for number, line in enumerate(Path(file).read_bytes().splitlines(), 1):
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not {"op_code", "worker_id"} <= found.keys():
            raise DamagedJournalError(file, number)
