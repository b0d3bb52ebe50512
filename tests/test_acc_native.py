"""Agents in the switch decide as they do from outside, looking at a run and setting RED's line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spillway
from spillway import Simulation, _core
from spillway.base.errors import ScenarioError
from spillway.learning.acc.model import Layer, Model
from spillway.learning.acc.variant import NUMBERS, PACKET, Interval, Setting, State
from spillway.result.result import Result

INTERVAL_PS = 206_000_000
PORTS = 19
PS_PER_BYTE = 800
HISTORY = 2
ACTIONS: list[Setting] = [
    (least * PACKET, most * PACKET, probability)
    for least in (2, 16)
    for most in (20, 100)
    for probability in (0.01, 0.5, 1.0)
]
RANGES = (20_000.0, 1.0, 0.3, 24_000.0, 150_000.0, 1.0)
SHORT = ["duration=20ms", "stop=40ms", "record.drops=false"]


def agent(seed: int, actions: list[Setting] = ACTIONS) -> Model:
    """An agent of random weights.

    What was sent has none: a look counts the part of a packet that is on the line, and a queue the
    packets that have begun to leave.
    """
    draw = np.random.default_rng(seed)

    def layer(outputs: int, inputs: int) -> Layer:
        weight = draw.uniform(-1, 1, (outputs, inputs)).astype(np.float32)
        return weight, draw.uniform(-1, 1, outputs).astype(np.float32)

    layers = [layer(16, NUMBERS * HISTORY), layer(len(actions), 16)]
    layers[0][0][:, 1::NUMBERS] = 0
    return Model.of(
        layers,
        actions=actions,
        ranges=RANGES,
        interval_ps=INTERVAL_PS,
        history=HISTORY,
        provenance={},
    )


def native(model: Path, seed: int, **keys: str) -> Result:
    """A run whose switch has the agent."""
    told = {"exploration": "0", "idle": '"decides"', **keys}
    more = ", ".join(f"{key} = {value}" for key, value in told.items())
    aqm = f'switch.aqm={{ kind = "acc", model = "{model}", {more} }}'
    return Simulation("acc-incast", seed=seed, set=[*SHORT, aqm]).finish()


def stepped(model: Model, seed: int) -> tuple[Result, list[int]]:
    """A run of RED whose lines the agent sets, and what it chose at the first port."""
    red = 'switch.aqm={ kind = "red", min = "3KB", max = "30KB", not_ect = "pass" }'
    simulation = Simulation("acc-incast", seed=seed, set=[*SHORT, red])
    signals = ["mean_queue_bytes", "sent_bytes", "marked_bytes"]
    names = [f"switch.leaf0.{signal}" for signal in signals]
    states = [State(HISTORY, RANGES) for _ in range(PORTS)]
    simulation.observe(names)
    chosen, now = [], 0
    while True:
        actions = [model.choose(state.vector) for state in states]
        chosen.append(actions[0])
        numbers: dict[str, object] = {}
        for port, action in enumerate(actions):
            least, most, probability = model.setting(action)
            place = f"switch.leaf0.port.{port}.aqm"
            numbers[f"{place}.min"], numbers[f"{place}.max"] = f"{least}B", f"{most}B"
            numbers[f"{place}.max_probability"] = probability
        simulation.set(numbers)
        now += INTERVAL_PS
        if not simulation.run_until(now):
            return simulation.finish(), chosen
        look = simulation.observe(names)
        queues, sent, marked = (np.ravel(look[name]) for name in names)
        for port, state in enumerate(states):
            state.end(
                Interval(
                    float(queues[port]),
                    float(sent[port]) * PS_PER_BYTE / INTERVAL_PS,
                    float(marked[port]) * PS_PER_BYTE / INTERVAL_PS,
                    model.setting(actions[port]),
                )
            )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_agent_in_the_switch_does_what_it_does_from_outside(seed: int, tmp_path: Path) -> None:
    model = agent(seed)
    file = tmp_path / "agent.safetensors"
    model.save(file)
    inside, (outside, chosen) = native(file, seed), stepped(model, seed)
    assert inside.flows.equals(outside.flows)
    assert inside.summary["marks"] == outside.summary["marks"] > 100
    # It is worth something only if lines change.
    assert len(set(chosen)) > 3
    # Another agent has another run.
    agent(seed + 10).save(file)
    assert not native(file, seed).flows.equals(outside.flows)


def test_an_agent_of_one_line_is_red(tmp_path: Path) -> None:
    line = (3_000, 45_000, 0.3)
    file = tmp_path / "agent.safetensors"
    agent(1, [line]).save(file)
    red = (
        'switch.aqm={ kind = "red", min = "3000B", max = "45000B", max_probability = 0.3, '
        'not_ect = "pass" }'
    )
    expected = Simulation("acc-incast", seed=4, set=[*SHORT, red]).finish()
    # Exploring one line changes nothing either.
    for keys in ({}, {"exploration": "1.0"}, {"interval": '"30us"'}, {"idle": '"keeps"'}):
        assert native(file, 4, **keys).flows.equals(expected.flows), keys


def test_a_bundled_agent_goes_by_its_name() -> None:
    model = Model.load("pred")
    assert model.provenance["variant"] == "pred"
    assert model.content == _core.agents()["pred"]


def test_exploration_changes_a_run_and_repeats(tmp_path: Path) -> None:
    file = tmp_path / "agent.safetensors"
    agent(1).save(file)
    runs = [native(file, 1, exploration=share).flows for share in ("0", "0.05", "0.05", "1.0")]
    assert runs[1].equals(runs[2])
    assert not any(runs[a].equals(runs[b]) for a, b in ((0, 1), (0, 3), (1, 3)))


def test_a_folder_keeps_the_agent_that_it_was_run_with(tmp_path: Path) -> None:
    file = tmp_path / "agent.safetensors"
    agent(1).save(file)
    settings = [*SHORT, f'switch.aqm={{ kind = "acc", model = "{file}" }}']
    before = spillway.run("acc-incast", set=settings, out=tmp_path / "run")
    file.unlink()
    again = spillway.run(tmp_path / "run")
    assert again.flows.equals(before.flows)


def test_a_file_that_is_no_agent_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "agent.safetensors"
    content = bytearray(agent(1).content)
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ScenarioError, match=r"aqm\.model.*it is damaged: its checksum"):
        native(file, 1)
    file.write_bytes(bytes(17 << 20))
    with pytest.raises(ScenarioError, match=r"aqm\.model.*more than 16 MiB"):
        native(file, 1)
