"""Trials that are ended early; runs follow a formula."""

import statistics

from tune_runs import alpha, drops, tune


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
