"""Rewards of a way to act: of a model, or of a setting that never changes; the best setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spillway.base.arguments import Seeds, seeds_of, whole
from spillway.base.errors import ScenarioError
from spillway.learning.acc.environment import AgentEnv, Place
from spillway.learning.acc.model import Model
from spillway.learning.acc.variant import PRED, Setting, Variant

Act = Callable[[NDArray[np.float32]], int]
"""The action in a state."""


def rewards(env: AgentEnv, act: Act, seeds: Iterable[int]) -> NDArray[np.float64]:
    """The mean reward of an episode with each seed."""
    return np.array([_episode(env, act, seed) for seed in seeds])


def _episode(env: AgentEnv, act: Act, seed: int) -> float:
    state, _ = env.reset(options={"seed": seed})
    total, count, is_over = 0.0, 0, False
    while not is_over:
        state, reward, _, is_over, _ = env.step(act(state))
        total, count = total + reward, count + 1
    return total / count


def of_model(env: AgentEnv, model: Model, seeds: Iterable[int]) -> NDArray[np.float64]:
    """The mean rewards of a model, which must be of the environment's kind."""
    actions = [model.setting(action) for action in range(len(model.actions))]
    own = (model.history, model.interval_ps, model.ranges.tolist(), actions)
    variant = env.variant
    wanted = (variant.history, env.interval_ps, [*variant.ranges], [*variant.actions])
    if own != wanted:
        raise ScenarioError(
            "the model has another history, interval, ranges or actions than the environment",
            "the variant and the interval must be those of its training",
        )
    return rewards(env, model.choose, seeds)


def of_setting(env: AgentEnv, action: int, seeds: Iterable[int]) -> NDArray[np.float64]:
    """The mean rewards of one action that never changes, which is static RED."""
    return rewards(env, lambda _: action, seeds)


@dataclass(frozen=True)
class Tried:
    """A setting, or a model, and the mean rewards of its episodes.

    Attributes:
        name: "action 61", or a model's name.
        setting: the action's setting; None for a model.
        rewards: for each seed of the search; empty for a model.
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
        """Of the confirmed actions, the best on the seeds of the confirmation."""
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
        variant: the variant, which has the actions and the reward.
        seeds: the scenario's seeds in the search.
        confirm_seeds: the seeds on which the best few actions and the models are compared.
        confirmed: how many actions are compared on them.
        models: trained agents, with their names.
        say: called after each action with the number of those done, and of all.
    """
    searched, checked = seeds_of(seeds), seeds_of(confirm_seeds)
    few = whole("confirmed", confirmed, 1)
    env = AgentEnv(place, variant, searched)
    none = np.array([])
    beside = [Tried(name, None, none, of_model(env, model, checked)) for name, model in models]
    found = []
    for action, setting in enumerate(variant.actions):
        found.append(Tried(f"action {action}", setting, of_setting(env, action, searched), none))
        if say is not None:
            say(action + 1, len(variant.actions))
    order = sorted(range(len(found)), key=lambda action: -found[action].rewards.mean())
    first = [
        replace(found[action], confirmed=of_setting(env, action, checked)) for action in order[:few]
    ]
    first.sort(key=lambda tried: -tried.confirmed.mean())
    return Search(first + [found[action] for action in order[few:]], beside)
