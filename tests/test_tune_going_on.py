"""Studies that were cut, and go on; runs follow a formula."""

import json

import optuna
import pytest

import spillway
from spillway.tuning import choosing, confirm, search
from tune_runs import ALPHA, SHARING, KilledError, alpha, drops, tune, values


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
    cut(choosing, "is_ended", 3)
    cut(optuna.Study, "tell", 2)
    cut(confirm.Runs, "finish", 12)
    tuned = tune(**asked, out=tmp_path / "out")
    assert values(tuned) == whole
    assert not (tmp_path / "out" / "INCOMPLETE").exists()


@pytest.mark.parametrize("pruner", ["median", "halving"])
@pytest.mark.parametrize(("owner", "name"), [(choosing, "is_ended"), (optuna.Study, "tell")])
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
