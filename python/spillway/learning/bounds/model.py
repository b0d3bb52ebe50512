"""Models in files: forests that bound the sizes of flows, as the simulator evaluates them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spillway.base import core
from spillway.base.errors import FileError
from spillway.learning.bounds.job import SIZE, parted
from spillway.learning.models import ForestModel, check_known, forest_arrays, forest_content

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestRegressor

METHODS = ("least", "mean", "quantile", "point")
"""How the leaves that a flow reaches make its bound: the least size in any of them; the mean, over
the trees, of the least size in each; a quantile of all sizes in them; or no bound at all, but the
predicted size at face value, as Flux takes it.
"""


@dataclass(frozen=True)
class Grown:
    """A forest that scikit-learn has grown, and what it was grown on.

    Attributes:
        scale: each feature is divided by this: its greatest value in training, or 1.
        leaves: for every flow of the training, and every tree, the flow's leaf.
        size: the sizes of these flows.
    """

    forest: RandomForestRegressor
    features: tuple[str, ...]
    scale: npt.NDArray[np.float64]
    leaves: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]


class Model(ForestModel):
    """A forest that bounds flows' sizes, as the simulator evaluates it.

    `content` is a file's bytes: safetensors with the arrays of a regression, and metadata (see the
    crate spillway-forest).
    """

    _what = "a model that bounds sizes"
    _reader = core.Regressor
    _training_keys = frozenset({"kind", "flows", "jobs", "synthetic", "split", "seed", "versions"})
    _forest: core.Regressor

    def _take(self, content: bytes) -> None:
        super()._take(content)
        if SIZE in self.features:
            raise FileError("it looks at the size that it is to bound")

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
        check_known("method", method, METHODS)
        arrays = forest_arrays(grown.forest)
        at, nodes = arrays["root"] + grown.leaves, len(arrays["left"])
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
        return cls(forest_content({**arrays, **_SIZES[method](grown.size, at, nodes)}, metadata))

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
            raise FileError(f"the model's {key} is {text!r}") from None

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


_Sizes = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64], int], dict[str, npt.NDArray[Any]]]
"""Makes a file's arrays about sizes from: the sizes of all flows; the leaf that each reaches in
each tree; the number of nodes.
"""


def _least(
    size: npt.NDArray[np.int64], at: npt.NDArray[np.int64], nodes: int
) -> dict[str, npt.NDArray[Any]]:
    """The least size at each leaf."""
    least = np.full(nodes, np.inf)
    np.minimum.at(least, at, size[:, None].astype(np.float64))
    # Nodes that are no leaves are never looked at.
    return {"least": np.where(np.isinf(least), 0.0, least)}


def _pool(
    size: npt.NDArray[np.int64], at: npt.NDArray[np.int64], nodes: int
) -> dict[str, npt.NDArray[Any]]:
    """All sizes at each leaf."""
    sizes, ranks = np.unique(size, return_inverse=True)
    every = np.repeat(ranks, at.shape[1])
    count = np.bincount(at.ravel(), minlength=nodes)
    return {
        "first": np.cumsum([0, *count[:-1]]).astype(np.uint32),
        "count": count.astype(np.uint32),
        "ranks": every[np.lexsort((every, at.ravel()))].astype(np.uint32),
        "sizes": sizes.astype(np.float64),
    }


_SIZES: dict[str, _Sizes] = {
    "least": _least,
    "mean": _least,
    "quantile": _pool,
    "point": lambda *_: {},
}
