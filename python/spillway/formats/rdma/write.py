"""An imported run as files: the scenario, its topology and its flows."""

from __future__ import annotations

import csv
import fcntl
import os
import tempfile
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from spillway.base.arguments import toml
from spillway.base.errors import ScenarioError
from spillway.base.folder import check_new_file, path_of
from spillway.base.interrupts import deferred
from spillway.formats.rdma.source import Source
from spillway.formats.rdma.translate import Translation, origin_of
from spillway.formats.rdma.units import shown
from spillway.scenario import flow_export
from spillway.scenario.scenario import Scenario

_HEAD = "Imported from {name}, a run of the public RDMA simulator (HPCC, DCQCN, TIMELY, DCTCP)."


def files_of(out: Path) -> tuple[Path, Path]:
    """The files beside a scenario: its topology and its flows."""
    return out.with_name(f"{out.stem}-topology.toml"), out.with_name(f"{out.stem}-flows.csv")


def check(out: Path, force: bool) -> None:
    """Refuses places where nothing can be written, or which are taken."""
    if out.suffix != ".toml":
        raise ScenarioError(f"{out} is no scenario by its name", "it ends in .toml")
    topology, flows = files_of(out)
    check_new_file(out, force, "a scenario", _is_toml_with("topology", "traffic"))
    check_new_file(topology, force, "a topology", _is_toml_with("switch", "host"))
    check_new_file(flows, force, "a list of flows", flow_export.is_list)


def write(found: Translation, source: Source, out: str | Path, *, force: bool = False) -> Scenario:
    """Writes the scenario, and beside it its topology and its flows: all of them, or nothing.

    Raises:
        ScenarioError: they cannot be written there, or the scenario is not valid.
    """
    out = path_of(out)
    check(out, force)
    places = (*files_of(out), out)
    topology, flows, _ = (place.name for place in places)
    scenario = dict(found.scenario)
    scenario["topology"] = dict(scenario["topology"]) | {"file": topology}
    scenario["traffic"] = [dict(section) | {"file": flows} for section in scenario["traffic"]]
    head = [_HEAD.format(name=shown(source.config.file.name))]
    notes = [f"Note: {note}." for note in found.notes]
    if found.ignored:
        notes.append(f"Ignored: {', '.join(map(shown, found.ignored))}.")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.stem}-") as made:
        parts = [Path(made, place.name) for place in places]
        parts[0].write_text(toml_of(found.topology), encoding="utf-8")
        with parts[1].open("w", encoding="utf-8") as rows:
            writer = csv.DictWriter(rows, list(found.flows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(found.flows)
        parts[2].write_text(toml_of(scenario, [*head, *notes]), encoding="utf-8")
        try:
            Scenario.load(parts[-1]).read()
        except ScenarioError as error:
            text, origin = str(error).replace(f"{made}/", ""), origin_of(source, error.path)
            # A path in the topology begins with its file.
            if error.path.partition(": ")[0] == topology:
                text, origin = text.removeprefix(f"{topology}: "), str(source.topology_file)
            raise ScenarioError(f"{origin}: {text}", error.hint, kind=error.kind) from error
        with deferred(), _alone(out.parent):
            check(out, force)
            for part, place in zip(parts, places, strict=True):
                part.replace(place)
    return Scenario.load(out)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A context in which only one process is at a time."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        # Not all file systems lock folders.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def toml_of(document: Mapping[str, Any], comments: list[str] | None = None) -> str:
    """A document as TOML: values first, then tables, with comments at the head."""
    texts = (" ".join(comment.split()) for comment in comments or [])
    lines = [f"# {line}" for text in texts for line in textwrap.wrap(text, 100)]
    return "\n".join([*lines, *([""] if lines else []), *_tables(document, ())]).strip() + "\n"


def _tables(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if not _is_table(value) and not _is_array(value):
            yield f"{key} = {toml(key, value)}"
    for key, value in table.items():
        name = ".".join((*path, key))
        if _is_table(value):
            if not all(map(_is_table, value.values())):
                yield from ("", f"[{name}]")
            yield from _tables(value, (*path, key))
        elif _is_array(value):
            for row in value:
                yield from ("", f"[[{name}]]")
                yield from _tables(row, (*path, key))


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_array(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _is_toml_with(*names: str) -> Callable[[Path], bool]:
    """A check whether a file is TOML with these tables."""

    def is_one(file: Path) -> bool:
        try:
            return set(names) <= set(tomllib.loads(file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
            return False

    return is_one
