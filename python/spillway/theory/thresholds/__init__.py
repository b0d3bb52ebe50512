"""Thresholds for taggers such as PIAS, for any distribution of flow sizes.

A tagger with K levels has K - 1 thresholds: a flow that has sent more than the first sinks to the
second level, and so on. `find` searches for those that minimise an objective, a formula for the
mean time of a flow, and tells how far those that were published are from the least value.

    >>> from spillway import thresholds
    >>> found = thresholds.find("20KB", load=0.75, levels=2)
    >>> found.best.thresholds
    (13333,)

With two levels the first takes 1 / (1 + sqrt(1 - load)) of all bytes: here two thirds. See
docs/thresholds.md.
"""

from spillway.theory.thresholds.find import Found, Ladder, find
from spillway.theory.thresholds.objectives import OBJECTIVES, Objective, value
from spillway.theory.thresholds.optimise import optimise
from spillway.theory.thresholds.sizes import Sizes

__all__ = ["OBJECTIVES", "Found", "Ladder", "Objective", "Sizes", "find", "optimise", "value"]
