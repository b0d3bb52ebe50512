"""The objectives: formulas for the mean time of a flow that passes through levels.

Level l has the flows larger than the threshold above it, thr_{l-1}, and of each the bytes up to its
own threshold, thr_l; thr_0 = 0, and the last level has all the rest. A link with load rho serves
levels in strict order. F is the distribution of sizes X, and

    G_l = 1 - F(thr_l)                    the share of flows larger than a threshold
    w_l                                   the share of all bytes sent in level l
    s_l = E[X] w_l / G_{l-1}              the mean bytes that a flow in level l sends there
    rho_l = rho w_l                       the load of level l
    W_l = w_1 + ... + w_l

Times are in units of the time in which the idle link sends a flow of mean size, so all objectives
are numbers without a unit. With one level they are 1 / (1 - rho), but for `ml-fcfs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spillway.base.arguments import check_known
from spillway.base.errors import ScenarioError
from spillway.theory.thresholds.sizes import Cut, Numbers, Sizes


@dataclass(frozen=True)
class Level:
    """A level between two thresholds; any number of such pairs at once.

    Attributes:
        load: the load of the link, rho.
        above: the threshold above which its bytes lie; 0 for the first level.
        own: the threshold up to which they lie; the largest size for the last level.
        capacity: the product of 1 - rho_i over all better levels.
    """

    load: float
    above: Cut
    own: Cut
    capacity: Numbers

    @property
    def share(self) -> Numbers:
        """The share of all bytes sent in it, w_l."""
        return self.own.share - self.above.share

    @property
    def capacity_below(self) -> Numbers:
        """The product of 1 - rho_i over all better levels and this one."""
        return self.capacity * (1 - self.load * self.share)


def product(level: Level) -> Numbers:
    """The generic form: T_l = s_l / (prod_{i<l} (1 - rho_i) - rho_l), summed as G_{l-1} T_l.

    Every level is an M/M/1 queue on what better levels leave, taken one after another. As G_{l-1}
    s_l / E[X] = w_l, only the levels' shares of bytes matter.
    """
    return level.share / (level.capacity - level.load * level.share)


def left_over(level: Level) -> Numbers:
    """The same with left-over capacity: T_l = s_l / (1 - rho_1 - ... - rho_l), as G_{l-1} T_l.

    The least value is K / rho ((1 - rho)^(-1/K) - 1), at W_l = (1 - (1 - rho)^(l/K)) / rho.
    """
    return level.share / (1 - level.load * level.own.share)


def unweighted(level: Level) -> Numbers:
    """As `product`, but summed as T_l: every level counts the same, however few flows reach it."""
    share, larger = level.share, level.above.larger
    time = share / (level.capacity - level.load * share)
    return np.divide(time, larger, out=np.zeros_like(time), where=larger > 0)


def flow_count(level: Level) -> Numbers:
    """As `left-over`, with flows in the place of bytes: theta_l / (1 - rho F(thr_l)).

    theta_l = G_{l-1} - G_l is the share of flows that end in level l. A sum of linear ratios.
    """
    return (level.above.larger - level.own.larger) / (1 - level.load * (1 - level.own.larger))


def ml_fcfs(level: Level) -> Numbers:
    """Exact for one link: flows of level l in the order of their arrival, better levels first.

    Flows come whole, as a Poisson process. One that ends in level l takes (V_l + X) / (1 - rho
    W_{l-1}) with V_l = rho E[min(X, thr_l)^2] / (2 E[X] (1 - rho W_l)). Kleinrock, Queueing
    Systems, volume 2, section 4.7 (multilevel processor sharing, FCFS in every level).
    """
    above, own = level.above, level.own
    ends = above.larger - own.larger
    waits = level.load * own.squares / (2 * (1 - level.load * own.share))
    # The bytes of the flows that end here, from their first: sum of w and of what is above.
    own_bytes = level.share + above.size * above.larger - own.size * own.larger
    return (ends * waits + own_bytes) / (1 - level.load * above.share)


@dataclass(frozen=True)
class Objective:
    """An objective: a term for every level, and their sum.

    Attributes:
        formula: what is summed over levels, in a line.
    """

    name: str
    formula: str
    term: Callable[[Level], Numbers]


_ALL = (
    Objective("product", "G_{l-1} T_l, T_l = s_l / (prod_{i<l} (1 - rho_i) - rho_l)", product),
    Objective("left-over", "G_{l-1} T_l, T_l = s_l / (1 - rho_1 - ... - rho_l)", left_over),
    Objective("unweighted", "T_l, T_l = s_l / (prod_{i<l} (1 - rho_i) - rho_l)", unweighted),
    Objective("flow-count", "(G_{l-1} - G_l) / (1 - rho F(thr_l))", flow_count),
    Objective("ml-fcfs", "mean of (V_l + X) / (1 - rho W_{l-1}) over flows that end in l", ml_fcfs),
)
OBJECTIVES = {objective.name: objective for objective in _ALL}
"""The objectives by name. The first is the default."""


def named(name: str) -> Objective:
    """The objective with this name."""
    check_known("objective", name, OBJECTIVES)
    return OBJECTIVES[name]


def check_load(load: float) -> None:
    """Refuses a load of which there is no finite objective."""
    if not (isinstance(load, int | float) and 0 < load < 1):
        raise ScenarioError(
            f"load: {load!r} is not valid; expected a number above 0, below 1",
            "at a load of 1 or more queues grow without end: the objective is infinite",
        )


def value(objective: str, sizes: Sizes, thresholds: Sequence[float], *, load: float) -> float:
    """An objective's value with some thresholds. It has no unit.

    Args:
        objective: Its name, one of `OBJECTIVES`.
        sizes: The distribution of sizes.
        thresholds: In bytes, and rising; without any it is the value of one queue.
        load: The load of the link, above 0 and below 1.

    Raises:
        ScenarioError: There is no such objective, or the load is not between 0 and 1.
    """
    check_load(load)
    rows = np.asarray(thresholds, dtype=float).reshape(1, -1)
    return float(values(named(objective), sizes, rows, load)[0])


def values(objective: Objective, sizes: Sizes, rows: Numbers, load: float) -> Numbers:
    """An objective's value for every row of thresholds."""
    first, last = np.zeros((len(rows), 1)), np.full((len(rows), 1), sizes.largest)
    cut = sizes.cut(np.hstack([first, rows, last]))
    above, own = cut.at(np.s_[:, :-1]), cut.at(np.s_[:, 1:])
    kept = np.cumprod(1 - load * (own.share - above.share), axis=1)
    capacity = np.hstack([np.ones((len(rows), 1)), kept[:, :-1]])
    found: Numbers = objective.term(Level(load, above, own, capacity)).sum(axis=1)
    return found
