"""Models in files: forests as plain arrays, which the simulator evaluates."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spillway import _core, checksums, forest_file
from spillway.errors import ScenarioError
from spillway.folder import check_new_file, check_plain, path_of, whole_file
from spillway.oracle.trace import FEATURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    from sklearn.ensemble import RandomForestClassifier

T = TypeVar("T")

UNITS = ("fraction", "bytes")
AVERAGES = ("time", "code")
_TRAINING = {"packets", "drops", "split", "seed", "traces", "versions"}


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
    def of(cls, forest: _core.Forest, name: str) -> Seen:
        """The range that a file's metadata give."""

        def told(key: str, number: Callable[[str], T]) -> tuple[T, ...]:
            text = forest.metadata(key) or ""
            try:
                return tuple(number(part) for part in text.split(",") if part.strip())
            except ValueError:
                raise ScenarioError(f"{name}: its {key} are {text!r}") from None

        seen = cls(
            told("least", float), told("greatest", float), told("buffers", int), told("rates", int)
        )
        counts = [len(seen.least), len(seen.greatest)]
        if counts not in ([0, 0], [len(forest.features)] * 2):
            many = len(forest.features)
            raise ScenarioError(f"{name}: it has the ranges of {counts} features, not of {many}")
        return seen

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of a file with this range."""
        told = vars(self)
        return {key: ",".join(map(repr, values)) for key, values in told.items() if values}

    def outside(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_] | None:
        """For every row of features, which of them are out of range; None if that is unknown."""
        import numpy as np

        if not self.least:
            return None
        least, greatest = (np.array(bound, np.float32) for bound in (self.least, self.greatest))
        return (inputs < least) | (inputs > greatest)


class Model:
    """A forest that predicts drops, as the simulator evaluates it.

    `content` is a file's bytes: safetensors with the arrays root, feature, threshold, left, right
    and value, and metadata (see the crate spillway-forest).
    """

    def __init__(self, content: bytes, name: str = "the model") -> None:
        self.content = content
        try:
            self._forest = _core.Forest(content)
        except ScenarioError as error:
            raise ScenarioError(f"{name}: {error}") from error
        self._training = self._checked(name)
        self._seen = Seen.of(self._forest, name)

    def _checked(self, name: str) -> dict[str, Any]:
        """The metadata. Whatever a switch would refuse is refused here too."""
        unknown = [feature for feature in self.features if feature not in FEATURES]
        if unknown:
            known = ", ".join(FEATURES)
            raise ScenarioError(f"{name}: it looks at {unknown[0]!r}; known are {known}")
        for told, choices in ((self.units, UNITS), (self.average, AVERAGES)):
            if told not in choices:
                raise ScenarioError(f"{name}: {told!r} is none of {', '.join(choices)}")
        try:
            training = json.loads(self._forest.metadata("training") or "{}")
        except (ValueError, RecursionError):
            training = None
        if not isinstance(training, dict) or (training and not training.keys() >= _TRAINING):
            raise ScenarioError(f"{name}: it does not say as it should what it was trained on")
        return training

    @classmethod
    def load(cls, file: str | Path) -> Model:
        """The model in a file, or a bundled one: "default" or "smartbuf"."""
        known = _core.models().get(str(file))
        if known is not None:
            return cls(known, f"the model {file}")
        path = path_of(file)
        check_plain(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ScenarioError(f"{file} cannot be read: {error.strerror}") from error
        return cls(content, str(file))

    @classmethod
    def is_one(cls, file: Path) -> bool:
        """Whether a file contains a model."""
        try:
            # Made absolute, because a file's name may be that of a bundled model.
            cls.load(path_of(file).absolute())
        except ScenarioError:
            return False
        return True

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

        `training` says on what it was trained and how, `seen` the range of the inputs.
        """
        arrays = forest_file.arrays(forest)
        metadata = {
            "kind": "classification",
            "features": ",".join(features),
            "units": units,
            "average": average,
            "training": json.dumps(training),
            **({} if seen is None else seen.metadata),
        }
        return cls(forest_file.content(arrays, metadata))

    def save(self, file: str | Path) -> None:
        """Writes it to a file, completely or not at all. An existing file must be a model."""
        file = path_of(file)
        check_new_file(file, True, "a model", Model.is_one)
        with whole_file(file) as partial:
            partial.write_bytes(self.content)

    @property
    def features(self) -> list[str]:
        """The features that it uses, in order."""
        return self._forest.features

    @property
    def units(self) -> str:
        """The unit of lengths: "fraction" of the buffer, or "bytes"."""
        return self._forest.metadata("units") or ""

    @property
    def average(self) -> str:
        """The kind of averages: "time" or "code"."""
        return self._forest.metadata("average") or ""

    @property
    def trees(self) -> int:
        """The number of trees."""
        return self._forest.trees

    @property
    def depth(self) -> int:
        """The longest path from a root to a leaf."""
        return self._forest.depth

    @property
    def training(self) -> dict[str, Any]:
        """What it was trained on, and how."""
        return self._training

    @property
    def seen(self) -> Seen:
        """The range of inputs on which it was trained, as far as its file gives it."""
        return self._seen

    def predict(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
        """For every row of features, whether the packet would be dropped."""
        import numpy as np

        rows = np.ascontiguousarray(inputs, np.float32)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise ValueError(f"{len(self.features)} columns are needed, not {rows.shape}")
        if np.isnan(rows).any():
            raise ValueError("features are numbers, not NaN")
        return np.asarray(self._forest.predict(rows.reshape(-1))).astype(bool)

    def __repr__(self) -> str:
        return f"<Model: {self.trees} trees, depth {self.depth}, {', '.join(self.features)}>"
