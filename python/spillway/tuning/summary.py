"""What a study has come to, as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spillway.base import core
from spillway.tuning.goal import Aims
from spillway.tuning.search import END, Default, counts, outcome
from spillway.tuning.space import Parameter, Range, Space

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


def document(
    name: str,
    asked: Mapping[str, Any],
    space: Space,
    aims: Aims,
    default: Default,
    own: Mapping[str, Any],
    trials: Sequence[FrozenTrial],
) -> dict[str, Any]:
    """The study so far. `own` are the scenario's own values of the parameters."""
    shown = [_trial(trial, aims, default) for trial in trials if outcome(trial)]
    return {
        "status": "interrupted",
        "scenario": name,
        "version": core.__version__,
        "asked": dict(asked),
        "over": [_parameter(parameter, space, own) for parameter in space.parameters],
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
        "winners": [],
        "importance": [],
        "confirmation": None,
        "not_confirmed": None,
    }


def _parameter(parameter: Parameter, space: Space, own: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "key": parameter.key,
        "default": own.get(parameter.key),
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


def relative(difference: float, mean: float) -> float | None:
    """A difference as a share of the default's mean.

    >>> relative(-1.0, 4.0), relative(1.0, 0.0)
    (-0.25, None)
    """
    return difference / abs(mean) if mean else None
