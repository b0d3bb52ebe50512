"""Oracles for Credence: forests that predict what Longest Queue Drop would lose.

A run with `sharing = "lqd"` and `record.oracle_trace = true` records a trace of fates. `train`
makes a random forest from it. `Model.save` writes it to a file, which `sharing = { kind =
"credence", oracle = "forest", model = FILE }` uses. `evaluate` measures how well it predicts other
traces. `online` lets the switches of a run teach their own forest, window by window.
"""

from spillway.learning.oracle.model import Model
from spillway.learning.oracle.trace import Trace
from spillway.learning.oracle.training import (
    NothingToLearnError,
    Scores,
    Training,
    evaluate,
    sweep_trees,
    train,
    train_each,
)
from spillway.learning.oracle.windows import Online, Window, online
from spillway.scenario.fates import FEATURES

__all__ = [
    "FEATURES",
    "Model",
    "NothingToLearnError",
    "Online",
    "Scores",
    "Trace",
    "Training",
    "Window",
    "evaluate",
    "online",
    "sweep_trees",
    "train",
    "train_each",
]
