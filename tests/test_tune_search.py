"""The search: trials, constraints, pruning, going on, several workers; runs follow a formula."""

import json
import statistics

import optuna
import pytest

import spillway
from spillway.tuning import confirm, pruning, search, workers
from support import TINY
from tune_runs import alpha, drops

ALPHA = "switch.sharing.alpha=0.5..8.0"
SHARING = "switch.sharing=dt,abm,lqd"


def tune(**more):
    asked = {"over": ALPHA, "minimize": "drops", "trials": 12, "seeds": "1..2", "jobs": 1}
    return spillway.tune(TINY, **{**asked, **more})


def values(tuned):
    """What distinguishes one study from another."""
    kept = ("trial", "state", "set", "values", "violations", "percent", "why")
    return [{key: trial[key] for key in kept} for trial in tuned.summary["trials"]]


def test_the_best_of_the_trials_is_near_the_least_value(runs):
    runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))
    tuned = tune(trials=40, pruner="none")
    assert tuned.status == "complete"
    trials = tuned.summary["trials"]
    assert len(trials) == 40 and all(trial["state"] == "complete" for trial in trials)
    (winner,) = tuned.summary["winners"]
    assert winner["values"] == [min(trial["values"][0] for trial in trials)]
    # The mean over the seeds 1 and 2 adds 1.5.
    assert winner["values"][0] - 1.5 < 0.05
    assert float(tuned.best["switch.sharing.alpha"]) == pytest.approx(3, abs=0.25)
    # The first trial is the default: (0.5 - 3)^2 + 1.5 = 7.75.
    assert trials[0]["set"] == {"switch.sharing.alpha": "0.5"}
    assert trials[0]["values"] == [7.75]
    assert tuned.summary["goals"][0]["default"] == 7.75
    assert trials[0]["by_seed"] == [[7.25, 8.25]]


def test_what_is_greatest_is_found_as_well(runs):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    tuned = tune(minimize=(), maximize="drops", pruner="none")
    assert tuned.summary["winners"][0]["values"] == [
        max(trial["values"][0] for trial in tuned.summary["trials"])
    ]


def test_every_trial_has_the_same_seeds_and_the_confirmation_others(runs):
    seen = {}

    def formula(scenario, seed, percent):
        seen.setdefault(scenario["duration"], set()).add(seed)
        return drops(alpha(scenario))

    runs(formula)
    tuned = tune(seeds="3,5", trials=5)
    assert seen == {"4ms": {3, 5}, "12000000000ps": {6, 7, 8, 9, 10}}
    assert tuned.summary["confirmation"]["seeds"] == [6, 7, 8, 9, 10]
    assert tuned.summary["confirmation"]["duration_s"] == pytest.approx(0.012)


