"""The files besides its scenario that a run was made from, as its result keeps them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spillway.base import core
from spillway.base.checksums import digest, names_in
from spillway.base.errors import SpillwayError
from spillway.base.folder import INPUTS
from spillway.plugins.base import Plugin
from spillway.plugins.files import copies, unused


@dataclass(frozen=True)
class Inputs:
    """A resolved scenario that names copies of its files, and the originals of the copies."""

    scenario: str
    files: Mapping[str, Path]
    """The originals, by the copies' names."""
    digests: Mapping[str, str]
    """The checksums of the files when they were read."""
    texts: Mapping[str, str]
    """The sources of plug-ins and of their helper modules, by the copies' names."""

    @classmethod
    def of(cls, read: core.Scenario, folder: Path, plugins: Iterable[type[Plugin]] = ()) -> Inputs:
        """The inputs of a scenario that has just been read, with files relative to `folder`."""
        texts = copies(plugins)
        names: dict[Path, str] = {}
        for key, file in read.files:
            source = folder / file
            if source not in names:
                names[source] = unused(copy_name(key, file), {*texts, *names.values()})
        written = [f"{INPUTS}/{names[folder / file]}" for _, file in read.files]
        files = {name: source for source, name in names.items()}
        digests = {name: digest(source) for name, source in files.items()}
        return cls(read.resolved_with(written), files, digests, texts)

    @classmethod
    def inside(cls, folder: Path, scenario: str) -> Inputs:
        """The inputs that a result's folder holds."""
        place = folder / INPUTS
        files = {name: place / name for name in sorted(names_in(place))}
        return cls(scenario, files, {name: digest(file) for name, file in files.items()}, {})

    def write(self, folder: Path) -> None:
        """Copies them into a result's folder. Refuses a file that has changed since it was read."""
        place = folder / INPUTS
        for name, source in self.files.items():
            if source.is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, place / name)
            if not source.is_file() or digest(place / name) != self.digests[name]:
                raise SpillwayError(
                    f"{source} has changed since the run read it",
                    "run it again: a result goes with the files that it was made of",
                )
        for name, text in self.texts.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")


def copy_name(key: str, file: str) -> str:
    """The name of a copy: the key, and the file's ending, which tells its format.

    >>> copy_name("traffic.a b.file", "/tmp/list.v2.csv")
    'a_b.file.csv'
    """
    plain = re.compile(r"[^\w.-]", re.ASCII)
    ending = re.search(r"\.[^.]*$", Path(file).name)
    name = plain.sub("_", key.removeprefix("traffic."))[:100]
    return name + plain.sub("_", ending[0])[-20:] if ending else name
