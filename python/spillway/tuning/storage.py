"""Where a study is kept: a file of SQLite, a journal, or a database that several machines share."""

from __future__ import annotations

import contextlib
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import check_file
from spillway.tuning import seal
from spillway.tuning.goal import Direction

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage

FILE = "study.db"
"""The study in a folder, if it is kept nowhere else."""
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
"""What Optuna raises where it is given what it has not written; it checks nothing."""
_REACH = "check the address, and whether the database can be reached"
_SECRETS = ("password", "passwd", "sslpassword")
"""What is a password in the query of an address."""


def storage(where: str | Path) -> BaseStorage:
    """The storage at an address such as `postgresql://...`, or in a journal `NAME.journal`.

    A path with another ending is a file of SQLite.
    """
    import optuna

    text = str(where)
    is_address = "://" in text
    with failures(text, _REACH if is_address else _GO_ON), warnings.catch_warnings():
        # Journals are marked as experimental.
        warnings.simplefilter("ignore")
        if is_address:
            return _database(text)
        check_file(Path(text))
        if text.endswith(_JOURNAL):
            from spillway.tuning import journal

            return journal.opened(text)
        return optuna.storages.RDBStorage(f"sqlite:///{text}")


def _database(address: str) -> BaseStorage:
    """A database, in which tables are made where there are none.

    Another worker may make them at the same moment; then the second attempt finds them.
    """
    import optuna
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

    try:
        make_url(address)
    except (ArgumentError, ValueError):
        hint = "for one: postgresql://user:password@host/name"
        raise ScenarioError(f"{shown(address)} is no address of a database", hint) from None
    for pause_s in _PAUSES_S:
        try:
            return optuna.storages.RDBStorage(address)
        except ImportError as error:
            raise SpillwayError(
                f"the driver of {shown(address)} is not installed: {error.__cause__ or error}",
                "install it beside Spillway, or name another one: postgresql+DRIVER://...",
            ) from error
        except DBAPIError as error:
            if not isinstance(error, IntegrityError) and "already exists" not in str(error):
                raise
            time.sleep(pause_s)
    return optuna.storages.RDBStorage(address)


def check(where: str) -> None:
    """Refuses what is neither an address nor a journal."""
    if "://" not in where and not where.endswith(_JOURNAL):
        hint = f"a journal, NAME{_JOURNAL}, or an address such as postgresql://..."
        raise ScenarioError(f"{shown(where)!r} is no storage that several can share", hint)


def open_study(where: str | Path | None, name: str, directions: Sequence[Direction]) -> Study:
    """The study of this name, which is begun if it is not there; without a place in memory."""
    import optuna

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
            text = f"the study in {shown(str(where))} is damaged: {error}"
            hint = "keep the study elsewhere, or put a copy in its place"
            raise SpillwayError(text, hint) from error
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
    """A context in which a storage that fails is an error of ours."""
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        cause = error.__cause__ or error
        text = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
        told = f"the study in {shown(where)} cannot be kept: {text}"
        if any(damage in text for damage in _DAMAGES):
            told = f"the study in {shown(where)} cannot be read: {text}"
            hint = "what it holds is lost: begin anew with another --out or --storage"
        raise SpillwayError(told, hint) from error
