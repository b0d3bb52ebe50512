"""The manifest: a file in an experiment's folder that says what runs it was asked for.

Its runs are in sets. All runs of a set have the same scenario, but for the keys that are varied and
the seed; another duration makes another set.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spillway.base import core
from spillway.base.arguments import ranges
from spillway.base.errors import FileError
from spillway.base.folder import whole_file
from spillway.experiment import keys
from spillway.scenario.variants import assigned, label, within
from spillway.tasks.segment import sync

FILE = "experiment.json"
FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """A variant, and the seeds with which it is run."""

    assignments: tuple[str, ...]
    text: str
    """Its scenario with every value; files are named as their copies in the folder."""
    key: str
    """The key of its scenario with any seed."""
    cost: float
    seeds: tuple[int, ...]
    plugins: tuple[str, ...] = ()
    """The ids of the plug-ins that it names, each with a checksum of its content behind a =."""
    name: str | None = None
    """How the names of its runs' folders begin, if any; other variants have other ones."""

    @property
    def pack(self) -> str:
        """The folder of its plug-ins, within that of all; empty without any."""
        text = " ".join(self.plugins)
        return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""

    def folder(self, seed: int) -> str:
        """The folder of a run."""
        return f"{self.name}_seed-{seed}" if self.name else f"seed-{seed}"

    @property
    def identity(self) -> tuple[str, str | None]:
        """What no other variant has: the scenario and, if it is varied, the seed."""
        return self.key, self.fixed_seed

    @property
    def fixed_seed(self) -> str | None:
        """The seed, if it is a key that is varied."""
        return assigned(self.assignments).get("seed")

    def run_keys(self) -> dict[int, str]:
        """The keys of its runs, by seed."""
        return {seed: keys.of_run(self.key, seed) for seed in self.seeds}


@dataclass(frozen=True)
class Asked:
    """A set of runs."""

    scenario: str
    """The scenario's name."""
    entries: tuple[Entry, ...]
    metrics: tuple[str, ...]
    has_tables: bool
    """Whether every run has a folder with its tables."""

    def varied(self) -> list[str]:
        """The keys that are varied."""
        return list(
            dict.fromkeys(key for each in self.entries for key in assigned(each.assignments))
        )

    def labels(self) -> list[str]:
        """What distinguishes the variants, in their order."""
        varied = self.varied()
        found = []
        for each in self.entries:
            own = assigned(each.assignments)
            if not set(varied) <= own.keys():
                # It was asked for when another key was varied; of this one it has its own value.
                values = document(each.text)
                own = {key: _told(within(values, key)) for key in varied} | own
            found.append(label(varied, own))
        counts = Counter(found)
        return [
            name if counts[name] == 1 else f"{name} {each.key[:6]}".strip()
            for name, each in zip(found, self.entries, strict=True)
        ]

    def has_varied_seed(self) -> bool:
        """Whether the seed is a key that is varied."""
        return "seed" in self.varied()


@dataclass(frozen=True)
class Manifest:
    """All that was asked for; the newest set is the last one."""

    version: str
    results: dict[str, int]
    """The results numbers of the simulator by which its keys were made."""
    sets: tuple[Asked, ...]

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """The manifest in a folder.

        Raises:
            ScenarioError: there is none, it is damaged, or it is of a newer version.
        """
        file = folder / FILE
        hint = "`spillway compare SCENARIO --vary ... --out DIR` makes one"
        try:
            text = file.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            raise FileError(f"{folder} is no experiment: it has no {FILE}", hint) from None
        except (OSError, UnicodeError) as error:
            raise FileError(f"{file} cannot be read: {error}") from error
        try:
            whole = json.loads(text)
            found, told = whole["experiment"], whole["sha256"]
            is_right = told == _digest(found)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_right, found = False, {}
        if not is_right:
            raise FileError(
                f"{file} is damaged, or was changed by hand",
                "move it away and ask for the same again: its runs are in results/, and are found",
            )
        if found["format"] > FORMAT:
            text = f"{folder} was written by Spillway {found['version']}, this is"
            raise FileError(
                f"{text} {core.__version__}, which cannot read it",
                "read it with that version, or a newer one",
            )
        sets = tuple(map(_asked, found["sets"]))
        return cls(found["version"], found["results"], sets)

    def write(self, folder: Path) -> None:
        """Writes it, in place of an older one. Raises `OSError`."""
        found = {
            "format": FORMAT,
            "version": self.version,
            "results": self.results,
            "sets": [_written(each) for each in self.sets],
        }
        whole = {"sha256": _digest(found), "experiment": found}
        with whole_file(folder / FILE) as partial:
            partial.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
            sync(partial)
        sync(folder)


