"""The result of a study as a document, and how much each parameter matters for it.

A parameter matters by its share in the variance between trials, by functional ANOVA over a random
forest (F. Hutter, H. Hoos, K. Leyton-Brown, "An Efficient Approach for Assessing Hyperparameter
Importance", ICML 2014). A parameter that some trials lack, since it matters only beside one choice,
is judged among the trials with that choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.trial import FrozenTrial

from spillway.base import core
from spillway.tuning.goal import Aims, Direction
from spillway.tuning.search import END, Default, counts, outcome
from spillway.tuning.space import Choices, Parameter, Range, Space

FEWEST = 10
"""The fewest complete trials for which shares are given."""


def document(
    name: str,
    asked: Mapping[str, Any],
    space: Space,
    aims: Aims,
    default: Default,
    trials: Sequence[FrozenTrial],
    best: Sequence[FrozenTrial],
) -> dict[str, Any]:
    """The study so far."""
    shown = [_trial(trial, aims, default) for trial in trials if outcome(trial)]
    return {
        "status": "interrupted",
        "scenario": name,
        "version": core.__version__,
        "asked": dict(asked),
        "over": [_parameter(parameter, space) for parameter in space.parameters],
        "goals": [
            {
                "text": goal.text,
                "direction": goal.direction,
                "default": goal.value(default.readings),
                "default_by_seed": goal.by_seed(default.readings),
            }
            for goal in aims.goals
        ],
        "constraints": [
            {"text": each.text, "default_violation": each.violation(*[default.readings] * 2)}
            for each in aims.constraints
        ],
        "looks": [percent for percent in default.looks if percent != END],
        "default_cpu_s": round(default.cpu_s, 6),
        "cpu_s": round(
            default.cpu_s * len(asked["seeds"]) + sum(trial["cpu_s"] for trial in shown), 6
        ),
        "ended": sum(counts(trial) and trial.state.is_finished() for trial in trials),
        "trials": shown,
        "winners": [winner(trial) for trial in best],
        "importance": importance(space, aims, trials),
        "confirmation": None,
        "not_confirmed": None,
    }


def _parameter(parameter: Parameter, space: Space) -> dict[str, Any]:
    found: dict[str, Any] = {
        "key": parameter.key,
        "default": space.own.get(parameter.key),
        "below": [each.key for each in space.above(parameter)],
    }
    if isinstance(parameter, Range):
        low, high = parameter.low, parameter.high
        return {
            **found,
            **{"low": low, "high": high, "unit": parameter.unit},
            **{"log": parameter.is_log, "step": parameter.step},
        }
    return {**found, "values": list(parameter.values)}


def _trial(trial: FrozenTrial, aims: Aims, default: Default) -> dict[str, Any]:
    """One trial; the values of one that was ended early are those of its last look."""
    told = outcome(trial)
    readings = told.get("readings")
    is_complete = told["state"] == "complete"
    return {
        "trial": trial.number + 1,
        "state": told["state"],
        "set": told["set"],
        "numbers": {
            key: value for key, value in trial.params.items() if isinstance(value, (int, float))
        },
        "values": None if readings is None else aims.values(readings),
        "by_seed": None if readings is None else [goal.by_seed(readings) for goal in aims.goals],
        "violations": dict(trial.constraints) if readings is not None else {},
        "sides": {
            each.text: list(each.sides(readings, default.readings))
            for each in aims.constraints
            if readings is not None and is_complete
        },
        "is_met": all(value <= 0 for value in trial.constraints.values()),
        "percent": told["percent"],
        "cpu_s": told["cpu_s"],
        "why": told.get("why", ""),
        "same_as": None if "same_as" not in told else told["same_as"] + 1,
    }


def winner(trial: FrozenTrial) -> dict[str, Any]:
    """One of the best trials."""
    return {
        "trial": trial.number + 1,
        "set": outcome(trial)["set"],
        "values": list(trial.values),
    }


def confirmation(
    seeds: Sequence[int],
    duration_ps: int,
    longer: float,
    winners: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The winners beside the default, on new seeds; the runs are `longer` times as long."""
    return {
        "seeds": list(seeds),
        "duration_s": duration_ps * 1e-12,
        "times_as_long": longer,
        "is_met": all(winner["is_met"] for winner in winners),
        "winners": list(winners),
    }


def importance(space: Space, aims: Aims, trials: Sequence[FrozenTrial]) -> list[dict[str, Any]]:
    """The shares of all parameters, for every goal: over all trials, and within every branch.

    They add up to 1. They are None where there are too few trials, or all are alike.
    """
    complete = [trial for trial in trials if outcome(trial).get("state") == "complete"]
    always = _in_all(space, complete)
    found = []
    for place, goal in enumerate(aims.goals):
        branches = []
        for parameter in space.parameters:
            below = [each for each in space.parameters if parameter in space.above(each)]
            if not isinstance(parameter, Choices) or not below:
                continue
            for value in parameter.values:
                within = [each for each in complete if each.params.get(parameter.key) == value]
                keys = [key for key in _in_all(space, within) if key != parameter.key]
                shares = _shares(within, keys, place, goal.direction)
                branches.append(
                    {"key": parameter.key, "value": value, "trials": len(within), "shares": shares}
                )
        shares = _shares(complete, always, place, goal.direction)
        found.append(
            {"goal": goal.text, "trials": len(complete), "shares": shares, "branches": branches}
        )
    return found


def _in_all(space: Space, trials: Sequence[FrozenTrial]) -> list[str]:
    """The keys that have a value in each of these trials."""
    keys = (each.key for each in space.parameters)
    return [key for key in keys if all(key in trial.params for trial in trials)]


def _shares(
    trials: Sequence[FrozenTrial], keys: Sequence[str], goal: int, direction: Direction
) -> dict[str, float] | None:
    """The share of each of some parameters that all of these trials have."""
    if len(trials) < FEWEST or not keys or len({trial.values[goal] for trial in trials}) < 2:
        return None
    study = optuna.create_study(direction=direction)
    for trial in trials:
        study.add_trial(
            optuna.trial.create_trial(
                params={key: trial.params[key] for key in keys},
                distributions={key: trial.distributions[key] for key in keys},
                value=trial.values[goal],
            )
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
        found = optuna.importance.get_param_importances(
            study, evaluator=evaluator, params=list(keys)
        )
    return {key: float(found[key]) for key in sorted(keys, key=lambda key: -found[key])}
