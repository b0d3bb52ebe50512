"""Runs of the model, the optimum, and the error of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spillway import _core
from spillway.arguments import shown
from spillway.errors import ScenarioError
from spillway.slotted.arrivals import Arrivals, check_seed, check_switch


@dataclass(frozen=True)
class Outcome:
    """What became of arrivals under a policy."""

    transmitted: int
    """Packets sent, those included that still wait when the last slot is over."""
    drops: dict[str, int]
    """Packets lost, by cause."""
    dropped: NDArray[np.bool_]
    """For every packet whether it was lost: shape (P,)."""
    counters: dict[str, int]
    """What the policy has counted: for Credence how often safeguard, threshold, oracle decided."""


@dataclass(frozen=True)
class PredictionError:
    """How wrong predictions of LQD's drops are. A drop is a positive."""

    lqd: int
    """Packets that LQD sends."""
    follow_lqd: int
    """Packets that FollowLQD sends of the arrivals without those predicted as drops."""
    eta: float
    """Their ratio (Credence, Definition 1), exactly."""
    eta_bound: float
    """What Theorem 2 gives for its upper bound, which it is not always; infinite where it bounds
    nothing."""
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
    **keys: Any,
) -> Outcome:
    """Runs a sharing policy over arrivals.

    Parameters
    ----------
    policy : str
        Its id, as scenarios have it: `spillway list sharing`.
    arrivals : Arrivals
        What comes.
    buffer : int
        Packets that the buffer holds (B).
    seed : int
        The seed of a policy that draws.
    predictions : array_like of bool, shape (P,), optional
        For a policy that asks an oracle: which packets are predicted as drops, instead of what its
        `oracle` says.
    **keys
        The policy's parameters, as in a scenario: `alpha=1`, `safeguard=False`. A packet is a byte.

    Raises
    ------
    ScenarioError
        If there is no such policy, or a key or its value is wrong.

    Examples
    --------
    Lemma 1 of the Credence paper fails here, whichever rule chooses the longest queue: see
    `docs/papers/credence-theory.md`.

    >>> arrivals = Arrivals.of_slots(3, [[1, 1, 2], [1]])
    >>> labels = [True, False, False, False]
    >>> run("credence", arrivals, buffer=2, predictions=labels).transmitted
    2
    >>> error = prediction_error(arrivals, labels, buffer=2)
    >>> error.lqd, error.follow_lqd, error.eta
    (3, 3, 1.0)
    """
    return run_with(policy, keys, arrivals, buffer=buffer, seed=seed, predictions=predictions)


def check(arrivals: object, buffer: int) -> None:
    """Refuses what is no arrivals, and a buffer that no switch has."""
    if not isinstance(arrivals, Arrivals):
        hint = "for one: Arrivals.of_slots(2, [[0, 0], [1]])"
        raise ScenarioError(f"{shown(arrivals)} are no arrivals", hint)
    check_switch(arrivals.ports, buffer)


def run_with(
    policy: str,
    keys: Mapping[str, Any],
    arrivals: Arrivals,
    *,
    buffer: int,
    seed: int = 1,
    predictions: ArrayLike | None = None,
) -> Outcome:
    """What `run` does, with the policy's parameters apart: no name of theirs can be taken."""
    check(arrivals, buffer)
    labels = None if predictions is None else _labels(predictions, len(arrivals))
    transmitted, drops, dropped, counters = _core.slotted_run(
        arrivals._core, buffer, policy, dict(keys), check_seed(seed), labels
    )
    lost = np.frombuffer(memoryview(dropped), dtype=np.uint8).view(np.bool_)
    return Outcome(transmitted, drops, lost, dict(counters))


