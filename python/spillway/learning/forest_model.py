"""Models in files: forests as the simulator evaluates them, whatever they predict."""

from __future__ import annotations

import json
import platform
from typing import Any, ClassVar

import numpy
import numpy as np
import numpy.typing as npt

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.learning.model_file import ModelFile


class ForestModel(ModelFile):
    """A forest in a file. `content` is the file's bytes (see the crate spillway-forest)."""

    _reader: ClassVar[type[core.Forest] | type[core.Regressor]]
    _training_keys: ClassVar[frozenset[str]]
    """What a file must say of its training, if it says anything."""
    _forest: core.Forest | core.Regressor

    def _take(self, content: bytes) -> None:
        self._forest = self._reader(content)

    @property
    def features(self) -> list[str]:
        """The features that it uses, in order."""
        return self._forest.features

    @property
    def trees(self) -> int:
        """The number of trees."""
        return self._forest.trees

    @property
    def depth(self) -> int:
        """The longest path from a root to a leaf."""
        return self._forest.depth

    def _read_training(self, name: str) -> dict[str, Any]:
        """What it was trained on, and how."""
        try:
            training = json.loads(self._forest.metadata("training") or "{}")
        except (ValueError, RecursionError):
            training = None
        is_told = isinstance(training, dict)
        if not is_told or (training and not training.keys() >= self._training_keys):
            raise ScenarioError(f"{name}: it does not say as it should what it was trained on")
        return dict(training)

    def _rows(self, inputs: npt.NDArray[Any], kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Rows of features as the forest takes them: one after the other, as numbers of a kind."""
        rows = np.ascontiguousarray(inputs, kind)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise ValueError(f"{len(self.features)} columns are needed, not {rows.shape}")
        if np.isnan(rows).any():
            raise ValueError("features are numbers, not NaN")
        return rows.reshape(-1)


def versions() -> dict[str, str]:
    """The versions of all that has a part in training."""
    import sklearn

    return {
        "spillway": core.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
    }
