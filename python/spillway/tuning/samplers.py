"""Optuna's samplers, as studies use them."""

from __future__ import annotations

import hashlib
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

SAMPLERS = {
    "tpe": "tree-structured Parzen estimators over groups of parameters that matter together",
    "nsga2": "the genetic algorithm NSGA-II, generations of 20",
    "random": "at random",
}
_GENERATION = 20


def sampler(name: str, seed: int, trial: int, is_alone: bool) -> BaseSampler:
    """The sampler for one trial.

    Every trial has a random stream of its own, derived from the seed of the search and its number.
    So what is drawn for it does not depend on when a study was interrupted and went on. If it is
    not alone, what other trials are trying counts as bad, so that it tries something else.
    """
    import optuna

    own = int.from_bytes(hashlib.sha256(f"{seed}:{trial}".encode()).digest()[:4], "big")
    if name == "random":
        return optuna.samplers.RandomSampler(seed=own)
    if name == "nsga2":
        from spillway.tuning.genetic import OrderedNSGAII

        return OrderedNSGAII(population_size=_GENERATION, seed=own)
    with warnings.catch_warnings():
        # Groups are marked as experimental.
        warnings.simplefilter("ignore")
        return optuna.samplers.TPESampler(
            seed=own, multivariate=True, group=True, constant_liar=not is_alone
        )
