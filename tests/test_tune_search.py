"""The search: trials, constraints, goals, parameters; runs follow a formula."""

import pytest

import spillway
from tune_runs import ALPHA, SHARING, alpha, drops, tune, values


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
