"""The best setting that never changes: every action is tried as static RED."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spillway.base.arguments import Seeds, seeds_of, whole
from spillway.learning.acc import evaluation
from spillway.learning.acc.environment import AgentEnv, Place
from spillway.learning.acc.model import Model
from spillway.learning.acc.variant import PRED, Setting, Variant


@dataclass(frozen=True)
class Tried:
    """A setting, or a model, and the mean rewards of its episodes.

    Attributes:
        name: "action 61", or a model's name.
        setting: the action's; None of a model.
        rewards: for each seed of the search; empty of a model.
        confirmed: for each seed of the confirmation; empty if it was not confirmed.
    """

    name: str
    setting: Setting | None
    rewards: NDArray[np.float64]
    confirmed: NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """All actions, the best first, those that were confirmed before the others; and models."""

    actions: list[Tried]
    models: list[Tried]

    @property
    def best(self) -> Tried:
        """The best on the seeds of the confirmation, of those that were best in the search."""
        return self.actions[0]


def best_action(
    place: Place,
    variant: Variant = PRED,
    *,
    seeds: Seeds = (1,),
    confirm_seeds: Seeds = (1,),
    confirmed: int = 5,
    models: Iterable[tuple[str, Model]] = (),
    say: Callable[[int, int], None] | None = None,
) -> Search:
    """Tries all actions of a variant as static RED; the best few again on other seeds.

    Args:
        place: the scenario and the port.
        variant: whose actions and reward.
        seeds: the scenario's seeds in the search.
        confirm_seeds: those on which the best few are compared, and the models.
        confirmed: how many these few are.
        models: trained agents, with their names.
        say: called after each action with the number of those done, and of all.
    """
    searched, checked = seeds_of(seeds), seeds_of(confirm_seeds)
    few = whole("confirmed", confirmed, 1)
    env = AgentEnv(place, variant, searched)
    none = np.array([])
    beside = [
        Tried(name, None, none, evaluation.of_model(env, model, checked)) for name, model in models
    ]
    found = []
    for action, _ in enumerate(variant.actions):
        found.append(evaluation.of_setting(env, action, searched))
        if say is not None:
            say(action + 1, len(variant.actions))
    order = sorted(range(len(found)), key=lambda action: -found[action].mean())
    first = [
        Tried(
            f"action {action}",
            variant.actions[action],
            found[action],
            evaluation.of_setting(env, action, checked),
        )
        for action in order[:few]
    ]
    first.sort(key=lambda tried: -tried.confirmed.mean())
    others = [
        Tried(f"action {action}", variant.actions[action], found[action], none)
        for action in order[few:]
    ]
    return Search(first + others, beside)
