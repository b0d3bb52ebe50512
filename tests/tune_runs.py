"""Runs that come to what a formula says, at once, in the place of simulations."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import spillway
from spillway.scenario.scenario import Scenario
from support import TINY

ALPHA = "switch.sharing.alpha=0.5..8.0"
SHARING = "switch.sharing=dt,abm,lqd"
"""What the searches of these tests vary."""

Formula = Callable[[dict[str, Any], int, int], dict[str, Any]]
"""The summary of a run, given its resolved scenario, its seed, and the part of it in percent."""


class FakeRuns:
    """Stands for `spillway.tuning.runs.Runs`."""

    formula: Formula
    begun: list[tuple[dict[str, Any], int]]
    """The scenarios that were run, and how far."""

    def __init__(self, scenario: Scenario, seeds: list[int], *_: object) -> None:
        self._scenario = tomllib.loads(scenario.checked().resolved)
        self._seeds = seeds
        self.cpu_s = 0.0

    def look(self, percent: int) -> list[dict[str, Any]]:
        self.begun.append((self._scenario, percent))
        self.cpu_s = 0.01 * percent * len(self._seeds)
        return [
            {
                "status": "complete",
                "seed": seed,
                "events": seed,
                **type(self).formula(self._scenario, seed, percent),
            }
            for seed in self._seeds
        ]

    def finish(self) -> list[dict[str, Any]]:
        return self.look(100)

    def end(self) -> None:
        pass


def fake(formula: Formula) -> type[FakeRuns]:
    """A class of such runs."""
    return type("Fake", (FakeRuns,), {"formula": staticmethod(formula), "begun": []})


def alpha(scenario: dict[str, Any]) -> float:
    """The alpha of a scenario's sharing policy; 0 if it has none."""
    return float(scenario["switch"]["sharing"].get("alpha", 0))


def drops(value: float, **more: Any) -> dict[str, Any]:
    """A part of a summary in which so many packets were dropped."""
    return {"drops": {"full": value}, **more}


class KilledError(Exception):
    """Stands for the end of a process."""


def tune(**more: Any) -> spillway.Tuned:
    """A short search."""
    asked = {"over": ALPHA, "minimize": "drops", "trials": 12, "seeds": "1..2", "jobs": 1}
    return spillway.tune(TINY, **{**asked, **more})


def values(tuned: spillway.Tuned) -> list[dict[str, Any]]:
    """What distinguishes one study from another."""
    kept = ("trial", "state", "set", "values", "violations", "percent", "why")
    return [{key: trial[key] for key in kept} for trial in tuned.summary["trials"]]
