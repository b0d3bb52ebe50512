"""Models in files: the network of an agent, what it observes, and what it may set."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from spillway.base import core
from spillway.base.errors import FileError
from spillway.learning import models
from spillway.learning.acc.variant import NUMBERS, Setting
from spillway.learning.models import ModelFile

FORMAT, VERSION = "spillway-acc", "1"
MOST_BYTES = 16 << 20
MOST_LAYERS, MOST_WIDTH, MOST_ACTIONS, MOST_HISTORY = 8, 4096, 65_536, 64
_OWN = frozenset({"crc32", "format", "version", "interval_ps", "history"})

Layer: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Weights (outputs, inputs), and biases (outputs,)."""


class Model(ModelFile):
    """An agent that has been trained. `content` is its file's bytes.

    A file is safetensors: metadata, all of them texts, with `crc32` (as in forests), `format`
    "spillway-acc", `version` "1", `interval_ps`, `history`, and how the agent was made; and arrays:
    `ranges` (6,) and `actions` (n, 3) of f64, `layer0.weight` (outputs, inputs), `layer0.bias`
    (outputs,), `layer1.weight` ... of f32.
    """

    _what = "a model"

    def _take(self, content: bytes) -> None:
        self._metadata, arrays = _read(content)
        self.layers = _layers(arrays)
        """Weights and biases, from the input on."""
        self.ranges = _ranges(arrays)
        """What the six numbers of an interval are divided by, (6,)."""
        self.actions = _actions(arrays)
        """The settings: min and max in bytes, and max_probability, (n, 3)."""
        self.interval_ps = self._whole("interval_ps", 2**63 - 1)
        self.history = self._whole("history", MOST_HISTORY)
        _check_shape(self.layers, NUMBERS * self.history, len(self.actions))

    @classmethod
    def of(
        cls,
        layers: Sequence[Layer],
        *,
        actions: Sequence[Setting],
        ranges: Sequence[float],
        interval_ps: int,
        history: int,
        provenance: Mapping[str, str],
    ) -> Model:
        """A model of these layers.

        Args:
            layers: Weights, of shape (outputs, inputs), and biases, (outputs,), of every layer from
                the input on. The first has 6 `history` inputs, the last an output for every action.
            actions: The settings: RED's min and max in bytes, and its max_probability.
            ranges: What the six numbers of an interval are divided by: queue in bytes, rate, marked
                rate, and the setting's three.
            interval_ps: The time between decisions in picoseconds.
            history: How many intervals are observed.
            provenance: How it was made: the command, versions, and so on, as texts.

        Raises:
            ScenarioError: The shapes do not fit together, or a number is out of its range.
        """
        arrays: dict[str, NDArray[Any]] = {
            "ranges": np.array(ranges, np.float64),
            "actions": np.array(actions, np.float64),
        }
        for place, (weight, bias) in enumerate(layers):
            arrays[f"layer{place}.weight"] = np.ascontiguousarray(weight, np.float32)
            arrays[f"layer{place}.bias"] = np.ascontiguousarray(bias, np.float32)
        metadata = {"interval_ps": str(interval_ps), "history": str(history), **provenance}
        return cls(models.content(FORMAT, VERSION, arrays, metadata))

    @classmethod
    def load(cls, file: str | Path) -> Model:
        """The model in a file, or a bundled one by its name."""
        known = core.agents().get(str(file))
        if known is not None:
            return cls(known, str(file))
        return super().load(file)

    @classmethod
    def _check_size(cls, size: int, name: str) -> None:
        if size > MOST_BYTES:
            raise FileError(f"{name}: {_TOO_LARGE}")

    @property
    def provenance(self) -> dict[str, str]:
        """How it was made: the command, versions, and so on."""
        return {key: text for key, text in self._metadata.items() if key not in _OWN}

    @property
    def shape(self) -> str:
        """The widths of its network, from the input on."""
        widths = [weight.shape[1] for weight, _ in self.layers] + [len(self.actions)]
        return " x ".join(map(str, widths))

    def values(self, state: NDArray[np.float32]) -> NDArray[np.float32]:
        """What it expects of every action in a state, as the simulator computes it."""
        if state.shape != (NUMBERS * self.history,):
            raise ValueError(f"{NUMBERS * self.history} numbers are needed, not {state.shape}")
        return outputs(self.layers, state)

    def choose(self, state: NDArray[np.float32]) -> int:
        """The action of the greatest value, the first of equals.

        A value that has overflown to NaN is not chosen.
        """
        values = self.values(state)
        return int(np.where(np.isnan(values), -np.inf, values).argmax())

    def setting(self, action: int) -> Setting:
        """What an action sets: min and max in bytes, and max_probability."""
        least, most, probability = self.actions[action].tolist()
        return int(least), int(most), probability

    def __repr__(self) -> str:
        return f"<Model: {self.shape}, every {self.interval_ps} ps>"

    def _whole(self, key: str, most: int) -> int:
        text = self._metadata.get(key, "")
        is_whole = text.isascii() and text.isdigit() and len(text) < 20
        if not is_whole or not 1 <= int(text) <= most:
            raise FileError(f"its {key} is {text!r}; expected a whole number from 1 to {most}")
        return int(text)


