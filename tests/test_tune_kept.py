"""Runs of a study that are kept: none is done twice."""

import threading

import pytest

import spillway
from spillway.tuning import runs
from spillway.tuning.runs import Kept, Runs
from support import TINY, without_cost


def made(kept, scenario, seeds=(1, 2)):
    return Runs(scenario, seeds, 1, threading.Event(), None, "trial 1", 1.0, kept)


def test_what_is_kept_is_not_run_again(tmp_path, monkeypatch):
    scenario = spillway.Scenario(TINY).set("duration=1ms")
    kept = Kept(tmp_path, scenario)
    first = made(kept, scenario)
    half, whole = first.look(50), first.finish()
    kept.close()
    alone = spillway.run(scenario, seed=2).summary
    assert without_cost(whole[1]) == without_cost(alone)

    def fails(*_):
        raise AssertionError("it is run again")

    monkeypatch.setattr(runs, "Running", fails)
    again = made(Kept(tmp_path, scenario), scenario)
    assert (again.look(50), again.finish()) == (half, whole)
    # They took as long as they took.
    assert again.cpu_s == first.cpu_s > 0
    for other in (scenario.set("duration=2ms"), scenario.set("switch.sharing=lqd")):
        with pytest.raises(AssertionError, match="run again"):
            made(Kept(tmp_path, scenario), other).finish()


def test_what_is_not_whole_is_not_kept(tmp_path):
    scenario = spillway.Scenario(TINY).set("duration=100s", "stop=200s")
    kept, stop = Kept(tmp_path, scenario), threading.Event()
    stop.set()
    with pytest.raises(runs.StoppedError):
        Runs(scenario, [1], 1, stop, None, "trial 1", 1.0, kept).finish()
    assert kept.get(kept.key(scenario, 1)) is None
