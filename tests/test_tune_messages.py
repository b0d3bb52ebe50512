"""What a study says of itself: what it will take, how many trials there were, what it refuses."""

import pytest

import spillway
from spillway.tuning import tables
from tune_runs import alpha, drops, tune


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


def test_it_says_beside_which_choices_a_key_is_not_varied(runs):
    runs(lambda scenario, *_: drops(1))
    said = []
    element = "switch.sharing.alpha[1]=0.1..8:log"
    lists = ["switch.sharing={ kind = 'dt', alpha = [1, 2] }", "switch.queues_per_port=2"]
    over = ["switch.sharing.kind=dt,abm,lqd", element]
    tune(over=over, set=lists, trials=2, say=said.append)
    assert said[0] == (
        "switch.sharing.alpha[1] is not varied where it does not exist: with "
        "switch.sharing.kind=abm, switch.sharing.kind=lqd"
    )
    assert not any("not varied" in text for text in said[1:])


# Small things ------------------------------------------------------------------------------------


def test_the_page_says_how_long_the_confirmation_was(runs, tmp_path):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    for duration, times, told in (
        (None, 3, "never saw, for longer. The"),
        ("4ms", 1, "never saw. The"),
        ("1ms", 0.25, "never saw, for a shorter time. The"),
    ):
        tuned = tune(trials=2, confirm_duration=duration, out=tmp_path / "out")
        assert tuned.summary["confirmation"]["times_as_long"] == times
        assert told in (tmp_path / "out" / "index.html").read_text()


def test_a_smaller_number_of_trials_than_there_are(runs, tmp_path):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    tune(trials=5, out=tmp_path / "out")
    said = announced(trials=3, out=tmp_path / "out")
    assert said.startswith("5 trials are there already. A run of")
    summary = tune(trials=3, out=tmp_path / "out").summary
    assert tables.counted(summary).startswith("5 trials, 3 wanted: 5 complete")
    assert announced(trials=6, out=tmp_path / "out").startswith("5 of 6 trials are there already. ")


@pytest.mark.parametrize(
    ("constraint", "told"),
    [
        # Ten drops: 10 beyond 0, 6 beyond 4, 9.9 beyond 0.1.
        ("drops <= 0", "drops <= 0 by 10.0"),
        ("0 >= drops", "0 >= drops by 100%"),
        ("drops <= 4", "drops <= 4 by 150%"),
        ("drops <= 0.1", "drops <= 0.1 by 9,900%"),
    ],
)
def test_what_is_missed_by_how_much(runs, constraint, told):
    runs(lambda scenario, *_: drops(10.0))
    summary = tune(trials=2, subject_to=constraint).summary
    text = str(tables.nearest(summary).renderables[1])
    assert text.endswith(f"it misses {told}")


@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        # Alpha is 0.5 by default, with 10 drops; the least of what is varied is 2, with 40 drops.
        ({"over": "switch.sharing.alpha=2.0..8.0"}, True),
        ({"over": "switch.sharing.alpha=0.1..0.4"}, False),
        ({"over": "switch.sharing.alpha=0.5,0.5001"}, True),
        ({"over": "switch.sharing.alpha=2.0..8.0", "minimize": (), "maximize": "drops"}, False),
    ],
)
def test_a_best_that_is_no_better_than_the_default_is_told(runs, asked, is_told):
    runs(lambda scenario, *_: drops(20 * alpha(scenario)))
    best = tables.parts(tune(**asked, trials=4).summary)["best"]
    lines = [str(each) for each in getattr(best, "renderables", ())]
    assert ("No trial is better than the default." in lines) is is_told


def test_one_seed_is_no_confirmation(runs):
    with pytest.raises(spillway.ScenarioError, match="one seed tells too little in a confirm"):
        tune(confirm_seeds=[9])


def test_looks_that_end_nothing_are_refused(runs):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    with pytest.raises(spillway.ScenarioError, match="the pruner none ends none") as raised:
        tune(looks="25%", pruner="none")
    assert raised.value.hint == "leave out looks, or pruner"
    assert tune(trials=1, looks=[], pruner="none").summary["looks"] == []


def test_a_pruner_that_has_no_looks_is_refused(runs, monkeypatch):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    with pytest.raises(
        spillway.ScenarioError, match="the pruner halving ends trials at looks"
    ) as raised:
        tune(looks=[], pruner="halving")
    assert raised.value.hint == "name looks, or leave out pruner"
    # As with a tagger that is a plug-in.
    monkeypatch.setattr("spillway.tuning.study.can_be_looked_at", lambda scenario: False)
    with pytest.raises(spillway.ScenarioError, match="cannot be looked at") as raised:
        tune(pruner="median")
    assert raised.value.hint == "leave out pruner"
    assert tune(trials=1).summary["looks"] == tune(trials=1, pruner="none").summary["looks"] == []


# What a user has put there ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "force"), [("notes.txt", False), ("inputs/data.csv", True), ("scenario.toml", False)]
)
def test_what_a_user_has_put_beside_the_best_is_not_removed(runs, tmp_path, name, force):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    out = tmp_path / "out"
    tuned = tune(trials=3, out=out)
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    mine = out / "best" / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    with pytest.raises(spillway.ScenarioError, match=r"best/.* is not what a study has") as raised:
        tune(trials=6, out=out, force=force)
    assert "move it away" in raised.value.hint
    assert mine.read_text() == "mine"
    # Nothing was taken away, and the study is as complete as it was.
    assert all(file == mine or file.read_bytes() == old for file, old in before.items())
    assert not (out / "INCOMPLETE").exists()
    assert tune(trials=3, out=out).summary == tuned.summary
    mine.unlink()
    assert tune(trials=6, out=out, force=force).summary["ended"] == 6


def test_what_an_interrupted_study_finds_beside_the_best_is_not_removed(runs, tmp_path):
    runs(lambda scenario, *_: drops(alpha(scenario)))
    out = tmp_path / "out"
    tune(trials=3, out=out)
    # Killed while the last files were written.
    for name in ("summary.json", "SHA256SUMS"):
        (out / name).unlink()
    (out / "INCOMPLETE").touch()
    assert tune(trials=3, out=out).summary["ended"] == 3
    for name in ("summary.json", "SHA256SUMS"):
        (out / name).unlink()
    (out / "INCOMPLETE").touch()
    (out / "best" / "notes.txt").write_text("mine")
    with pytest.raises(spillway.ScenarioError, match="is not what a study has written"):
        tune(trials=3, out=out)
    assert (out / "best" / "notes.txt").read_text() == "mine"
    assert (out / "INCOMPLETE").exists()
