"""The environment for Gymnasium: what its steps do, and what it refuses."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra rl is not installed")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import spillway  # noqa: E402
from spillway.learning.gym import NetworkEnv, Ranges, Table  # noqa: E402

SET = ["switch.aqm=ecn", "duration=30ms", "stop=1s"]
RED = ["switch.aqm=red", *SET[1:]]
PORT = "switch.leaf0.port.0"
TABLE = Table(["aqm.threshold"], [["2pkt"], ["20pkt"], ["200pkt"]])
SIGNALS = {
    "queue": f"{PORT}.mean_queue_bytes",
    "sent": f"{PORT}.sent_bytes",
    "marked": f"{PORT}.marked_packets",
    "fct": "fct_ps",
}
GIVEN: dict[str, Any] = {
    "actions": TABLE,
    "at": PORT,
    "signals": SIGNALS,
    "reward": "0.4 * sum(sent) / 257500 - 0.6 * mean(queue) / 500000",
    "interval": "206us",
    "set": SET,
}


def made(**given: Any) -> NetworkEnv:
    return NetworkEnv("pred-incast", **{**GIVEN, **given})


def test_it_is_as_gymnasium_wants_environments() -> None:
    check_env(made(steps=5), skip_render_check=True)
    check_env(made(actions=Ranges("aqm.threshold=1pkt..100pkt"), steps=5), skip_render_check=True)
    two = gymnasium.make("spillway.learning.gym:Spillway-v0", scenario="pred-incast", **GIVEN)
    observation, info = two.reset(seed=3)
    assert observation in two.observation_space and info == {"seed": 1, "time_ps": 0}


def test_a_step_is_set_run_and_look() -> None:
    env = made(begin="1ms", history=2, observation={"queue": 1500, "sent": 1})
    observation, info = env.reset()
    assert info["time_ps"] == 1_000_000_000
    by_hand = spillway.Simulation("pred-incast", seed=1, set=SET)
    names = [SIGNALS["queue"], SIGNALS["sent"]]

    def looked() -> list[float]:
        seen = by_hand.observe(names)
        return [*(seen[names[0]].ravel() / 1500), *seen[names[1]].ravel()]

    by_hand.run_until(588_000_000)
    looked()
    frames = []
    for time in (794_000_000, 1_000_000_000):
        by_hand.run_until(time)
        frames.append(looked())
    assert observation == pytest.approx([*frames[0], *frames[1]], rel=1e-6)
    for number, action in enumerate((0, 2, 1), start=1):
        by_hand.set(f"{PORT}.aqm.threshold", TABLE.rows[action][0])
        by_hand.run_until(1_000_000_000 + number * 206_000_000)
        frames.append(looked())
        observation, reward, *ends, info = env.step(action)
        assert observation == pytest.approx([*frames[-2], *frames[-1]], rel=1e-6)
        queue, sent = frames[-1]
        assert reward == pytest.approx(0.4 * sent / 257500 - 0.6 * queue * 1500 / 500000)
        assert ends == [False, False] and info["time_ps"] == by_hand.now
    assert env.result().flows.equals(by_hand.finish().flows)


def test_intervals_before_the_run_are_empty_or_cut() -> None:
    # The intervals end at -30, 176, 382, 588, 794 and 1000 us.
    env = made(begin="1ms", history=6, observation=["sent"])
    by_hand = spillway.Simulation("pred-incast", seed=1, set=SET, signals=SIGNALS["sent"])
    sent = [0]
    for time in range(176, 1001, 206):
        by_hand.run_until(f"{time}us")
        sent.append(int(by_hand.observe(SIGNALS["sent"])[SIGNALS["sent"]]))
    assert env.reset()[0].tolist() == sent and sent[-1] > 0


def test_episodes_repeat_and_do_not_disturb_each_other() -> None:
    env = made(begin="2ms", steps=4)
    runs = []
    for seed in (5, 5, 6):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        taken = [env.step(env.action_space.sample()) for _ in range(4)]
        runs.append([(each[0].tolist(), each[1]) for each in taken])
        assert [each[3] for each in taken] == [False, False, False, True]
    assert runs[0] == runs[1] and runs[0] != runs[2]


def test_an_episode_is_terminated_when_the_run_is_over() -> None:
    env = made(interval="1ms", set=[*SET, "duration=3ms"])
    env.reset()
    ends = []
    while not ends or not ends[-1]:
        *_, terminated, truncated, info = env.step(1)
        ends.append(terminated)
        assert not truncated
    assert 1 < len(ends) < 1000
    assert len(info["signals"]["fct"]) > 0
    assert env.result().status == "complete"


def test_seeds_are_drawn_or_given() -> None:
    env = made(seeds=range(1, 9), steps=1)
    drawn = {env.reset(seed=number if number == 0 else None)[1]["seed"] for number in range(40)}
    assert drawn == set(range(1, 9))
    assert made(seeds="7..8,3").reset()[1]["seed"] in (3, 7, 8)
    assert env.reset(options={"seed": 77})[1]["seed"] == 77
    first = [env.reset(seed=3)[1]["seed"] for _ in range(3)]
    assert len({*first}) == 1


def test_several_places_have_their_own_actions() -> None:
    at = [PORT, "switch.leaf0.port.4"]
    env = made(at=at)
    assert env.action_space == gymnasium.spaces.MultiDiscrete([3, 3])
    env.reset()
    env.step([0, 2])
    ranges = made(at=at, actions=Ranges("aqm.threshold=1pkt..101pkt"))
    assert ranges.action_space.shape == (2,)
    ranges.reset()
    ranges.step([-1.0, 0.0])
    by_hand = spillway.Simulation("pred-incast", seed=1, set=SET)
    by_hand.set({f"{at[0]}.aqm.threshold": "1pkt", f"{at[1]}.aqm.threshold": "51pkt"})
    assert ranges.result().flows.equals(by_hand.finish().flows)


def test_the_reward_may_be_a_function() -> None:
    env = made(reward=lambda signals: -float(signals["queue"].mean()))
    env.reset()
    _, reward, *_, info = env.step(0)
    assert reward == -info["signals"]["queue"].mean()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"actions": 3}, "3 are no actions"),
        ({"actions": Table(["aqm.min"], [["2pkt"]])}, '"min" of "ecn" does not change'),
        ({"actions": Table(["aqm.threshold"], [["2pkt"], ["2"]])}, "is not valid"),
        ({"actions": Ranges("aqm.threshold=-1..3")}, "is not valid"),
        ({"at": "switch.leaf0.port.99"}, "99 is not a port"),
        ({"at": 5}, "5 are no places"),
        (
            {"actions": Ranges("aqm.min=1pkt..50pkt", "aqm.max=20pkt..90pkt"), "set": RED},
            "less than",
        ),
        ({"signals": {}}, "are no signals by name"),
        ({"signals": {"a b": "sent_bytes"}}, "is no name of a signal"),
        ({"signals": {"queue": f"{PORT}.queue_bites"}, "reward": "queue"}, "queue_bites"),
        ({"reward": "queues"}, "there is no signal queues"),
        ({"reward": 3}, "3 is no reward"),
        ({"observation": ["fct"]}, "fct has as many numbers as flows"),
        ({"observation": ["rate"]}, "there is no signal 'rate'"),
        ({"observation": {"queue": 0}}, "0 is no scale of queue"),
        ({"observation": []}, "nothing is observed"),
        ({"interval": 0}, "0 is no time that can be used here"),
        ({"history": 0}, "history: 0 is not valid; expected a whole number of 1 or more"),
        ({"steps": True}, "steps: True is not valid; expected a whole number of 1 or more"),
        ({"seeds": []}, "there is no seed to run with"),
        ({"seeds": "1.."}, "'1..' is not a list of seeds"),
        ({"seeds": [2, 2]}, "seed 2 is there twice"),
        ({"seeds": [1, -1]}, "seed: -1 is not valid"),
        ({"begin": 2**63}, "is no time that can be used here"),
        ({"render_mode": "human"}, "there is no render mode"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_made(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(spillway.Error) as caught:
        made(**given)
    assert problem in str(caught.value)


@pytest.mark.parametrize("action", [-1, 3, 1.0, True, "1", None, [0, 1], [[0], [1, 2]], [], {}])
def test_what_is_no_row_is_refused(action: Any) -> None:
    env = made()
    env.reset()
    with pytest.raises(spillway.Error, match="is no action\nhint: a row from 0 to 2"):
        env.step(action)
    env.step(np.int64(2))
    assert env.result().status == "complete"


@pytest.mark.parametrize("action", [math.nan, math.inf, "x", None, [0.1, 0.2], [], [[0], [1, 2]]])
def test_what_is_no_number_of_a_range_is_refused(action: Any) -> None:
    env = made(actions=Ranges("aqm.threshold=1pkt..100pkt"))
    env.reset()
    with pytest.raises(spillway.Error, match="is no action\nhint: a number from -1 to 1"):
        env.step(action)
    env.step([1.5])


def test_what_is_wrong_later() -> None:
    env = made(begin="2s")
    with pytest.raises(spillway.Error, match="with seed 1 the run is over before it begins"):
        env.reset()
    with pytest.raises(spillway.Error, match="no episode is under way"):
        env.step(0)
    with pytest.raises(spillway.Error, match=r"seed: 7\.5 is not valid"):
        env.reset(options={"seed": 7.5})
    never = made(reward="1 / (0 * sum(sent))")
    never.reset()
    with pytest.raises(spillway.Error, match="is inf, which is no reward"):
        never.step(0)
    lists = made(reward="fct")
    lists.reset()
    with pytest.raises(spillway.Error, match="has 0 numbers, not one"):
        lists.step(0)


def test_environments_run_in_processes() -> None:
    envs = gymnasium.make_vec(
        "spillway.learning.gym:Spillway-v0",
        num_envs=2,
        vectorization_mode="async",
        scenario="pred-incast",
        **{**GIVEN, "seeds": range(1, 50), "begin": "300us"},
    )
    try:
        observations, _ = envs.reset(seed=1)
        stepped, rewards, *_ = envs.step(np.array([0, 2]))
    finally:
        envs.close()
    alone = made(seeds=range(1, 50), begin="300us")
    for place, action in enumerate((0, 2)):
        observation, _ = alone.reset(seed=1 + place)
        assert observation.tolist() == observations[place].tolist()
        observation, reward, *_ = alone.step(action)
        assert observation.tolist() == stepped[place].tolist()
        assert math.isclose(reward, rewards[place])


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_several_environments_tell_of_different_numbers_of_flows(mode: str) -> None:
    envs = gymnasium.make_vec(
        "spillway.learning.gym:Spillway-v0",
        num_envs=2,
        vectorization_mode=mode,
        scenario="pred-incast",
        **{**GIVEN, "seeds": range(1, 9), "interval": "2ms"},
    )
    counts = set()
    try:
        envs.reset(seed=[1, 2])
        for _ in range(8):
            *_, infos = envs.step(np.array([0, 2]))
            counts.add(tuple(map(len, infos["signals"]["fct"])))
    finally:
        envs.close()
    assert any(first != second for first, second in counts)


def test_the_example_learns_and_compares() -> None:
    example = Path(__file__).parents[1] / "examples" / "learn_a_threshold.py"
    command = [sys.executable, "-W", "error", str(example), "2"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    fixed = dict(re.findall(r"always +(\d+pkt) +(0\.\d{4}) ± 0\.\d{4}\n", printed))
    assert len(fixed) == 7
    assert min(fixed, key=lambda threshold: float(fixed[threshold])) == "200pkt"
    assert re.search(r"learned less always \d+pkt, seed by seed: -?0\.\d{4} ± 0\.\d{4}\n", printed)


def test_without_gymnasium_it_says_what_is_missing() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "try:\n    import spillway.learning.gym\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "spillway.learning.gym needs gymnasium: pip install 'spillway[rl]'\n"
