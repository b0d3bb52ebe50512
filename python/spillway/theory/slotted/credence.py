"""What the Credence paper states of the model: Table 1, its lemma and theorems, and Figure 14."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spillway.base.arguments import MOST_SEEDS
from spillway.base.errors import ScenarioError
from spillway.theory.slotted.arrivals import Arrivals, check_seed, check_switch, generators
from spillway.theory.slotted.model import (
    Measured,
    check_probability,
    flipped,
    measure,
    optimum,
    prediction_error,
    run,
)

ROWS: tuple[tuple[str, str, str, dict[str, Any], float], ...] = (
    ("Complete Sharing", "N + 1", "cs", {}, 0),
    ("Dynamic Thresholds", "O(N)", "dt", {}, 0),
    ("Harmonic", "ln N + 2", "harmonic", {}, 0),
    ("LQD (push-out)", "1.707", "lqd", {}, 0),
    ("LateQD (clairvoyant)", "1", "late-qd", {}, 0),
    ("FollowLQD", "(N + 1)/2 or more", "followlqd", {}, 0),
    ("Credence, perfect predictions", "min(1.707 eta, N)", "credence", {}, 0),
    ("Credence, 1% flipped", "min(1.707 eta, N)", "credence", {}, 0.01),
    ("Credence, half flipped", "min(1.707 eta, N)", "credence", {}, 0.5),
    ("Credence, all flipped", "min(1.707 eta, N)", "credence", {}, 1),
    (
        "Credence, all taken for drops",
        "min(1.707 eta, N)",
        "credence",
        {"oracle": "always-drop"},
        0,
    ),
    ("Credence, none a drop", "min(1.707 eta, N)", "credence", {"oracle": "always-accept"}, 0),
)
"""Algorithm, the paper's bound, policy, parameters, flip probability."""

_RANDOM: tuple[tuple[str, dict[str, Any]], ...] = (
    ("bursts", {}),
    ("bursts", {"load": 1.0}),
    ("bernoulli", {"load": 1.0, "hotspot": 0.3}),
    ("on-off", {}),
    ("on-off", {"load": 0.9, "burst": 100.0, "hotspot": 0.3}),
)