def with_names(
    asked: Asked, sets: Sequence[Asked], is_taken: Callable[[str, Entry], bool] = lambda *_: False
) -> Asked:
    """A set with names for its new variants: their values and, if taken, also their keys.

    `is_taken` tells whether a name is taken outside of `sets`.
    """
    taken = {each.name for known in (*sets, asked) for each in known.entries}
    entries = []
    for each in asked.entries:
        name = each.name
        if name is None:
            values = assigned(each.assignments)
            plain = re.sub(r"[^\w.=%+-]+", "_", label(list(values), values))
            name = plain[:_LONGEST_NAME]
            if name in taken or name != plain or is_taken(name, each):
                name = f"{name}-{each.key[:8]}".strip("-")
            taken.add(name)
        entries.append(replace(each, name=name))
    return replace(asked, entries=tuple(entries))


_LONGEST_NAME = 120


def joined(old: Asked, new: Asked) -> Asked:
    """A set with more variants, more seeds, or both.

    An old variant is left out if the same assignments give another scenario now, as when a file has
    changed. Its runs stay in the store.
    """
    fresh = {each.assignments: each.identity for each in new.entries}
    entries = {
        each.identity: each
        for each in old.entries
        if fresh.get(each.assignments, each.identity) == each.identity
    }
    for each in new.entries:
        known = entries.setdefault(each.identity, each)
        seeds = tuple(sorted({*known.seeds, *each.seeds}))
        entries[each.identity] = replace(known, seeds=seeds)
    has_tables = old.has_tables or new.has_tables
    return replace(new, entries=tuple(entries.values()), has_tables=has_tables)


def without_other_plugins(asked: Asked, new: Asked) -> Asked:
    """A set without the variants whose plug-ins have changed since."""
    now = dict(each.split("=") for entry in new.entries for each in entry.plugins)
    entries = [
        entry
        for entry in asked.entries
        if all(now.get(id, one) == one for id, one in (each.split("=") for each in entry.plugins))
    ]
    return replace(asked, entries=tuple(entries))


LENGTHS = ("duration", "stop", "warmup")
"""The keys for the length of a run: other values of theirs make another set of runs."""


def differences(old: dict[str, Any], new: dict[str, Any], varied: Sequence[str]) -> list[str]:
    """The keys by which two scenarios with all values differ, but for those that are varied."""
    found = [
        key
        for key in _different(keys.meaning(old), keys.meaning(new))
        if not any(key == each or key.startswith(f"{each}.") for each in varied)
    ]
    return sorted(found, key=LENGTHS.__contains__)


def _different(old: Any, new: Any, above: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _different(old.get(key), new.get(key), f"{above}.{key}" if above else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            named = pair[0].get("name", place) if isinstance(pair[0], dict) else place
            yield from _different(*pair, f"{above}.{named}")
    elif old != new:
        yield above


def document(text: str) -> dict[str, Any]:
    """The values of a scenario, without its seed."""
    values = tomllib.loads(text)
    del values["seed"]
    return values


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _digest(found: object) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _written(asked: Asked) -> dict[str, Any]:
    like = asked.entries[0].text
    return {
        "scenario": asked.scenario,
        "metrics": asked.metrics,
        "tables": asked.has_tables,
        "first": like,
        "variants": [
            {
                "set": each.assignments,
                "key": each.key,
                "cost": each.cost,
                "seeds": ranges(each.seeds),
                "plugins": each.plugins,
                "name": each.name,
                "text": "" if each.text == like else keys.squeezed(each.text, like),
            }
            for each in asked.entries
        ],
    }


def _asked(found: dict[str, Any]) -> Asked:
    like = found["first"]
    entries = (
        Entry(
            tuple(each["set"]),
            keys.unsqueezed(each["text"], like) if each["text"] else like,
            each["key"],
            each["cost"],
            tuple(seed for low, high in each["seeds"] for seed in range(low, high + 1)),
            tuple(each["plugins"]),
            each["name"],
        )
        for each in found["variants"]
    )
    return Asked(found["scenario"], tuple(entries), tuple(found["metrics"]), found["tables"])
