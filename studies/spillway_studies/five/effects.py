"""Main effects and interactions in a factorial all of whose combinations were run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from spillway_studies.five.kept import Cube, Floats

Term = tuple[str, ...]


def shares(of: Cube, as_logarithm: bool) -> dict[Term, Floats]:
    """The share of each factor and of each pair in the variance between runs, seed by seed.

    Every combination was run once with each seed, so all terms are orthogonal: the shares of all
    terms up to the highest order add up to 1.
    """
    values = np.log(of.values) if as_logarithm else of.values
    names = [name for name, levels in of.factors.items() if len(levels) > 1]
    axes = {name: place for place, name in enumerate(of.factors)}
    total = values.var(axis=tuple(axes.values()))

    def explained(term: Iterable[str]) -> Floats:
        """The variance of the means of all combinations of some factors' levels."""
        others = tuple(place for name, place in axes.items() if name not in term)
        means = values.mean(axis=others)
        found: Floats = means.var(axis=tuple(range(means.ndim - 1))) / total
        return found

    found: dict[Term, Floats] = {(name,): explained((name,)) for name in names}
    for one, other in itertools.combinations(names, 2):
        found[one, other] = explained((one, other)) - found[one,] - found[other,]
    return found


def interaction(of: Cube, as_logarithm: bool) -> Cube:
    """By how much each pair of levels of two factors is off what both bring alone, seed by seed.

    Factors where logarithms are taken, and differences otherwise. Rows and columns have the
    (geometric) mean 1 or 0.
    """
    values = np.log(of.values) if as_logarithm else of.values
    off = (
        values
        - values.mean(axis=0, keepdims=True)
        - values.mean(axis=1, keepdims=True)
        + values.mean(axis=(0, 1), keepdims=True)
    )
    return Cube(of.factors, np.exp(off) if as_logarithm else off)
