"""Files of forests that scikit-learn has trained: plain arrays (see the crate spillway-forest)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spillway.learning import model_file

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

_FORMAT, _VERSION = "spillway-forest", "2"


def content(arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a file, sorted."""
    return model_file.content(_FORMAT, _VERSION, arrays, metadata)


def arrays(
    forest: RandomForestClassifier | RandomForestRegressor,
) -> dict[str, npt.NDArray[Any]]:
    """The nodes of all trees, numbered consecutively, and what each predicts."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    root = roots(forest)

    def children(name: str) -> npt.NDArray[np.uint32]:
        parts = []
        for tree, start in zip(trees, root, strict=True):
            nodes = getattr(tree, name)
            parts.append(np.where(nodes < 0, 0, nodes + int(start)))
        return np.concatenate(parts).astype(np.uint32)

    left = children("children_left")
    is_leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    feature = np.concatenate([tree.feature for tree in trees])
    threshold = np.concatenate([tree.threshold for tree in trees])
    return {
        "root": root,
        "feature": np.where(is_leaf, -1, feature).astype(np.int32),
        "threshold": np.where(is_leaf, 0.0, threshold).astype(np.float64),
        "left": left,
        "right": children("children_right"),
        # The shares of the classes, or a number.
        "value": np.concatenate([tree.value[:, 0, :] for tree in trees]).astype(np.float64),
    }


def roots(forest: RandomForestClassifier | RandomForestRegressor) -> npt.NDArray[np.uint32]:
    """The number of every tree's first node."""
    counts = [estimator.tree_.node_count for estimator in forest.estimators_]
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint32)