def test_a_search_may_go_without_a_confirmation(runs, tmp_path):
    begun = runs(lambda scenario, *_: drops(alpha(scenario))).begun
    said = []
    tuned = tune(trials=5, pruner="none", confirm_seeds="none", out=tmp_path / "a", say=said.append)
    assert {scenario["duration"] for scenario, _ in begun} == {"4ms"}
    assert tuned.summary["confirmation"] is None and tuned.summary["asked"]["confirm_seeds"] == []
    assert tuned.status == "complete" and tuned.best is not None
    assert "trials of 2 seeds" in said[0] and "confirmation" not in said[0]
    # It can be had later, from the trials that are there.
    before = values(tuned)
    tuned = tune(trials=5, pruner="none", confirm_seeds="3..5", out=tmp_path / "a")
    assert tuned.summary["confirmation"]["seeds"] == [3, 4, 5] and values(tuned) == before


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"confirm_seeds": "2..6"}, "seed 2 is both in the search and in the confirmation"),
        ({"confirm_seeds": []}, "there is no seed to run with"),
        (
            {"confirm_seeds": "none", "confirm_duration": "9ms"},
            "the confirmation is to last 9ms, and there is to be none",
        ),
        ({"confirm_seeds": [7, 8]}, "2 seeds tell too little in a confirmation"),
        ({"trials": 0}, "trials: 0 is not valid; expected a whole number of 1 or more"),
        ({"sampler": "grid"}, "there is no sampler 'grid'"),
        ({"pruner": "hyperband"}, "there is no pruner 'hyperband'"),
        ({"looks": "50%,25%"}, "'50%,25%' are no parts of a run"),
        ({"looks": "0%"}, "'0%' are no parts of a run"),
        ({"looks": [100]}, "[100] are no parts of a run"),
        ({"looks": "a"}, "'a' are no parts of a run"),
        ({"maximize": "goodput", "looks": "50%"}, "several goals, and trials that are ended"),
        ({"maximize": "goodput", "pruner": "median"}, "several goals, and trials that are ended"),
        ({"search_seed": -1}, "search_seed: -1 is not valid"),
        ({"seeds": "2..1"}, "'2..1' is not a list of seeds"),
        ({"confirm_duration": "fast"}, "duration"),
        ({"storage": "study.db"}, "'study.db' is no storage that several can share"),
        ({"storage": 3}, "storage: 3 is not valid"),
        ({"follow": 3}, "follow: 3 is not valid"),
        ({"say": 3}, "say: 3 is not valid"),
    ],
)
def test_what_is_asked_wrongly_is_refused_and_leaves_nothing(tmp_path, more, problem):
    with pytest.raises(spillway.ScenarioError) as raised:
        tune(**more, out=tmp_path / "out")
    assert problem in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_constraints_rule_out_what_would_be_better(runs):
    # Fewer drops with less alpha; goodput needs alpha >= 2: 10 * 2 = 1 * 20.
    runs(lambda scenario, *_: drops(alpha(scenario), goodput_gbps={"all": 10 * alpha(scenario)}))
    tuned = tune(trials=30, subject_to="goodput >= 4 * default", pruner="none")
    trials = tuned.summary["trials"]
    for trial in trials:
        own = float(trial["set"]["switch.sharing.alpha"])
        # Relative to the right side, 4 * 5 = 20.
        expected = {"goodput >= 4 * default": pytest.approx((20 - 10 * own) / 20)}
        assert trial["violations"] == expected
        assert trial["is_met"] is (own >= 2)
    met = [trial["values"][0] for trial in trials if trial["is_met"]]
    assert tuned.summary["winners"][0]["values"] == [min(met)] and min(met) >= 2
    # The sampler honours them: after its random beginning most trials satisfy it or are near.
    late = [trial["values"][0] for trial in trials[15:]]
    assert sum(value > 1.8 for value in late) > len(late) / 2


def test_where_nothing_satisfies_the_constraints_there_is_no_best(runs):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    tuned = tune(subject_to="drops <= 0.1", trials=5, pruner="none")
    assert tuned.best is None and tuned.front == []
    assert tuned.summary["winners"] == [] and tuned.summary["confirmation"] is None
    assert "nothing satisfies all constraints" in repr(tuned)


def test_several_goals_have_a_front(runs):
    # Every alpha is better in one goal and worse in the other: all are on the front.
    runs(lambda scenario, *_: drops(alpha(scenario), timeouts=10 - alpha(scenario)))
    tuned = tune(minimize=["drops", "timeouts"], trials=8)
    assert tuned.summary["looks"] == []
    assert len(tuned.front) == 8
    firsts = [winner["values"][0] for winner in tuned.summary["winners"]]
    assert firsts == sorted(firsts)
    assert tuned.best == tuned.front[0] == {"switch.sharing.alpha": "0.5"}
    # At most five are confirmed: both ends, and three between them.
    confirmed = [winner["trial"] for winner in tuned.summary["confirmation"]["winners"]]
    order = [winner["trial"] for winner in tuned.summary["winners"]]
    assert confirmed == [order[place] for place in (0, 2, 4, 5, 7)]


def test_a_conditional_parameter_is_drawn_only_where_it_matters(runs):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    tuned = tune(over=[ALPHA, SHARING], trials=20, pruner="none")
    kinds = {trial["set"]["switch.sharing"] for trial in tuned.summary["trials"]}
    assert kinds == {"dt", "abm", "lqd"}
    for trial in tuned.summary["trials"]:
        has_alpha = "switch.sharing.alpha" in trial["set"]
        assert has_alpha is (trial["set"]["switch.sharing"] != "lqd")
        assert ("switch.sharing.alpha" in trial["numbers"]) is has_alpha


