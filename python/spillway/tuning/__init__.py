"""The search for the best parameters of a scenario: `spillway tune`."""

from spillway.tuning.study import Tuned, tune

__all__ = ["Tuned", "tune"]
