"""What a study says of itself: what it will take, how many trials there were, what it refuses."""

import pytest

import spillway
from spillway.tuning import confirm, search
from support import TINY
from tune_runs import alpha, drops, fake


@pytest.fixture
def runs(monkeypatch):
    """Puts a formula in the place of simulations, of which each takes a second."""

    def put(formula):
        made = fake(formula)
        monkeypatch.setattr(search, "Runs", made)
        monkeypatch.setattr(confirm, "Runs", made)
        return made

    return put


def tune(**more):
    asked = {"over": "switch.sharing.alpha=0.5..8.0", "minimize": "drops", "seeds": "1..2"}
    return spillway.tune(TINY, **{**asked, "jobs": 1, "trials": 12, **more})


def announced(**more):
    said = []
    tune(**more, say=said.append)
    return next(text for text in said if "processor time" in text)


def test_what_it_will_take_includes_choosing_the_trials(runs, tmp_path):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    # 12 * 2 runs; 12 * 20 ms; two scenarios with five seeds, three times as long.
    assert announced() == (
        "A run of the default takes 1.0 s of processor time: 12 trials of 2 seeds 24 s, less where "
        "trials are ended early, to choose and note them 240 ms, the confirmation 30 s; about 54 s "
        "on an idle machine"
    )
    # 12 * 100 ms; 24 + 1.2 + 30 is 55 s.
    kept = announced(out=tmp_path / "out", pruner="none")
    assert "2 seeds 24 s, to choose and note them 1.2 s, the" in kept and "about 55 s on" in kept
    # Nothing is left to choose.
    more = announced(out=tmp_path / "out", pruner="none", confirm_seeds="21..25")
    assert "0 trials of 2 seeds 0 ms, the confirmation 30 s; about 30 s" in more


def test_nothing_is_said_of_looks_that_are_all_left_out(runs):
    def formula(scenario, seed, percent):
        return drops(alpha(scenario), timeouts=1 if percent > 50 else 0)

    runs(formula)
    assert "ended early" not in announced(minimize="drops / timeouts")
    assert "ended early" in announced(minimize="drops + timeouts")
