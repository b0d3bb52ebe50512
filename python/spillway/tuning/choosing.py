"""How the values of a trial are chosen, and which trials are ended before their runs are over.

Trials are judged by the values at one look alone. Optuna's own pruners remember more, and a study
that was killed between an answer and its consequence would go on differently.
"""

from __future__ import annotations

import hashlib
import statistics
import warnings
from collections.abc import Sequence

import optuna
from optuna.samplers import BaseSampler, NSGAIISampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial

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
"""Which trials a pruner ends early."""
_GENERATION = 20
_FIRST = 5
"""The fewest complete trials with which the pruner "median" ends a trial."""


def sampler(name: str, seed: int, trial: int, is_alone: bool) -> BaseSampler:
    """The sampler for one trial.

    Every trial has a random stream of its own, derived from the seed of the search and its number.
    So what is drawn for it does not depend on when a study was interrupted and went on. If other
    trials are running, their values count as bad, so that this trial tries others.
    """
    own = int.from_bytes(hashlib.sha256(f"{seed}:{trial}".encode()).digest()[:4], "big")
    if name == "random":
        return RandomSampler(seed=own)
    if name == "nsga2":
        return _OrderedNSGAII(population_size=_GENERATION, seed=own)
    with warnings.catch_warnings():
        # Groups are marked as experimental.
        warnings.simplefilter("ignore")
        return TPESampler(seed=own, multivariate=True, group=True, constant_liar=not is_alone)


class _OrderedNSGAII(NSGAIISampler):
    """NSGA-II whose parents have one order, that of their numbers.

    Optuna hands out the parents of a generation by rank when it has just chosen them, and by number
    afterwards, so a trial that is drawn again would get other parents.
    """

    def select_parent(self, study: optuna.Study, generation: int) -> list[FrozenTrial]:
        """The parents of a generation."""
        parents = super().select_parent(study, generation)
        return sorted(parents, key=lambda trial: trial.number)


def is_ended(
    pruner: str,
    value: float,
    complete: Sequence[float],
    all_others: Sequence[float],
    factor: int,
    is_minimised: bool,
) -> bool:
    """Whether a trial with this value at a look is ended there.

    `complete` and `all_others` are the values of other trials at that look: of the trials that are
    complete by now, and of all that have got there. Of n trials n / `factor` go on under `halving`,
    and the best one in any case (successive halving, asynchronously: Li et al., A System for
    Massively Parallel Hyperparameter Tuning, MLSys 2020, algorithm 2).

    >>> is_ended("median", 4.0, [1.0, 2.0, 3.0, 5.0, 9.0], [], 2, is_minimised=True)
    True
    >>> is_ended("halving", 4.0, [], [1.0, 5.0, 9.0], 2, is_minimised=True)
    False
    """
    sign = 1 if is_minimised else -1
    if pruner == "median":
        return len(complete) >= _FIRST and sign * value > sign * statistics.median(complete)
    if pruner == "halving":
        ranked = sorted(sign * each for each in (*all_others, value))
        return sign * value > ranked[max(1, len(ranked) // factor) - 1]
    return False


def factor_at(look: int, looks: Sequence[int]) -> int:
    """How many times as long as to this look a run takes to the next one, or to its end.

    Rounded, and 2 at least.

    >>> [factor_at(look, (10, 40)) for look in (10, 40)]
    [4, 2]
    """
    behind = min((each for each in looks if each > look), default=100)
    return max(2, round(behind / look))