PROBABILITIES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def table1(
    *,
    ports: int = 8,
    buffer: int = 64,
    seeds: int = 3,
    first_seed: int = 1,
    algorithms: Collection[str] | None = None,
    follow: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """The paper's Table 1, with the worst OPT / ALG of each algorithm beside its bound.

    The worst case is taken over all constructions, and over random arrivals with several seeds, all
    with at most N arrivals in a slot.

    Args:
        ports: The switch's ports (N), at least 2.
        buffer: The packets that its buffer holds (B), at least N.
        seeds: The number of seeds for each kind of random arrivals.
        first_seed: The first of these seeds.
        algorithms: Only the rows with these names; by default all.
        follow: Called with the number of sequences done and their total.

    Returns:
        `ports`, `buffer`, `sequences`; `rows` with `algorithm`, the paper's `bound`, its value `at`
        these ports (for Credence with the eta of that sequence; None if the bound is only an order
        of growth, or a lower bound), `worst`, the measured ratio, `arrivals` which had it, `used`,
        the largest ratio to the bound for the same sequence, over all sequences, and for Credence
        `eta`. LateQD is the optimum by definition, so it is not measured.

    Raises:
        ScenarioError: Ports, buffer or seeds are too few or too many.
    """
    check_switch(ports, buffer)
    if ports < 2 or buffer < ports or seeds < 1:
        raise ScenarioError(
            f"{ports} ports, a buffer of {buffer} and {seeds} seeds are too few",
            "two ports, a packet of room for each and one seed are the least",
        )
    if seeds > MOST_SEEDS:
        raise ScenarioError(f"{seeds} seeds are too many", f"{MOST_SEEDS:,} are the most")
    rows = [row for row in ROWS if algorithms is None or row[0] in algorithms]
    worst: dict[str, tuple[Measured, str]] = {}
    used: dict[str, float] = {}
    kinds = list(_kinds(first_seed, seeds))
    for done, (kind, keys, seed) in enumerate(kinds):
        arrivals = Arrivals.generate(kind, ports=ports, buffer=buffer, seed=seed, **keys)
        best = optimum(arrivals, buffer=buffer)
        for algorithm, _, policy, settings, flip in rows:
            if policy == "late-qd":
                continue
            found = measure(
                policy,
                arrivals,
                buffer=buffer,
                seed=seed,
                flip_probability=flip,
                best=best,
                keys=settings,
            )
            if algorithm not in worst or found.ratio > worst[algorithm][0].ratio:
                worst[algorithm] = (found, kind)
            if (bound := _bound(policy, ports, found)) is not None:
                used[algorithm] = max(found.ratio / bound, used.get(algorithm, 0.0))
        if follow is not None:
            follow(done + 1, len(kinds))
    return {
        "ports": ports,
        "buffer": buffer,
        "sequences": len(kinds),
        "rows": [_row(row, ports, worst.get(row[0]), used.get(row[0])) for row in rows],
    }


def _kinds(first_seed: int, seeds: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    for generator in generators():
        if generator["against"]:
            yield generator["id"], {}, 1
    for kind, keys in _RANDOM:
        for seed in range(first_seed, first_seed + seeds):
            yield kind, keys, seed


def _row(
    row: tuple[str, str, str, dict[str, Any], float],
    ports: int,
    found: tuple[Measured, str] | None,
    used: float | None,
) -> dict[str, Any]:
    algorithm, bound, policy, _, _ = row
    worst, arrivals = found or (None, "by definition")
    return {
        "algorithm": algorithm,
        "bound": bound,
        "at": _bound(policy, ports, worst),
        "worst": worst.ratio if worst else None,
        "arrivals": arrivals,
        "used": used,
        **({"eta": worst.error.eta} if worst and worst.error else {}),
    }


def _bound(policy: str, ports: int, found: Measured | None) -> float | None:
    """The paper's bound, for Credence with the measured eta; None if it is no number."""
    error = found.error if found else None
    at = {
        "cs": ports + 1.0,
        "harmonic": math.log(ports) + 2,
        "lqd": 1.707,
        "late-qd": 1.0,
        "credence": min(1.707 * error.eta, ports) if error else float(ports),
    }
    return at.get(policy)


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
    check_probability(drop_probability)
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
        sent = run("credence", arrivals, buffer=buffer, predictions=labels, keys=keys).transmitted
        lemma.append((error.follow_lqd, sent))
        bound = min(1.707 * error.eta, ports)
        theorem += optimum(arrivals, buffer=buffer) > bound * sent + 1e-9
        truth = run("lqd", arrivals, buffer=buffer, **rule)
        best = run("credence", arrivals, buffer=buffer, predictions=truth.dropped, keys=keys)
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


def figure14(
    *,
    ports: int = 16,
    buffer: int = 256,
    load: float = 0.05,
    slots: int = 20_000,
    arrivals_per_slot: str = "burst",
    probabilities: Sequence[float] = PROBABILITIES,
    predicted: Sequence[str] = ("credence", "blind-trust"),
    policies: Sequence[str] = ("dt", "harmonic", "cs", "followlqd"),
    seeds: Sequence[int] = (1, 2, 3, 4, 5),
    keys: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """LQD / ALG for policies given LQD's labels, as more of these are flipped, and for others.

    Bursts as large as the buffer, each for a random port, begin in a Poisson process. LQD's drops
    are the predictions given to Credence and blind trust; each prediction is flipped with the same
    probability. The paper gives neither ports, buffer, load nor duration: the defaults are ours,
    those of `spillway reproduce credence/figure14` at its quick scale.

    The figure is that of V. Addanki, M. Pacut, S. Schmid, "Credence", NSDI 2024, appendix D.

    Args:
        ports: The switch's ports (N).
        buffer: The packets that its buffer holds (B).
        load: The average number of packets that arrive per slot and port.
        slots: The duration in slots.
        arrivals_per_slot: "burst", whole bursts in the slot in which they begin, as the paper's
            text says, or "ports", at most N packets per slot, as its model has it.
        probabilities: Probabilities of a flip, in [0, 1].
        predicted: The policies given the predictions: "credence", "blind-trust".
        policies: The policies to compare with, which ignore predictions.
        seeds: The seeds of arrivals and flips; runs with the same seed have the same arrivals.
        keys: Parameters by policy, such as `{"dt": {"alpha": 1}}`.

    Returns:
        `flip_probability`, the probabilities; `seeds`; `lqd`, packets sent for each seed;
        `predicted`, by policy, LQD / ALG for each probability (rows) and seed (columns); `others`,
        LQD / ALG by policy for each seed; `setting`, all the rest.

    Raises:
        ScenarioError: There is no seed or probability, no such policy, or a number is out of its
            range.
    """
    if not seeds or not probabilities:
        raise ScenarioError("there is nothing to draw", "give a seed and a probability at least")
    made = {
        seed: Arrivals.generate(
            "bursts",
            ports=ports,
            buffer=buffer,
            seed=seed,
            load=float(load),
            slots=slots,
            arrivals_per_slot=arrivals_per_slot,
        )
        for seed in seeds
    }
    truth = {seed: run("lqd", made[seed], buffer=buffer) for seed in seeds}

    def sent(policy: str, seed: int, **more: Any) -> float:
        given = (keys or {}).get(policy)
        outcome = run(policy, made[seed], buffer=buffer, seed=seed, keys=given, **more)
        return truth[seed].transmitted / max(outcome.transmitted, 1)

    return {
        "flip_probability": list(probabilities),
        "seeds": list(seeds),
        "lqd": [truth[seed].transmitted for seed in seeds],
        "predicted": {
            policy: [
                [
                    sent(
                        policy,
                        seed,
                        predictions=flipped(truth[seed].dropped, probability, seed=seed),
                    )
                    for seed in seeds
                ]
                for probability in probabilities
            ]
            for policy in predicted
        },
        "others": {policy: [sent(policy, seed) for seed in seeds] for policy in policies},
        "setting": {
            "ports": ports,
            "buffer": buffer,
            "load": load,
            "slots": slots,
            "arrivals_per_slot": arrivals_per_slot,
            "keys": keys or {},
        },
    }
