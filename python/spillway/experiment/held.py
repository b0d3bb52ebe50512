"""What an experiment's folder holds, and what may be added or removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from spillway.base.checksums import digest
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import INPUTS, check_place, is_result, taken, whole_file
from spillway.experiment.experiment import PLUGINS, RESULTS, TABLE
from spillway.experiment.manifest import FILE
from spillway.experiment.work import RUNS, whole_folder
from spillway.plugins.base import Plugin
from spillway.plugins.files import packed
from spillway.tasks import store
from spillway.tasks.claims import Claims
from spillway.tasks.segment import sync

_OWN = (FILE, TABLE, RUNS, INPUTS, PLUGINS, "slurm", RESULTS)


def is_one(folder: Path) -> bool:
    """Whether a folder holds an experiment."""
    return (folder / FILE).is_file()


def _is_begun(folder: Path) -> bool:
    """Whether a folder without a manifest is empty, or has results that a store has written."""
    names = {file.name for file in folder.iterdir() if not file.name.endswith(".partial")}
    inside = {file.name for file in folder.glob(f"{RESULTS}/*")}
    return not names or (bool(inside) and inside <= set(store.FOLDERS))


def check(folder: Path, force: bool) -> None:
    """Refuses a place that is taken by something else, or where nothing can be written."""
    check_place(folder)
    if not os.path.lexists(folder) or (is_one(folder) and not force):
        return
    is_begun = folder.is_dir() and (is_one(folder) or _is_begun(folder))
    if is_begun and not force:
        return
    if not force:
        raise taken(folder)
    if not is_begun and not is_result(folder):
        raise ScenarioError(
            f"{folder} is not a result and is not replaced",
            "only what an earlier run has written is replaced",
        )
    if Claims(folder / RESULTS / store.CLAIMS).others():
        raise ScenarioError(
            f"another process is at work in {folder}",
            "wait for it, or end it; claims of a machine that has died are in results/claims",
        )


def empty(folder: Path) -> None:
    """Removes what an experiment, or an earlier result, has written, and nothing else."""
    if not folder.is_dir():
        return
    everything = [file.name for file in folder.iterdir()]
    names = _OWN if is_one(folder) or _is_begun(folder) else everything
    # The manifest goes first: what is left is then no experiment.
    for name in names:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def copy(source: Path, place: Path) -> None:
    """Copies a file, unless there is a copy; its name tells what must be in it."""
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        with whole_file(place) as partial:
            shutil.copyfile(source, partial)
            sync(partial)
    if not digest(place).startswith(place.name.partition("-")[0]):
        raise SpillwayError(
            f"{place} is not what {source} was when it was read",
            "ask again, and do not change the file meanwhile; a damaged copy may be deleted",
        )


def pack(plugins: Sequence[type[Plugin]], folder: Path) -> None:
    """Copies plug-ins, unless there are copies; the folder's name tells what is in it."""
    if not folder.is_dir():
        with whole_folder(folder) as partial:
            packed(plugins, partial)
