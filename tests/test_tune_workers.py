"""Several workers that share a study; runs follow a formula."""

import optuna
import pytest

import spillway
from spillway.tuning import search, workers
from tune_runs import KilledError, alpha, drops, tune, values


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
