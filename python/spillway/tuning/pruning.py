"""Which trials are ended before their runs are over.

Trials are judged by the values at one look alone. Optuna's own pruners remember more, and a study
that was killed between an answer and its consequence would go on differently.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

PRUNERS = {
    "median": "worse than half of the complete trials at the same look, after five of them",
    "halving": "not among the better half of all trials at the same look",
    "none": "no trial",
}
"""What a pruner ends early."""
_FIRST = 5
"""The complete trials without which the median ends none."""


def is_ended(
    pruner: str,
    value: float,
    complete: Sequence[float],
    all_others: Sequence[float],
    factor: int,
    is_minimised: bool,
) -> bool:
    """Whether a trial with this value at a look is ended there.

    `complete` and `all_others` are the values of other trials at that look: of those that are
    complete by now, and of all that have come so far. Of n trials n / `factor` go on under
    `halving`, and the best one in any case (successive halving, asynchronously: Li et al., A System
    for Massively Parallel Hyperparameter Tuning, MLSys 2020, algorithm 2).

    >>> is_ended("median", 4.0, [1.0, 2.0, 3.0, 5.0, 9.0], [], 2, is_minimised=True)
    True
    >>> is_ended("halving", 4.0, [], [1.0, 5.0, 9.0], 2, is_minimised=True)
    False
    """
    sign = 1 if is_minimised else -1
    if pruner == "median":
        return len(complete) >= _FIRST and sign * value > sign * statistics.median(complete)
    if pruner == "halving":
        ranked = sorted(sign * each for each in (*all_others, value))
        return sign * value > ranked[max(1, len(ranked) // factor) - 1]
    return False


def factor_at(look: int, looks: Sequence[int]) -> int:
    """By how much longer than to a look a run goes on to the next one, or to its end.

    Rounded, and 2 at least.

    >>> [factor_at(look, (10, 40)) for look in (10, 40)]
    [4, 2]
    """
    behind = min((each for each in looks if each > look), default=100)
    return max(2, round(behind / look))
