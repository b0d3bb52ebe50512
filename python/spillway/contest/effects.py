"""How much each factor matters: shares of the variance of a number, or of its logarithm.

The model is additive: a constant for each scenario and seed (a block, whose flows are common), and
one for each level of every factor. A fraction of all combinations is not orthogonal, so a factor's
sum of squares is what the model without the factor leaves unexplained beyond the whole model
("drop-one", or type II). That of a pair is what its interaction explains beyond the whole additive
model. Shares are parts of the sum of squares within blocks. They do not add up to 1.

All levels that are ranked meet in a context, but a context has one level of every other factor. So
effects of the others are told from as many cases as there are contexts. Where these are too few for
a term's constants, almost anything would seem to be explained: such terms have no share. Intervals
are those of a jackknife over contexts: a bootstrap would lose a third of them in every sample.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spillway.contest.ranks import Estimate

Floats = NDArray[np.float64]
_GROUPS = 60
"""The most groups of contexts that are left out in turn: each needs the solution of a model."""
_LEFT = 3
"""The least number of contexts beyond the constants that are to be told from them."""
_EQUAL = 1e-6
"""A standard deviation within blocks below which all runs are equal."""
_RIDGE = 1e-9
"""Makes the equations of a model that has more constants than it needs solvable."""


@dataclass(frozen=True)
class Effects:
    """What explains the differences between runs."""

    shares: dict[tuple[str, ...], Estimate]
    """The share of each factor, and of each pair of factors, scenarios among these."""
    few: list[tuple[str, ...]]
    """The factors and pairs for which there are too few contexts."""
    levels: dict[str, dict[str, Estimate]]
    """Each level's mean less that of its factor, all else being equal."""
    left: float
    """The share that the additive model does not explain."""
    runs: int
    """The runs that are explained."""


def effects(
    values: Floats,
    seeds: Sequence[int],
    factors: Mapping[str, Sequence[str]],
    contexts: Sequence[int],
    ranked: str,
    within: str = "scenario",
) -> Effects | None:
    """The effects of factors; None if there is nothing to explain.

    Args:
        values: A number for each run, or its logarithm; all finite.
        seeds: The seed of each run.
        factors: The level of each run, by factor; `ranked` and `within` are among them.
        contexts: The context of each run.
        ranked: The factor all of whose levels meet in a context.
        within: The factor that makes a block with the seed: it has interactions, but no share.
    """
    varied = {name: levels for name, levels in factors.items() if len(set(levels)) > 1}
    own = [name for name in varied if name != within]
    if len(set(contexts)) < _LEFT or not own:
        return None
    columns = {name: _columns(levels) for name, levels in varied.items()}
    pairs = zip(factors[within], seeds, strict=True)
    block = _columns([f"{name} {seed}" for name, seed in pairs])
    names, places = np.unique(np.asarray(contexts), return_inverse=True)
    groups = np.arange(len(names)) % min(len(names), _GROUPS)
    kept = np.vstack([np.ones(len(names)), 1.0 - (groups == np.unique(groups)[:, None])])
    can_tell = _Contexts(columns, places, ranked, within)

    def left(*parts: Floats) -> Floats:
        return _left(np.hstack([block, *parts]), values, places, kept)

    total, whole = left(), left(*(columns[name] for name in own))
    if total[0] <= _EQUAL**2 * len(values):
        return None
    shares: dict[tuple[str, ...], Estimate] = {}
    few: list[tuple[str, ...]] = []
    for name in own:
        if not can_tell.factor(name):
            few.append((name,))
            continue
        without = left(*(columns[other] for other in own if other != name))
        shares[(name,)] = _share(without - whole, total)
    for one, other in itertools.combinations(varied, 2):
        if not can_tell.pair(one, other):
            few.append((one, other))
            continue
        beside = left(*(columns[name] for name in own), _crossed(columns[one], columns[other]))
        shares[one, other] = _share(whole - beside, total)
    told = [name for name in own if (name,) in shares]
    means = _means(block, {name: columns[name] for name in own}, values, places, kept)
    levels = {name: dict(zip(sorted(set(varied[name])), means[name], strict=True)) for name in told}
    return Effects(shares, few, levels, float(whole[0] / total[0]), len(values))


