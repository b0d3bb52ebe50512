"""The learner at work in an environment. It needs the extra `train`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule

from spillway.learning.acc.environment import AgentEnv
from spillway.learning.acc.learner import DoubleDQN
from spillway.learning.acc.network import Layer
from spillway.learning.acc.settings import Settings

Looked = Callable[[int, float, float, list[Layer]], None]
"""Called with the decisions so far, the exploration, the mean reward since the last call, and the
network."""

_FIRST = 1000
"""Decisions before the first step of gradient descent."""


def run(
    env: AgentEnv,
    hidden: Sequence[int],
    settings: Settings,
    steps: int,
    seed: int,
    every: int,
    looked: Looked,
) -> None:
    """Trains for some decisions. `looked` is called before the first, and after every so many."""
    torch.set_num_threads(1)
    agent = DoubleDQN(
        "MlpPolicy",
        env,
        learning_rate=LinearSchedule(settings.learning_rate, settings.learning_rate_to, 1.0),
        buffer_size=settings.replay,
        learning_starts=min(_FIRST, settings.replay),
        batch_size=settings.batch,
        gamma=settings.gamma,
        train_freq=settings.train_every,
        gradient_steps=1,
        target_update_interval=settings.sync_every,
        exploration_fraction=settings.exploration_share,
        exploration_initial_eps=settings.exploration_from,
        exploration_final_eps=settings.exploration_to,
        policy_kwargs={"net_arch": list(hidden), "optimizer_kwargs": {"fused": True}},
        seed=seed,
        device="cpu",
    )
    looked(0, settings.exploration_from, math.nan, layers(agent))
    if steps:
        agent.learn(steps, callback=_Looks(every, steps, looked), log_interval=None)


def layers(agent: DoubleDQN) -> list[Layer]:
    """The weights and biases of its online network."""
    linear = [each for each in agent.q_net.q_net if isinstance(each, torch.nn.Linear)]
    return [
        (each.weight.detach().numpy().copy(), each.bias.detach().numpy().copy()) for each in linear
    ]


class _Looks(BaseCallback):  # type: ignore[misc]
    """Looks at the agent now and then, and at the end."""

    def __init__(self, every: int, steps: int, looked: Looked) -> None:
        super().__init__()
        self._every, self._steps, self._looked = every, steps, looked
        self._sum, self._count = 0.0, 0

    def _on_step(self) -> bool:
        self._sum += float(self.locals["rewards"][0])
        self._count += 1
        done = self.num_timesteps
        if done % self._every == 0 or done == self._steps:
            mean = self._sum / self._count
            self._looked(done, self.model.exploration_rate, mean, layers(self.model))
            self._sum, self._count = 0.0, 0
        return True
