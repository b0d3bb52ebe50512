"""A run as an environment to learn in, for Gymnasium.

It needs the extra `rl`: `pip install spillway[rl]`. Importing it registers `Spillway-v0`.
"""

from __future__ import annotations

try:
    import gymnasium
except ModuleNotFoundError as missing:
    if missing.name != "gymnasium":
        raise
    text = "spillway.learning.gym needs gymnasium: pip install 'spillway[rl]'"
    raise ModuleNotFoundError(text, name=missing.name) from None

from spillway.learning.gym.actions import Actions, Ranges, Table
from spillway.learning.gym.environment import ID, NetworkEnv
from spillway.learning.gym.reward import Reward

__all__ = ["ID", "Actions", "NetworkEnv", "Ranges", "Reward", "Table"]

if ID not in gymnasium.registry:
    gymnasium.register(id=ID, entry_point="spillway.learning.gym.environment:NetworkEnv")
