"""The genetic algorithm as studies use it that are interrupted and go on."""

from __future__ import annotations

import optuna
from optuna.samplers import NSGAIISampler
from optuna.trial import FrozenTrial


class OrderedNSGAII(NSGAIISampler):
    """NSGA-II whose parents have one order, that of their numbers.

    Optuna hands out the parents of a generation by rank when it has just chosen them, and by number
    afterwards, so a trial that is drawn again would get other parents.
    """

    def select_parent(self, study: optuna.Study, generation: int) -> list[FrozenTrial]:
        """The parents of a generation."""
        parents = super().select_parent(study, generation)
        return sorted(parents, key=lambda trial: trial.number)
