"""Training forests on traces of fates, and testing them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.base.arguments import all_of, items, share, whole
from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.learning.models import check_known, versions
from spillway.learning.oracle.model import UNITS, Model, Seen
from spillway.learning.oracle.trace import Trace, join
from spillway.scenario.fates import COLUMNS_OF, FEATURES


class NothingToLearnError(ScenarioError):
    """None of the packets to train on was dropped, or all of them were."""


SPLITS = ("time", "random", "none")
MOST_TREES = 10_000
"""More trees than any switch could evaluate."""


class Form(NamedTuple):
    """What a forest is to be like; see `train`."""

    trees: int
    depth: int
    features: tuple[str, ...]
    units: str
    seed: int

    @classmethod
    def of(cls, trees: int, depth: int, features: Sequence[str], units: str, seed: int) -> Form:
        """A form whose parts have been checked, as `train` takes them."""
        features = tuple(items(features, "features", f"known are {', '.join(COLUMNS_OF)}"))
        for name in features or ("",):
            check_known("features", name, COLUMNS_OF)
        check_known("units", units, UNITS)
        trees, depth = whole("trees", trees, 1, MOST_TREES), whole("depth", depth, 1, 64)
        return cls(trees, depth, features, units, whole("seed", seed, 0, 2**32 - 1))


@dataclass(frozen=True)
class Scores:
    """Predictions compared with the truth, in packets; drops are positives (Credence, Figure 5).

    Scores with a denominator of 0, such as the precision of a model that predicts no drop, are
    None.

    Attributes:
        true_positives: drops that were predicted.
        false_positives: predicted drops that were none.
        true_negatives: packets that were neither predicted as drops nor dropped.
        false_negatives: drops that were not predicted.
        ports: N in Theorem 2.
        outside: packets with a feature outside the model's training range, by feature, and those
            with `any`; None if the model does not give its range.
    """

    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float
    ports: int
    outside: dict[str, float] | None = None

    @classmethod
    def of(
        cls,
        truth: npt.NDArray[np.bool_],
        predicted: npt.NDArray[np.bool_],
        weight: npt.NDArray[np.float64],
        ports: int,
        outside: dict[str, float] | None = None,
    ) -> Scores:
        """Counts packets, each with its weight.

        Args:
            truth: Which of them were dropped.
            predicted: Which of them are predicted as drops.
            weight: How many packets each stands for.
            ports: N in Theorem 2.
            outside: As the attribute of this name.
        """
        return cls(
            float(weight[truth & predicted].sum()),
            float(weight[~truth & predicted].sum()),
            float(weight[~truth & ~predicted].sum()),
            float(weight[truth & ~predicted].sum()),
            ports,
            outside,
        )

    @property
    def drops(self) -> float:
        """All drops, predicted or not."""
        return self.true_positives + self.false_negatives

    @property
    def accuracy(self) -> float | None:
        """The share of correct predictions."""
        right = self.true_positives + self.true_negatives
        return _ratio(right, right + self.false_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """The share of predicted drops that were drops."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of drops that were predicted."""
        return _ratio(self.true_positives, self.drops)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)

    @property
    def inverse_eta(self) -> float | None:
        """The value of Credence's Theorem 2 for 1/eta: (TN - min((N - 1) FN, TN)) / (TN + FP)."""
        lost = min((self.ports - 1) * self.false_negatives, self.true_negatives)
        return _ratio(self.true_negatives - lost, self.true_negatives + self.false_positives)

    @property
    def document(self) -> dict[str, Any]:
        """All scores, by name."""
        return {
            "packets": self.true_positives
            + self.false_positives
            + self.true_negatives
            + self.false_negatives,
            "drops": self.drops,
            "true_positives": self.true_positives,
            "false_positives": self.false_positives,
            "true_negatives": self.true_negatives,
            "false_negatives": self.false_negatives,
            "accuracy": self.accuracy,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "inverse_eta": self.inverse_eta,
            "ports": self.ports,
            "outside": self.outside,
        }


