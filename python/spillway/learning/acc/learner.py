"""Double DQN, on top of Stable-Baselines3's DQN. It needs the extra `train`.

H. van Hasselt, A. Guez, D. Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016.
<https://doi.org/10.1609/aaai.v30i1.10295>
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3 import DQN


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
        """Some steps of gradient descent, each on a batch of what was seen."""
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
