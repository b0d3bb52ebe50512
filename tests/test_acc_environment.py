"""The environment of ACC's agents, rewards of models and of settings, and their commands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra rl is not installed")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import spillway  # noqa: E402
from spillway.base.errors import ScenarioError  # noqa: E402
from spillway.learning.acc import ACC, PRED, Model, evaluation  # noqa: E402
from spillway.learning.acc.environment import AgentEnv, Place, red  # noqa: E402
from spillway.learning.acc.evaluation import best_action  # noqa: E402
from spillway.learning.acc.variant import (  # noqa: E402
    Interval,
    Variant,
    frame,
)
from spillway.scenario.scenario import Scenario  # noqa: E402

PORT = "switch.leaf0.port.0"
SHORT = ("duration=3ms",)
INTERVAL_PS = 206_000_000
FEW = Variant("few", 1, PRED.actions[::84], PRED.reward, None, (4,))
"""Three of the actions."""


def place(**given: Any) -> Place:
    return Place(**{"scenario": "acc-incast", "port": PORT, "set": SHORT, **given})


def model_of(variant: Variant, chosen: int, interval_ps: int = INTERVAL_PS) -> Model:
    """An agent that always takes the same action."""
    bias = np.zeros(len(variant.actions), np.float32)
    bias[chosen] = 1
    weight = np.zeros((len(bias), 6 * variant.history), np.float32)
    return Model.of(
        [(weight, bias)],
        actions=variant.actions,
        ranges=variant.ranges,
        interval_ps=interval_ps,
        history=variant.history,
        provenance={"variant": variant.name},
    )


def test_the_scenario_is_that_of_pred_with_other_senders() -> None:
    own, of_pred = (Scenario.load(name).resolved for name in ("acc-incast", "pred-incast"))
    assert own["topology"].pop("hosts") == of_pred["topology"].pop("hosts") + 2 == 19
    sections = own.pop("traffic")
    sizes = [(each["name"], each["sizes"], each["load"]) for each in sections]
    assert sizes == [("small", "3KB..6KB", 0.1), ("large", "30KB..600KB", 0.5)]
    for each in sections:
        # As in `pred-incast`, but from 18 senders.
        told = {key: each[key] for key in ("kind", "destinations", "senders", "load_of")}
        assert told == {
            "kind": "poisson",
            "destinations": 0,
            "senders": "1..18",
            "load_of": "receiver",
        }
    of_pred.pop("traffic")
    for key in ("name", "duration", "stop"):
        assert own.pop(key) != of_pred.pop(key)
    assert own == of_pred


def test_it_is_as_gymnasium_wants_environments() -> None:
    check_env(AgentEnv(place(), FEW), skip_render_check=True)
    check_env(AgentEnv(place(), ACC), skip_render_check=True)


def test_a_step_by_hand() -> None:
    env = AgentEnv(place(), PRED, seeds=[4])
    # 3 ms less a picosecond are 14 intervals of five base RTTs of 41.2 us.
    assert (env.steps, env.interval_ps) == (14, INTERVAL_PS)
    state, info = env.reset(seed=1)
    assert state.tolist() == [0] * 6 and info["seed"] == 4
    by_hand = spillway.Simulation(
        "acc-incast", seed=4, set=[f"switch.aqm={red(PRED.actions[0])}", *SHORT]
    )
    names = [f"{PORT}.{each}" for each in ("mean_queue_bytes", "sent_bytes", "marked_bytes")]
    by_hand.observe(names)
    rewards = 0.0
    for step, action in enumerate((251, 0, 100) * 4, start=1):
        least, most, probability = PRED.actions[action]
        by_hand.set(
            {
                f"{PORT}.aqm.min": f"{least}B",
                f"{PORT}.aqm.max": f"{most}B",
                f"{PORT}.aqm.max_probability": probability,
            }
        )
        by_hand.run_until(step * INTERVAL_PS)
        queue, sent, marked = (float(array.sum()) for array in by_hand.observe(names).values())
        # 10 Gbps: a byte takes 800 ps.
        sent, marked = sent * 800 / INTERVAL_PS, marked * 800 / INTERVAL_PS
        state, reward, terminated, truncated, _ = env.step(action)
        expected = frame(Interval(queue, sent, marked, PRED.actions[action]), PRED.ranges)
        assert state.tolist() == expected.tolist()
        assert reward == PRED.reward(min(sent, 1.0), queue)
        assert not terminated and not truncated
        rewards += reward
    assert 0 < rewards < 12 and state[1] > 0


def length(env: AgentEnv) -> int:
    """The steps of an episode, which is truncated and not terminated."""
    env.reset()
    for step in range(1, 100):
        _, _, terminated, truncated, _ = env.step(0)
        assert not terminated
        if truncated:
            return step
    raise AssertionError("it does not end")


def test_an_episode_lasts_as_long_as_the_duration() -> None:
    # 500 us, ... 19.5 ms: nothing is decided where the duration ends.
    assert length(AgentEnv(place(set=("duration=20ms",)), ACC)) == 39
    # A run that is over before is truncated, too: the network would go on.
    few = AgentEnv(place(set=("traffic.small.stop=1us", "traffic.large.stop=1us")), FEW)
    assert length(few) < few.steps


def test_the_rate_of_the_line_may_be_given() -> None:
    seen = []
    for gbps in (None, 20.0):
        env = AgentEnv(place(gbps=gbps, interval="2ms"), FEW)
        env.reset()
        seen.append(env.step(0)[0])
    assert seen[0][1] == pytest.approx(2 * seen[1][1]) and seen[0][1] > 0
    assert seen[0][0] == seen[1][0]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"interval": "0us"}, "interval: '0us' is no time above 0"),
        ({"interval": "5ms"}, "the run is over before the first decision, 5000000000 ps"),
        ({"gbps": 0.0}, "gbps: 0.0 is no rate of a line"),
        ({"port": "switch.leaf0.port.99"}, "leaf0"),
        ({"set": ("switch.aqm=none",)}, "aqm"),
        ({"scenario": "acc-incst"}, "there is no scenario acc-incst"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        AgentEnv(place(**given), PRED)


def test_rewards_of_a_model_are_those_of_what_it_does() -> None:
    env = AgentEnv(place(), FEW)
    fixed = evaluation.of_setting(env, 1, [1, 2, 3])
    assert fixed.shape == (3,) and len({*fixed}) == 3
    assert evaluation.of_model(env, model_of(FEW, 1), [1, 2, 3]).tolist() == fixed.tolist()
    with pytest.raises(ScenarioError, match="another history, interval, ranges or actions"):
        evaluation.of_model(env, model_of(PRED, 1), [1])
    with pytest.raises(ScenarioError, match="another history, interval, ranges or actions"):
        evaluation.of_model(env, model_of(FEW, 1, interval_ps=1), [1])


def test_the_best_action_is_that_of_the_greatest_reward() -> None:
    told: list[tuple[int, int]] = []
    found = best_action(
        place(),
        FEW,
        seeds="1..2",
        confirm_seeds="3..5",
        confirmed=2,
        models=[("own", model_of(FEW, 2))],
        say=lambda done, of: told.append((done, of)),
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
    env = AgentEnv(place(), FEW)
    for action in range(3):
        (tried,) = (each for each in found.actions if each.name == f"action {action}")
        assert tried.setting == FEW.actions[action]
        assert tried.rewards.tolist() == evaluation.of_setting(env, action, [1, 2]).tolist()
        if len(tried.confirmed):
            again = evaluation.of_setting(env, action, [3, 4, 5])
            assert tried.confirmed.tolist() == again.tolist()
    first, second, last = found.actions
    assert first.confirmed.mean() >= second.confirmed.mean() and not len(last.confirmed)
    assert min(first.rewards.mean(), second.rewards.mean()) >= last.rewards.mean()
    assert found.best is first
    (own,) = found.models
    assert own.setting is None
    assert own.confirmed.tolist() == evaluation.of_setting(env, 2, [3, 4, 5]).tolist()


@pytest.mark.parametrize("port", ["switch.leaf0", "switch", "switch.leaf", "switch.leaf.port.0"])
def test_an_agent_has_one_port(port: str) -> None:
    with pytest.raises(ScenarioError, match="is not one port"):
        AgentEnv(place(port=port), FEW)