class _Contexts:
    """Whether there are enough contexts to tell the constants of a term."""

    def __init__(
        self, columns: Mapping[str, Floats], places: NDArray[np.int64], ranked: str, within: str
    ) -> None:
        _, first = np.unique(places, return_index=True)
        self.of = {name: each[first] for name, each in columns.items() if name != ranked}
        self.contexts, self.ranked, self.within = len(first), ranked, within
        self.own = _rank(self.of.values(), self.contexts)

    def factor(self, name: str) -> bool:
        """Whether a factor can be told from the others."""
        if name == self.ranked:
            return self.contexts >= _LEFT
        others = [each for other, each in self.of.items() if other != name]
        return self._is_enough(self.own, self.own - _rank(others, self.contexts))

    def pair(self, one: str, other: str) -> bool:
        """Whether the interaction of two factors can be told."""
        if self.ranked in (one, other):
            beside = other if one == self.ranked else one
            rank = _rank([self.of[beside]], self.contexts)
            return self._is_enough(rank, rank - 1)
        crossed = _crossed(self.of[one], self.of[other])
        rank = _rank([*self.of.values(), crossed], self.contexts)
        return self._is_enough(rank, rank - self.own)

    def _is_enough(self, rank: int, constants: int) -> bool:
        return constants > 0 and self.contexts - rank >= max(_LEFT, constants)


def _rank(columns: Iterable[Floats], rows: int) -> int:
    return int(np.linalg.matrix_rank(np.hstack([np.ones((rows, 1)), *columns])))


def _crossed(one: Floats, other: Floats) -> Floats:
    """The columns of an interaction, without those of levels that never meet."""
    found = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
    return found[:, found.any(axis=0)]


def _columns(levels: Sequence[str]) -> Floats:
    """A column for each level: 1 where a run has it."""
    names, places = np.unique(np.asarray(levels), return_inverse=True)
    return np.eye(len(names))[places]


def _share(parts: Floats, total: Floats) -> Estimate:
    with np.errstate(invalid="ignore", divide="ignore"):
        found = _jackknife(parts / total)
    return Estimate(*(min(max(each, 0.0), 1.0) for each in (found.value, found.low, found.high)))


def _jackknife(found: Floats) -> Estimate:
    """The first number, with the 95% interval that the others, each without a group, give it."""
    from scipy import special

    others = found[1:][np.isfinite(found[1:])]
    if len(others) < 2:
        return Estimate(float(found[0]), np.nan, np.nan)
    error = np.sqrt((len(others) - 1) * np.mean((others - others.mean()) ** 2))
    half = float(special.stdtrit(len(others) - 1, 0.975) * error)
    return Estimate(float(found[0]), float(found[0]) - half, float(found[0]) + half)


def _grams(
    columns: Floats, values: Floats, places: NDArray[np.int64], sampled: Floats
) -> tuple[Floats, Floats, Floats]:
    """The normal equations of every sample: the first is that of all runs."""
    samples, width = len(sampled), columns.shape[1]
    grams, sides = np.zeros((samples, width, width)), np.zeros((samples, width))
    for context, weight in enumerate(sampled.T):
        runs = places == context
        # Most levels are not in a context.
        used = np.flatnonzero(columns[runs].any(axis=0))
        own = columns[runs][:, used]
        grams[:, used[:, None], used[None, :]] += weight[:, None, None] * (own.T @ own)
        sides[:, used] += weight[:, None] * (own.T @ values[runs])
    return grams, sides, sampled[:, places] @ values**2


def _solved(grams: Floats, sides: Floats) -> Floats:
    scale = _RIDGE * np.trace(grams, axis1=1, axis2=2)[:, None, None]
    found: Floats = np.linalg.solve(grams + scale * np.eye(grams.shape[1]), sides[:, :, None])
    return found[:, :, 0]


def _left(columns: Floats, values: Floats, places: NDArray[np.int64], sampled: Floats) -> Floats:
    """The sum of squares that a model leaves, for every sample."""
    centred = values - values.mean()
    grams, sides, squares = _grams(columns, centred, places, sampled)
    found = _solved(grams, sides)
    # |y - Xb|^2, which also holds where b is slightly off for the ridge.
    explained = 2 * (found * sides).sum(axis=1) - np.einsum("si,sij,sj->s", found, grams, found)
    left: Floats = np.maximum(squares - explained, 0.0)
    return left


def _means(
    block: Floats,
    columns: Mapping[str, Floats],
    values: Floats,
    places: NDArray[np.int64],
    sampled: Floats,
) -> dict[str, list[Estimate]]:
    """All levels' constants, their mean being 0 in each factor."""
    grams, sides, _ = _grams(np.hstack([block, *columns.values()]), values, places, sampled)
    found = _solved(grams, sides)
    means, first = {}, block.shape[1]
    for name, own in columns.items():
        parts = found[:, first : first + own.shape[1]]
        first += own.shape[1]
        means[name] = [
            _jackknife(column) for column in (parts - parts.mean(axis=1, keepdims=True)).T
        ]
    return means
