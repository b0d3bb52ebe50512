"""The runs of an arena: a design of contexts, crossed with all levels of the factor that is ranked.

A context is a scenario and a level of every other factor. So any two levels that are ranked meet in
equal contexts, on the same flows.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.contest.design import Design, Row, design
from spillway.contest.factors import KEYS, Factor
from spillway.contest.grounds import Ground, Read
from spillway.experiment.asking import experiment
from spillway.experiment.experiment import Experiment
from spillway.plugins.base import Plugin
from spillway.scenario.variants import MOST_RUNS, Variant

Tuned = Mapping[tuple[int, int], Sequence[str]]
"""More assignments, by the index of a scenario and that of a level that is ranked."""


@dataclass(frozen=True)
class Entrant:
    """A level that is ranked, in a context."""

    context: int
    levels: Row
    """The index of the level of each factor, in their order."""
    read: Read


@dataclass(frozen=True)
class Plan:
    """All runs, checked."""

    grounds: Sequence[Ground]
    factors: Sequence[Factor]
    place: int
    """The index of the factor that is ranked."""
    design: Design
    entrants: Sequence[Entrant]
    refused: Mapping[tuple[int, int], str]
    """Why a level cannot be in a context: by the context's index, and the level's."""

    @property
    def ranked(self) -> Factor:
        """The factor whose levels are ranked."""
        return self.factors[self.place]

    @property
    def others(self) -> list[Factor]:
        """The other factors, in the order of the design's rows behind the scenario."""
        return [each for each in self.factors if each is not self.ranked]

    def ground(self, context: int) -> int:
        """The index of a context's scenario."""
        return self.design.rows[context][0]

    @cached_property
    def distinct(self) -> list[dict[str, Entrant]]:
        """For every scenario what is run in it, by its key."""
        found: list[dict[str, Entrant]] = [{} for _ in self.grounds]
        for each in self.entrants:
            found[self.ground(each.context)].setdefault(each.read.key, each)
        return found

    @property
    def runs(self) -> int:
        """The number of different runs with one seed."""
        return sum(map(len, self.distinct))

    @property
    def packets(self) -> float:
        """About how many packets these runs send."""
        return sum(each.read.packets for known in self.distinct for each in known.values())

    def warned(self) -> Counter[str]:
        """What combinations are warned of, and in how many."""
        return Counter(text for each in self.entrants for text in dict.fromkeys(each.read.warnings))

    def missing(self) -> dict[tuple[str, str], str]:
        """The levels that occur nowhere, by factor and name, and why."""
        there = {(place, at) for each in self.entrants for place, at in enumerate(each.levels)}
        found = {}
        for place, factor in enumerate(self.factors):
            for at, level in enumerate(factor.levels):
                if (place, at) not in there:
                    found[factor.name, level.name] = self._why(place, at)
        return found

    def _why(self, place: int, at: int) -> str:
        if place == self.place:
            return next(text for (_, level), text in self.refused.items() if level == at)
        column = 1 + self.others.index(self.factors[place])
        return next(
            (
                text
                for (one, a, other, b), text in self.design.impossible.items()
                if (column, at) in ((one, a), (other, b))
            ),
            "no row of the design has it: allow more runs",
        )


