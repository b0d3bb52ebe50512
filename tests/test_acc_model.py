"""Agents of ACC in files: shape, refusals, evaluation, states, actions and rewards by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spillway.base.errors import ScenarioError
from spillway.learning import models
from spillway.learning.acc import ACC, PRED, Model, variant
from spillway.learning.acc.model import outputs
from spillway.learning.acc.variant import Interval, State, frame
from support import flipped, names, with_right_checksum

RANGES = (150_000.0, 1.0, 1.0, 24_000.0, 150_000.0, 1.0)
SETTINGS = ((3000, 30_000, 0.01), (24_000, 150_000, 1.0))


def f32(*rows: Any) -> np.ndarray:
    """An array of f32: of numbers, or of rows."""
    return np.array(rows, np.float32)


# Six inputs, two hidden neurons, two actions.
LAYERS = [
    (f32([1, 0, 0, 0, 0, 0], [0, 0, -1, 0, 0, 2]), f32(0.25, -0.5)),
    (f32([1, 2], [-1, 4]), f32(0, 0.125)),
]
GIVEN: dict[str, Any] = {
    "actions": SETTINGS,
    "ranges": RANGES,
    "interval_ps": 206_000_000,
    "history": 1,
    "provenance": {"variant": "pred", "command": "spillway acc train x"},
}


def made(**given: Any) -> Model:
    return Model.of(**{"layers": LAYERS, **GIVEN, **given})


def written(change: Any = None, **metadata: str) -> bytes:
    """A file with other arrays or metadata, and the right checksum."""
    arrays = {"ranges": np.array(RANGES), "actions": np.array(SETTINGS)}
    for place, (weight, bias) in enumerate(LAYERS):
        arrays |= {f"layer{place}.weight": weight, f"layer{place}.bias": bias}
    if change is not None:
        change(arrays)
    told = {"interval_ps": "206000000", "history": "1", **metadata}
    format, version = told.pop("format", "spillway-acc"), told.pop("version", "1")
    return models.content(format, version, arrays, told)


def test_a_file_holds_what_was_put_in(tmp_path: Path) -> None:
    model = made()
    model.save(tmp_path / "a.safetensors")
    read = Model.load(tmp_path / "a.safetensors")
    assert read.content == model.content == made().content
    assert names(tmp_path) == ["a.safetensors"]
    assert (read.interval_ps, read.history) == (206_000_000, 1)
    assert read.ranges.tolist() == [*RANGES]
    assert [read.setting(action) for action in (0, 1)] == [*SETTINGS]
    assert read.provenance == GIVEN["provenance"]
    for (weight, bias), (own_weight, own_bias) in zip(read.layers, LAYERS, strict=True):
        assert np.array_equal(weight, own_weight) and np.array_equal(bias, own_bias)
    assert repr(read) == "<Model: 6 x 2 x 2, every 206000000 ps>"


def test_values_by_hand() -> None:
    # Hidden: 0.5 + 0.25 = 0.75, and -0.5 - 0.25 + 2 x 1 = 1.25, both above 0.
    # Out: 0.75 + 2 x 1.25 = 3.25, and 0.125 - 0.75 + 4 x 1.25 = 4.375.
    model = made()
    state = f32(0.5, 9, 0.25, 0, 0, 1)
    assert model.values(state).tolist() == [3.25, 4.375]
    assert model.choose(state) == 1
    # With zeros the second neuron is at -0.5, which is cut off: 0.25, and 0.125 - 0.25.
    zeros = np.zeros(6, np.float32)
    assert model.values(zeros).tolist() == [0.25, -0.125]
    assert model.choose(zeros) == 0
    # Nothing is cut off behind the last layer; of equal values the first is chosen.
    flat = made(layers=[(np.zeros((2, 6), "f4"), f32(-1, -1))])
    assert flat.values(state).tolist() == [-1, -1] and flat.choose(state) == 0
    with pytest.raises(ValueError, match="6 numbers are needed"):
        model.values(np.zeros(12, np.float32))


def test_products_are_added_in_order_and_in_f32() -> None:
    # In f32 1e8 + 1 is 1e8, so that the order shows: (1 + 1e8) - 1e8 is 0.
    weight, bias = f32([1e8, -1e8]), np.array([1.0], np.float32)
    assert outputs([(weight, bias)], np.ones(2, np.float32)).tolist() == [0.0]
    weight = f32([-1e8, 1e8, 1])
    assert outputs([(weight, bias)], np.ones(3, np.float32)).tolist() == [1.0]


def put(name: str, array: Any) -> Any:
    return lambda arrays: arrays.update({name: array})


def without(name: str) -> Any:
    return lambda arrays: arrays.pop(name)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a model file, or it is damaged"),
        (b"\x10\0\0\0\0\0\0\0{}", "not a model file, or it is damaged"),
        (b"x" * (16 << 20) + b"x", "larger than 16 MiB"),
        (written(format="spillway-forest"), "it is not an agent"),
        (written(version="2"), "its version is 2; this program reads version 1"),
        (written(history="0"), "its history is '0'; expected a whole number from 1 to 64"),
        (written(history="65"), "its history is '65'"),
        (written(interval_ps="2.5"), "its interval_ps is '2.5'"),
        (written(history="2"), "but 12 inputs"),
        (written(without("ranges")), "it has no ranges"),
        (written(put("ranges", np.ones(5))), "its ranges are"),
        (written(put("ranges", np.array([0.0, 1, 1, 1, 1, 1]))), "expected 6 above 0"),
        (written(put("ranges", np.ones(6, "f4"))), "its ranges is float32 of 1; expected float64"),
        (written(put("actions", np.ones((2, 2)))), "its actions are of shape"),
        (written(put("actions", np.ones((0, 3)))), "its actions are of shape"),
        (written(put("actions", np.array([SETTINGS[0], (3, 2, 0.5)]))), "its action 1 is"),
        (written(put("actions", np.array([SETTINGS[0], (0, 2, 0.5)]))), "its action 1 is"),
        (written(put("actions", np.array([(1.5, 2, 0.5), SETTINGS[0]]))), "its action 0 is"),
        (written(put("actions", np.array([(1, 2, 1.01), SETTINGS[0]]))), "its action 0 is"),
        (written(put("actions", np.array([(1, 2, np.nan), SETTINGS[0]]))), "not finite"),
        (written(put("actions", np.array([SETTINGS[0]]))), "2 outputs for 1 actions"),
        (written(without("layer0.weight")), "it has no layer0.weight"),
        (written(without("layer1.bias")), "it has no layer1.bias"),
        (written(put("layer2.x", np.ones(1, "f4"))), "an array 'layer2.x', which no agent has"),
        (written(put("layer1.bias", f32(1, 2, 3))), "layer 1 has weights"),
        (written(put("layer1.weight", np.ones((2, 3), "f4"))), "layer 1 has weights"),
        (written(put("layer1.weight", np.ones((2, 2)))), "expected float32 of 2 dimensions"),
        (written(put("layer1.bias", f32(1, np.inf))), "numbers that are not finite"),
    ],
)
def test_what_is_no_model_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        Model(content, "agent")
    assert problem in str(refused.value) and str(refused.value).startswith("agent: ")


def test_limits_of_layers() -> None:
    def deep(count: int) -> Model:
        between = [(np.ones((2, 2), "f4"), np.zeros(2, "f4"))] * (count - 2)
        return made(layers=[LAYERS[0], *between, LAYERS[1]])

    assert len(deep(8).layers) == 8
    with pytest.raises(ScenarioError, match="it has 9 layers; expected 1 to 8"):
        deep(9)

    def wide(width: int) -> Model:
        first = (np.ones((width, 6), "f4"), np.zeros(width, "f4"))
        return made(layers=[first, (np.ones((2, width), "f4"), np.zeros(2, "f4"))])

    wide(4096)
    with pytest.raises(ScenarioError, match="4097 wide"):
        wide(4097)


def test_no_bit_may_be_another() -> None:
    content = made().content
    for place in range(0, len(content), 7):
        with pytest.raises(ScenarioError):
            Model(flipped(content, place))
    # A checksum that agrees does not make up for what is wrong.
    with pytest.raises(ScenarioError, match="version is 3"):
        Model(with_right_checksum(content.replace(b'"version":"1"', b'"version":"3"')))


def test_files_that_cannot_be_read_or_replaced(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        Model.load(tmp_path / "none")
    (tmp_path / "large").write_bytes(b"x" * ((16 << 20) + 1))
    with pytest.raises(ScenarioError, match="larger than 16 MiB"):
        Model.load(tmp_path / "large")
    (tmp_path / "text").write_text("not a model")
    with pytest.raises(ScenarioError, match="is not a model, and is not replaced"):
        made().save(tmp_path / "text")


def test_the_state_by_hand() -> None:
    # 37,500 of 150,000 bytes; half of the line; an eighth of it marked; 6,000 of 24,000 bytes.
    interval = Interval(37_500, 0.5, 0.125, (6000, 75_000, 0.25))
    assert frame(interval, RANGES).tolist() == [0.25, 0.5, 0.125, 0.25, 0.5, 0.25]
    # What is beyond its range is at its end.
    most = Interval(1e9, 1.0007, 0.0, (24_000, 150_000, 1.0))
    assert frame(most, RANGES).tolist() == [1, 1, 0, 1, 1, 1]
    # f64 first: in f32 alone 100,001 / 150,000 is another number.
    odd = frame(Interval(100_001, 0, 0, SETTINGS[0]), RANGES)
    assert odd.dtype == np.float32 and odd[0] == np.float32(100_001 / 150_000)
    state = State(2, RANGES)
    assert state.vector.tolist() == [0] * 12
    state.end(interval)
    assert state.vector.tolist() == [0] * 6 + [0.25, 0.5, 0.125, 0.25, 0.5, 0.25]
    state.end(most)
    assert state.vector[:6].tolist() == [0.25, 0.5, 0.125, 0.25, 0.5, 0.25]
    assert state.vector[6:].tolist() == [1, 1, 0, 1, 1, 1]


def test_actions_by_hand() -> None:
    # 4 x 3 x 21, thresholds in packets of 1500 bytes.
    assert len({*PRED.actions}) == len(PRED.actions) == 252
    assert PRED.actions[0] == (3000, 30_000, 0.01)
    assert PRED.actions[1] == (3000, 30_000, 0.05)
    assert PRED.actions[20] == (3000, 30_000, 1.0)
    assert PRED.actions[21] == (3000, 75_000, 0.01)
    assert PRED.actions[63] == (6000, 30_000, 0.01)
    assert PRED.actions[-1] == (24_000, 150_000, 1.0)
    assert PRED.ranges == RANGES
    # 55 pairs of the ladder with min <= max.
    assert len({*ACC.actions}) == len(ACC.actions) == 55 * 21
    assert ACC.actions[0] == (20_000, 20_000, 0.01)
    assert ACC.actions[21] == (20_000, 40_000, 0.01)
    assert ACC.actions[-22] == (5_120_000, 10_240_000, 1.0)
    assert ACC.actions[-1] == (10_240_000, 10_240_000, 1.0)
    assert ACC.ranges == (10_240_000.0, 1.0, 1.0, 10_240_000.0, 10_240_000.0, 1.0)
    assert (PRED.history, ACC.history) == (1, 3)


@pytest.mark.parametrize(
    ("reward", "utilisation", "queue", "by_hand"),
    [
        # Up to 15 packets, 22,500 bytes, the queue costs nothing.
        (PRED.reward, 1.0, 22_500, 1.0),
        (PRED.reward, 0.5, 0, 0.2 + 0.6),
        # A quarter of the way from 22,500 to 500,000 bytes.
        (PRED.reward, 1.0, 22_500 + 477_500 / 4, 0.4 + 0.6 * 0.75),
        (PRED.reward, 0.25, 600_000, 0.1),
        # n is the step whose end is the first at or above the queue.
        (ACC.reward, 1.0, 0, 1.0),
        (ACC.reward, 1.0, 20_000, 1.0),
        (ACC.reward, 1.0, 20_001, 0.7 + 0.3 * 0.9),
        (ACC.reward, 0.5, 40_001, 0.35 + 0.3 * 0.8),
        (ACC.reward, 0.0, 10_240_000, 0.03),
        (ACC.reward, 0.0, 10_240_001, 0.0),
    ],
)
def test_rewards_by_hand(reward: Any, utilisation: float, queue: float, by_hand: float) -> None:
    assert reward(utilisation, queue) == pytest.approx(by_hand, abs=1e-12)


def test_variants_have_names() -> None:
    assert variant.find("acc") is ACC
    with pytest.raises(ScenarioError, match="there is no variant 'cca'"):
        variant.find("cca")
