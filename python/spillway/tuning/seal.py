"""Checksums of a study's contents, by which later changes are noticed.

A study's database has none of its own, and a flipped bit may make another trial the best one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from optuna import Study
from optuna.trial import FrozenTrial, TrialState

OUTCOME = "outcome"
"""The attribute of a trial that has its outcome."""
DEFAULT, CONFIRMED = "default", "confirmed:"
"""The attributes of a study that have the runs of the default and of the confirmation."""
_SEAL = "sha256"


class DamagedError(ValueError):
    """Something is not what was noted; the text says what."""


def sealed(name: str, content: Mapping[str, Any], *more: Any) -> dict[str, Any]:
    """Content to be noted under a name, with a checksum over it and over `more`."""
    return {**content, _SEAL: _digest(name, content, more)}


def of_trial(trial: FrozenTrial, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a trial, with a checksum over it and over what led to it."""
    distributions = {name: repr(each) for name, each in trial.distributions.items()}
    led = (trial.number, trial.params, distributions, trial.intermediate_values, trial.constraints)
    return sealed(OUTCOME, outcome, *led)


def check(study: Study) -> None:
    """Refuses a study that differs from what was noted. Raises DamagedError."""
    for name, content in study.user_attrs.items():
        if name != DEFAULT and not name.startswith(CONFIRMED):
            raise DamagedError(f"it has notes on {name!r}")
        what = "the default" if name == DEFAULT else "a run of the confirmation"
        if not isinstance(content, dict) or sealed(name, _bare(content)) != content:
            raise DamagedError(f"it does not say what {what} has come to")
    for place, trial in enumerate(study.get_trials(deepcopy=False)):
        if trial.number != place or not _is_whole(trial):
            raise DamagedError(f"it does not say what trial {place + 1} has come to")


def _is_whole(trial: FrozenTrial) -> bool:
    outcome = trial.user_attrs.get(OUTCOME)
    if outcome is None or not trial.state.is_finished():
        # A trial that was cut short may be tried again, and has no outcome.
        return trial.state not in (TrialState.COMPLETE, TrialState.PRUNED)
    if not isinstance(outcome, dict) or of_trial(trial, _bare(outcome)) != outcome:
        return False
    if trial.state == TrialState.COMPLETE:
        return bool(outcome["state"] == "complete" and trial.values == outcome["values"])
    return trial.state == TrialState.FAIL or outcome["state"] != "complete"


def _bare(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != _SEAL}


def _digest(*content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
