"""The search: trials one after another, or side by side, kept in a study that can go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optuna import Study, Trial, create_study
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.progress import Follow
from spillway.base.threads import side_by_side
from spillway.tuning import choosing, seal
from spillway.tuning.goal import INVALID, Aims, MissingError, Readings, front
from spillway.tuning.runs import Kept, Runs, StoppedError
from spillway.tuning.space import Choices, Parameter, Space
from spillway.tuning.workers import Beats, OtherWorkers

END = 100
"""The end of a run among the looks at it, in percent of its duration."""
MOST_KILLED = 3
"""How often a trial may be cut short by the end of its process before it counts as failed."""
_MOST_DRAWN = 10
"""The search gives up after this many invalid combinations for each trial that is wanted."""
_TURN_S = 1.0
_BEGUN = "begun"
"""How often a trial has been begun. A trial has this note once all its values are drawn."""


@dataclass(frozen=True)
class Default:
    """The unchanged scenario's runs."""

    looks: Mapping[int, Readings]
    """Their readings after these parts of their duration, in percent, and at the end.

    Looks at which there were no such numbers yet are left out.
    """
    cpu_s: float
    """The processor time of one of them."""

    @property
    def readings(self) -> Readings:
        """Their readings at the end."""
        return self.looks[END]


@dataclass(frozen=True)
class Plan:
    """How trials are chosen, run and ended."""

    seeds: Sequence[int]
    looks: tuple[int, ...]
    """The parts of a run, in percent, at which it is looked at and may be ended."""
    trials: int
    sampler: str
    pruner: str
    search_seed: int
    jobs: int

    @property
    def at_once(self) -> int:
        """How many trials run at once: one, unless there are processors left beside its seeds."""
        return max(1, self.jobs // len(self.seeds))


@dataclass
class _Outcome:
    """The outcome of a trial."""

    state: str
    readings: list[Readings] = field(default_factory=list)
    percent: int = END
    cpu_s: float = 0.0
    why: str = ""
    same_as: int | None = None


class Search:
    """Trials of a study, until there are as many as wanted."""

    def __init__(
        self,
        study: Study,
        space: Space,
        aims: Aims,
        plan: Plan,
        default: Default,
        is_shared: bool,
        follow: Follow | None,
        say: Callable[[str], object],
        share: float,
        kept: Kept,
    ) -> None:
        """`share` is the share of one run in all work, for `follow`; `kept` has the runs."""
        self._kept = kept
        self._study, self._space, self._aims, self._plan = study, space, aims, plan
        self._default, self._is_shared = default, is_shared
        self._follow, self._say, self._share = follow, say, share
        self._lock = threading.Lock()
        self._mine: set[int] = set()
        self._beats = Beats(study) if is_shared else None
        self._others = OtherWorkers()

    def go(self) -> bool:
        """Goes on until there are enough trials. Returns whether Ctrl-C has ended it."""
        lanes = self._plan.at_once
        try:
            _, is_interrupted = side_by_side(self._lane, range(lanes), lanes)
        finally:
            if self._beats is not None:
                self._beats.end()
        return is_interrupted

    def _lane(self, _: int, stop: threading.Event) -> None:
        """Runs one trial after another."""
        while not stop.is_set():
            with self._lock:
                found = self._next()
            if found is None:
                if not self._waits():
                    return
                stop.wait(_TURN_S)
                continue
            trial, chosen = found
            try:
                end = self._outcome(trial, chosen, stop)
            except StoppedError:
                self._give_up(trial)
                return
            with self._lock:
                self._tell(trial, chosen, end)

    # Which trial is next --------------------------------------------------------------------------

    def _next(self) -> tuple[Trial, dict[str, str]] | None:
        """A trial that has not run yet, and its values; None if there are enough."""
        while True:
            trial = self._begun()
            if trial is None:
                return None
            chosen = self._chosen(trial)
            times = trial.user_attrs.get(_BEGUN, 0)
            if times >= MOST_KILLED:
                why = f"its process has ended {times} times before it was over"
                self._tell(trial, chosen, _Outcome("failed", why=why))
                continue
            trial.set_user_attr(_BEGUN, times + 1)
            try:
                self._space.with_values(chosen).checked()
            except ScenarioError as error:
                self._tell(trial, chosen, _Outcome("invalid", why=str(error)))
                continue
            return trial, chosen

    def _begun(self) -> Trial | None:
        """A trial that a killed process has left, or else a new one; None if there are enough."""
        trials = self._study.get_trials(deepcopy=False)
        left = self._of_others(trials)
        if self._is_shared:
            if self._others.try_again(self._study, left):
                trials = self._study.get_trials(deepcopy=False)
        elif left:
            self._mine.add(left[0].number)
            return self._taken_over(left[0], trials)
        if sum(map(counts, trials)) >= self._plan.trials:
            return None
        self._check_drawn(trials)
        trial = self._study.ask()
        self._mine.add(trial.number)
        if self._beats is not None:
            self._beats.add(trial)
        self._study.sampler = self._sampler(trial.number)
        return trial

    def _taken_over(self, left: FrozenTrial, trials: Sequence[FrozenTrial]) -> Trial:
        """A trial that a killed process has left, with the values that it had, or would have had.

        So the study goes on as if nothing had happened.
        """
        if _BEGUN not in left.user_attrs and "fixed_params" not in left.system_attrs:
            # Its values may have been drawn in part. They are drawn again in a copy of the study.
            directions = self._study.directions
            again = create_study(directions=directions, sampler=self._sampler(left.number))
            again.add_trials(trials[: left.number])
            drawn = again.ask()
            self._chosen(drawn)
            keeps = self._study._storage
            # What the sampler notes with a trial, such as its generation, is part of it.
            noted = again.get_trials(deepcopy=False)[-1].system_attrs
            for key, value in {**noted, "fixed_params": dict(drawn.params)}.items():
                keeps.set_trial_system_attr(left._trial_id, key, value)
        self._study.sampler = self._sampler(left.number)
        return Trial(self._study, left._trial_id)

    def _sampler(self, number: int) -> BaseSampler:
        plan = self._plan
        is_alone = plan.at_once == 1 and not self._is_shared
        return choosing.sampler(plan.sampler, plan.search_seed, number, is_alone)

    def _check_drawn(self, trials: Sequence[FrozenTrial]) -> None:
        """Refuses to go on where hardly any combination of values is a scenario."""
        invalid = [trial for trial in trials if outcome(trial).get("state") == "invalid"]
        if len(invalid) >= _MOST_DRAWN * self._plan.trials:
            why = outcome(invalid[-1])["why"]
            raise SpillwayError(
                f"{len(invalid)} combinations of values are no scenarios: the last one, {why}",
                "choose ranges whose values go together",
            )

    def _waits(self) -> bool:
        """Whether trials of other workers are under way: these workers may still be killed."""
        return self._is_shared and bool(self._of_others(self._study.get_trials(deepcopy=False)))

    def _of_others(self, trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
        """The trials under way that are not this process's own."""
        running = (trial for trial in trials if trial.state == TrialState.RUNNING)
        return [trial for trial in running if trial.number not in self._mine]

    def _chosen(self, trial: Trial) -> dict[str, str]:
        def choose(parameter: Parameter) -> str:
            if isinstance(parameter, Choices):
                return str(trial.suggest_categorical(parameter.key, parameter.values))
            if parameter.is_whole:
                value: float = trial.suggest_int(
                    parameter.key,
                    int(parameter.low),
                    int(parameter.high),
                    step=int(parameter.step or 1),
                    log=parameter.is_log,
                )
            else:
                value = trial.suggest_float(
                    parameter.key,
                    parameter.low,
                    parameter.high,
                    step=parameter.step,
                    log=parameter.is_log,
                )
            return parameter.text(value)

        return self._space.chosen(choose)

    # What it comes to -----------------------------------------------------------------------------

    def _outcome(self, trial: Trial, chosen: Mapping[str, str], stop: threading.Event) -> _Outcome:
        """Runs a trial, unless one with the same values is complete."""
        same = self._same(chosen)
        if same is not None:
            return _Outcome("complete", [outcome(same)["readings"]], same_as=same.number)
        scenario = self._space.with_values(chosen)
        plan = self._plan
        jobs = max(1, plan.jobs // plan.at_once)
        label = f"trial {trial.number + 1}"
        runs = Runs(scenario, plan.seeds, jobs, stop, self._follow, label, self._share, self._kept)
        readings: list[Readings] = []
        try:
            for percent in self._default.looks:
                if percent != END and self._is_pruned(trial, runs, percent, readings):
                    runs.end()
                    return _Outcome("pruned", readings, percent, runs.cpu_s)
            try:
                readings.append(self._aims.readings(runs.finish()))
            except MissingError as error:
                return _Outcome("failed", cpu_s=runs.cpu_s, why=str(error))
            return _Outcome("complete", readings, cpu_s=runs.cpu_s)
        finally:
            runs.end()

    def _is_pruned(self, trial: Trial, runs: Runs, percent: int, readings: list[Readings]) -> bool:
        """Looks at the runs on the way, and asks whether they are to be ended."""
        summaries = runs.look(percent)
        try:
            readings.append(self._aims.readings(summaries))
        except MissingError:
            # There may be no such flow so early; a trial that never has one fails at its end.
            return False
        value = self._aims.values(readings[-1])[0]
        with self._lock:
            trials = self._study.get_trials(deepcopy=False)
            # A trial that goes on after its process was killed has reported some values already.
            if percent not in trials[trial.number].intermediate_values:
                trial.report(value, percent)
            return self._is_behind(trial.number, value, percent, trials)

    def _is_behind(
        self, number: int, value: float, percent: int, trials: Sequence[FrozenTrial]
    ) -> bool:
        """Whether a trial is ended at a look, given the values of others there."""
        others = [
            each for each in trials if each.number != number and percent in each.intermediate_values
        ]
        complete = [each for each in others if each.state == TrialState.COMPLETE]
        return choosing.is_ended(
            self._plan.pruner,
            value,
            [each.intermediate_values[percent] for each in complete],
            [each.intermediate_values[percent] for each in others],
            choosing.factor_at(percent, [look for look in self._default.looks if look != END]),
            self._aims.goals[0].is_minimised,
        )

    def _same(self, chosen: Mapping[str, str]) -> FrozenTrial | None:
        """A complete trial with these values: its runs have the same seeds, so the same results."""
        trials = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return next((other for other in trials if outcome(other)["set"] == chosen), None)

    def _tell(self, trial: Trial, chosen: Mapping[str, str], end: _Outcome) -> None:
        """Notes the outcome of a trial."""
        told: dict[str, Any] = {
            "state": end.state,
            "set": dict(chosen),
            "percent": end.percent,
            "cpu_s": round(end.cpu_s, 6),
        }
        violations = {"a scenario": INVALID} if end.state == "invalid" else {}
        values: list[float] | None = None
        if end.readings:
            told["readings"] = end.readings[-1]
            try:
                default = self._default.looks[end.percent]
                violations = self._aims.violations(end.readings[-1], default)
            except MissingError as error:
                end.state, end.why = "failed", str(error)
                told["state"] = "failed"
            values = self._aims.values(end.readings[-1])
        if end.why:
            told["why"] = end.why
        if end.same_as is not None:
            told["same_as"] = end.same_as
        told["values"] = values if end.state == "complete" else None
        for text, violation in violations.items():
            if text not in trial.constraints:
                trial.set_constraint(text, violation)
        noted = self._study.get_trials(deepcopy=False)[trial.number]
        trial.set_user_attr(seal.OUTCOME, seal.of_trial(noted, told))
        state = {"complete": TrialState.COMPLETE, "failed": TrialState.FAIL}
        ended = state.get(end.state, TrialState.PRUNED)
        best = self._best()
        self._study.tell(trial, values if ended is TrialState.COMPLETE else None, state=ended)
        self._mine.discard(trial.number)
        if self._beats is not None:
            self._beats.remove(trial)
        self._tell_best(trial.number, end.state, best)

    def _give_up(self, trial: Trial) -> None:
        """Leaves a trial to whoever goes on."""
        begun = trial.user_attrs[_BEGUN] - 1
        trial.set_user_attr(_BEGUN, begun)
        if self._beats is not None:
            self._beats.remove(trial)
            self._others.again(self._study, trial.number, trial.params, begun)

    # The best so far ------------------------------------------------------------------------------

    def _best(self) -> float | None:
        """The best value of a study with one goal so far."""
        if len(self._aims.goals) > 1:
            return None
        found = winners(self._aims, self._study.get_trials(deepcopy=False))
        return None if not found else found[0].values[0]

    def _tell_best(self, number: int, state: str, before: float | None) -> None:
        trials = self._study.get_trials(deepcopy=False)
        ended = sum(counts(trial) and trial.state.is_finished() for trial in trials)
        found = self._best()
        if found is None or found == before or state != "complete":
            return
        goal = self._aims.goals[0]
        default = goal.value(self._default.readings)
        self._say(
            f"trial {number + 1} ({ended} of {self._plan.trials} done): {goal.text} = {found:.4g}, "
            f"the best so far (default: {default:.4g})"
        )


def outcome(trial: FrozenTrial) -> dict[str, Any]:
    """What was noted of a trial that is over; nothing of one that was cut short."""
    return dict(trial.user_attrs.get(seal.OUTCOME, {}))


def counts(trial: FrozenTrial) -> bool:
    """Whether a trial counts towards `--trials`.

    Trials that have not begun, that are invalid, or that another one repeats do not.
    """
    if trial.state == TrialState.WAITING:
        return False
    if trial.state == TrialState.FAIL:
        return bool(outcome(trial))
    return outcome(trial).get("state") != "invalid"


def winners(aims: Aims, trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The best trial that satisfies all constraints; with several goals the Pareto front."""
    met = [
        trial
        for trial in trials
        if outcome(trial).get("state") == "complete"
        and trial.state.is_finished()
        and all(value <= 0 for value in trial.constraints.values())
    ]
    sign = 1 if aims.goals[0].is_minimised else -1
    if len(aims.goals) > 1:
        found = [met[place] for place in front(aims, [trial.values for trial in met])]
        return sorted(found, key=lambda trial: sign * trial.values[0])
    # Of equal ones the first.
    return sorted(met, key=lambda trial: sign * trial.values[0])[:1]


class DefaultError(SpillwayError):
    """The unchanged scenario has no value for a goal or a constraint."""


def default_of(
    study: Study,
    space: Space,
    aims: Aims,
    plan: Plan,
    follow: Follow | None,
    say: Callable[[str], object],
    share: float,
    kept: Kept,
) -> Default:
    """Runs the unchanged scenario as a trial is run, and times it. Raises StoppedError.

    A study keeps its readings.
    """
    noted = study.user_attrs.get(seal.DEFAULT)
    if noted is not None:
        looks = {int(percent): readings for percent, readings in noted["looks"].items()}
        return Default(looks, noted["cpu_s"])
    scenario, stop = space.base.with_named_plugins(), threading.Event()
    runs = Runs(scenario, plan.seeds, plan.jobs, stop, follow, "the default", share, kept)
    found: dict[int, dict[str, list[float]]] = {}
    try:
        for percent in plan.looks:
            try:
                found[percent] = aims.readings(runs.look(percent))
            except MissingError as error:
                say(f"no trial is ended after {percent}% of its duration: the default's {error}")
        try:
            found[END] = aims.readings(runs.finish())
        except MissingError as error:
            raise DefaultError(
                f"the default has failed: {error}",
                "let the runs last longer, or choose another metric",
            ) from None
        cpu_s = runs.cpu_s / len(plan.seeds)
    finally:
        runs.end()
    told = {"looks": {str(percent): each for percent, each in found.items()}, "cpu_s": cpu_s}
    study.set_user_attr(seal.DEFAULT, seal.sealed(seal.DEFAULT, told))
    return Default(found, cpu_s)
