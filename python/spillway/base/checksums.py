"""Checksums, by which files that have changed since they were written are noticed.

Parquet files contain their own checksum (`spillway.base.parquet`). A folder of results lists those
of all its files in SHA256SUMS, which `sha256sum --check` reads, too.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from pathlib import Path

from spillway.base.errors import FileError, UncheckedWarning

FILE = "SHA256SUMS"


def digest(file: Path) -> str:
    """The checksum of a file's content."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write(folder: Path, but: str) -> None:
    """Lists all files of a folder except one; subfolders with a list of their own keep it."""
    names = []
    for here, folders, files in os.walk(folder):
        within = Path(here)
        folders[:] = [name for name in folders if not (within / name / FILE).is_file()]
        names += [within / name for name in files]
    listed = {file.relative_to(folder).as_posix(): digest(file) for file in names}
    listed.pop(but, None)
    lines = [f"{listed[name]}  {name}\n" for name in sorted(listed)]
    (folder / FILE).write_text("".join(lines), encoding="utf-8")


def check(folder: Path, *names: str) -> None:
    """Refuses files of a folder that differ from what was written.

    A name that ends in a slash stands for everything that was written to that folder or is there
    now. A folder without a list is accepted, with a warning.
    """
    found = listed(folder)
    if found is None:
        text = f"{folder} has no {FILE}: damage to what is there would not be noticed"
        warnings.warn(UncheckedWarning(text), stacklevel=3)
        return
    wanted = [name for name in names if not name.endswith("/")]
    for within in set(names).difference(wanted):
        wanted += {f"{within}{name}" for name in names_in(folder / within)}
        wanted += {name for name in found if name.startswith(within)}
    for name in sorted(set(wanted)):
        file = folder / name
        hint = f"it is damaged, or was changed by hand: `sha256sum --check {FILE}` tells all"
        if name not in found:
            raise FileError(f"{file} is not in {folder / FILE}", hint)
        if not file.is_file() or digest(file) != found[name]:
            raise FileError(f"{file} is not what was written there", hint)


def names_in(folder: Path) -> set[str]:
    """The files of a folder, by their paths in it, without Python's bytecode caches."""
    found: set[str] = set()
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found |= {(Path(here) / name).relative_to(folder).as_posix() for name in files}
    return found


def listed(folder: Path) -> dict[str, str] | None:
    """The checksums of what was written to a folder, by paths in it; `None` without a list."""
    file = folder / FILE
    if not file.is_file():
        return None
    found = {}
    for line in file.read_bytes().splitlines():
        match = re.fullmatch(rb"([0-9a-f]{64})  (.+)", line)
        if match is None:
            raise FileError(f"{file} is damaged: it is no list of checksums")
        found[os.fsdecode(match[2])] = match[1].decode()
    return found


def is_whole(folder: Path) -> bool:
    """Whether all files that were written to a folder are there, whatever is in them."""
    found = listed(folder)
    return found is not None and all((folder / name).is_file() for name in found)


def lists(file: Path) -> bool:
    """Whether a file was written to a folder of results."""
    return file.name == FILE or file.name in (listed(file.parent) or ())