def planned(
    grounds: Sequence[Ground],
    factors: Sequence[Factor],
    ranked: str,
    *,
    runs: int | None,
    seeds: int,
    seed: int,
) -> Plan:
    """The plan of an arena.

    Args:
        grounds: The scenarios.
        factors: All factors.
        ranked: The name of the factor whose levels are ranked.
        runs: About how many runs there are; by default as many as cover all pairs of levels.
        seeds: With how many seeds each combination is run.
        seed: What decides between equally good designs.

    Raises:
        ScenarioError: The design is too large, a level that was named can be had nowhere, or there
            is nothing to compare.
    """
    place = [each.name for each in factors].index(ranked)
    levels = factors[place].levels
    if len(levels) < 2:
        raise ScenarioError(
            f"{ranked} has one level, {levels[0].name}: nothing is ranked", "name another one"
        )
    others = [each for each in factors if each.name != ranked]
    sizes = [len(grounds), *(len(each.levels) for each in others)]
    each = len(levels) * seeds
    wanted = math.prod(sizes) if runs == ALL else None if runs is None else max(1, runs // each)
    if wanted is not None:
        _check_size(min(wanted, math.prod(sizes)) * each)
    found = _Checks(grounds, factors, place)
    made = design(sizes, found.refusal, wanted, seed)
    entrants, refused = [], {}
    for context, row in enumerate(made.rows):
        for level in range(len(levels)):
            own, texts = grounds[row[0]], found.texts(row, level)
            refusal = own.refusal(texts)
            if refusal is None:
                entrants.append(Entrant(context, found.levels(row, level), own.read(texts)))
            else:
                refused[context, level] = str(refusal)
    plan = Plan(grounds, factors, place, made, entrants, refused)
    _check(plan, found)
    _check_size(plan.runs * seeds)
    return plan


def _check_size(runs: int) -> None:
    if runs > MOST_RUNS:
        raise ScenarioError(
            f"the design has {runs:,} runs",
            f"{MOST_RUNS:,} are the most: fewer levels, scenarios or seeds make fewer",
        )


ALL = -1
"""As many runs as there are combinations."""


class _Checks:
    """What scenarios say of combinations."""

    def __init__(self, grounds: Sequence[Ground], factors: Sequence[Factor], place: int) -> None:
        self.grounds, self.factors, self.place = grounds, factors, place
        self.last = ""
        """The last refusal."""

    def levels(self, row: Row, level: int) -> Row:
        """The levels of all factors."""
        return (*row[1 : 1 + self.place], level, *row[1 + self.place :])

    def texts(self, row: Row, level: int) -> tuple[str, ...]:
        """The assignments of a combination."""
        chosen = zip(self.factors, self.levels(row, level), strict=True)
        texts = [text for factor, at in chosen for text in factor.levels[at].assignments]
        return self.grounds[row[0]].assigned(texts)

    def refusal(self, row: Row) -> str | None:
        """Why a context cannot be had: fewer than two levels can meet in it."""
        key = KEYS[self.factors[self.place].name]
        there, others, why = 0, 0, ""
        for level in range(len(self.factors[self.place].levels)):
            error = self.grounds[row[0]].refusal(self.texts(row, level))
            there += error is None
            if there == 2:
                return None
            if error is not None:
                why = why or str(error)
                others += not error.path.startswith(key)
            if others == 2:
                # It is not about what is ranked.
                break
        self.last = why
        return why


def _check(plan: Plan, found: _Checks) -> None:
    """Refuses levels that were named, or are one's own, and can be had nowhere."""
    if not plan.entrants:
        raise ScenarioError(f"no combination can be had: {found.last}", "choose other levels")
    missing = plan.missing()
    for factor in plan.factors:
        for level in factor.levels:
            why = missing.get((factor.name, level.name))
            if why is not None and (level.is_named or level.is_plugin):
                raise ScenarioError(
                    f"{factor.name}={level.name} can be had in no context: {why}",
                    "leave it out, or choose other levels beside it",
                )


def experiments(
    plan: Plan, seeds: Sequence[int], out: Path | None, force: bool, tuned: Tuned
) -> list[tuple[Experiment, dict[int, int]]]:
    """An experiment for every scenario, not run yet, and the variant of each entrant by its index.

    Raises:
        ScenarioError: A folder holds something else.
    """
    found = []
    for ground, own in enumerate(plan.grounds):
        there = {
            number: own.read((*each.read.assignments, *more)) if more else each.read
            for number, each in enumerate(plan.entrants)
            if plan.ground(each.context) == ground
            for more in [own.assigned(tuned.get((ground, each.levels[plan.place]), ()))]
        }
        if not there:
            continue
        variants: dict[str, Variant] = {}
        named: dict[type[Plugin], None] = {}
        for read in there.values():
            variants.setdefault(read.key, Variant("", read.assignments))
            named.update(dict.fromkeys(read.plugins))
        with warnings.catch_warnings():
            # The arena tells each of them once, and how often it comes.
            warnings.simplefilter("ignore", ScenarioWarning)
            asked = experiment(
                own.base,
                vary=list(variants.values()),
                seeds=seeds,
                plugins=tuple(named),
                out=None if out is None else out / folder_of(own.name),
                force=force,
            )
        places = {entry.key: place for place, entry in enumerate(asked.asked.entries)}
        found.append((asked, {number: places[read.key] for number, read in there.items()}))
    return found


def folder_of(name: str) -> str:
    """The folder of a scenario within that of the arena."""
    return re.sub(r"[^\w.=%+-]+", "_", name).strip(".") or "scenario"