def test_what_was_run_before_is_not_run_again(runs):
    made = runs(lambda scenario, *_: drops(1.0))
    tuned = tune(over="switch.sharing=dt,lqd", trials=10, pruner="none", confirm_seeds="3..5")
    # The default, two trials, and two scenarios of three seeds.
    assert len(made.begun) == 1 + 2 + 2 * 3
    again = [trial for trial in tuned.summary["trials"] if trial["same_as"] is not None]
    assert len(again) == 8 and all(trial["cpu_s"] == 0 for trial in again)


def test_values_that_are_no_scenario_are_passed_over(runs):
    made = runs(lambda scenario, *_: drops(1.0))
    over = ["switch.aqm.min=5pkt..90pkt", "switch.aqm.max=10pkt..100pkt"]
    tuned = tune(over=over, set="switch.aqm=red", trials=10, pruner="none", confirm_seeds="3..5")
    trials = tuned.summary["trials"]
    invalid = [trial for trial in trials if trial["state"] == "invalid"]
    assert invalid and len(trials) == 10 + len(invalid)
    assert all("must not be less than min" in trial["why"] for trial in invalid)
    assert tuned.summary["ended"] == 10
    assert len(made.begun) <= 1 + 10 + 2 * 3
    # Where hardly anything is one, the search ends.
    over = ["switch.aqm.min=50pkt..90pkt", "switch.aqm.threshold=10pkt,20pkt"]
    over = ["switch.aqm.min=50pkt..90pkt", "switch.aqm.max=10pkt..40pkt"]
    with pytest.raises(spillway.SpillwayError, match="20 combinations of values are no scenarios"):
        tune(over=over, set="switch.aqm=red", trials=2)


def test_a_trial_without_a_number_has_failed(runs):
    def formula(scenario, seed, percent):
        return drops(4, timeouts=0 if alpha(scenario) > 2 else 2)

    runs(formula)
    tuned = tune(minimize="drops / timeouts", trials=10, pruner="none")
    failed = [trial for trial in tuned.summary["trials"] if trial["state"] == "failed"]
    assert failed and all(trial["why"] == "drops / timeouts divides by zero" for trial in failed)
    assert all(trial["values"] is None for trial in failed)
    assert tuned.summary["winners"][0]["values"] == [2]
    assert tuned.summary["ended"] == 10


