"""Runs of the model, the optimum, and the error of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spillway.base import core
from spillway.base.arguments import shown
from spillway.base.errors import ScenarioError
from spillway.theory.slotted.arrivals import Arrivals, check_seed, check_switch


@dataclass(frozen=True)
class Outcome:
    """The outcome of arrivals under a policy.

    Attributes:
        transmitted: packets sent, including those still queued after the last slot.
        drops: packets lost, by cause.
        dropped: whether each packet was lost: shape (P,).
        counters: the policy's counts; for Credence, how often safeguard, threshold and oracle
            decided.
    """

    transmitted: int
    drops: dict[str, int]
    dropped: NDArray[np.bool_]
    counters: dict[str, int]


@dataclass(frozen=True)
class PredictionError:
    """The error of predictions of LQD's drops, which are the positives.

    Attributes:
        lqd: packets that LQD sends.
        follow_lqd: packets that FollowLQD sends if the packets predicted as drops do not arrive.
        eta: the exact ratio of the two (Credence, Definition 1).
        eta_bound: the upper bound of eta by Theorem 2, which does not always hold; infinite if it
            is no bound.
        true_positives: drops that were predicted.
        false_positives: predicted drops that were none.
        true_negatives: packets that were neither predicted as drops nor dropped.
        false_negatives: drops that were not predicted.
    """

    lqd: int
    follow_lqd: int
    eta: float
    eta_bound: float
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int


def run(
    policy: str,
    arrivals: Arrivals,
    *,
    buffer: int,
    seed: int = 1,
    predictions: ArrayLike | None = None,
    keys: Mapping[str, Any] | None = None,
    **more: Any,
) -> Outcome:
    """Runs a sharing policy over arrivals.

    In this example Credence sends fewer packets than Lemma 1 of its paper says, by any rule that
    chooses the longest queue. `lemma1` counts such examples.

    >>> arrivals = Arrivals.of_slots(3, [[1, 1, 2], [1]])
    >>> labels = [True, False, False, False]
    >>> run("credence", arrivals, buffer=2, predictions=labels).transmitted
    2
    >>> error = prediction_error(arrivals, labels, buffer=2)
    >>> error.lqd, error.follow_lqd, error.eta
    (3, 3, 1.0)

    Args:
        policy: Its id in scenarios: `spillway list sharing`.
        arrivals: The arrivals.
        buffer: Packets that the buffer holds (B).
        seed: The seed of a policy that draws random numbers.
        predictions: For a policy with an oracle: which packets are predicted as drops, true or
            false, shape (P,). They replace its `oracle`.
        keys: The policy's parameters in a dict, whatever their names.
        **more: The same by name, as in a scenario: `alpha=1`, `safeguard=False`. A packet counts as
            a byte.

    Raises:
        ScenarioError: There is no such policy, or a key or its value is wrong.
    """
    check(arrivals, buffer)
    labels = None if predictions is None else _labels(predictions, len(arrivals))
    transmitted, drops, dropped, counters = core.slotted_run(
        arrivals._core, buffer, policy, {**(keys or {}), **more}, check_seed(seed), labels
    )
    return Outcome(transmitted, drops, _bools(dropped), dict(counters))


def check(arrivals: object, buffer: int) -> None:
    """Refuses what is not an `Arrivals`, and an invalid size of buffer."""
    if not isinstance(arrivals, Arrivals):
        raise ScenarioError(
            f"{shown(arrivals)} are no arrivals", "for one: Arrivals.of_slots(2, [[0, 0], [1]])"
        )
    check_switch(arrivals.ports, buffer)


def optimum(arrivals: Arrivals, *, buffer: int) -> int:
    """The most packets that any policy could have sent, knowing all arrivals: exactly.

    Whenever the buffer overflows, the queue that would be the last to become empty loses a packet
    (LateQD: Bochkov, Davydow, Gaevoy, Nikolenko, arXiv:1907.04399, 2019).

    Args:
        arrivals: The arrivals.
        buffer: Packets that the buffer holds (B).

    Raises:
        ScenarioError: An argument is wrong.
    """
    check(arrivals, buffer)
    return core.slotted_optimum(arrivals._core, buffer)


def prediction_error(
    arrivals: Arrivals, predictions: ArrayLike, *, buffer: int, **rule: Any
) -> PredictionError:
    """The error of predictions of LQD's drops (Credence, Definition 1 and Theorem 2).

    Args:
        arrivals: The arrivals.
        predictions: Which packets are predicted as drops, true or false, shape (P,).
        buffer: Packets that the buffer holds (B).
        **rule: The rule by which LQD chooses the longest queue: `count_arrival`, `tie`.

    Raises:
        ScenarioError: There is not one prediction for each packet, or a value is not valid.
    """
    check(arrivals, buffer)
    unknown = next((name for name in rule if name not in ("count_arrival", "tie")), None)
    if unknown is not None:
        raise ScenarioError(f"LQD has no {unknown}", "valid here: count_arrival, tie")
    labels = _labels(predictions, len(arrivals))
    lqd, follow, eta, bound, counts = core.prediction_error(arrivals._core, buffer, labels, rule)
    return PredictionError(lqd, follow, eta, bound, *counts)


def flipped(labels: ArrayLike, probability: float, *, seed: int = 1) -> NDArray[np.bool_]:
    """Labels, each flipped with the same probability (Credence, Figure 14).

    Args:
        labels: True or false, shape (P,), such as `Outcome.dropped` of LQD: perfect predictions.
        probability: In [0, 1].
        seed: The seed of random choices.

    Raises:
        ScenarioError: The probability is not in [0, 1], or a label is neither true nor false.
    """
    check_probability(probability)
    given = _labels(labels, np.size(labels))
    return _bools(core.flipped(given, probability, check_seed(seed)))


def check_probability(given: float) -> None:
    """Refuses what is no probability."""
    if not 0 <= given <= 1:
        raise ScenarioError(f"{given:g} is not a probability", "it must be in [0, 1]")


PREDICTED = ("credence", "blind-trust")
"""The policies with an oracle."""

_ANSWERS = {"always-accept": False, "always-drop": True}
"""The answers of oracles that always predict the same."""


def _bools(column: core.Column) -> NDArray[np.bool_]:
    return np.frombuffer(memoryview(column), dtype=np.uint8).view(np.bool_)


def _labels(given: ArrayLike, packets: int) -> NDArray[np.uint8]:
    labels = np.asarray(given)
    if labels.shape != (packets,):
        raise ScenarioError(
            f"there are {labels.size} predictions for {packets} packets", "each packet has one"
        )
    if labels.dtype.kind not in "bui" and labels.size:
        raise ScenarioError("predictions must be true or false", "true predicts a drop")
    return np.ascontiguousarray(labels != 0).view(np.uint8)


@dataclass(frozen=True)
class Measured:
    """A policy compared with the optimum.

    Attributes:
        error: the error of the predictions, for a policy that is given labels.
    """

    policy: str
    outcome: Outcome
    optimum: int
    error: PredictionError | None

    @property
    def ratio(self) -> float:
        """OPT / ALG; 1 without any arrival."""
        if self.optimum == self.outcome.transmitted:
            return 1.0
        return self.optimum / self.outcome.transmitted if self.outcome.transmitted else np.inf


def measure(
    policy: str,
    arrivals: Arrivals,
    *,
    buffer: int,
    seed: int = 1,
    flip_probability: float = 0.0,
    best: int | None = None,
    keys: Mapping[str, Any] | None = None,
) -> Measured:
    """Runs a policy and compares it with the optimum.

    Credence and blind trust are given LQD's actual drops as predictions, each flipped with
    `flip_probability`, unless their `keys` name an `oracle`. LQD then chooses its victims by
    Credence's `count_arrival` and `tie`. The error is unknown for an oracle with more than one
    answer, which is asked about some packets only, and for a policy that flips answers itself, with
    a `flip_probability` among its `keys`. `best` is the optimum, if it is known.
    """
    keys = keys or {}
    best = optimum(arrivals, buffer=buffer) if best is None else best
    if policy not in PREDICTED:
        outcome = run(policy, arrivals, buffer=buffer, seed=seed, keys=keys)
        return Measured(policy, outcome, best, None)
    if flip_probability and "oracle" in keys:
        raise ScenarioError(
            f"there are no labels to flip where {policy}.oracle predicts",
            f"{policy}.flip_probability turns round what an oracle says",
        )
    rule = {key: keys[key] for key in ("count_arrival", "tie") if key in keys}
    given, said = None, None
    if "oracle" not in keys:
        truth = run("lqd", arrivals, buffer=buffer, **rule).dropped
        given = said = flipped(truth, flip_probability, seed=seed)
    elif keys["oracle"] in _ANSWERS:
        said = np.full(len(arrivals), _ANSWERS[keys["oracle"]])
    outcome = run(policy, arrivals, buffer=buffer, seed=seed, predictions=given, keys=keys)
    error = None
    if said is not None and not keys.get("flip_probability"):
        error = prediction_error(arrivals, said, buffer=buffer, **rule)
    return Measured(policy, outcome, best, error)
