"""The first trial of `tune` has the scenario's own values, if they are among those varied."""

import pytest

import spillway
from spillway import Scenario
from support import TINY
from tune_runs import alpha, drops


@pytest.fixture
def begun(runs):
    """The scenarios that are run, in the place of which a formula stands."""
    return runs(lambda scenario, seed, _: drops(1000 * alpha(scenario) + seed)).begun


def trials(over, set=()):
    asked = {"minimize": "drops", "trials": 3, "seeds": "1..2", "jobs": 1, "pruner": "none"}
    tuned = spillway.tune(TINY, over=over, set=set, confirm_seeds="none", **asked)
    return tuned.summary["trials"]


@pytest.mark.parametrize("value", ["0.123456", "0.1", "1", "0.7000000000000001"])
def test_a_number_is_run_as_it_stands_in_the_scenario(begun, value):
    own = [f"switch.sharing.alpha={value}"]
    first = trials("switch.sharing.alpha=0.1..8:log", own)[0]
    assert first["set"] == {"switch.sharing.alpha": value}
    # Two seeds of the default, and then those of the first trial.
    ran = [scenario for scenario, _ in begun]
    assert ran[1] == ran[0]
    assert first["by_seed"] == [[1000 * float(value) + seed for seed in (1, 2)]]


def test_a_policy_that_a_choice_replaces_is_no_first_trial(begun):
    own = ['switch.sharing={ kind = "dt", alpha = 0.05 }']
    default = Scenario.of(TINY).set(*own).resolved
    trials("switch.sharing=dt,sp", own)
    first, *others = [scenario["switch"] for scenario, _ in begun]
    assert first == default["switch"] and default["switch"] not in others


def test_an_unset_key_is_the_first_trial(begun):
    first = trials("switch.leaf.sharing=lqd,")[0]
    assert first["set"] == {"switch.leaf.sharing": ""}
    assert begun[1] == begun[0]