def test_a_default_without_a_number_is_an_error(runs, tmp_path):
    runs(lambda *_: drops(4, timeouts=0))
    with pytest.raises(spillway.SpillwayError, match=r"the default has failed: .*divides by zero"):
        tune(minimize="drops / timeouts", out=tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_trials_that_are_behind_are_ended_early(runs):
    # At every look a trial has what it will have in the end.
    made = runs(lambda scenario, *_: drops(alpha(scenario)))
    tuned = tune(trials=30, looks="25%,50%")
    trials = tuned.summary["trials"]
    states = [trial["state"] for trial in trials]
    # The median of five complete trials is the first that can end one.
    assert states[:5] == ["complete"] * 5
    complete = [alpha for alpha, state in zip(firsts(trials), states, strict=True)]
    for place, state in enumerate(states):
        before = sorted(
            value
            for value, other in zip(complete[:place], states[:place], strict=True)
            if other == "complete"
        )
        half = len(before) // 2
        median = (before[half] + before[-1 - half]) / 2 if before else 0
        is_behind = len(before) >= 5 and complete[place] > median
        assert (state == "pruned") is is_behind, place
    ended = [trial for trial in trials if trial["state"] == "pruned"]
    assert ended and all(trial["percent"] == 25 for trial in ended)
    assert {percent for _, percent in made.begun} == {25, 50, 100}
    assert tuned.summary["winners"][0]["trial"] not in {trial["trial"] for trial in ended}


def test_halving_ends_what_is_not_among_the_better_half(runs):
    made = runs(lambda scenario, *_: drops(alpha(scenario)))
    tuned = tune(trials=20, looks="25%,50%", pruner="halving")
    reached = {25: [], 50: []}
    for trial in tuned.summary["trials"]:
        (value,) = trial["values"]
        for look in (25, 50):
            reached[look].append(value)
            # Of n values so far n // 2 may go on, the best one in any case.
            best = sorted(reached[look])[: max(1, len(reached[look]) // 2)]
            if value > best[-1]:
                assert (trial["state"], trial["percent"]) == ("pruned", look)
                break
        else:
            assert trial["state"] == "complete"
    assert {percent for _, percent in made.begun} == {25, 50, 100}


def test_each_look_is_judged_by_its_own_values(runs):
    """Drops grow while a run lasts: at 25% all have the same, at 50% they differ."""
    runs(lambda scenario, _, percent: drops(1 if percent == 25 else alpha(scenario) * percent))
    tuned = tune(trials=30, looks="25%,50%")
    trials = tuned.summary["trials"]
    complete = []
    for trial in trials:
        half = 50 * float(trial["set"]["switch.sharing.alpha"])
        is_behind = len(complete) >= 5 and half > statistics.median(complete)
        assert trial["state"] == ("pruned" if is_behind else "complete")
        assert trial["percent"] == (50 if is_behind else 100)
        if not is_behind:
            complete.append(half)
    assert 5 < len(complete) < 30


def test_halving_goes_by_how_much_longer_the_next_look_is(runs):
    """Of 10%, 30% and 60%: a third, a half, and of 60% and the end a half again."""
    runs(lambda scenario, *_: drops(alpha(scenario)))
    tuned = tune(trials=40, looks="10%,30%,60%", pruner="halving", sampler="random")
    reached = {10: [], 30: [], 60: []}
    ended = []
    for trial in tuned.summary["trials"]:
        (value,) = trial["values"]
        for look, factor in ((10, 3), (30, 2), (60, 2)):
            reached[look].append(value)
            best = sorted(reached[look])[: max(1, len(reached[look]) // factor)]
            if value > best[-1]:
                assert (trial["state"], trial["percent"]) == ("pruned", look)
                ended.append(look)
                break
        else:
            assert trial["state"] == "complete"
    assert {*ended} == {10, 30, 60}


def firsts(trials):
    return [trial["values"][0] for trial in trials]


def test_a_look_at_which_the_default_has_no_number_is_left_out(runs):
    def formula(scenario, seed, percent):
        return drops(alpha(scenario), timeouts=1 if percent > 30 else 0)

    made, told = runs(formula), []
    tuned = tune(minimize="drops / timeouts", say=told.append)
    assert tuned.summary["looks"] == [50]
    assert told[0].startswith("no trial is ended after 25% of its duration: the default's")
    # Only the default was looked at so early.
    assert [percent for _, percent in made.begun].count(25) == 1


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random"])
def test_one_seed_of_the_search_gives_one_study(runs, sampler):
    runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))
    asked = {"over": [ALPHA, SHARING], "sampler": sampler, "trials": 25}
    first = tune(**asked)
    assert values(first) == values(tune(**asked))
    # More jobs than one, but not more than seeds, change nothing.
    assert values(first) == values(tune(**asked, jobs=2))
    assert values(first) != values(tune(**asked, search_seed=2))


def test_several_trials_at_once_are_as_many_as_wanted(runs):
    runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))
    tuned = tune(trials=13, jobs=6)
    assert sorted(trial["trial"] for trial in tuned.summary["trials"]) == [*range(1, 14)]


class KilledError(Exception):
    """Stands for the end of a process."""


def gone_on(**asked):
    """The study that the same command makes in the end, and how often it was killed before."""
    kills = 0
    while True:
        try:
            return tune(**asked), kills
        except KilledError:
            kills += 1


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random"])
def test_a_study_that_was_cut_anywhere_goes_on_as_if_nothing_had_happened(
    runs, tmp_path, monkeypatch, sampler
):
    """Between two values of a trial, in its runs, between two looks, and before it is told."""
    runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))
    asked = {"over": [ALPHA, SHARING], "sampler": sampler, "trials": 20}
    whole = values(tune(**asked))

    def cut(owner, name, after):
        """Raises at a call of a function, once."""
        real, calls = getattr(owner, name), []

        def wrapped(*arguments, **more):
            calls.append(name)
            if len(calls) == after:
                raise KilledError
            return real(*arguments, **more)

        monkeypatch.setattr(owner, name, wrapped)
        with pytest.raises(KilledError):
            tune(**asked, out=tmp_path / "out")
        monkeypatch.setattr(owner, name, real)
        assert (tmp_path / "out" / "INCOMPLETE").exists()
        assert not (tmp_path / "out" / "summary.json").exists()

    cut(optuna.Trial, "suggest_float", 3)
    cut(search.Runs, "finish", 2)
    cut(optuna.Trial, "suggest_float", 2)
    cut(optuna.Trial, "report", 3)
    cut(pruning, "is_ended", 3)
    cut(optuna.Study, "tell", 2)
    cut(confirm.Runs, "finish", 12)
    tuned = tune(**asked, out=tmp_path / "out")
    assert values(tuned) == whole
    assert not (tmp_path / "out" / "INCOMPLETE").exists()


