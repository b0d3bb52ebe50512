"""Table 1 of the Credence paper, with a measured ratio beside every bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any

from spillway.base.arguments import MOST_SEEDS
from spillway.base.errors import ScenarioError
from spillway.theory.slotted.arrivals import Arrivals, check_switch, generators
from spillway.theory.slotted.model import Measured, measure, optimum

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
