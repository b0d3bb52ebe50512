"""Models in files: forests that bound the sizes of flows, as the simulator evaluates them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.learning import forest_file
from spillway.learning.bounds.columns import SIZE
from spillway.learning.bounds.job import parted
from spillway.learning.forest_model import ForestModel

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestRegressor

METHODS = ("least", "mean", "quantile", "point")
"""How the leaves that a flow reaches make its bound: the least size in any of them; the mean, over
the trees, of the least size in each; a quantile of all sizes in them; or no bound at all, but the
predicted size at face value, as Flux takes it.
"""


@dataclass(frozen=True)
class Grown:
    """A forest that scikit-learn has grown, and what it was grown on."""

    forest: RandomForestRegressor
    features: tuple[str, ...]
    scale: npt.NDArray[np.float64]
    """Each feature is divided by this: its greatest value in training, or 1."""
    leaves: npt.NDArray[np.int64]
    """For every flow of the training, and every tree, the flow's leaf."""
    size: npt.NDArray[np.int64]
    """The sizes of these flows."""


class Model(ForestModel):
    """A forest that bounds flows' sizes, as the simulator evaluates it.

    `content` is a file's bytes: safetensors with the arrays of a regression, and metadata (see the
    crate spillway-forest).
    """

    _what = "a model that bounds sizes"
    _reader = core.Regressor
    _training_keys = frozenset({"kind", "flows", "jobs", "synthetic", "split", "seed", "versions"})
    _forest: core.Regressor

    def __init__(self, content: bytes, name: str = "the model") -> None:
        super().__init__(content, name)
        self.training: dict[str, Any] = self._read_training(name)
        if SIZE in self.features:
            raise ScenarioError(f"{name}: it looks at the size that it is to bound")

    @classmethod
    def of(
        cls,
        grown: Grown,
        method: str,
        *,
        quantile: float = 0.05,
        factor: float = 1.0,
        miss_rate: float | None = None,
        training: Mapping[str, Any] | None = None,
    ) -> Model:
        """A model of a forest.

        Args:
            grown: The forest, and what it was grown on.
            method: How it makes bounds, one of `METHODS`.
            quantile: The quantile that the method "quantile" takes, in (0, 1); others ignore it.
            factor: What its bounds are multiplied by.
            miss_rate: The share of bounds that may be too high, if `factor` comes from a
                calibration.
            training: On what the forest was trained, and how, as `Model.training` of a trained
                model has it: all of that, or nothing.

        Raises:
            ScenarioError: There is no such method, or `training` lacks something.
        """
        check_method(method)
        arrays = {**forest_file.arrays(grown.forest), **_SIZES[method](grown)}
        metadata = {
            "kind": "regression",
            "features": ",".join(grown.features),
            "scale": ",".join(map(repr, grown.scale.tolist())),
            "method": method,
            "factor": repr(factor),
            **({"quantile": repr(quantile)} if method == "quantile" else {}),
            **({} if miss_rate is None else {"miss_rate": repr(miss_rate)}),
            "training": json.dumps(training or {}),
        }
        return cls(forest_file.content(arrays, metadata))

    @property
    def columns(self) -> list[str]:
        """The columns that it uses, each once. The sizes of earlier flows are not among them."""
        names = (parted(feature)[0] for feature in self.features)
        return [*dict.fromkeys(name for name in names if name != SIZE)]

    @property
    def window(self) -> int:
        """How many flows it looks at: the one in question, and those before it."""
        return 1 + max(parted(feature)[1] for feature in self.features)

    @property
    def method(self) -> str:
        """One of `METHODS`."""
        return self._forest.metadata("method") or ""

    @property
    def factor(self) -> float:
        """What its bounds are multiplied by."""
        return float(self._forest.metadata("factor") or 1)

    @property
    def quantile(self) -> float | None:
        """The quantile that it takes; None with another method."""
        return self._number("quantile") if self.method == "quantile" else None

    @property
    def miss_rate(self) -> float | None:
        """The share of bounds that may be too high, for which it was calibrated, if it was."""
        return self._number("miss_rate")

    def _number(self, key: str) -> float | None:
        text = self._forest.metadata(key)
        try:
            return None if text is None else float(text)
        except ValueError:
            raise ScenarioError(f"the model's {key} is {text!r}") from None

    @property
    def document(self) -> dict[str, Any]:
        """All of this, by name."""
        return {
            "method": self.method,
            "factor": self.factor,
            "quantile": self.quantile,
            "miss_rate": self.miss_rate,
            "trees": self.trees,
            "depth": self.depth,
            "window": self.window,
            "columns": self.columns,
            "training": self.training,
        }

    def bounds(self, inputs: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """For every row of features the lower bound in bytes."""
        return np.asarray(self._forest.bounds(self._rows(inputs, np.float64))).astype(np.int64)

    def log_sizes(self, inputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """For every row of features the natural logarithm of the predicted size in bytes."""
        return np.array(self._forest.log_sizes(self._rows(inputs, np.float64)))

    def sizes(self, inputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """For every row of features the predicted size in bytes."""
        return np.array(self._forest.sizes(self._rows(inputs, np.float64)))

    def __repr__(self) -> str:
        return f"<Model: {self.method}, {self.trees} trees, depth {self.depth}>"


def _least(grown: Grown) -> dict[str, npt.NDArray[Any]]:
    """The least size at each leaf."""
    starts = forest_file.roots(grown.forest)
    nodes = sum(tree.tree_.node_count for tree in grown.forest.estimators_)
    least = np.full(nodes, np.inf)
    for tree, start in enumerate(starts):
        np.minimum.at(least, int(start) + grown.leaves[:, tree], grown.size.astype(np.float64))
    # Nodes that are no leaves are never looked at.
    return {"least": np.where(np.isinf(least), 0.0, least)}


def _pool(grown: Grown) -> dict[str, npt.NDArray[Any]]:
    """All sizes at each leaf."""
    starts = forest_file.roots(grown.forest)
    nodes = sum(tree.tree_.node_count for tree in grown.forest.estimators_)
    sizes, ranks = np.unique(grown.size, return_inverse=True)
    at = np.concatenate([int(start) + grown.leaves[:, tree] for tree, start in enumerate(starts)])
    every = np.tile(ranks, len(starts))
    count = np.bincount(at, minlength=nodes)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    return {
        "first": first.astype(np.uint32),
        "count": count.astype(np.uint32),
        "ranks": every[np.lexsort((every, at))].astype(np.uint32),
        "sizes": sizes.astype(np.float64),
    }


_SIZES: dict[str, Callable[[Grown], dict[str, npt.NDArray[Any]]]] = {
    "least": _least,
    "mean": _least,
    "quantile": _pool,
    "point": lambda _: {},
}


def check_method(given: object) -> str:
    """The method of this name.

    Raises:
        ScenarioError: there is none.
    """
    if given not in METHODS:
        raise ScenarioError(f"method: {given!r} is not known", f"known are {', '.join(METHODS)}")
    return str(given)