@pytest.mark.parametrize("pruner", ["median", "halving"])
@pytest.mark.parametrize(("owner", "name"), [(pruning, "is_ended"), (optuna.Study, "tell")])
def test_a_trial_that_was_cut_before_it_was_ended_is_ended(
    runs, tmp_path, monkeypatch, pruner, owner, name
):
    """At every fourth of the answers, and of what follows from them."""
    runs(lambda scenario, seed, percent: drops((alpha(scenario) - 3) ** 2 * percent + seed))
    asked = {"trials": 12, "pruner": pruner, "confirm_seeds": "none"}
    whole = values(tune(**asked))
    assert "pruned" in {trial["state"] for trial in whole}
    real, calls = getattr(owner, name), []

    def wrapped(*arguments, **more):
        calls.append(name)
        if len(calls) % 4 == 0:
            raise KilledError
        return real(*arguments, **more)

    monkeypatch.setattr(owner, name, wrapped)
    tuned, kills = gone_on(**asked, out=tmp_path / "out")
    assert kills > 2 and values(tuned) == whole


def test_generations_go_on_as_if_nothing_had_happened(runs, tmp_path, monkeypatch):
    """Within the third generation, between two values of a trial."""

    def formula(scenario, seed, _):
        threshold = float(scenario["switch"]["aqm"]["threshold"].removesuffix("pkt"))
        more = threshold * (1 + alpha(scenario))
        return drops((alpha(scenario) - 3) ** 2 + seed, timeouts=more)

    runs(formula)
    keys = ["switch.aqm.threshold=5pkt..39pkt", "routing.hash_seed=1..50"]
    asked = {"over": [SHARING, ALPHA, *keys], "maximize": "timeouts", "sampler": "nsga2"}
    asked |= {"trials": 45, "confirm_seeds": "none"}
    whole = values(tune(**asked))
    real, calls = optuna.Trial._suggest, []

    def wrapped(*arguments, **more):
        calls.append(1)
        if len(calls) > 130 and len(calls) % 7 == 0:
            raise KilledError
        return real(*arguments, **more)

    monkeypatch.setattr(optuna.Trial, "_suggest", wrapped)
    tuned, kills = gone_on(**asked, out=tmp_path / "out")
    assert kills > 5 and values(tuned) == whole


def test_a_trial_whose_process_ends_again_and_again_has_failed(runs, tmp_path, monkeypatch):
    def formula(scenario, seed, percent):
        if alpha(scenario) > 0.5:
            raise KilledError
        return drops(1)

    runs(formula)
    for _ in range(search.MOST_KILLED):
        with pytest.raises(KilledError):
            tune(trials=2, out=tmp_path / "out", pruner="none")
    tuned = tune(trials=2, out=tmp_path / "out", pruner="none")
    states = [(trial["state"], trial["why"]) for trial in tuned.summary["trials"]]
    assert states == [
        ("complete", ""),
        ("failed", "its process has ended 3 times before it was over"),
    ]


