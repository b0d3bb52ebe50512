"""Keys of runs, made of all that their results depend on, and records of their results."""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from spillway.base import core
from spillway.base.checksums import digest
from spillway.base.quantities import exact
from spillway.plugins.base import Plugin
from spillway.plugins.content import content

NUMBERS = 1
"""The results number of a run's record, which is its summary."""


def of_scenario(
    read: core.Scenario,
    folder: Path,
    plugins: Iterable[type[Plugin]] = (),
    known_by: Callable[[type[Plugin]], str] = content,
) -> str:
    """The key of a scenario with any seed.

    Scenarios whose runs are the same to the bit have the same key: quantities count by their
    meaning, files and plug-ins by their content. `known_by` identifies a plug-in.
    """
    contents = [digest(folder / file) for _, file in read.files]
    values = tomllib.loads(read.resolved_with(contents) if contents else read.resolved)
    del values["seed"]
    what = {
        "numbers": NUMBERS,
        "scenario": meaning(values),
        "results": read.results,
        "plugins": sorted(map(known_by, plugins)),
    }
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def of_run(scenario: str, seed: int) -> str:
    """The key of a run: of its scenario, and the seed."""
    return hashlib.sha256(f"{scenario} {seed}".encode()).hexdigest()[:32]


def meaning(value: Any) -> Any:
    """A value of a scenario in one form: 1 and 1.0 become the same, 200KB and 0.2MB, too."""
    if isinstance(value, dict):
        return {key: meaning(each) for key, each in value.items()}
    if isinstance(value, list):
        return [meaning(each) for each in value]
    if isinstance(value, str):
        return str(exact(value) or value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def record_of(summary: dict[str, Any]) -> str:
    """A run's numbers as a store keeps them: its summary, compressed to some 1.5 kB."""
    return squeezed(json.dumps(summary, separators=(",", ":")))


def summary_of(record: str) -> dict[str, Any]:
    """The summary in a record."""
    return dict(json.loads(unsqueezed(record)))


def squeezed(text: str, like: str = "") -> str:
    """A text, compressed; shorter if it is like another one, which is then needed to read it.

    >>> unsqueezed(squeezed("seed = 2", "seed = 1"), "seed = 1")
    'seed = 2'
    """
    compress = zlib.compressobj(6, zdict=like.encode()) if like else zlib.compressobj(6)
    return base64.b64encode(compress.compress(text.encode()) + compress.flush()).decode()


def unsqueezed(text: str, like: str = "") -> str:
    """The text that `squeezed` has compressed.

    Raises:
        ValueError: The compressed text is damaged.
    """
    expand = zlib.decompressobj(zdict=like.encode()) if like else zlib.decompressobj()
    try:
        return expand.decompress(base64.b64decode(text)).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error
