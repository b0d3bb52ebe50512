"""How an agent is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from spillway.base.errors import ScenarioError


@dataclass(frozen=True)
class Settings:
    """The numbers of Double DQN. Neither paper prints them: all are choices.

    Attributes:
        gamma: the discount of what comes an interval later; 0 is a myopic agent.
        learning_rate: Adam's, at the begin of the training.
        learning_rate_to: the same at its end, to which it falls in a straight line.
        batch: transitions in a step of gradient descent.
        replay: the latest transitions, from which batches are drawn.
        train_every: decisions between such steps.
        sync_every: decisions until the target network becomes the online one again.
        exploration_from: the probability of a random action at the begin of the training.
        exploration_to: the same at the end of its fall, in a straight line, and from then on.
        exploration_share: the part of the training in which it falls.
    """

    gamma: float = 0.5
    learning_rate: float = 1e-3
    learning_rate_to: float = 0.0
    batch: int = 128
    replay: int = 200_000
    train_every: int = 4
    sync_every: int = 1000
    exploration_from: float = 0.9
    exploration_to: float = 0.05
    exploration_share: float = 1.0

    def __post_init__(self) -> None:
        for name, least, most in _BOUNDS:
            value = getattr(self, name)
            if not (math.isfinite(value) and least <= value <= most):
                raise ScenarioError(
                    f"{name}: {value!r} is not valid; expected a number from {least} to {most}"
                )

    def changed(self) -> dict[str, float]:
        """What differs from the defaults."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            each.name: told[each.name] for each in fields(self) if told[each.name] != each.default
        }


_BOUNDS = (
    ("gamma", 0, 1),
    ("learning_rate", 0, 1),
    ("learning_rate_to", 0, 1),
    ("batch", 1, 65_536),
    ("replay", 1, 10_000_000),
    ("train_every", 1, 1_000_000),
    ("sync_every", 1, 10_000_000),
    ("exploration_from", 0, 1),
    ("exploration_to", 0, 1),
    ("exploration_share", 1e-9, 1),
)
