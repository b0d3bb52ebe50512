"""Figure 14 of the Credence paper: throughput as predictions get worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spillway.base.errors import ScenarioError
from spillway.theory.slotted.arrivals import Arrivals
from spillway.theory.slotted.model import flipped, run

PROBABILITIES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


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
    keys = keys or {}
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
        outcome = run(policy, made[seed], buffer=buffer, seed=seed, **keys.get(policy, {}), **more)
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
            "keys": keys,
        },
    }
