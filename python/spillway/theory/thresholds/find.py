"""The best thresholds under one objective, beside those that were published."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spillway.base import core
from spillway.base.arguments import meant, whole
from spillway.base.errors import ScenarioError
from spillway.theory.thresholds.objectives import OBJECTIVES, check_load, named, value
from spillway.theory.thresholds.optimise import optimise
from spillway.theory.thresholds.sizes import Cut, Sizes

FEWEST, MOST = 2, 8
"""How many levels there may be."""


@dataclass(frozen=True)
class Ladder:
    """Thresholds in bytes, rising, and their value under every objective."""

    name: str
    thresholds: tuple[int, ...]
    values: dict[str, float]


@dataclass(frozen=True)
class Found:
    """The best thresholds for a distribution of sizes, a load and a number of levels.

    Attributes:
        sizes: the distribution of sizes.
        load: the load of the link.
        levels: the number of levels (K).
        objective: the objective that was asked for.
        optima: the best thresholds under every objective.
        one_queue: a single queue, which has no thresholds.
        published: published thresholds that make as many levels.
    """

    sizes: Sizes
    load: float
    levels: int
    objective: str
    optima: dict[str, Ladder]
    one_queue: Ladder
    published: tuple[Ladder, ...]

    @property
    def best(self) -> Ladder:
        """The best thresholds under the objective that was asked for."""
        return self.optima[self.objective]

    def above(self, ladder: Ladder, objective: str) -> float:
        """How far a ladder's value is above the least one, as a share of that."""
        return ladder.values[objective] / self.optima[objective].values[objective] - 1

    def cuts(self) -> Cut:
        """What the best thresholds separate, after 0 and before the largest size."""
        return self.sizes.cut(np.array([0.0, *self.best.thresholds, self.sizes.largest]))

    @property
    def setting(self) -> str:
        """The line of a scenario's transport or traffic section that has PIAS use the best."""
        listed = ", ".join(f'"{threshold}B"' for threshold in self.best.thresholds)
        return f'tagging = {{ kind = "pias", thresholds = [{listed}] }}'


def find(
    sizes: str,
    *,
    load: float,
    levels: int = 8,
    objective: str = "product",
    against: Sequence[str] = (),
    folder: str | Path = ".",
) -> Found:
    """The thresholds that minimise an objective, and the value of published ones.

    Args:
        sizes: What the key `sizes` of a traffic section takes: the name of a bundled distribution,
            a file of sizes and cumulative probabilities, a range, or one size.
        load: The load of the link at which levels are queued, above 0 and below 1.
        levels: The number of levels (K), from 2 to 8; there are K - 1 thresholds.
        objective: What is minimised: "product", "left-over", "unweighted", "flow-count" or
            "ml-fcfs". See docs/thresholds.md.
        against: Names of published thresholds, as `tagging` takes them. Without any: with 8 levels,
            those for the nearest load if the distribution is one of web search or data mining, and
            all others otherwise; with fewer levels none.
        folder: Where files are.

    Raises:
        ScenarioError: There is no such distribution, objective or name, or a number is out of its
            range.
    """
    named(objective)
    check_load(load)
    levels = whole("levels", levels, FEWEST, MOST)
    chosen = _published(sizes, load, levels, against)
    given = Sizes.of(sizes, folder)

    def ladder(name: str, thresholds: Sequence[int]) -> Ladder:
        values = {each: value(each, given, thresholds, load=load) for each in OBJECTIVES}
        return Ladder(name, tuple(thresholds), values)

    optima = {
        each: ladder(each, optimise(OBJECTIVES[each], given, load=load, levels=levels))
        for each in OBJECTIVES
    }
    return Found(
        given,
        load,
        levels,
        objective,
        optima,
        ladder("one queue", ()),
        tuple(ladder(name, thresholds) for name, thresholds in chosen.items()),
    )


def _published(
    sizes: str, load: float, levels: int, against: Sequence[str]
) -> dict[str, list[int]]:
    """The published thresholds to compare with, by name."""
    known = dict(core.published_thresholds())
    for name in against:
        if name not in known:
            raise ScenarioError(
                f"against: no thresholds {name!r} were published",
                meant(name, known, f"valid here: {', '.join(known)}"),
            )
        if len(known[name]) + 1 != levels:
            raise ScenarioError(
                f"against: {name} has {len(known[name]) + 1} levels, not {levels}",
                "only ladders with as many levels are compared",
            )
    if against:
        return {name: known[name] for name in against}
    fitting = {name: listed for name, listed in known.items() if len(listed) + 1 == levels}
    loads = {}
    for name in fitting:
        match = re.fullmatch(r"(.+)-([0-9.]+)", name)
        if match and match[1] == sizes.partition("-")[0]:
            loads[name] = float(match[2])
    # That for the same workload and the nearest load, the lower of two; or else all.
    near = sorted(loads, key=lambda name: (round(abs(loads[name] - load), 9), loads[name]))[:1]
    return {name: fitting[name] for name in near or fitting}
