"""Models in files: forests as plain arrays, which the simulator evaluates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from spillway.base import checksums, core
from spillway.base.errors import FileError
from spillway.learning.models import ForestModel, forest_arrays, forest_content
from spillway.scenario.fates import COLUMNS_OF

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier

T = TypeVar("T")

UNITS = ("fraction", "bytes")
AVERAGES = ("time", "code")


@dataclass(frozen=True)
class Seen:
    """The range of inputs on which a model was trained; unknown parts are empty.

    Attributes:
        least, greatest: the range of every feature, in the model's units.
        buffers: the buffers of the switches, in bytes.
        rates: the rates of their ports, in bits per second.
    """

    least: tuple[float, ...] = ()
    greatest: tuple[float, ...] = ()
    buffers: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()

    @classmethod
    def of(cls, forest: core.Forest) -> Seen:
        """The range that a file's metadata give."""

        def told(key: str, number: Callable[[str], T]) -> tuple[T, ...]:
            text = forest.metadata(key) or ""
            try:
                return tuple(number(part) for part in text.split(",") if part.strip())
            except ValueError:
                raise FileError(f"its {key} are {text!r}") from None

        seen = cls(
            told("least", float), told("greatest", float), told("buffers", int), told("rates", int)
        )
        counts = [len(seen.least), len(seen.greatest)]
        if counts not in ([0, 0], [len(forest.features)] * 2):
            many = len(forest.features)
            raise FileError(f"it has the ranges of {counts} features, not of {many}")
        return seen

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of a file with this range."""
        told = vars(self)
        return {key: ",".join(map(repr, values)) for key, values in told.items() if values}

    def outside(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_] | None:
        """For every row of features, which of them are out of range; None if that is unknown."""
        if not self.least:
            return None
        least, greatest = (np.array(bound, np.float32) for bound in (self.least, self.greatest))
        return (inputs < least) | (inputs > greatest)


class Model(ForestModel):
    """A forest that predicts drops, as the simulator evaluates it.

    `content` is a file's bytes: safetensors with the arrays root, feature, threshold, left, right
    and value, and metadata (see the crate spillway-forest).
    """

    _what = "a model"
    _reader = core.Forest
    _training_keys = frozenset({"packets", "drops", "split", "seed", "traces", "versions"})
    _forest: core.Forest

    def _take(self, content: bytes) -> None:
        super()._take(content)
        # Whatever a switch would refuse is refused here too.
        for feature in self.features:
            if feature not in COLUMNS_OF:
                known = ", ".join(COLUMNS_OF)
                raise FileError(f"it looks at {feature!r}; known are {known}")
        for told, choices in ((self.units, UNITS), (self.average, AVERAGES)):
            if told not in choices:
                raise FileError(f"{told!r} is none of {', '.join(choices)}")
        self.seen = Seen.of(self._forest)
        """The range of inputs on which it was trained, as far as its file gives it."""

    @classmethod
    def load(cls, file: str | Path) -> Model:
        """The model in a file, or a bundled one: "default" or "smartbuf"."""
        known = core.models().get(str(file))
        if known is not None:
            return cls(known, f"the model {file}")
        return super().load(file)

    @classmethod
    def are_ones(cls, folder: Path) -> bool:
        """Whether a folder contains models, and nothing else except their checksums."""
        if not folder.is_dir():
            return False
        files = [file for file in folder.iterdir() if file.name != checksums.FILE]
        return bool(files) and all(file.suffix == ".safetensors" for file in files)

    @classmethod
    def of(
        cls,
        forest: RandomForestClassifier,
        features: Sequence[str],
        units: str,
        average: str,
        training: Mapping[str, Any],
        seen: Seen | None = None,
    ) -> Model:
        """A model from a forest that scikit-learn has trained.

        Args:
            forest: It was fitted with the classes 0 and 1; 1 is dropped.
            features: The names of its inputs, in order, from `COLUMNS_OF`.
            units: The unit of lengths: "fraction" of the buffer, or "bytes".
            average: The kind of averages: "time", or "code", as Credence's program has them.
            training: On what it was trained, and how, as `Model.training` of a trained model has
                it: all of that, or nothing.
            seen: The range of the inputs; without it nobody counts what lies beyond.

        Raises:
            ScenarioError: A feature, a unit or a kind of averages is not known, or something does
                not fit together.
        """
        metadata = {
            "kind": "classification",
            "features": ",".join(features),
            "units": units,
            "average": average,
            "training": json.dumps(training),
            **({} if seen is None else seen.metadata),
        }
        return cls(forest_content(forest_arrays(forest), metadata))

    @property
    def units(self) -> str:
        """The unit of lengths: "fraction" of the buffer, or "bytes"."""
        return self._forest.metadata("units") or ""

    @property
    def average(self) -> str:
        """The kind of averages: "time" or "code"."""
        return self._forest.metadata("average") or ""

    def predict(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
        """For every row of features, whether the packet would be dropped."""
        rows = self._rows(inputs, np.float32)
        return np.asarray(self._forest.predict(rows)).astype(bool)

    def __repr__(self) -> str:
        return f"<Model: {self.trees} trees, depth {self.depth}, {', '.join(self.features)}>"