def test_more_trials_are_added_to_those_that_are_there(runs, tmp_path):
    made = runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))
    few = tune(trials=6, out=tmp_path / "out")
    assert len(made.begun) > 0
    made.begun.clear()
    # All is there already.
    assert tune(trials=6, out=tmp_path / "out").summary == few.summary
    assert not made.begun and not (tmp_path / "out" / "INCOMPLETE").exists()
    more = tune(trials=15, out=tmp_path / "out")
    assert values(more)[:6] == values(few)
    assert values(more) == values(tune(trials=15))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["ended"] == 15


ANOTHER = [
    ({"over": "switch.sharing.alpha=0.5..9.0"}, "over is"),
    ({"minimize": "timeouts"}, "goals is"),
    ({"subject_to": "timeouts <= 3"}, "constraints is"),
    ({"seeds": "1..3"}, "seeds is [1, 2, 3], and was [1, 2]"),
    ({"set": "switch.buffer=70KB"}, "the scenario, what is set in it, or a file of it has changed"),
    ({"sampler": "random"}, 'sampler is "random", and was "tpe"'),
    ({"looks": "50%"}, "looks is [50], and was [25, 50]"),
    ({"search_seed": 2}, "search_seed is 2, and was 1"),
]


def test_a_folder_with_another_study_is_refused(runs, tmp_path):
    runs(lambda scenario, *_: drops(alpha(scenario), timeouts=1.0))
    tune(trials=2, out=tmp_path / "out")
    kept = (tmp_path / "out" / "summary.json").read_bytes()
    for more, what in ANOTHER:
        with pytest.raises(spillway.ScenarioError) as raised:
            tune(trials=2, out=tmp_path / "out", **more)
        assert f"holds another study: {what}" in str(raised.value)
        assert "force" in raised.value.hint
    assert (tmp_path / "out" / "summary.json").read_bytes() == kept
    assert not (tmp_path / "out" / "INCOMPLETE").exists()
    tuned = tune(trials=3, out=tmp_path / "out", search_seed=2, force=True)
    assert tuned.summary["ended"] == 3


def test_a_folder_that_is_no_study_s_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    (tmp_path / "file").write_text("x")
    for place in ("mine", "file"):
        for force in (False, True):
            with pytest.raises(spillway.ScenarioError):
                tune(out=tmp_path / place, force=force)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_study_is_one_process_s_at_a_time(runs, tmp_path):
    def formula(scenario, *_):
        with pytest.raises(spillway.ScenarioError, match="another run is writing to"):
            tune(trials=2, out=tmp_path / "out")
        return drops(alpha(scenario))

    runs(formula)
    assert tune(trials=2, out=tmp_path / "out").summary["ended"] == 2


# Several workers ---------------------------------------------------------------------------------


def test_workers_share_a_journal(runs, tmp_path):
    runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))
    journal = str(tmp_path / "shared.journal")
    first = tune(trials=3, storage=journal)
    second = tune(trials=7, storage=journal, out=tmp_path / "out")
    assert values(second)[:3] == values(first)
    assert second.summary["ended"] == 7
    assert not (tmp_path / "out" / "study.db").exists()
    # Another question is another study in the same place.
    assert tune(trials=2, storage=journal, search_seed=5).summary["ended"] == 2


def test_a_trial_is_stale_when_its_worker_does_not_count_on():
    now = [0.0]
    others = workers.OtherWorkers(lambda: now[0])

    def running(number, beat):
        state = optuna.trial.TrialState.RUNNING
        trial = optuna.trial.create_trial(state=state, user_attrs={workers.BEAT: beat})
        trial.number = number
        return trial

    assert others.stale([running(1, 1), running(2, 1)]) == []
    now[0] = workers.STALE_S - 1
    assert others.stale([running(1, 1), running(2, 2)]) == []
    now[0] = workers.STALE_S
    assert [trial.number for trial in others.stale([running(1, 1), running(2, 2)])] == [1]
    now[0] = 2 * workers.STALE_S - 1
    assert [trial.number for trial in others.stale([running(1, 1), running(2, 2)])] == [1, 2]


