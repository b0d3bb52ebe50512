"""Optuna's samplers and pruners, as studies use them."""

from __future__ import annotations

import hashlib
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

SAMPLERS = {
    "tpe": "tree-structured Parzen estimators over groups of parameters that matter together",
    "nsga2": "the genetic algorithm NSGA-II, generations of 20",
    "random": "at random",
}
PRUNERS = {
    "median": "worse than half of the complete trials at the same look, after five of them",
    "halving": "not among the better half of all trials at the same look",
    "none": "no trial",
}
"""What a pruner ends early."""
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
        return optuna.samplers.NSGAIISampler(population_size=_GENERATION, seed=own)
    with warnings.catch_warnings():
        # Groups are marked as experimental.
        warnings.simplefilter("ignore")
        return optuna.samplers.TPESampler(
            seed=own, multivariate=True, group=True, constant_liar=not is_alone
        )


def pruner(name: str, looks: tuple[int, ...]) -> BasePruner:
    """The pruner, for looks at these parts of a run in percent."""
    import optuna

    if name == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5)
    if name == "halving" and looks:
        factor = max(2, round((*looks, 100)[1] / looks[0]))
        return optuna.pruners.SuccessiveHalvingPruner(
            min_resource=looks[0], reduction_factor=factor
        )
    return optuna.pruners.NopPruner()
