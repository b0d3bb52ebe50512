"""Training agents of ACC. Without the extra `train` these tests are skipped."""

from __future__ import annotations

import csv
import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra train is not installed")
pytest.importorskip("stable_baselines3", reason="the extra train is not installed")
pytest.importorskip("gymnasium", reason="the extra train is not installed")

import gymnasium  # noqa: E402
from stable_baselines3 import DQN  # noqa: E402
from stable_baselines3.common.logger import configure  # noqa: E402
from stable_baselines3.common.type_aliases import ReplayBufferSamples  # noqa: E402

from spillway.base.errors import ScenarioError  # noqa: E402
from spillway.learning.acc import Model, learner  # noqa: E402
from spillway.learning.acc.environment import AgentEnv, Place  # noqa: E402
from spillway.learning.acc.learner import DoubleDQN  # noqa: E402
from spillway.learning.acc.settings import Settings  # noqa: E402
from spillway.learning.acc.training import train  # noqa: E402
from spillway.learning.acc.variant import PRED, Variant  # noqa: E402
from spillway.scenario.scenario import Scenario  # noqa: E402
from support import names  # noqa: E402

PLACE = Place("acc-incast", "switch.leaf0.port.0", ("duration=20ms",))
FEW = Variant("few", 1, PRED.actions[::84], PRED.reward, None, (8,))
ASKED = (
    *("acc", "train", "acc-incast", "--port", PLACE.port, "--set", "duration=20ms"),
    *("--steps", "60", "--evaluate-every", "30"),
)


