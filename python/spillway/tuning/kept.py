"""What a study's runs have come to, so that none of them is done twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spillway.base.errors import ScenarioError
from spillway.experiment import keys
from spillway.experiment.records import record_of, summary_of
from spillway.plugins.content import content
from spillway.scenario.scenario import Scenario
from spillway.tasks.memory import Memory
from spillway.tasks.store import Store

FOLDER = "results"
"""Where a study's folder has its runs, as an experiment's has."""


class Kept:
    """Summaries of runs, whole or up to a part of their duration."""

    def __init__(self, place: Path | None, scenario: Scenario) -> None:
        """In a study's folder, or in memory without one.

        Plug-ins that are in no file of their own cannot be known again: then it is in memory, too.
        """
        self._known_by = content
        try:
            for plugin in scenario.plugins:
                content(plugin)
        except ScenarioError:
            place, self._known_by = None, lambda plugin: str(id(plugin))
        self._store = Memory() if place is None else Store(place / FOLDER)
        self._store.refresh()

    def key(self, scenario: Scenario, seed: int) -> str:
        """The key of a run."""
        read = scenario.checked()
        named = [scenario.plugins[place] for place in read.named_plugins]
        key = keys.of_scenario(read, scenario.folder, named, self._known_by)
        return keys.of_run(key, seed)

    def get(self, key: str, percent: int | None = None) -> dict[str, Any] | None:
        """What a run had come to, at the end or after a part of its duration, if that is kept."""
        found = self._store.get(_name(key, percent))
        return None if found is None else summary_of(found)

    def put(self, key: str, summary: dict[str, Any], percent: int | None = None) -> None:
        """Keeps it. Raises `OSError`."""
        self._store.put(_name(key, percent), record_of(summary))

    def close(self) -> None:
        """Brings all of it to the disk. Raises `OSError`."""
        self._store.close()


def _name(key: str, percent: int | None) -> str:
    return key if percent is None else f"{key}.{percent}"