def optimum(arrivals: Arrivals, *, buffer: int) -> int:
    """The most packets that any policy could have sent, knowing all that comes: exactly.

    Whenever the buffer overflows the queue that would be empty last loses a packet (LateQD:
    Bochkov, Davydow, Gaevoy, Nikolenko, arXiv:1907.04399, 2019).

    Parameters
    ----------
    arrivals : Arrivals
        What comes.
    buffer : int
        Packets that the buffer holds (B).
    """
    check(arrivals, buffer)
    return _core.slotted_optimum(arrivals._core, buffer)


def prediction_error(
    arrivals: Arrivals, predictions: ArrayLike, *, buffer: int, **rule: Any
) -> PredictionError:
    """How wrong predictions of LQD's drops are (Credence, Definition 1 and Theorem 2).

    Parameters
    ----------
    arrivals : Arrivals
        What comes.
    predictions : array_like of bool, shape (P,)
        Which packets are predicted as drops.
    buffer : int
        Packets that the buffer holds (B).
    **rule
        How LQD chooses the longest queue: `count_arrival`, `tie`.
    """
    check(arrivals, buffer)
    labels = _labels(predictions, len(arrivals))
    lqd, follow, eta, bound, counts = _core.prediction_error(arrivals._core, buffer, labels, rule)
    return PredictionError(lqd, follow, eta, bound, *counts)


def flipped(labels: ArrayLike, probability: float, *, seed: int = 1) -> NDArray[np.bool_]:
    """Labels of which each is flipped with the same probability (Credence, Figure 14).

    Parameters
    ----------
    labels : array_like of bool, shape (P,)
        Such as `Outcome.dropped` of LQD: perfect predictions.
    probability : float
        In [0, 1].
    seed : int
        The seed of what is drawn.
    """
    if not 0 <= probability <= 1:
        raise ScenarioError(f"{probability:g} is not a probability", "it must be in [0, 1]")
    given = _labels(labels, np.size(labels))
    column = _core.flipped(given, probability, check_seed(seed))
    return np.frombuffer(memoryview(column), dtype=np.uint8).view(np.bool_)


PREDICTED = ("credence", "blind-trust")
"""The policies that ask an oracle."""

_ANSWERS = {"always-accept": False, "always-drop": True}
"""What oracles with one answer to all predict of every packet."""


def _labels(given: ArrayLike, packets: int) -> NDArray[np.uint8]:
    labels = np.asarray(given)
    if labels.shape != (packets,):
        text = f"there are {labels.size} predictions for {packets} packets"
        raise ScenarioError(text, "each packet has one")
    if labels.dtype.kind not in "bui" and labels.size:
        raise ScenarioError("predictions must be true or false", "true predicts a drop")
    return np.ascontiguousarray(labels != 0).view(np.uint8)


@dataclass(frozen=True)
class Measured:
    """A policy beside the optimum."""

    policy: str
    outcome: Outcome
    optimum: int
    error: PredictionError | None
    """For a policy that gets labels for predictions, how wrong they were."""

    @property
    def ratio(self) -> float:
        """OPT / ALG: 1 where nothing came."""
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

    Credence and blind trust get what LQD really drops for predictions, each flipped with
    `flip_probability`, unless `oracle` among their `keys` says who predicts. LQD then chooses its
    victims by Credence's `count_arrival` and `tie`. How wrong predictions were is not known of an
    oracle with more than one answer, which is asked about some packets only, nor where the policy
    turns round answers itself, with a `flip_probability` among its `keys`. `best` is the optimum,
    where it is known.
    """
    keys = keys or {}
    best = optimum(arrivals, buffer=buffer) if best is None else best
    if policy not in PREDICTED:
        outcome = run_with(policy, keys, arrivals, buffer=buffer, seed=seed)
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
    outcome = run_with(policy, keys, arrivals, buffer=buffer, seed=seed, predictions=given)
    if said is None or keys.get("flip_probability"):
        return Measured(policy, outcome, best, None)
    error = prediction_error(arrivals, said, buffer=buffer, **rule)
    return Measured(policy, outcome, best, error)
