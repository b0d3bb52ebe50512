"""How often, and by how much, Credence falls short of what its theory promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spillway.base.errors import ScenarioError
from spillway.theory.slotted.arrivals import Arrivals, check_seed
from spillway.theory.slotted.model import optimum, prediction_error, run, run_with


def lemma1(
    *,
    instances: int = 10_000,
    most_ports: int = 5,
    most_buffer: int = 12,
    most_slots: int = 40,
    drop_probability: float = 0.2,
    seed: int = 1,
    keys: Mapping[str, Any] | None = None,
    follow: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Counts failures of Credence's theory, and what the safeguard costs, on small instances.

    An instance has 2 to `most_ports` ports, a buffer of 1 to `most_buffer`, and 1 to `most_slots`
    slots with 0 to N packets each, two fifths of them for port 0 and the others for any port. Each
    packet is predicted as a drop with `drop_probability`, regardless of LQD. Lemma 1 says that
    Credence sends at least LQD / eta, which is what FollowLQD sends without the packets predicted
    as drops. With LQD's own drops as predictions eta is 1, and Credence should send as much as LQD.
    Theorem 2, a bound of eta, is tested with LQD's own drops except a random one.

    >>> found = lemma1(instances=200, seed=7)
    >>> found["instances"], found["theorem1_fails"]
    (200, 0)

    Args:
        instances: The number of instances.
        most_ports: The most ports of a random instance, at least 2.
        most_buffer: The most packets that its buffer holds.
        most_slots: The most slots that it has.
        drop_probability: The probability that a packet is predicted as a drop, in [0, 1].
        seed: The seed of random choices.
        keys: Credence's parameters, such as `{"safeguard": False}`.
        follow: Called with the number of instances so far, now and then.

    Returns:
        `instances`; for `lemma1` and for `perfect` predictions: `fails`, the number of instances in
        which Credence falls short; `mean_packets` and `most_packets`, by which it does in these;
        `worst`, the greatest (LQD / eta) / Credence. `theorem1_fails`: the number with OPT /
        Credence above min(1.707 eta, N). For `theorem2`: `fails`, the number of instances with an
        eta above its bound; `instances`, the number tested, without those that have no drop;
        `worst`, the greatest eta / bound. `keys`: Credence's parameters.

    Raises:
        ScenarioError: A number is out of its range, or a key or its value is wrong.
    """
    if instances < 1 or most_ports < 2 or most_buffer < 1 or most_slots < 1:
        raise ScenarioError(
            "there is nothing to draw", "an instance has a slot, two ports and a place at least"
        )
    if not 0 <= drop_probability <= 1:
        raise ScenarioError(f"{drop_probability:g} is not a probability", "it must be in [0, 1]")
    random = np.random.default_rng([check_seed(seed), 1])
    which = np.random.default_rng([seed, 2])
    keys = dict(keys or {})
    rule = {key: keys[key] for key in ("count_arrival", "tie") if key in keys}
    lemma: list[tuple[int, int]] = []
    perfect: list[tuple[int, int]] = []
    excess: list[float] = []
    theorem = 0
    for number in range(instances):
        if follow is not None and number % 64 == 0:
            follow(number)
        ports = int(random.integers(2, most_ports + 1))
        buffer = int(random.integers(1, most_buffer + 1))
        counts = random.integers(0, ports + 1, int(random.integers(1, most_slots + 1)))
        packets = int(counts.sum())
        port = random.integers(0, ports, packets)
        port[random.random(packets) < 0.4] = 0
        arrivals = Arrivals(ports, np.repeat(np.arange(len(counts)), counts), port, len(counts))
        labels = random.random(packets) < drop_probability
        error = prediction_error(arrivals, labels, buffer=buffer, **rule)
        sent = run_with("credence", keys, arrivals, buffer=buffer, predictions=labels).transmitted
        lemma.append((error.follow_lqd, sent))
        bound = min(1.707 * error.eta, ports)
        theorem += optimum(arrivals, buffer=buffer) > bound * sent + 1e-9
        truth = run("lqd", arrivals, buffer=buffer, **rule)
        best = run_with("credence", keys, arrivals, buffer=buffer, predictions=truth.dropped)
        perfect.append((truth.transmitted, best.transmitted))
        if truth.dropped.any():
            missed = truth.dropped.copy()
            missed[which.choice(np.flatnonzero(missed))] = False
            error = prediction_error(arrivals, missed, buffer=buffer, **rule)
            excess.append(error.eta / error.eta_bound)
    return {
        "instances": instances,
        "lemma1": _shortfall(lemma),
        "perfect": _shortfall(perfect),
        "theorem1_fails": int(theorem),
        "theorem2": {
            "instances": len(excess),
            "fails": sum(ratio > 1 + 1e-9 for ratio in excess),
            "worst": max(excess, default=1.0),
        },
        "keys": keys,
    }


def _shortfall(pairs: list[tuple[int, int]]) -> dict[str, Any]:
    short = [(promised, sent) for promised, sent in pairs if sent < promised]
    missing = [promised - sent for promised, sent in short]
    return {
        "fails": len(short),
        "mean_packets": float(np.mean(missing)) if short else 0.0,
        "most_packets": max(missing, default=0),
        "worst": max((promised / max(sent, 1) for promised, sent in short), default=1.0),
    }
