"""`spillway.tune`: the search for the best parameters of a scenario, and its confirmation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optuna import Study
from optuna.trial import FrozenTrial

from spillway.base import core
from spillway.base.arguments import Assignments, Seeds, callback, plain_int, seeds_of, whole
from spillway.base.errors import Interrupted, ScenarioError, SpillwayError
from spillway.base.progress import Follow, duration
from spillway.base.threads import MOST_JOBS, processors
from spillway.plugins import Plugins
from spillway.plugins.description import check_named, describe_all
from spillway.run.run import prepared
from spillway.scenario.inputs import Inputs
from spillway.scenario.scenario import Scenario, Source
from spillway.tuning import choosing, confirm, storage
from spillway.tuning import summary as summaries
from spillway.tuning.confirm import Confirmation
from spillway.tuning.files import BEST, FRONT, PAGE, StudyFolder
from spillway.tuning.goal import Aims, Texts
from spillway.tuning.runs import Kept, StoppedError, can_be_looked_at
from spillway.tuning.search import END, Default, Plan, Search, counts, default_of, outcome, winners
from spillway.tuning.space import Over, Space, parameters

LOOKS = "25%,50%"
"""The looks at a run with one goal, unless others are given."""
SEEDS = "1..4"
_KEPT_S, _IN_MEMORY_S = 0.1, 0.02
"""About how much processor time a trial takes beside its runs: to choose, and to note in a file."""


class Tuned:
    """The result of a study."""

    def __init__(self, summary: dict[str, Any], folder: Path | None = None) -> None:
        self.summary = summary
        """All of it, as `summary.json` has it (docs/tuning.md)."""
        self.folder = folder

    @property
    def status(self) -> str:
        """Whether it is "complete", or was "interrupted" and can go on."""
        return str(self.summary["status"])

    @property
    def best(self) -> dict[str, str] | None:
        """The values of the best trial; with several goals, the best by the first one.

        None if no trial satisfies all constraints.
        """
        front = self.front
        return front[0] if front else None

    @property
    def front(self) -> list[dict[str, str]]:
        """The values of all trials on the Pareto front, the best by the first goal first.

        With one goal it is only the best.
        """
        return [dict(each["set"]) for each in self.summary["winners"]]

    def __repr__(self) -> str:
        name, ended = self.summary["scenario"], self.summary["ended"]
        best = "nothing satisfies all constraints" if self.best is None else f"best {self.best}"
        return f"<Tuned {name!r}: {ended} trials, {best}, {self.status}>"

    def _repr_html_(self) -> str:
        from spillway.show import html
        from spillway.tuning import tables

        return str(html.of(tables.shown(self.summary)))


@dataclass(frozen=True)
class _Request:
    """All that was asked, read and checked."""

    base: Scenario
    name: str
    space: Space
    aims: Aims
    plan: Plan
    confirmation: Confirmation
    question: dict[str, Any]
    """The question: with another one it is another study."""

    @property
    def asked(self) -> dict[str, Any]:
        """The question, and what may differ when a study goes on."""
        return {
            **self.question,
            "trials": self.plan.trials,
            "confirm_seeds": list(self.confirmation.seeds),
            "confirm_duration_ps": self.confirmation.duration_ps,
        }

    @property
    def longer(self) -> float:
        """How many times as long a run of the confirmation is."""
        return self.confirmation.duration_ps / self.base.checked().duration_ps

    def work(self, trials: int) -> tuple[float, float]:
        """The work of so many trials, and of the confirmation, in runs of the default."""
        winners = 1 if len(self.aims.goals) == 1 else confirm.MOST_WINNERS
        confirmed = (1 + winners) * len(self.confirmation.seeds) * self.longer
        return float(trials * len(self.plan.seeds)), confirmed

    @property
    def share(self) -> float:
        """The share of one run of a trial in all work, with the runs of the default."""
        return 1.0 / (sum(self.work(self.plan.trials)) + len(self.plan.seeds))


def tune(
    source: Source,
    *,
    over: Over,
    minimize: Texts = (),
    maximize: Texts = (),
    subject_to: Texts = (),
    trials: int = 60,
    seeds: Seeds = SEEDS,
    set: Assignments = (),
    plugins: Plugins = (),
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    storage: str | None = None,
    sampler: str = "tpe",
    pruner: str | None = None,
    looks: str | Iterable[int] | None = None,
    search_seed: int = 1,
    confirm_seeds: Seeds | None = None,
    confirm_duration: str | None = None,
    follow: Follow | None = None,
    say: Callable[[str], object] | None = None,
) -> Tuned:
    """Searches for the values of some keys with which a scenario does best, and confirms them.

    Every trial, one combination of values, runs with the same seeds as the unchanged scenario, the
    default. See docs/tuning.md.

    Args:
        source: The scenario, as `spillway.run` takes it.
        set: Changes of it for all runs, those of the default too, as `spillway.run` takes them.
        plugins: Classes that the scenario, or a choice in `over`, names by their ids.

        What is varied:
        over: Keys and their ranges or choices: texts such as `switch.sharing.alpha=0.1..8:log` or
            `switch.sharing=dt,lqd`, or a mapping of keys to ranges (texts) or lists of values.

        What is sought, at least one goal:
        minimize: Metrics, such as `short.p99`, or arithmetic over metrics, as a text or several,
            each a goal; with several goals the answer is their Pareto front.
        maximize: The same for numbers that should be large.
        subject_to: Comparisons that the best must satisfy, such as `goodput >= 0.98 * default`, in
            which `default` stands for the value of the other side in the unchanged scenario.

        How it is searched:
        trials: How many trials there are; combinations that are no scenarios do not count.
        seeds: The seeds of every trial: numbers, or a text such as `1..4`.
        sampler: What chooses the values: "tpe" (Parzen estimators), "nsga2" (a genetic algorithm)
            or "random".
        search_seed: The seed of the sampler.
        looks: The parts of a run, in whole percents, at which its trial may end early: a text such
            as `25%,50%`, or numbers; by default these two with one goal, and none with several
            goals, with the pruner "none", or with a tagger as a plug-in.
        pruner: What ends a trial at a look: "median" (it is worse than the median trial there),
            "halving" (it is not among the better part of the trials there) or "none"; by default
            "median" if there are looks.

        How the best is confirmed:
        confirm_seeds: The seeds with which the best and the default run once more, at least three
            and none of `seeds`; by default the five behind the last of `seeds`, and with "none"
            nothing is confirmed.
        confirm_duration: The scenario's `duration` in these runs, such as "60ms"; by default three
            times its own.

        Where it is kept:
        out: A folder, from which the same call goes on after an interruption; without it and
            `storage` the study is kept in memory.
        force: Begin the study in `out` anew; not with `storage`.
        storage: Where several processes or machines share one study: a file, `NAME.journal`, or the
            address of a database, such as `postgresql://...`.

        How it runs:
        jobs: Runs at a time; by default one for each processor.
        follow: As `Experiment.run` takes it; shares are of all work of the search and the
            confirmation.
        say: Called with a line of text: before the first trial, what is not varied or cannot end
            early, and how long all will take; with one goal, also each trial that beats all earlier
            ones.

    Returns:
        The result of the study. `best` is None if no trial satisfies all constraints.

    Raises:
        Interrupted: Ctrl-C; its `result`, a `Tuned`, holds what there is so far.
        ScenarioError: Something asked is wrong, or the folder holds another study; nothing was run.
        PluginError: A plug-in has failed.
        SpillwayError: The default fails, a run takes more than its `limits` allow, hardly any
            combination of values is a scenario, or the study cannot be kept or is damaged. What
            fails in the confirmation is told in `summary` instead.
    """
    callback("follow", follow)
    callback("say", say)
    request = _request(
        prepared(source, None, set, plugins),
        over=over,
        aims=(minimize, maximize, subject_to),
        seeds=seeds_of(seeds),
        plan=(whole("trials", trials, 1), sampler, pruner, search_seed, jobs),
        looks=looks,
        confirmed=(_new_seeds(confirm_seeds), confirm_duration),
    )
    tell = say or (lambda _: None)
    if storage is not None:
        _storage_check(storage, force)
    if out is None:
        return _tuned(request, storage, None, follow, tell)
    with StudyFolder(out, request.question, force) as folder:
        before = folder.summary
        if before is not None and before["asked"] == request.asked and is_confirmed(before):
            folder.stay()
            return Tuned(before, folder.place)
        folder.clear()
        return _tuned(request, storage, folder, follow, tell)


def _new_seeds(given: Seeds | None) -> list[int] | None:
    """The seeds of the confirmation, if they are given; none of them where it is not wanted."""
    if given is None:
        return None
    return [] if given == confirm.NONE else seeds_of(given)


def _storage_check(where: object, force: bool) -> None:
    if not isinstance(where, str):
        raise ScenarioError(f"storage: {where!r} is not valid; expected a text")
    storage.check(where)
    if force:
        raise ScenarioError(
            f"a study in {storage.shown(where)} may be that of others, and cannot begin anew",
            "leave force out, or name another storage",
            typed="leave --force out, or name another --storage",
        )


def _request(
    scenario: Scenario,
    *,
    over: Over,
    aims: tuple[Texts, Texts, Texts],
    seeds: list[int],
    plan: tuple[int, str, str | None, int, int | None],
    looks: str | Iterable[int] | None,
    confirmed: tuple[list[int] | None, str | None],
) -> _Request:
    """Reads and checks everything before anything is run or written."""
    base = scenario.with_named_plugins()
    read = base.read()
    space = Space(scenario, parameters(over))
    _check_plugins(scenario, space)
    # Without a warm-up, so that jobs which begin at once have their rows.
    example = json.loads(core.Simulation(base.set("warmup=0us").checked()).summary())
    found = Aims(*aims, example)
    trials, sampler, pruner, search_seed, jobs = plan
    _one_of("sampler", sampler, choosing.SAMPLERS)
    is_single = len(found.goals) == 1
    chosen = _looks(looks, is_single and pruner != "none", scenario)
    pruner = pruner or ("median" if chosen else "none")
    _one_of("pruner", pruner, choosing.PRUNERS)
    if is_single and pruner != "none" and not chosen:
        if not can_be_looked_at(scenario):
            raise ScenarioError(_NO_LOOKS, "leave out pruner")
        raise ScenarioError(
            f"the pruner {pruner} ends trials at looks, and there are none",
            "name looks, or leave out pruner",
            typed="name --looks, or leave out --pruner",
        )
    if not is_single and (chosen or pruner != "none"):
        raise ScenarioError(
            "several goals, and trials that are ended early",
            "with several goals every trial runs to its end",
        )
    if pruner == "none" and chosen:
        raise ScenarioError(
            "runs are looked at only to end trials, and the pruner none ends none",
            "leave out looks, or pruner",
            typed="leave out --looks, or --pruner none",
        )
    planned = Plan(
        seeds,
        chosen,
        trials,
        sampler,
        pruner,
        whole("search_seed", search_seed, 0),
        processors() if jobs is None else whole("jobs", jobs, 1, MOST_JOBS),
    )
    confirmation = confirm.planned(base, confirm.seeds_beside(seeds, confirmed[0]), confirmed[1])
    inputs = Inputs.of(read, base.folder, base.plugins)
    made_of = [inputs.scenario, sorted(inputs.digests.values()), sorted(inputs.texts.values())]
    question = {
        "version": core.__version__,
        "scenario": hashlib.sha256(json.dumps(made_of).encode()).hexdigest(),
        "over": [str(parameter) for parameter in space.parameters],
        "goals": [f"{goal.direction} {goal.text}" for goal in found.goals],
        "constraints": [each.text for each in found.constraints],
        "seeds": seeds,
        "looks": list(chosen),
        "pruner": pruner,
        "sampler": sampler,
        "search_seed": planned.search_seed,
    }
    return _Request(scenario, read.name, space, found, planned, confirmation, question)


def _check_plugins(scenario: Scenario, space: Space) -> None:
    """Refuses a plug-in that neither the scenario names nor any choice."""
    named = [*scenario.with_named_plugins().plugins]
    for parameter in space.parameters:
        for value in getattr(parameter, "values", ()):
            varied = scenario.set(f"{parameter.key}={value}")
            try:
                named += varied.with_named_plugins().plugins
            except ScenarioError:
                continue
    check_named(describe_all(scenario.plugins), describe_all(dict.fromkeys(named)))


def _one_of(what: str, given: object, known: Iterable[str]) -> None:
    if given not in (names := list(known)):
        raise ScenarioError(f"there is no {what} {given!r}", f"valid here: {', '.join(names)}")


_NO_LOOKS = "a plug-in that tags packets cannot be copied, so its runs cannot be looked at"


def _looks(
    given: str | Iterable[int] | None, is_default: bool, scenario: Scenario
) -> tuple[int, ...]:
    """The parts of a run at which it is looked at, in percent."""
    hint = "for one: 25%,50%"
    if given is None:
        if not is_default or not can_be_looked_at(scenario):
            return ()
        given = LOOKS
    parts = given.split(",") if isinstance(given, str) else given
    try:
        found = tuple(plain_int(str(part).strip().removesuffix("%")) for part in parts)
    except (TypeError, ValueError):
        found = (0,)
    if list(found) != sorted({*found}) or not all(0 < percent < 100 for percent in found):
        raise ScenarioError(
            f"{given!r} are no parts of a run: whole percents from 1 to 99 that grow", hint
        )
    if found and not can_be_looked_at(scenario):
        raise ScenarioError(_NO_LOOKS, "leave out looks and pruner")
    return found


# What is done ------------------------------------------------------------------------------------


def _tuned(
    request: _Request,
    where: str | None,
    folder: StudyFolder | None,
    follow: Follow | None,
    say: Callable[[str], object],
) -> Tuned:
    """Searches and confirms."""
    directions = [goal.direction for goal in request.aims.goals]
    results = None if folder is None else folder.place
    name, place = "tune", where or (results and results / storage.FILE)
    if where is not None:
        digest = hashlib.sha256(json.dumps(request.question).encode()).hexdigest()[:12]
        name = f"{request.name}-{digest}"
    kept = Kept(results, request.base)
    with storage.failures(str(place)), closing(kept):
        study = storage.open_study(place, name, directions)
        try:
            default = default_of(
                study,
                request.space,
                request.aims,
                request.plan,
                follow,
                say,
                request.share,
                kept,
            )
        except StoppedError:
            raise KeyboardInterrupt from None
        if folder is not None:
            folder.has_begun = True
        trials = study.get_trials(deepcopy=False)
        # It begins with the scenario's own values, if all are among those varied.
        if not trials and (first := request.space.default()) is not None:
            study.enqueue_trial(_as_asked(request.space, first))
        for absence in request.space.absences:
            say(absence)
        say(_announcement(request, default, trials, place is not None))
        search = Search(
            study,
            request.space,
            request.aims,
            request.plan,
            default,
            where is not None,
            follow,
            say,
            request.share,
            kept,
        )
        is_interrupted = search.go()
        trials = study.get_trials(deepcopy=False)
        best = winners(request.aims, trials)
        summary = summaries.document(
            request.name, request.asked, request.space, request.aims, default, trials, best
        )
        if is_interrupted:
            raise Interrupted(Tuned(summary, results))
        try:
            summary["confirmation"] = _confirmed(study, request, best, follow, kept)
        except StoppedError:
            raise Interrupted(Tuned(summary, results)) from None
        except SpillwayError as error:
            # The search has its answer, even if the confirmation fails.
            summary["not_confirmed"] = f"{error}; {error.hint}" if error.hint else str(error)
    summary["status"] = "complete"
    if folder is not None:
        from spillway.tuning import page

        scenarios = {
            _folder(summary, trial.number + 1): request.space.with_values(outcome(trial)["set"])
            for trial in best
        }
        folder.complete(summary, page.written(summary), scenarios)
    return Tuned(summary, results)


def _as_asked(space: Space, chosen: Mapping[str, str]) -> dict[str, Any]:
    """Values as the study has them: numbers without units."""
    kinds = {parameter.key: parameter for parameter in space.parameters}
    found: dict[str, Any] = {}
    for key, text in chosen.items():
        value = kinds[key].value(text)
        is_whole = getattr(kinds[key], "is_whole", False)
        found[key] = int(value) if is_whole and value is not None else value
    return found


def _announcement(
    request: _Request, default: Default, trials: Sequence[FrozenTrial], is_kept: bool
) -> str:
    """How much processor time all this will take."""
    ended = sum(counts(trial) and trial.state.is_finished() for trial in trials)
    plan = request.plan
    left = max(0, plan.trials - ended)
    search, confirmed = (default.cpu_s * runs for runs in request.work(left))
    at_once = min(plan.jobs, processors(), plan.at_once * len(plan.seeds))
    # Trials are chosen one after another.
    own = left * (_KEPT_S if is_kept else _IN_MEMORY_S)
    wall = search / at_once + own + confirmed / min(plan.jobs, processors())
    seeds = "one seed" if len(plan.seeds) == 1 else f"{len(plan.seeds)} seeds"
    wanted = f"{ended} of {plan.trials} trials" if ended <= plan.trials else f"{ended} trials"
    gone = f"{wanted} are there already. " if ended else ""
    less = ", less where trials are ended early" if {*default.looks} - {END} else ""
    chosen = f", to choose and note them {duration_of(own)}" if left else ""
    after = f", the confirmation {duration_of(confirmed)}" if confirmed else ""
    return (
        f"{gone}A run of the default takes {duration_of(default.cpu_s)} of processor time: "
        f"{left} trials of {seeds} {duration_of(search)}{less}{chosen}{after}; "
        f"about {duration_of(wall)} on an idle machine"
    )


def duration_of(seconds: float) -> str:
    """A duration for people, short ones too.

    >>> duration_of(0.0213), duration_of(4.21), duration_of(150)
    ('21 ms', '4.2 s', '2.5 min')
    """
    if seconds < 1:
        return f"{1e3 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)


def _confirmed(
    study: Study,
    request: _Request,
    best: Sequence[FrozenTrial],
    follow: Follow | None,
    kept: Kept,
) -> dict[str, Any] | None:
    """The winners beside the default on new seeds; None if there is no winner, or no seed."""
    if not best or not request.confirmation.seeds:
        return None
    few = [best[place] for place in confirm.chosen_few([trial.values for trial in best])]
    scenarios = [request.space.with_values(outcome(trial)["set"]) for trial in few]
    confirmation = request.confirmation
    default, *found = confirm.run(
        study,
        request.aims,
        [request.base.with_named_plugins(), *scenarios],
        confirmation,
        request.plan.jobs,
        follow,
        request.share * request.longer,
        kept,
    )
    confirmed = [
        {**summaries.winner(trial), **confirm.compared(request.aims, readings, default)}
        for trial, readings in zip(few, found, strict=True)
    ]
    return summaries.confirmation(
        confirmation.seeds, confirmation.duration_ps, request.longer, confirmed
    )


def is_confirmed(summary: Mapping[str, Any]) -> bool:
    """Whether the confirmation has not failed, or was not wanted."""
    return not summary.get("not_confirmed")


def where(tuned: Tuned) -> dict[str, str]:
    """The page of a complete study, and its best scenario."""
    if tuned.folder is None or tuned.status != "complete":
        return {}
    found = {"page": str(tuned.folder / PAGE)}
    if tuned.summary["winners"]:
        best = tuned.summary["winners"][0]
        found["best"] = str(tuned.folder / _folder(tuned.summary, best["trial"]))
    return found


def _folder(summary: Mapping[str, Any], trial: int) -> str:
    """The name of a winner's folder."""
    return BEST if len(summary["goals"]) == 1 else f"{FRONT}/trial-{trial}"
