"""One scenario with several seeds, side by side: looked at on the way, or run to the end.

Results of runs are kept, so that no run is done twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow, Progress, Report
from spillway.base.threads import side_by_side
from spillway.experiment import keys
from spillway.plugins import Tagger
from spillway.plugins.content import content
from spillway.run.run import Running, Streamed
from spillway.scenario.inputs import Inputs
from spillway.scenario.scenario import Scenario
from spillway.tasks.store import Memory, Store

Summaries = list[dict[str, Any]]


FOLDER = "results"
"""Where a study's folder has its runs, as an experiment's has."""


class StoppedError(Exception):
    """The runs were told to stop."""


class Kept:
    """Summaries of runs, whole or up to a part of their duration."""

    def __init__(self, place: Path | None, scenario: Scenario) -> None:
        """Summaries are kept in a study's folder, or without one in memory.

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
        """The summary of a run, at its end or after a part of its duration, if it is kept."""
        found = self._store.get(_name(key, percent))
        return None if found is None else keys.summary_of(found)

    def put(self, key: str, summary: dict[str, Any], percent: int | None = None) -> None:
        """Keeps a summary. Raises `OSError`."""
        self._store.put(_name(key, percent), keys.record_of(summary))

    def close(self) -> None:
        """Brings all summaries to the disk. Raises `OSError`."""
        self._store.close()


class Runs:
    """The runs of a scenario, one for every seed, which go on together."""

    def __init__(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        jobs: int,
        stop: threading.Event,
        follow: Follow | None,
        label: str,
        share: float,
        kept: Kept,
    ) -> None:
        """`share` is the share of one run in all work; `stop` is set when the runs are to end.

        What is `kept` is not run again.
        """
        self._kept = kept
        self._keys = {seed: kept.key(scenario, seed) for seed in seeds}
        self._scenario = scenario
        self._seeds = list(seeds)
        self._jobs = jobs
        self._stop = stop
        self._follow, self._label, self._share = follow, label, share
        self._running: dict[int, Running] = {}
        self._followed: dict[int, tuple[Report, Callable[[], None]]] = {}
        self.cpu_s = 0.0
        """The processor time of the runs that are over."""

    def look(self, percent: int) -> Summaries:
        """Goes on until this part of the duration is over. Returns the runs' summaries then."""
        return self._side_by_side(percent)

    def finish(self) -> Summaries:
        """Goes on to the end. Returns the runs' summaries."""
        found = self._side_by_side(None)
        self.cpu_s = sum(summary["run"]["cpu_s"] for summary in found)
        return found

    def end(self) -> None:
        """Gives up what is still running."""
        self.cpu_s = self.cpu_s or sum(each.cpu_s for each in self._running.values())
        self._running.clear()
        for _, end in self._followed.values():
            end()
        self._followed.clear()

    def _side_by_side(self, percent: int | None) -> Summaries:
        def one(seed: int, stop: threading.Event) -> dict[str, Any] | None:
            try:
                return self._summary(seed, percent, stop)
            except StoppedError:
                return None

        done, is_interrupted = side_by_side(one, self._seeds, self._jobs)
        found = [summary for summary in done if summary is not None]
        if is_interrupted or len(found) < len(self._seeds):
            raise StoppedError
        return found

    def _summary(self, seed: int, percent: int | None, stop: threading.Event) -> dict[str, Any]:
        """The summary of a run after a part of its duration, or at its end."""
        known = self._kept.get(self._keys[seed], percent)
        if known is not None:
            return known
        running = self._begun(seed)
        until = None if percent is None else running.read.duration_ps * percent // 100
        self._go(running, seed, until, stop)
        found = running.result().summary if percent is None else self._so_far(running)
        self._kept.put(self._keys[seed], found, percent)
        return found

    def _so_far(self, running: Running) -> dict[str, Any]:
        """The summary of a run that is to go on, from a copy that ends here."""
        # If there are plug-ins, the copy needs a scenario of its own.
        again = self._scenario.checked() if self._scenario.plugins else None
        copy = running.simulation.copy(again)
        copy.finish()
        found: dict[str, Any] = json.loads(copy.summary())
        return found

    def _begun(self, seed: int) -> Running:
        if seed not in self._running:
            read = self._scenario.set(f"seed={seed}").checked()
            nothing = Inputs(read.resolved, {}, {}, {})
            self._running[seed] = Running(read, nothing, Streamed(), core.Simulation(read))
            if self._follow is not None:
                label = f"{self._label} seed-{seed}"
                self._followed[seed] = self._follow(label, self._share)
        return self._running[seed]

    def _go(self, running: Running, seed: int, until_ps: int | None, stop: threading.Event) -> None:
        report = self._followed[seed][0] if seed in self._followed else None

        def checked(progress: Progress) -> None:
            if self._stop.is_set() or stop.is_set():
                raise KeyboardInterrupt
            if report is not None:
                report(progress)

        if self._stop.is_set() or running.go(checked, until_ps) == "interrupted":
            raise StoppedError


def can_be_looked_at(scenario: Scenario) -> bool:
    """Whether a scenario's runs can be copied on the way: not if a plug-in tags packets."""
    return not any(issubclass(plugin, Tagger) for plugin in scenario.plugins)


def _name(key: str, percent: int | None) -> str:
    return key if percent is None else f"{key}.{percent}"
