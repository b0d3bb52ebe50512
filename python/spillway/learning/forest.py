"""Forests that scikit-learn has trained, in files as the simulator evaluates them.

A file is plain arrays, whatever the forest predicts (see the crate spillway-forest).
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.learning import model_file
from spillway.learning.model_file import ModelFile

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

_FORMAT, _VERSION = "spillway-forest", "2"


class ForestModel(ModelFile):
    """A forest in a file. `content` is the file's bytes."""

    _reader: ClassVar[type[core.Forest] | type[core.Regressor]]
    _training_keys: ClassVar[frozenset[str]]
    """What a file must say of its training, if it says anything."""
    _forest: core.Forest | core.Regressor
    training: dict[str, Any]
    """What it was trained on, and how."""

    def _take(self, content: bytes) -> None:
        self._forest = self._reader(content)
        try:
            training = json.loads(self._forest.metadata("training") or "{}")
        except (ValueError, RecursionError):
            training = None
        is_told = isinstance(training, dict)
        if not is_told or (training and not training.keys() >= self._training_keys):
            raise ScenarioError("it does not say as it should what it was trained on")
        self.training = dict(training)

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

    def _rows(self, inputs: npt.NDArray[Any], kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Rows of features as the forest takes them: one after the other, as numbers of a kind."""
        rows = np.ascontiguousarray(inputs, kind)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise ValueError(f"{len(self.features)} columns are needed, not {rows.shape}")
        if np.isnan(rows).any():
            raise ValueError("features are numbers, not NaN")
        return rows.reshape(-1)


def content(arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a file, sorted."""
    return model_file.content(_FORMAT, _VERSION, arrays, metadata)


def arrays(
    forest: RandomForestClassifier | RandomForestRegressor,
) -> dict[str, npt.NDArray[Any]]:
    """The nodes of all trees, numbered consecutively, and what each predicts."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    counts = [tree.node_count for tree in trees]
    root = np.cumsum([0, *counts[:-1]])
    first = np.repeat(root, counts)

    def joined(name: str) -> Any:
        return np.concatenate([getattr(tree, name) for tree in trees])

    is_leaf = joined("children_left") < 0
    return {
        "root": root.astype(np.uint32),
        "feature": np.where(is_leaf, -1, joined("feature")).astype(np.int32),
        "threshold": np.where(is_leaf, 0.0, joined("threshold")).astype(np.float64),
        "left": np.where(is_leaf, 0, joined("children_left") + first).astype(np.uint32),
        "right": np.where(is_leaf, 0, joined("children_right") + first).astype(np.uint32),
        # The shares of the classes, or a number.
        "value": joined("value")[:, 0, :].astype(np.float64),
    }


def check_known(what: str, given: object, known: Collection[str]) -> None:
    """Refuses an argument of a training that is not among those that are known."""
    if given not in known:
        raise ScenarioError(f"{what}: {given!r} is not known", f"known are {', '.join(known)}")


def versions() -> dict[str, str]:
    """The versions of all that has a part in training."""
    import sklearn

    return {
        "spillway": core.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
