"""The kept numbers of the study of all five systems."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from spillway_studies.claims.write import UnpublishedError
from spillway_studies.five.run import KEPT, SERIES

Floats = NDArray[np.float64]

SCHEME = ("sharing", "aqm", "levels", "recovery")
"""The factors that somebody may choose; under the others a choice has to do."""
CONTEXT = ("rto", "load", "buffer")


@dataclass(frozen=True)
class Metric:
    """A number of a run."""

    column: str
    title: str
    scale: float = 1.0


METRICS: Mapping[str, Metric] = {
    "timeouts": Metric("all.timeouts", "flows with a timeout, %", 100.0),
    "mean": Metric("all.mean", "mean slowdown"),
    "on time": Metric("all.on_time.mean", "mean of those without a timeout"),
    "short": Metric("short.on_time.p99", "short flows' p99 without a timeout"),
    "long": Metric("long.mean", "long flows' mean"),
    "goodput": Metric("goodput_gbps", "goodput, Gbps"),
    "lost": Metric("lost", "packets lost"),
    "resent": Metric("resent", "packets sent again"),
    "marked": Metric("marked", "packets marked"),
}


@dataclass(frozen=True)
class Cube:
    """A number of all runs of a series: an axis for each factor, and the last for seeds."""

    factors: Mapping[str, Sequence[str]]
    """The levels of each factor."""
    values: Floats

    def where(self, chosen: Mapping[str, str]) -> Cube:
        """The part with these levels."""
        factors, values = dict(self.factors), self.values
        for name, level in chosen.items():
            place = list(factors[name]).index(level)
            values = np.take(values, [place], axis=list(factors).index(name))
            factors[name] = (level,)
        return Cube(factors, values)

    def over(self, names: Sequence[str]) -> Cube:
        """The mean over all other factors, seed by seed. ValueError if a combination is missing."""
        others = tuple(place for place, name in enumerate(self.factors) if name not in names)
        left = [name for name in self.factors if name in names]
        order = [left.index(name) for name in names]
        values = self.values.mean(axis=others).transpose(*order, len(order))
        if np.isnan(values).any():
            raise ValueError(f"not all combinations of {', '.join(self.factors)} were run")
        return Cube({name: self.factors[name] for name in names}, values)


@functools.cache
def runs(series: str) -> pa.Table:
    """A row for every run of a series."""
    file = KEPT / f"{series}.parquet"
    if not file.exists():
        hint = f"python -m spillway_studies.five.run five {series}"
        raise UnpublishedError(f"no numbers of {series} are kept", hint)
    return pq.read_table(file)


def cube(series: str, column: str) -> Cube:
    """A column of a series. Levels and loss recovery are factors of their own."""
    found = runs(series)
    pairs = [level.split(", ") for level in found["levels"].to_pylist()]
    columns = {factor.name: found[factor.name].to_pylist() for factor in SERIES[series]}
    columns["levels"], columns["recovery"] = map(list, zip(*pairs, strict=True))
    columns["seed"] = found["seed"].to_pylist()
    levels = {name: tuple(dict.fromkeys(each)) for name, each in columns.items()}
    values = np.full([len(each) for each in levels.values()], np.nan)
    places = [[levels[name].index(level) for level in each] for name, each in columns.items()]
    values[tuple(places)] = found[column].to_numpy()
    del levels["seed"]
    return Cube(levels, values)


def metric(series: str, name: str) -> Cube:
    """A metric of a series."""
    found = cube(series, METRICS[name].column)
    return Cube(found.factors, found.values * METRICS[name].scale)
