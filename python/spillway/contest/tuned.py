"""The best values of each level's own keys in each scenario: every search has the same budget."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow
from spillway.contest.factors import KEYS, Level
from spillway.contest.grounds import Ground
from spillway.contest.plan import Plan, folder_of
from spillway.scenario.sections import Key, Section, at, sections

TIMES = (4.0, 2.0, 1.5)
"""A key is searched from its default divided by this to its default times this: by the first that
the scenario takes.
"""
SEARCHED, SEEDS = 900_001, 2
"""The first seed of searches, which no run of the arena has, and how many there are."""
_OF_PACKETS = frozenset({"ack_delay", "ack_every", "cnp_size", "number_bytes", "telemetry_bytes"})
"""Keys of some kinds that say how packets and acks are made."""
_NUMBER = re.compile(r"\"?([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)\"?")


@dataclass(frozen=True)
class Search:
    """The search of a level's keys in a scenario."""

    ground: int
    """The index of the scenario."""
    place: int
    """The index of the level."""
    over: tuple[str, ...]
    """Keys and their ranges, as `spillway tune` takes them."""
    packets: float
    """About how many packets a run sends."""


def searches(plan: Plan, seeds: Sequence[int], on: str) -> list[Search]:
    """What is searched: every level that is ranked and has keys, in every scenario as it is.

    Raises:
        ScenarioError: Searches do not compute there, or have one of the seeds.
    """
    if on != "local":
        raise ScenarioError(
            f"searches of keys run here only, not on {on}",
            "tune first (`spillway tune`), and give the values as levels of your own",
        )
    if any(SEARCHED <= seed < SEARCHED + SEEDS for seed in seeds):
        raise ScenarioError(f"seeds: {SEARCHED} and more are those of the search", "take others")
    found = []
    for ground, own in enumerate(plan.grounds):
        for place, level in enumerate(plan.ranked.levels):
            assigned = own.assigned(level.assignments)
            if own.refusal(assigned) is None and (over := ranges(level, plan.ranked.name, own)):
                found.append(Search(ground, place, tuple(over), own.read(assigned).packets))
    return found


def ranges(level: Level, factor: str, ground: Ground) -> list[str]:
    """What is searched of a level: the keys of its kind whose defaults are positive numbers.

    Left alone are keys that say how packets are made, as those do that all kinds have, and keys
    that the scenario does not have beside the level's other defaults.
    """
    path = KEYS[factor].removesuffix(".kind")
    kinds = [each for each in at(sections(ground.plugins), path) if each.kind]
    own = next((each for each in kinds if each.kind == level.kind), None)
    if own is None:
        return []
    assigned = ground.assigned(level.assignments)
    resolved = tomllib.loads(ground.varied(assigned).checked().resolved)
    for part in path.split("."):
        resolved = resolved.get(part, {})
    names = [name for name in _own_keys(own, kinds) if name in resolved]
    found = []
    for name in names:
        for times in TIMES:
            text = _range(own.keys[name], times)
            if text is not None and _takes(ground, assigned, f"{path}.{name}", text):
                found.append(f"{path}.{name}={text}")
                break
    return found


def _own_keys(own: Section, kinds: Sequence[Section]) -> list[str]:
    others = [set(each.keys) for each in kinds if each is not own]
    common = set.intersection(*others) if others else set()
    return [name for name in own.keys if name not in common | _OF_PACKETS]


def _takes(ground: Ground, assigned: tuple[str, ...], key: str, ends: str) -> bool:
    """Whether the scenario takes both ends of a range."""
    low, high = ends.partition(":")[0].split("..")
    texts = (ground.assigned([f"{key}={end}"]) for end in (low, high))
    return all(ground.refusal((*assigned, *each)) is None for each in texts)


def _range(key: Key, times: float) -> str | None:
    match = _NUMBER.fullmatch(key.default)
    if match is None or not float(match[1]):
        return None
    value, unit = float(match[1]), match[2]
    low, high = value / times, value * times
    if key.least is not None:
        low = max(low, key.least.value)
    if key.most is not None:
        high = min(high, key.most.value)
    if unit == "B" or not (unit or "." in match[1]):
        # Whole numbers.
        low, high = math.ceil(low), math.floor(high)
    if not 0 < low < high:
        return None
    if unit:
        return f"{_plain(low)}{unit}..{_plain(high)}{unit}:log"
    return f"{low}..{high}" if isinstance(low, int) else f"{_point(low)}..{_point(high)}:log"


def _plain(value: float) -> str:
    """Six significant digits without an exponent."""
    return f"{float(f'{value:.6g}'):.9f}".rstrip("0").rstrip(".")


def _point(value: float) -> str:
    return repr(float(f"{value:g}"))


def searched(
    plan: Plan,
    todo: Sequence[Search],
    trials: int,
    *,
    metric: str,
    seed: int,
    jobs: int | None,
    out: Path | None,
    follow: Follow | None,
    say: Callable[[str], object],
) -> dict[tuple[int, int], list[str]]:
    """The best values that searches have found, by scenario and level.

    Where a run with the defaults has no such number, they stay.

    Raises:
        Interrupted: Ctrl-C.
        ScenarioError: A study's folder holds another study.
    """
    from spillway.tuning.search import DefaultError
    from spillway.tuning.study import tune

    found = {}
    for each in todo:
        own, level = plan.grounds[each.ground], plan.ranked.levels[each.place]
        say(f"{own.name}, {level.name}: searching {', '.join(each.over)}")
        folder = None if out is None else out / "tuned" / folder_of(own.name) / level.name
        if folder is not None:
            folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            tuned = tune(
                own.varied(own.assigned(level.assignments)).with_named_plugins(),
                over=each.over,
                minimize=metric,
                trials=trials,
                seeds=range(SEARCHED, SEARCHED + SEEDS),
                search_seed=seed,
                confirm_seeds="none",
                jobs=jobs,
                out=folder,
                follow=follow,
            )
        except DefaultError as error:
            say(f"{own.name}, {level.name}: the defaults stay, since {error}")
            continue
        except ScenarioError as error:
            raise ScenarioError(f"{own.name}, {level.name}: {error}", error.hint) from error
        best = (tuned.best or {}).items()
        found[each.ground, each.place] = [f"{key}={value}" for key, value in best]
    return found