@dataclass(frozen=True)
class Training:
    """A model, and its scores on data that it was not trained on.

    Attributes:
        scores: the scores on the part of the traces that was kept back; None if nothing was.
        balance: the packets that it was trained on, the drops among them, and the rows, which are
            fewer if packets were sampled.
    """

    model: Model
    scores: Scores | None
    balance: dict[str, float]


def train(
    traces: Sequence[Trace],
    *,
    trees: int = 4,
    depth: int = 4,
    features: Sequence[str] = tuple(FEATURES),
    units: str = "fraction",
    split: str = "time",
    train_share: float = 0.6,
    seed: int = 1,
) -> Training:
    """Trains a random forest on traces, and tests it on a part that was kept back.

    The paper's forest has 4 trees of depth 4 (Credence, section 4.1).

    Args:
        traces: Packets and their fates; all with the same kind of averages.
        trees: How many trees, up to 10,000.
        depth: The greatest depth of a tree, up to 64.
        features: Names from `COLUMNS_OF`: the four of section 3.4, or others.
        units: The unit of lengths, "fraction" of the buffer or "bytes".
        split: "time" trains on the first `train_share` of every trace's time; "random" on that
            share of the packets, as the paper does, so packets of one burst may be on both sides;
            "none" on all packets.
        train_share: A share in (0, 1); see `split`.
        seed: The seed of the forest and of a random split.

    Returns:
        The model, and its scores on the rest, which are None with the split "none". Without a drop
        in the rest there is a warning: scores on it mean nothing.

    Raises:
        NothingToLearnError: Nothing was dropped, or everything.
        ScenarioError: An argument is wrong.
    """
    from sklearn.ensemble import RandomForestClassifier

    traces = _traces(traces)
    trees, depth, features, units, seed = Form.of(trees, depth, features, units, seed)
    check_known("split", split, SPLITS)
    train_share = share("train_share", train_share)
    if not traces:
        raise ScenarioError("there is no trace to train on")
    if len(averages := {trace.origin.get("average", "time") for trace in traces}) > 1:
        raise ScenarioError(f"the traces' averages differ: {', '.join(sorted(averages))}")
    seen, unseen = _split(traces, split, train_share, seed)
    drops = int(seen.dropped.sum())
    if drops in (0, len(seen)):
        problem = f"{'every' if drops else 'no'} packet was dropped: there is nothing to learn"
        raise NothingToLearnError(
            f"in the {len(seen):,} packets to train on {problem}",
            "larger bursts or more load make LQD drop: traffic.incast.burst=125%, for one",
        )
    forest = RandomForestClassifier(
        n_estimators=trees, max_depth=depth, random_state=seed, n_jobs=1
    )
    inputs = seen.inputs(features, units)
    forest.fit(inputs, seen.dropped.astype(int), sample_weight=seen.weight)
    balance = {
        "rows": float(len(seen)),
        "packets": float(seen.weight.sum()),
        "drops": float(seen.weight[seen.dropped].sum()),
    }
    training = {
        "trees": trees,
        "depth": depth,
        "seed": seed,
        "split": split,
        "train_share": 1.0 if split == "none" else train_share,
        **balance,
        "traces": [trace.origin for trace in traces],
        "versions": versions(),
    }
    bounds = Seen(
        tuple(inputs.min(axis=0).tolist()),
        tuple(inputs.max(axis=0).tolist()),
        tuple(sorted({int(buffer) for buffer in set(seen.buffer_bytes.tolist())})),
        tuple(sorted(seen.rates)),
    )
    model = Model.of(forest, features, units, next(iter(averages)), training, bounds)
    scores = None if unseen is None else evaluate(model, unseen)
    _warn_without_drops({"": scores})
    return Training(model, scores, balance)


