"""Results gathered on one self-contained HTML page.

Each kind of results has a `Section`, which says what the page shows of it. Rooms name theirs as
entry points of the group `spillway.report`.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from markupsafe import Markup

from spillway.base import core
from spillway.base.documents import documents
from spillway.base.errors import FileError, ScenarioError
from spillway.base.extensions import GET_STUDIES, loaded
from spillway.base.folder import SUMMARY, check_new_file, whole_file
from spillway.show.pages import render

_MARK = b"<title>Spillway: results</title>"
"""A text near the beginning of every such page, and of no other file."""

Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Section:
    """One kind of results on a page."""

    kind: str
    """The plural of its name, as messages use it."""
    one: str
    rank: int
    """Its place on the page."""
    is_one: Callable[[Document], bool]
    """Whether a summary is of this kind."""
    article: Callable[[Document], Markup]
    """What the page shows of one result, given its summary with its `path`, `file` and `toml`."""
    about: Callable[[Path, Document], Document] = lambda _, document: document
    """Adds to a summary what else of its folder the page needs."""
    title: Callable[[Document], str] = lambda entry: str(entry["path"])
    above: Callable[[Sequence[Document]], Markup] | None = None
    """What the page shows above all results of the kind."""
    mark: str = SUMMARY
    """The file by which such a folder is found. If it is no summary, it is not read here."""


@cache
def sections() -> tuple[Section, ...]:
    """All kinds that are installed, in the order of the page."""
    found = loaded("spillway.report", warnings.warn).values()
    return tuple(sorted(filter(None, found), key=lambda section: section.rank))


def write(folders: Path | Sequence[Path], file: Path, force: bool = False) -> dict[str, Any]:
    """Writes a page about a folder, or about several, and returns what is on it."""
    places = [folders] if isinstance(folders, Path) else folders
    for folder in places:
        if not folder.is_dir():
            raise FileError(f"there is no folder {folder}", "name one that has results in it")
    check_new_file(file, force, "a report", is_one)
    every: dict[str, list[Document]] = {section.kind: [] for section in sections()}
    seen: set[Path] = set()
    for folder in places:
        is_there_already = any(summary.parent.resolve() in seen for summary in _summaries(folder))
        found = gather(folder, is_one_of_several=len(places) > 1, seen=seen)
        if not any(found.values()) and not is_there_already:
            raise ScenarioError(
                f"there are no results in {folder}",
                "`spillway reproduce`, `run`, `compare` and `tune` write results with --out",
            )
        for kind, entries in found.items():
            every[kind] += entries
    content = page(every)
    with whole_file(file, force) as partial:
        partial.write_bytes(content)
    return {"report": str(file), **{kind: len(found) for kind, found in every.items()}}


def is_one(file: Path) -> bool:
    """Whether a file is such a page."""
    with file.open("rb") as content:
        return _MARK in content.read(4096)


def gather(folder: Path, *, is_one_of_several: bool, seen: set[Path]) -> dict[str, list[Document]]:
    """The results in a folder by kind, each ordered by path.

    Results that an earlier folder had (`seen`) are left out. If there are several folders, paths
    begin with the folder.
    """
    found: dict[str, list[Document]] = {section.kind: [] for section in sections()}
    for file in _summaries(folder):
        place = file.parent
        if place.resolve() in seen:
            continue
        seen.add(place.resolve())
        name = os.path.relpath(place, folder)
        path = str(place) if is_one_of_several else place.name if name == "." else name
        section, document = _read(file)
        if section is not None:
            entry = {**section.about(place, document), "path": path, "file": str(file)}
            found[section.kind].append(entry)
    return found


def _read(file: Path) -> tuple[Section | None, Document]:
    """The kind of a folder, None if it is of none, and its summary."""
    if file.name != SUMMARY:
        return next(section for section in sections() if section.mark == file.name), {}
    try:
        document, scenario = documents(file.parent)
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}") from error
    kinds = [section for section in sections() if section.is_one(document)]
    if not kinds and "figure" in document:
        raise ScenarioError(
            f"{file.parent} is a figure, which nothing here can show",
            f"figures of papers are shown by the studies: {GET_STUDIES}",
        )
    return (kinds[0] if kinds else None), {**document, "toml": scenario}


def page(found: Mapping[str, Sequence[Document]]) -> bytes:
    """The page, with all texts from results escaped."""
    try:
        return _rendered(found)
    except Exception:
        # A defect in a summary may show here in any way; `_check` then finds out which one has it.
        for kind, entries in found.items():
            for entry in entries:
                _check({**{each: [] for each in found}, kind: [entry]}, entry["file"])
        raise


def _check(found: Mapping[str, Sequence[Document]], file: str) -> None:
    """Refuses a summary from which no page can be made."""
    try:
        _rendered(found)
    except Exception as error:
        raise FileError(
            f"{file} lacks what a page shows: {error}",
            "it is damaged, or of another version: write it again with this one",
        ) from error


def _rendered(found: Mapping[str, Sequence[Document]]) -> bytes:
    kinds = [section for section in sections() if found[section.kind]]
    entries = [(section, entry) for section in kinds for entry in found[section.kind]]
    parts = []
    for section in kinds:
        if section.above is not None:
            parts.append(section.above(found[section.kind]))
        parts += [section.article(entry) for entry in found[section.kind]]
    links = [(entry["path"], section.title(entry)) for section, entry in entries]
    return render(
        "spillway.show", "report.html", version=core.__version__, links=links, parts=parts
    )


def _summaries(folder: Path) -> list[Path]:
    """The summaries of all results, except those of single runs of a comparison."""
    found: list[Path] = []
    marks = dict.fromkeys(
        [*(section.mark for section in sections() if section.mark != SUMMARY), SUMMARY]
    )
    for here, folders, files in os.walk(folder):
        folders[:] = sorted((name for name in folders if not name.endswith(".partial")), key=_order)
        if mark := next((name for name in marks if name in files), None):
            found.append(Path(here) / mark)
            folders.clear()
    return found


def _order(name: str) -> list[tuple[int, str]]:
    """A sort key by which numbers within names are in numerical order.

    >>> sorted(["figure10", "figure6"], key=_order)
    ['figure6', 'figure10']
    """
    parts = re.split(r"(\d+)", name)
    return [(int(part) if part.isdecimal() else 0, part) for part in parts]