def test_what_a_dead_worker_has_left_is_tried_again_with_its_values(runs, tmp_path, monkeypatch):
    made = runs(lambda scenario, seed, _: drops(alpha(scenario)))
    journal = str(tmp_path / "shared.journal")
    first = tune(trials=3, storage=journal)
    # A worker dies in the runs of the fourth trial.
    real, calls = made.finish, []

    def dies(self):
        calls.append(self._scenario)
        raise KilledError

    monkeypatch.setattr(made, "finish", dies)
    with pytest.raises(KilledError):
        tune(trials=6, storage=journal, looks="25%,50%")
    (lost,) = calls
    monkeypatch.setattr(made, "finish", real)
    monkeypatch.setattr(workers, "STALE_S", 0.05)
    monkeypatch.setattr(search, "_TURN_S", 0.01)
    second = tune(trials=6, storage=journal)
    assert values(second)[:3] == values(first)
    again = [trial for trial in second.summary["trials"] if trial["trial"] > 3]
    assert len(again) == 3 and second.summary["ended"] == 6
    alphas = [float(trial["set"]["switch.sharing.alpha"]) for trial in again]
    assert alphas.count(alpha(lost)) == 1


def test_the_last_trial_of_a_dead_worker_is_waited_for(runs, tmp_path, monkeypatch):
    made = runs(lambda scenario, seed, _: drops(alpha(scenario)))
    journal = str(tmp_path / "shared.journal")
    tune(trials=2, storage=journal)
    real = made.finish

    def dies(self):
        raise KilledError

    monkeypatch.setattr(made, "finish", dies)
    with pytest.raises(KilledError):
        tune(trials=3, storage=journal)
    monkeypatch.setattr(made, "finish", real)
    monkeypatch.setattr(workers, "STALE_S", 0.05)
    monkeypatch.setattr(search, "_TURN_S", 0.01)
    # All trials that are wanted have begun: it finds out that one is dead when it waits for it.
    ended = tune(trials=3, storage=journal).summary
    assert ended["ended"] == 3
    assert [trial["state"] for trial in ended["trials"]] == ["complete"] * 3


def test_a_worker_shows_that_it_is_alive(runs, tmp_path, monkeypatch):
    """Its count goes on while its runs do, and so others leave its trial alone."""
    import threading

    seen, study = [], []
    monkeypatch.setattr(workers, "BEAT_S", 0.01)
    real = workers.Beats.__init__
    monkeypatch.setattr(
        workers.Beats, "__init__", lambda self, given: (study.append(given), real(self, given))[1]
    )

    def formula(scenario, seed, percent):
        if study and not seen:
            over = threading.Event()
            for _ in range(500):
                trial = study[0].trials[-1]
                seen.append(trial.user_attrs.get(workers.BEAT, 0))
                if seen[-1] > 2 or over.wait(0.02):
                    break
        return drops(alpha(scenario))

    runs(formula)
    tune(trials=1, storage=str(tmp_path / "shared.journal"))
    assert seen[-1] > 2


def test_a_storage_that_fails_is_told_in_one_line(tmp_path):
    for where in ("sqlite:////proc/none/x.db", "nothing://x"):
        with pytest.raises(spillway.SpillwayError, match=r"the study in .* cannot be kept: "):
            tune(storage=where)
    with pytest.raises(spillway.ScenarioError, match="there is no folder"):
        tune(storage=str(tmp_path / "none" / "x.journal"))


def test_workers_that_make_the_tables_of_a_database_at_the_same_moment(runs, tmp_path, monkeypatch):
    from sqlalchemy.exc import IntegrityError, OperationalError

    from spillway.tuning import storage

    runs(lambda scenario, *_: drops(alpha(scenario)))
    real, failures = optuna.storages.RDBStorage.__init__, []

    def late(self, address):
        if len(failures) < 2:
            failures.append((IntegrityError, OperationalError)[len(failures)])
            raise failures[-1]("create", {}, Exception("table studies already exists"))
        real(self, address)

    monkeypatch.setattr(optuna.storages.RDBStorage, "__init__", late)
    monkeypatch.setattr(storage, "_PAUSES_S", (0.0, 0.0))
    assert tune(trials=1, storage=f"sqlite:///{tmp_path}/shared.db").summary["ended"] == 1
    assert len(failures) == 2