class Table(gymnasium.Env[Any, Any]):
    """Two states, A and B, of which only the spaces matter here."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(10)


A, B = np.array([[1.0, 0.0]], np.float32), np.array([[0.0, 1.0]], np.float32)


def of_table(kind: type[DQN], **given: Any) -> DQN:
    return kind("MlpPolicy", Table(), policy_kwargs={"net_arch": []}, device="cpu", **given)


def fill(agent: DQN, online: Any, target: Any) -> None:
    """Networks of one layer without biases: the values at A and at B are the rows of tables."""
    for network, table in ((agent.q_net, online), (agent.q_net_target, target)):
        (linear,) = (each for each in network.q_net if isinstance(each, torch.nn.Linear))
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(table, dtype=torch.float32).T)
            linear.bias.zero_()


def test_targets_by_hand() -> None:
    agent = of_table(DoubleDQN, gamma=0.5)
    online, target = np.zeros((2, 10)), np.zeros((2, 10))
    # At B the online network prefers action 3, which the target network values at 2; it values
    # action 7 at 6, where plain DQN would look.
    online[1, 3], target[1, 3], target[1, 7] = 5, 2, 6
    fill(agent, online, target)

    def of(reward: float, done: float, discounts: Any = None) -> float:
        rewards, dones = torch.tensor([[reward]]), torch.tensor([[done]])
        seen = (torch.tensor(A), torch.tensor([[0]]), torch.tensor(B))
        (found,) = agent.targets(ReplayBufferSamples(*seen, dones, rewards, discounts))
        return float(found)

    assert of(1.0, 0.0) == 1 + 0.5 * 2
    assert of(1.0, 1.0) == 1
    assert of(1.0, 0.0, torch.tensor([[0.25]])) == 1 + 0.25 * 2


@pytest.mark.parametrize(("kind", "of_a"), [(DQN, 4.0), (DoubleDQN, 2.0)])
def test_training_moves_towards_the_target(kind: type[DQN], of_a: float) -> None:
    # What was seen: from A, action 0, reward 1, to B. Plain DQN makes 1 + 0.5 x 6 of it.
    agent = of_table(kind, gamma=0.5, learning_rate=0.02)
    online, target = np.zeros((2, 10)), np.zeros((2, 10))
    online[1, 3], target[1, 3], target[1, 7] = 5, 2, 6
    fill(agent, online, target)
    no = np.array([False])
    agent.replay_buffer.add(A, B, np.array([[0]]), np.array([1.0]), no, [{}])
    agent.set_logger(configure(format_strings=[]))
    agent.train(1000, batch_size=4)
    assert float(agent.q_net(torch.tensor(A)).detach()[0, 0]) == pytest.approx(of_a, abs=0.01)


def test_plain_dqn_overestimates_where_double_dqn_does_not() -> None:
    """As in Sutton and Barto's example of maximization bias (Figure 6.5), with ten actions.

    Each of B's actions is worth -0.1, and estimated with an error of deviation 1. The greatest of
    ten such estimates is on average 1.54 - 0.1; what another table says of the action that seems
    best is -0.1.
    """
    agent = of_table(DoubleDQN, gamma=1.0)
    noise, of_double, of_plain = np.random.default_rng(1), [], []
    seen = (torch.tensor(A), torch.tensor([[0]]), torch.tensor(B))
    batch = ReplayBufferSamples(*seen, torch.zeros(1, 1), torch.zeros(1, 1))
    for _ in range(1000):
        online, target = noise.normal(-0.1, 1.0, (2, 2, 10))
        fill(agent, online, target)
        of_double.append(float(agent.targets(batch)))
        of_plain.append(target[1].max())
    # The mean of 1000 has a standard error of 0.03, and 0.02.
    assert np.mean(of_double) == pytest.approx(-0.1, abs=0.1)
    assert np.mean(of_plain) == pytest.approx(1.44, abs=0.1)


def test_a_model_is_the_network_that_was_trained() -> None:
    env = AgentEnv(PLACE, PRED)
    layers: list[Any] = []

    def looked(done: int, exploration: float, reward: float, found: Any) -> None:
        layers.append((done, found))

    learner.run(env, PRED.hidden, Settings(), 0, 3, 10, looked)
    ((done, found),) = layers
    assert done == 0 and [weight.shape for weight, _ in found] == [(64, 6), (64, 64), (252, 64)]
    modules: list[Any] = []
    for weight, bias in found:
        linear = torch.nn.Linear(*reversed(weight.shape))
        linear.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
        modules += [linear, torch.nn.ReLU()]
    network = torch.nn.Sequential(*modules[:-1])
    model = train(PLACE, PRED, steps=0, training_seed=3).model
    for state in np.random.default_rng(1).uniform(0, 1, (20, 6)).astype(np.float32):
        by_torch = network(torch.tensor(state)).detach().numpy()
        assert model.values(state) == pytest.approx(by_torch, abs=1e-5)


def test_training_repeats_and_differs_by_its_seed() -> None:
    def trained(**given: Any) -> Any:
        asked = {"steps": 1200, "evaluate_every": 600, "seeds": [1, 2], **given}
        return train(PLACE, FEW, **asked)

    first = trained()
    assert first.model.content == trained().model.content
    assert first.model.layers[0][0].tolist() != trained(training_seed=2).model.layers[0][0].tolist()
    assert [look.steps for look in first.curve] == [0, 600, 1200]
    assert math.isnan(first.curve[0].training_reward)
    assert all(0 < look.training_reward < 1 for look in first.curve[1:])
    assert all(0 < look.reward < 1 for look in first.curve)
    assert [look.exploration for look in first.curve] == pytest.approx([0.9, 0.475, 0.05], abs=0.01)
    last = trained(keep="last")
    assert last.kept == last.curve[-1] and last.curve[1:] == first.curve[1:]
    untrained = trained(steps=0).model
    assert untrained.layers[0][0].tolist() != last.model.layers[0][0].tolist()
    assert first.kept == max(first.curve[1:], key=lambda look: look.reward)
    assert trained(settings=Settings(gamma=0)).model.provenance["gamma"] == "0"


def test_a_model_says_of_what_it_was_made() -> None:
    place = Place("acc-incast", PLACE.port, PLACE.set, gbps=10.0, interval="200us")
    settings = Settings(gamma=0.25, batch=16)
    asked: dict[str, Any] = {"steps": 3, "seeds": "3..5", "evaluation_seeds": [7]}
    done = train(place, FEW, training_seed=4, settings=settings, evaluate_every=9, **asked)
    told = done.model.provenance
    assert told.pop("torch") and told.pop("stable_baselines3") and told.pop("spillway")
    assert told == {
        "variant": "few",
        "command": "spillway acc train acc-incast --port switch.leaf0.port.0 --variant few "
        "--steps 3 --seeds 3..5 --training-seed 4 --evaluation-seeds 7 --set duration=20ms "
        "--interval 200us --gbps 10 --gamma 0.25 --batch 16 --evaluate-every 9 --keep best",
        "scenario": "acc-incast",
        "seeds": "3..5",
        "steps": "3",
        "training_seed": "4",
        "gamma": "0.25",
        "algorithm": "double-dqn",
    }
    assert done.model.interval_ps == 200_000_000


def test_no_path_of_this_machine_is_in_a_model(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(Scenario.load("acc-incast").read().resolved)
    for scenario, told in (
        (tmp_path / "own.toml", "own.toml"),
        (Scenario.load("acc-incast").set("name=other"), "other"),
    ):
        place = Place(scenario, PLACE.port, PLACE.set)
        model = train(place, FEW, steps=0).model
        assert model.provenance["command"].startswith(f"spillway acc train {told} --port ")
        assert str(tmp_path).encode() not in model.content


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"steps": -1}, "steps: -1 is not valid"),
        ({"seeds": "x"}, "'x' is not a list of seeds"),
        ({"training_seed": 2**32}, "training_seed: 4294967296 is not valid"),
        ({"keep": "first"}, "keep: 'first' is not valid; expected 'last' or 'best'"),
        ({"evaluate_every": 0}, "evaluate_every: 0 is not valid"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        train(PLACE, FEW, **given)


def test_the_command_writes_a_model_and_its_curve(command: Any, tmp_path: Path) -> None:
    done = command(*ASKED, "--out", "agent.safetensors", "--json", "--keep", "best")
    assert done.status == 0, done.err
    assert names(tmp_path) == ["agent.csv", "agent.safetensors"]
    assert "30 decisions: reward 0." in done.err
    model = Model.load("agent.safetensors")
    assert done.json["model"]["command"] == model.provenance["command"]
    rows = list(csv.DictReader(Path("agent.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["steps"] for row in rows] == ["0", "30", "60"]
    assert [float(row["reward"]) for row in rows] == [row["reward"] for row in done.json["curve"]]
    again = command(*ASKED, "--out", "agent.safetensors")
    assert again.status == 2 and "agent.safetensors is there already" in again.err
    # What a model says of itself makes it again.
    words = [*model.provenance["command"].split()[1:], "--out", "again.safetensors"]
    assert command(*words, "--curve", "own.csv").status == 0
    assert Path("again.safetensors").read_bytes() == Path("agent.safetensors").read_bytes()
    assert names(tmp_path)[-1] == "own.csv"
    wrong = command(*ASKED, "--curve", "curve.txt")
    assert wrong.status == 2 and "its name ends in .csv" in wrong.err
    wrong = command(*ASKED, "--gamma", "1.5")
    assert (
        wrong.status == 2 and "gamma: 1.5 is not valid; expected a number from 0 to 1" in wrong.err
    )


def test_an_interrupted_training_leaves_nothing(start: Any, tmp_path: Path) -> None:
    process = start(*ASKED, "--steps", "100000000", "--out", "agent.safetensors")
    for line in process.stderr:
        if line.startswith("30 decisions"):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and "nothing is kept of it" in err
    assert names(tmp_path) == []
