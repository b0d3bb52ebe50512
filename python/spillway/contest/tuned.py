"""The best values of each level's own keys in each scenario: every search has the same budget."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow
from spillway.contest.factors import KEYS, Level
from spillway.contest.plan import Plan, folder_of
from spillway.plugins.base import Plugin
from spillway.scenario.sections import Key, at, sections

TIMES = 4
"""A key is searched from its default divided by this to its default times this."""
SEARCHED, SEEDS = 900_001, 2
"""The first seed of searches, which no run of the arena has, and how many there are."""
_NUMBER = re.compile(r"\"?([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)\"?")


def ranges(level: Level, factor: str, plugins: Sequence[type[Plugin]] = ()) -> list[str]:
    """What is searched of a level: its keys whose defaults are positive numbers or quantities.

    >>> ranges(Level("dt", ("switch.sharing=dt",), "dt"), "sharing")
    ['switch.sharing.alpha=0.125..2.0:log']
    """
    path = KEYS[factor].removesuffix(".kind")
    found = [each for each in at(sections(plugins), path) if each.kind == level.kind and level.kind]
    keys = [key for section in found for key in section.keys.values()]
    return [f"{path}.{key.name}={text}" for key in keys if (text := _range(key))]


def _range(key: Key) -> str | None:
    match = _NUMBER.fullmatch(key.default)
    if match is None or not float(match[1]):
        return None
    value, unit = float(match[1]), match[2]
    low, high = value / TIMES, value * TIMES
    if key.least is not None:
        low = max(low, key.least.value)
    if key.most is not None:
        high = min(high, key.most.value)
    if not low < high or low <= 0:
        return None
    if unit or "." in match[1]:
        return (
            f"{low:g}{unit}..{high:g}{unit}:log" if unit else f"{_point(low)}..{_point(high)}:log"
        )
    return f"{math.ceil(low)}..{math.floor(high)}" if math.ceil(low) < math.floor(high) else None


def _point(value: float) -> str:
    return repr(float(f"{value:g}"))


def searched(
    plan: Plan,
    trials: int,
    *,
    metric: str,
    seed: int,
    jobs: int | None,
    out: Path | None,
    follow: Follow | None,
    say: Callable[[str], object],
) -> dict[tuple[int, int], list[str]]:
    """The best values of all levels that are ranked and have keys, by scenario and level.

    Each is searched in the scenario as it is, apart from the level.

    Raises:
        Interrupted: Ctrl-C.
        ScenarioError: A study's folder holds another study.
    """
    from spillway.tuning.study import tune

    found = {}
    for ground, own in enumerate(plan.grounds):
        for place, level in enumerate(plan.ranked.levels):
            over = ranges(level, plan.ranked.name, own.plugins)
            scenario = own.varied(own.assigned(level.assignments))
            if not over or own.refusal(own.assigned(level.assignments)) is not None:
                continue
            say(f"{own.name}, {level.name}: searching {', '.join(over)}")
            folder = None if out is None else out / "tuned" / folder_of(own.name) / level.name
            if folder is not None:
                folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                tuned = tune(
                    scenario.with_named_plugins(),
                    over=over,
                    minimize=metric,
                    trials=trials,
                    seeds=range(SEARCHED, SEARCHED + SEEDS),
                    search_seed=seed,
                    confirm_seeds="none",
                    jobs=jobs,
                    out=folder,
                    follow=follow,
                )
            except ScenarioError as error:
                raise ScenarioError(f"{own.name}, {level.name}: {error}", error.hint) from error
            found[ground, place] = [f"{key}={value}" for key, value in (tuned.best or {}).items()]
    return found