def outputs(layers: Sequence[Layer], state: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a network makes of a state: a value for every action.

    In f32, and in the simulator's order, so that both give the same bits: each output is its bias,
    to which the products with all inputs are added one after the other.
    """
    values = state.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for place, (weight, bias) in enumerate(layers):
            if place > 0:
                values = np.fmax(values, np.float32(0))
            sums = bias.copy()
            for column, value in zip(weight.T, values, strict=True):
                # An input of 0 adds nothing, even if its weight is infinite.
                if value != 0:
                    sums += value * column
            values = sums
    return values


_TOO_LARGE = f"it is larger than {MOST_BYTES >> 20} MiB, too large for a model"


def _read(content: bytes) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    """Metadata and arrays of a file whose checksum is right."""
    if len(content) > MOST_BYTES:
        raise FileError(_TOO_LARGE)
    try:
        arrays: dict[str, NDArray[Any]] = load(content)
        (length,) = struct.unpack("<Q", content[:8])
        metadata: dict[str, str] = json.loads(content[8 : 8 + length]).get("__metadata__") or {}
    except (SafetensorError, ValueError, KeyError, RecursionError, struct.error) as error:
        raise FileError(f"it is not a model file, or it is damaged: {error}") from None
    if metadata.get("format") != FORMAT:
        raise FileError(f"it is not an agent: its metadata has no format = {FORMAT!r}")
    if metadata.get("version") != VERSION:
        told = metadata.get("version", "")
        raise FileError(f"its version is {told}; this program reads version {VERSION}")
    sums = models.checksum(content)
    if sums is None:
        raise FileError("it is damaged: it has no checksum")
    if sums[0] != sums[1]:
        raise FileError(f"it is damaged: its checksum is {sums[1]} and should be {sums[0]!r}")
    return metadata, arrays


def _array(
    arrays: Mapping[str, NDArray[Any]], name: str, kind: type, dimensions: int
) -> NDArray[Any]:
    """An array of this type whose numbers are all finite."""
    array = arrays.get(name)
    if array is None:
        raise FileError(f"it has no {name}")
    if array.dtype != kind or array.ndim != dimensions:
        expected = f"{np.dtype(kind).name} of {dimensions} dimensions"
        raise FileError(f"its {name} is {array.dtype.name} of {array.ndim}; expected {expected}")
    if not np.isfinite(array).all():
        raise FileError(f"its {name} has numbers that are not finite")
    return array


def _ranges(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    ranges = _array(arrays, "ranges", np.float64, 1)
    if ranges.shape != (NUMBERS,) or not (ranges > 0).all():
        raise FileError(f"its ranges are {ranges.tolist()}; expected {NUMBERS} above 0")
    return ranges


def _actions(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    actions = _array(arrays, "actions", np.float64, 2)
    if actions.shape[1] != 3 or not 1 <= len(actions) <= MOST_ACTIONS:
        expected = f"expected 1 to {MOST_ACTIONS} rows of 3"
        raise FileError(f"its actions are of shape {actions.shape}; {expected}")
    least, most, probability = actions.T
    is_right = (least >= 1) & (least <= most) & (most <= 2.0**53)
    is_right &= (least == np.floor(least)) & (most == np.floor(most))
    is_right &= (probability >= 0) & (probability <= 1)
    if not is_right.all():
        row = int(np.flatnonzero(~is_right)[0])
        expected = "expected whole bytes 1 <= min <= max, and a probability"
        raise FileError(f"its action {row} is {actions[row].tolist()}; {expected}")
    return actions


def _layers(arrays: Mapping[str, NDArray[Any]]) -> list[Layer]:
    count = sum(name.startswith("layer") and name.endswith(".weight") for name in arrays)
    if not 1 <= count <= MOST_LAYERS:
        raise FileError(f"it has {count} layers; expected 1 to {MOST_LAYERS}")
    layers = [
        (
            _array(arrays, f"layer{place}.weight", np.float32, 2),
            _array(arrays, f"layer{place}.bias", np.float32, 1),
        )
        for place in range(count)
    ]
    names = {f"layer{place}.{part}" for place in range(count) for part in ("weight", "bias")}
    unknown = sorted(arrays.keys() - names - {"ranges", "actions"})
    if unknown:
        raise FileError(f"it has an array {unknown[0]!r}, which no agent has")
    return layers


def _check_shape(layers: Sequence[Layer], inputs: int, actions: int) -> None:
    """Each layer takes what the one before it gives, from the state to the actions."""
    width = inputs
    for place, (weight, bias) in enumerate(layers):
        outputs, taken = weight.shape
        is_last = place == len(layers) - 1
        if taken != width or bias.shape != (outputs,):
            shapes = f"weights {weight.shape} and biases {bias.shape}"
            raise FileError(f"its layer {place} has {shapes}, but {width} inputs")
        if not is_last and not 1 <= outputs <= MOST_WIDTH:
            raise FileError(f"its layer {place} is {outputs} wide; expected 1 to {MOST_WIDTH}")
        width = outputs
    if width != actions:
        raise FileError(f"its last layer has {width} outputs for {actions} actions")
