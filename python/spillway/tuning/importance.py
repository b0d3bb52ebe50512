"""How much each parameter matters: its share in what makes trials differ.

By functional ANOVA over a random forest (F. Hutter, H. Hoos, K. Leyton-Brown, "An Efficient
Approach for Assessing Hyperparameter Importance", ICML 2014). A parameter that some trials lack,
since it matters only beside one choice, is judged among the trials with that choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spillway.tuning.goal import Aims, Direction
from spillway.tuning.search import outcome
from spillway.tuning.space import Choices, Space

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

FEWEST = 10
"""The fewest complete trials from which anything is said."""


def of(space: Space, aims: Aims, trials: Sequence[FrozenTrial]) -> list[dict[str, Any]]:
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
    import optuna

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
