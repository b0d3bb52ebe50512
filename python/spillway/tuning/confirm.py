"""The confirmation: winners and the default on seeds that the search never saw, in pairs.

The best of many trials looks better than it is: luck on the seeds of the search does not repeat on
others. With the same seed winner and default have the same traffic, so the interval is that of the
differences.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import statistics
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optuna import Study

from spillway.base.arguments import LARGEST_SEED
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.progress import Follow
from spillway.base.threads import side_by_side
from spillway.experiment.statistics import interval
from spillway.scenario.scenario import Scenario
from spillway.tuning import seal
from spillway.tuning.expression import DEFAULT, UndefinedError
from spillway.tuning.goal import Aims, Constraint, Goal, MissingError, Readings
from spillway.tuning.runs import Kept, Runs, StoppedError

NONE = "none"
"""The text that stands for the seeds if nothing is to be confirmed."""
FEWEST = 3
"""The fewest seeds from which an interval tells something."""
MOST_WINNERS = 5
"""The most trials of a Pareto front that are confirmed."""
TIMES = 3
"""Runs of the confirmation last this many times as long, unless a duration is given."""
_EVENTS = "events"
_BEHIND = 5
"""How many seeds a confirmation has, unless they are given."""


@dataclass(frozen=True)
class Confirmation:
    """The seeds and the duration."""

    seeds: Sequence[int]
    assignments: tuple[str, ...]
    """Assignments of the other duration and, if the scenario sets an end, of another end."""
    duration_ps: int


def planned(base: Scenario, seeds: Sequence[int], duration: str | None) -> Confirmation:
    """The confirmation that goes with a scenario; without seeds there is none."""
    if not seeds:
        if duration is not None:
            raise ScenarioError(
                f"the confirmation is to last {duration}, and there is to be none",
                "give a duration, or no seeds to confirm with",
            )
        return Confirmation((), (), base.checked().duration_ps)
    if len(seeds) < FEWEST:
        hint = f"{FEWEST} seeds at least; more make the interval narrower"
        told = "one seed tells" if len(seeds) == 1 else f"{len(seeds)} seeds tell"
        raise ScenarioError(f"{told} too little in a confirmation", hint)
    before = base.checked()
    text = f"{TIMES * before.duration_ps}ps" if duration is None else duration
    longer: tuple[str, ...] = (f"duration={text}",)
    try:
        after = base.set(*longer).checked()
    except ScenarioError as error:
        if error.path != "stop":
            raise
        after = None
    # A fixed end moves with the duration; by default it follows by itself.
    if after is None or after.stop_ps == before.stop_ps:
        free = base.set("stop=", *longer).may_lack(["stop="]).checked()
        more = free.duration_ps - before.duration_ps
        longer = (f"stop={max(before.stop_ps + more, free.duration_ps)}ps", *longer)
        after = base.set(*longer).checked()
    return Confirmation(seeds, longer, after.duration_ps)


def run(
    study: Study,
    aims: Aims,
    scenarios: Sequence[Scenario],
    confirmation: Confirmation,
    jobs: int,
    follow: Follow | None,
    share: float,
    runs_kept: Kept,
) -> list[dict[str, list[float]]]:
    """The readings of every scenario, longer and on the new seeds.

    Raises StoppedError, and SpillwayError if a run has no such number.

    Besides the metrics, readings have the number of events, by which equal runs are recognised.
    Runs that the study already has are not repeated.
    """
    work = [
        (scenario.set(*confirmation.assignments), seed)
        for scenario in scenarios
        for seed in confirmation.seeds
    ]
    kept = dict(study.user_attrs)
    lock = threading.Lock()

    def one(place: int, stop: threading.Event) -> dict[str, float] | None:
        scenario, seed = work[place]
        key = _key(scenario, seed)
        if key in kept:
            known: dict[str, float] = kept[key]
            return known
        label = "confirming" if place >= len(confirmation.seeds) else "confirming: the default"
        runs = Runs(scenario, [seed], 1, stop, follow, label, share, runs_kept)
        try:
            summaries = runs.finish()
            readings = aims.readings(summaries)
        except StoppedError:
            return None
        except MissingError as error:
            who = "the default" if place < len(confirmation.seeds) else "the tuned scenario"
            which = f", seed {seed}" if error.seed is None else ""
            raise SpillwayError(
                f"{who}{which}: {error}", "confirm with other seeds, or for longer"
            ) from None
        finally:
            runs.end()
        found = {name: values[0] for name, values in readings.items()}
        found[_EVENTS] = summaries[0]["events"]
        with lock:
            study.set_user_attr(key, seal.sealed(key, found))
        return found

    done, is_interrupted = side_by_side(one, range(len(work)), jobs)
    if is_interrupted or any(found is None for found in done):
        raise StoppedError
    each = len(confirmation.seeds)
    parts = [done[place : place + each] for place in range(0, len(done), each)]
    return [
        {
            name: [found[name] for found in part if found is not None]
            for name in (*aims.names, _EVENTS)
        }
        for part in parts
    ]


def _key(scenario: Scenario, seed: int) -> str:
    """The name under which a study keeps a run of the confirmation."""
    resolved = scenario.set(f"seed={seed}").checked().resolved
    return f"{seal.CONFIRMED}{hashlib.sha256(resolved.encode()).hexdigest()[:32]}"


def compared(aims: Aims, readings: Readings, default: Readings) -> dict[str, Any]:
    """A winner beside the default, on the new seeds."""
    constraints = [_constraint(each, readings, default) for each in aims.constraints]
    return {
        "goals": [_goal(goal, readings, default) for goal in aims.goals],
        "constraints": constraints,
        "is_met": all(each["is_met"] for each in constraints),
    }


def _constraint(each: Constraint, readings: Readings, default: Readings) -> dict[str, Any]:
    """Both sides of a constraint: the limit, and by how much the other one is beyond it."""
    names = each.comparison.left.names
    is_left = DEFAULT in names or not names
    found: dict[str, Any] = {
        **{"text": each.text, "limit": "left" if is_left else "right"},
        **{"left": None, "right": None, "is_met": False},
        **{"difference": None, "low": None, "high": None},
    }

    def difference(left: float, right: float) -> float:
        return right - left if is_left else left - right

    with contextlib.suppress(UndefinedError):
        left, right = each.sides(readings, default)
        mean = difference(left, right)
        is_met = each.violation(readings, default) <= 0
        found.update(left=left, right=right, is_met=is_met, difference=mean)
        by_seed = [
            difference(*each.sides(_at(readings, place), _at(default, place)))
            for place in range(len(default[_EVENTS]))
        ]
        # Unless both sides are weighted sums, the mean over seeds may differ from that of the
        # means.
        tolerance = 1e-9 * max(abs(left), abs(right))
        if is_new(default) and math.isclose(statistics.fmean(by_seed), mean, abs_tol=tolerance):
            found["low"], found["high"] = interval(by_seed) or (None, None)
    return found


def _at(readings: Readings, place: int) -> Readings:
    """The readings of one seed."""
    return {name: [values[place]] for name, values in readings.items()}


def _goal(goal: Goal, readings: Readings, default: Readings) -> dict[str, Any]:
    tuned, before = goal.by_seed(readings), goal.by_seed(default)
    differences = [own - other for own, other in zip(tuned, before, strict=True)]
    found = interval(differences) if is_new(default) else None
    low, high = found or (None, None)
    return {
        "text": goal.text,
        "default": before,
        "tuned": tuned,
        "default_mean": statistics.fmean(before),
        "tuned_mean": statistics.fmean(tuned),
        "difference": statistics.fmean(differences),
        "low": low,
        "high": high,
        "verdict": verdict(goal.is_minimised, differences) if is_new(default) else "not tested",
    }


def is_new(default: Readings) -> bool:
    """Whether other seeds give other runs at all: if traffic is a list, all may be equal."""
    return len({*default[_EVENTS]}) > 1


def verdict(is_minimised: bool, differences: Sequence[float]) -> str:
    """What the differences to the default say: better, worse, undecided, or the same.

    >>> verdict(True, [-3.0, -2.0, -2.5]), verdict(False, [-3.0, -2.0, -2.5])
    ('better', 'worse')
    >>> verdict(True, [-3.0, 2.0, 1.0]), verdict(True, [0.0, 0.0, 0.0])
    ('undecided', 'the same')
    """
    if not any(differences):
        return "the same"
    found = interval(differences) if len(differences) >= FEWEST else None
    if found is None or found[0] <= 0 <= found[1]:
        return "undecided"
    return "better" if (found[1] < 0) == is_minimised else "worse"


def seeds_beside(search: Sequence[int], given: Sequence[int] | None) -> list[int]:
    """The seeds of the confirmation: those given, or the five behind those of the search."""
    if given is None:
        last = max(search)
        if last > LARGEST_SEED - _BEHIND:
            raise ScenarioError(
                f"behind seed {last} there are no {_BEHIND} for the confirmation",
                "name others with confirm_seeds, or search with smaller ones",
                typed="name others with --confirm-seeds, or search with smaller --seeds",
            )
        return [last + place for place in range(1, _BEHIND + 1)]
    both = sorted({*search}.intersection(given))
    if both:
        raise ScenarioError(
            f"seed {both[0]} is both in the search and in the confirmation",
            "confirm with seeds that the search has not seen",
        )
    return list(given)


def chosen_few(values: Sequence[Sequence[float]], most: int = MOST_WINNERS) -> list[int]:
    """At most `most` places of a front: its ends by the first goal, and evenly between them.

    >>> chosen_few([[3.0], [1.0], [2.0]]), chosen_few([[float(n)] for n in range(9)], 3)
    ([0, 1, 2], [0, 4, 8])
    """
    order = sorted(range(len(values)), key=lambda place: values[place][0])
    if len(order) > most:
        order = [order[round(place * (len(order) - 1) / (most - 1))] for place in range(most)]
    return sorted(order)