def train_each(traces: Sequence[Trace], **options: Any) -> dict[str, Training]:
    """Trains a model for every switch on its own packets, as Credence's authors do.

    A switch without anything to learn from uses a model of its tier, under the tier's name; a tier
    without anything to learn from uses one of all switches. `options` are those of `train`.

    Raises:
        NothingToLearnError: all switches together have nothing to learn from.
    """
    traces = _traces(traces)
    names = {place.name: place.tier for trace in traces for place in trace.places}

    def at(tier: str | None, name: str | None = None) -> list[Trace]:
        parts = []
        for trace in traces:
            with contextlib.suppress(ScenarioError):
                parts.append(trace.at(tier, () if name is None else (name,)))
        return [part for part in parts if len(part)]

    found: dict[str, Training] = {}
    with _warned_of_later():
        for name, tier in names.items():
            with contextlib.suppress(NothingToLearnError):
                found[name] = train(at(tier, name), **options)
        for tier in sorted({tier for name, tier in names.items() if name not in found}):
            try:
                found[tier] = train(at(tier), **options)
            except NothingToLearnError:
                found[tier] = train(traces, **options)
    _warn_without_drops({name: training.scores for name, training in found.items()})
    return found


def evaluate(model: Model, trace: Trace) -> Scores:
    """The scores of a model on a trace."""
    inputs = trace.inputs(model.features, model.units)
    outside, counts = model.seen.outside(inputs), None
    if outside is not None:
        by_feature = (outside * trace.weight[:, None]).sum(axis=0)
        counts = {
            **dict(zip(model.features, map(float, by_feature), strict=True)),
            "any": float(trace.weight[outside.any(axis=1)].sum()),
        }
    return Scores.of(trace.dropped, model.predict(inputs), trace.weight, trace.ports, counts)


def _traces(given: Iterable[Trace]) -> list[Trace]:
    """A list of the given traces."""
    return all_of(given, Trace, "traces", "trace", "for one: [trace.load(folder)]")


def sweep_trees(
    traces: Sequence[Trace],
    trees: Iterable[int],
    tests: Sequence[Trace] = (),
    **options: Any,
) -> list[tuple[int, Scores]]:
    """The scores of forests of several sizes (Credence, Figure 15).

    They are computed on the `tests` together, or on what was kept back if there are none. `options`
    are those of `train`.
    """
    found = []
    for count in trees:
        with _warned_of_later():
            training = train(traces, trees=count, **options)
        scores = evaluate(training.model, join(tests)) if tests else training.scores
        if scores is None:
            raise ScenarioError(
                "nothing is left to test on", "name traces to test on, or split what there is"
            )
        found.append((count, scores))
    if found and not tests:
        # Whatever the number of trees, the same packets are kept back.
        _warn_without_drops({"": found[0][1]})
    return found


_WITHOUT_DROPS = "none of the packets that were kept back to test on was dropped"


def _warn_without_drops(found: Mapping[str, Scores | None]) -> None:
    """Warns of scores on test data without drops, with the models' names if they have any."""
    names = [name for name, scores in found.items() if scores is not None and not scores.drops]
    if names:
        text = (
            f"{_WITHOUT_DROPS}: scores on them mean nothing; another split, a smaller share to "
            "train on or longer traces keep back others"
        )
        told = f"{', '.join(names)}: " if any(names) else ""
        warnings.warn(ScenarioWarning(told + text), stacklevel=3)


@contextlib.contextmanager
def _warned_of_later() -> Iterator[None]:
    """A context in which trainings do not warn of test data without drops."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WITHOUT_DROPS, ScenarioWarning)
        yield


def _split(
    traces: Sequence[Trace], split: str, train_share: float, seed: int
) -> tuple[Trace, Trace | None]:
    def first(trace: Trace) -> npt.NDArray[np.bool_]:
        start, end = int(trace.time_ps.min()), int(trace.time_ps.max())
        return trace.time_ps <= start + train_share * (end - start)

    if split == "none":
        return join(traces), None
    if split == "time":
        chosen = [first(trace) for trace in traces]
    else:
        draws = np.random.default_rng(seed)
        chosen = [draws.random(len(trace)) < train_share for trace in traces]
    pairs = list(zip(traces, chosen, strict=True))
    seen = join([trace.where(part) for trace, part in pairs])
    return seen, join([trace.where(~part) for trace, part in pairs])


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
