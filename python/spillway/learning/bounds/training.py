"""Growing forests on jobs, calibrating their bounds, and testing them.

Bounds are tested by how many flows they bound, and how closely; beside them are the errors of the
predicted sizes, at face value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.arguments import all_of, share, whole
from spillway.base.errors import ScenarioError
from spillway.learning.bounds.job import FEATURES, Job, features
from spillway.learning.bounds.model import METHODS, Grown, Model
from spillway.learning.models import check_known, versions

SPLITS = ("jobs", "flows")
CALIBRATION_SHARE = 0.2
"""The part of the flows for training that is kept back for a calibration."""
MOST_TREES, MOST_DEPTH, MOST_WINDOW = 10_000, 64, 100


FAR_BYTES = 100_000
"""A prediction that is further from the size than this is far off (QCLIMB's slides: 100 KB)."""
SMALL_BYTES = 100_000
"""A flow of at most this size is small."""


@dataclass(frozen=True)
class Scores:
    """Bounds compared with sizes.

    A flow is bounded if its bound is at most its size; else it is out-bound, in the words of
    QCLIMB's slides. A number for which there are no flows is None.

    Attributes:
        flows: all flows.
        bounded: those whose bound is at most their size.
        out_bound: the others.
        closeness: the mean of bound / size over the bounded flows.
        closeness_small: the same over the small ones among them.
        excess: the mean of bound / size - 1 over the out-bound flows.
    """

    flows: int
    bounded: int
    out_bound: int
    closeness: float | None
    closeness_small: float | None
    excess: float | None

    @classmethod
    def of(cls, bound: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> Scores:
        """Compares the bounds of flows with their sizes."""
        is_bounded = bound <= size
        share = bound / size
        is_small = size <= SMALL_BYTES
        return cls(
            len(size),
            int(is_bounded.sum()),
            int((~is_bounded).sum()),
            _mean(share[is_bounded]),
            _mean(share[is_bounded & is_small]),
            _mean(share[~is_bounded] - 1.0),
        )

    @property
    def document(self) -> dict[str, Any]:
        """All of this, by name, with the share of bounded flows."""
        return {**asdict(self), "bounded_share": self.bounded / self.flows if self.flows else None}


@dataclass(frozen=True)
class Errors:
    """Predicted sizes compared with sizes.

    Attributes:
        far_off: flows whose size is more than `FAR_BYTES` from the predicted one.
        too_high: flows whose prediction, cut to whole bytes as a bound would be, is above their
            size.
        median: the median of |predicted - size| / size.
    """

    flows: int
    far_off: int
    too_high: int
    median: float | None

    @classmethod
    def of(cls, predicted: npt.NDArray[np.float64], size: npt.NDArray[np.int64]) -> Errors:
        """Compares the predicted sizes of flows with their sizes."""
        error = predicted - size
        return cls(
            len(size),
            int((np.abs(error) > FAR_BYTES).sum()),
            int((np.floor(predicted) > size).sum()),
            float(np.median(np.abs(error) / size)) if len(size) else None,
        )

    @property
    def document(self) -> dict[str, Any]:
        """All of this, by name, with the share of those far off."""
        return {**asdict(self), "far_off_share": self.far_off / self.flows if self.flows else None}


@dataclass(frozen=True)
class Training:
    """A model for each way of bounding, all of one forest, and how good they are on other data.

    Attributes:
        models: by method.
        scores: by method, on the flows that were kept back for a test.
        errors: of the predicted sizes of these flows.
        flows: how many flows it was trained on, calibrated on, and tested on.
    """

    models: dict[str, Model]
    scores: dict[str, Scores]
    errors: Errors
    flows: dict[str, int]


def train(
    jobs: Iterable[Job],
    *,
    depth: int = 10,
    trees: int = 16,
    window: int = 5,
    quantile: float = 0.05,
    miss_rate: float | None = None,
    split: str = "jobs",
    train_share: float = 0.8,
    seed: int = 1,
) -> Training:
    """Grows a random forest on a part of the flows, and tests its bounds on the rest.

    The forest predicts the logarithm of the size from the features of a window of flows, each
    divided by its greatest value in training. QCLIMB trains on 80% of the flows, with a depth of
    10; how it makes a bound of a forest is not public, so there are several ways (`METHODS`).

    Args:
        jobs: All of one kind.
        depth: The greatest depth of a tree, up to 64.
        trees: How many trees, up to 10,000.
        window: How many flows the forest looks at, up to 100: the one in question and those before
            it. Flux has 5.
        quantile: That of the method "quantile", in (0, 1).
        miss_rate: If it is given, bounds are calibrated: they are multiplied by the largest factor,
            at most 1, at which on other flows like these at most this share of bounds would be too
            high. `CALIBRATION_SHARE` of what there is to train on is kept back for that.
        split: "jobs" keeps whole jobs back; "flows" draws from all flows, so that flows of one job
            are on both sides.
        train_share: The part to train on, in (0, 1).
        seed: The seed of the forest and of the split.

    Returns:
        A model for each method, and how good they are on the rest.

    Raises:
        ScenarioError: An argument is wrong, or too little is left on one side.
    """
    jobs = _jobs(jobs)
    depth, trees = whole("depth", depth, 1, MOST_DEPTH), whole("trees", trees, 1, MOST_TREES)
    window, seed = whole("window", window, 1, MOST_WINDOW), whole("seed", seed, 0, 2**32 - 1)
    quantile, train_share = share("quantile", quantile), share("train_share", train_share)
    miss_rate = None if miss_rate is None else share("miss_rate", miss_rate)
    check_known("split", split, SPLITS)
    names = features(FEATURES[jobs[0].kind], window)
    parts = _split(jobs, split, train_share, miss_rate is not None, seed)
    inputs, size = _flows(jobs, names)
    grown = grow(inputs[parts["training"]], size[parts["training"]], names, depth, trees, seed)
    flows = {part: int(chosen.sum()) for part, chosen in parts.items()}
    told = {
        "kind": jobs[0].kind,
        "synthetic": any(job.is_synthetic for job in jobs),
        "jobs": len(jobs),
        "flows": flows["training"],
        "calibrated_on": flows["calibration"],
        "depth": depth,
        "trees": trees,
        "split": split,
        "train_share": train_share,
        "seed": seed,
        "versions": versions(),
    }
    # Without a calibration these models stay as they are: their factor is 1.
    models = {each: Model.of(grown, each, quantile=quantile, training=told) for each in METHODS}
    if miss_rate is not None:
        apart, sizes = inputs[parts["calibration"]], size[parts["calibration"]]
        models = {
            each: Model.of(
                grown,
                each,
                quantile=quantile,
                factor=calibrated(model.bounds(apart), sizes, miss_rate),
                miss_rate=miss_rate,
                training=told,
            )
            for each, model in models.items()
        }
    tested, sizes = inputs[parts["test"]], size[parts["test"]]
    scores = {each: Scores.of(model.bounds(tested), sizes) for each, model in models.items()}
    return Training(models, scores, Errors.of(models["point"].sizes(tested), sizes), flows)


def grow(
    inputs: npt.NDArray[np.float64],
    size: npt.NDArray[np.int64],
    names: Sequence[str],
    depth: int,
    trees: int,
    seed: int,
) -> Grown:
    """Grows a forest that predicts the logarithm of sizes from scaled inputs."""
    from sklearn.ensemble import RandomForestRegressor

    greatest = np.abs(inputs).max(axis=0)
    scale = np.where(greatest > 0, greatest, 1.0)
    scaled = (inputs / scale).astype(np.float32)
    forest = RandomForestRegressor(n_estimators=trees, max_depth=depth, random_state=seed, n_jobs=1)
    forest.fit(scaled, np.log(size))
    return Grown(forest, tuple(names), scale, forest.apply(scaled), size)


def calibrated(
    bound: npt.NDArray[np.int64], size: npt.NDArray[np.int64], miss_rate: float
) -> float:
    """The largest factor, at most 1, for which few bounds of other flows would be too high.

    For flows that could as well have come in another order, a bound that is multiplied by the k-th
    smallest of n ratios size / bound is too high for a further flow with a probability of at most
    k / (n + 1) (split conformal prediction). So k is `miss_rate` (n + 1), rounded down.

    Raises:
        ScenarioError: there are too few flows for this rate.
    """
    # A bound of 0 is never too high.
    ratios = np.sort(np.where(bound > 0, size / np.maximum(bound, 1), np.inf))
    place = math.floor(miss_rate * (len(ratios) + 1) + 1e-9)
    if place < 1:
        needed = math.ceil(1 / miss_rate) - 1
        raise ScenarioError(
            f"{len(ratios):,} flows are too few to calibrate bounds for a miss rate of "
            f"{miss_rate:g}: it takes {needed:,}",
            "take more jobs, or a larger miss rate",
        )
    return float(min(1.0, ratios[place - 1]))


def evaluate(model: Model, jobs: Iterable[Job]) -> tuple[Scores, Errors]:
    """How good a model's bounds, and its predicted sizes, are on some jobs."""
    inputs, size = _flows(_jobs(jobs), model.features)
    return Scores.of(model.bounds(inputs), size), Errors.of(model.sizes(inputs), size)


def _flows(
    jobs: Sequence[Job], names: Sequence[str]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Inputs and sizes of the flows of all jobs."""
    inputs = np.concatenate([job.inputs(names) for job in jobs])
    return inputs, np.concatenate([job.size for job in jobs])


def _split(
    jobs: Sequence[Job], split: str, train_share: float, calibrates: bool, seed: int
) -> dict[str, npt.NDArray[np.bool_]]:
    """Which flows are for training, for calibration and for a test; jobs or flows are dealt out."""
    counts = [len(job) for job in jobs]
    count = len(jobs) if split == "jobs" else sum(counts)
    kept = round(train_share * count)
    calibration = round(CALIBRATION_SHARE * kept) if calibrates else 0
    ends = (kept - calibration, kept)
    if min(ends[0], count - kept) < 1 or (calibrates and calibration < 1):
        raise ScenarioError(
            f"{count} {split} are too few to train and to test on",
            "take more jobs, or split by flows",
        )
    order = np.random.default_rng(seed).permutation(count)
    part = np.empty(count, np.int64)
    part[order] = np.digitize(np.arange(count), ends)
    of_flow = np.repeat(part, counts) if split == "jobs" else part
    names = ("training", "calibration", "test")
    return {name: of_flow == number for number, name in enumerate(names)}


def _jobs(given: Iterable[Job]) -> list[Job]:
    hint = "for one: bounds.load(folder)"
    jobs = all_of(given, Job, "jobs", "job", hint)
    if not jobs:
        raise ScenarioError("there are no jobs")
    kinds = sorted({job.kind for job in jobs})
    if len(kinds) > 1:
        raise ScenarioError(f"jobs of several kinds: {', '.join(kinds)}", "give those of one kind")
    return jobs


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None
