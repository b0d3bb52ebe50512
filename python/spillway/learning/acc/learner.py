"""Double DQN, on top of Stable-Baselines3's DQN. It needs the extra `train`.

H. van Hasselt, A. Guez, D. Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016.
<https://doi.org/10.1609/aaai.v30i1.10295>
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule

from spillway.learning.acc.environment import AgentEnv
from spillway.learning.acc.model import Layer
from spillway.learning.acc.settings import Settings

Looked = Callable[[int, float, float, list[Layer]], None]
"""Called with the decisions so far, the exploration, the mean reward since the last call, and the
network."""

_FIRST = 1000
"""Decisions before the first step of gradient descent."""


class DoubleDQN(DQN):  # type: ignore[misc]  # Without the extra its base is unknown.
    """DQN whose online network chooses the next action, and whose target network values it.

    y = r + gamma Q(s', argmax_a Q(s', a; online); target), where DQN has max_a Q(s', a; target):
    the greatest of noisy values is on average above the value of the best action.
    """

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,  # noqa: ARG002  # The base's argument.
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """Actions for the rows of a vector environment's observation.

        As the base has it, without what only images and recurrent networks need: it takes a third
        of the time.
        """
        if not deterministic and np.random.rand() < self.exploration_rate:
            return np.array([self.action_space.sample() for _ in observation]), state
        with torch.no_grad():
            values = self.q_net.q_net(torch.from_numpy(observation))
        return values.argmax(dim=1).numpy(), state

    def train(self, gradient_steps: int, batch_size: int = 32) -> None:
        """Some steps of gradient descent, each on a batch of past transitions."""
        self._update_learning_rate(self.policy.optimizer)
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
            values = self.q_net(batch.observations).gather(1, batch.actions.long())
            loss = torch.nn.functional.smooth_l1_loss(values, self.targets(batch))
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def targets(self, batch: Any) -> Any:
        """The target y of each row of a batch, (rows, 1)."""
        chosen = self.q_net(batch.next_observations).argmax(dim=1, keepdim=True)
        following = self.q_net_target(batch.next_observations).gather(1, chosen)
        discounts = self.gamma if batch.discounts is None else batch.discounts
        return batch.rewards + (1 - batch.dones) * discounts * following


def run(
    env: AgentEnv,
    hidden: Sequence[int],
    settings: Settings,
    steps: int,
    seed: int,
    every: int,
    looked: Looked,
) -> None:
    """Trains for `steps` decisions. Calls `looked` at the start and every `every` decisions."""
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
