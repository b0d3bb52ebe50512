"""What a worker has to do: runs that somebody else has asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spillway.base.documents import read_text
from spillway.base.folder import path_of
from spillway.experiment.experiment import RESULTS, Experiment
from spillway.experiment.manifest import Manifest
from spillway.tasks.store import Store


def to_do(folder: str | Path, only: Path | None = None) -> Iterator[Experiment]:
    """The sets of runs of which some are missing, the newest first, until none is.

    `only` is a file with the keys of runs, a line each; others are left alone.

    Raises:
        ScenarioError: There is no experiment, or its runs would be other ones here.
    """
    place = path_of(folder)
    keys = None if only is None else frozenset(read_text(only).split())
    done: set[object] = set()
    store = Store(place / RESULTS)
    store.check()
    while True:
        manifest = Manifest.load(place)
        left = [asked for asked in reversed(manifest.sets) if asked not in done]
        if not left:
            return
        experiment = Experiment(
            left[0],
            store,
            folder=place,
            version=manifest.version,
            results=manifest.results,
            only=keys,
        )
        experiment.check_same()
        if experiment.missing():
            yield experiment
        done.add(left[0])
