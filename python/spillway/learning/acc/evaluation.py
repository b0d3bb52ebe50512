"""Rewards of a way to act: of a model, or of a setting that never changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from spillway.base.errors import ScenarioError
from spillway.learning.acc.environment import AgentEnv
from spillway.learning.acc.model import Model

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
    """The same of a model, which must be of the environment's kind."""
    actions = [model.setting(action) for action in range(len(model.actions))]
    own = (model.history, model.interval_ps, model.ranges.tolist(), actions)
    variant = env.variant
    wanted = (variant.history, env.interval_ps, [*variant.ranges], [*variant.actions])
    if own != wanted:
        problem = "the model has another history, interval, ranges or actions than the environment"
        raise ScenarioError(problem, "the variant and the interval must be those of its training")
    return rewards(env, model.choose, seeds)


def of_setting(env: AgentEnv, action: int, seeds: Iterable[int]) -> NDArray[np.float64]:
    """The same of one action, which is static RED."""
    return rewards(env, lambda _: action, seeds)
