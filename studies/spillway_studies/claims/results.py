"""The results of all points of a figure."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from spillway_studies.claims import samples
from spillway_studies.claims.figure import Figure
from spillway_studies.claims.late import Table
from spillway_studies.claims.metric import (
    REPLICATES,
    BySeed,
    Measured,
    Metric,
    of_each,
    together,
    total,
)
from spillway_studies.claims.point import Outcome

Curve: TypeAlias = tuple[int, str, int, str]
"""The place of a point, a scheme, a seed (or 0 for all of them), and a name."""
_MOST = 400
"""The most points of a distribution that are drawn."""


class Results:
    """The outcomes of a figure, by point, scheme and seed."""

    def __init__(
        self,
        figure: Figure,
        seeds: tuple[int, ...],
        outcomes: Mapping[tuple[int, str, int], Outcome],
    ) -> None:
        self.figure = figure
        self.seeds = seeds
        self._outcomes = outcomes
        self.drawn: dict[Curve, list[float]] = {}
        """The curves that were asked for: what a plot needs beside metrics."""
        self._measured: dict[tuple[Metric, int, tuple[int, ...], bool], dict[str, Measured]] = {}

    @property
    def cpu_s(self) -> float:
        """The CPU time that all points took when they were computed, in seconds."""
        once = {id(outcome): outcome for outcome in self._outcomes.values()}
        return sum(outcome.cpu_s for outcome in once.values())

    def at(self, place: int, scheme: str, seeds: tuple[int, ...] | None = None) -> BySeed:
        """The outcomes of the point with this number, by seed."""
        return {seed: self._outcomes[place, scheme, seed] for seed in seeds or self.seeds}

    def measured(
        self,
        metric: Metric,
        place: int,
        scheme: str,
        seeds: tuple[int, ...] | None = None,
        draw: bool = True,
    ) -> Measured:
        """A metric of a point; with `draw` also its replicates."""
        about = (metric, place, seeds or self.seeds, draw)
        if about not in self._measured:
            outcomes = {one.name: self.at(place, one.name, seeds) for one in self.figure.schemes}
            self._measured[about] = of_each(metric, outcomes, REPLICATES if draw else 0)
        return self._measured[about][scheme]

    def ends(self, metric: Metric, place: int, scheme: str) -> tuple[float, float]:
        """The spread of a known metric: 95% of the replicates, or else the range over seeds."""
        interval = self.measured(metric, place, scheme).interval
        if interval is not None:
            return interval
        each = (self.measured(metric, place, scheme, (seed,), False) for seed in self.seeds)
        known = [one.value for one in each if one.value is not None]
        return min(known), max(known)

    def curve(self, place: int, scheme: str, seed: int, name: str) -> list[float]:
        """A series of a run."""
        found = self._outcomes[place, scheme, seed].series(name)
        return self._told((place, scheme, seed, name), found)

    def step_ms(self, place: int, scheme: str, seed: int) -> float:
        """The time between two values of the series of a run, in milliseconds."""
        step = self._outcomes[place, scheme, seed].numbers.get(samples.STEP) or 1.0
        return self._told((place, scheme, seed, samples.STEP), [step])[0] / 1000

    def distribution(self, place: int, scheme: str, name: str) -> tuple[list[float], ...]:
        """Slowdowns of a class, and the shares of flows that have at most, and at least, as much.

        If there are many flows, the result has a selection: all over the range, and more at its
        end.
        """
        found = np.sort(together(self.at(place, scheme), name))
        total = len(found)
        kept = np.arange(total)
        if total > _MOST:
            ends = total - np.geomspace(1, total, _MOST // 2)
            evenly = np.linspace(0, total - 1, _MOST // 2)
            kept = np.unique(np.concatenate([evenly, ends]).astype(int))
        shares = {
            f"{name}": found[kept],
            f"{name} at most": (kept + 1) / max(1, total),
            f"{name} at least": 1 - kept / max(1, total),
        }
        return tuple(
            self._told((place, scheme, 0, each), values.tolist()) for each, values in shares.items()
        )

    def _told(self, curve: Curve, values: list[float]) -> list[float]:
        self.drawn[curve] = values
        return values

    def is_informative(self, place: int) -> bool:
        """Whether anything was lost under some scheme; always true if drops are not counted.

        If the figure is `told_by` "marks", it is enough that something was marked; if by
        "anything", all points are informative.
        """
        if self.figure.told_by == "anything":
            return True
        outcomes = [self._outcomes[place, scheme.name, seed] for scheme, seed in self._runs()]
        if not any(outcome.scenario for outcome in outcomes):
            return True
        if any(lost(outcome) for outcome in outcomes):
            return True
        by_marks = self.figure.told_by == "marks"
        return by_marks and any(outcome.numbers.get("marks") for outcome in outcomes)

    def _runs(self) -> Iterator[tuple[Any, int]]:
        return ((scheme, seed) for scheme in self.figure.schemes for seed in self.seeds)

    def numbers(self) -> Table:
        """A row for every point, scheme and seed, with coordinates and all numbers."""
        import pyarrow as pa

        rows = [
            {
                **point.values,
                "scheme": scheme.name,
                "seed": seed,
                "informative": self.is_informative(place),
                **self._outcomes[place, scheme.name, seed].numbers,
            }
            for place, point in enumerate(self.figure.points)
            for scheme, seed in self._runs()
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        return pa.table({name: [row.get(name) for row in rows] for name in names})

    def samples(self) -> Table | None:
        """The flows that percentiles and their intervals are based on, if any."""
        import pyarrow as pa

        points = self.figure.points
        types = {
            axis: pa.array([point.values[axis] for point in points]).type
            for axis in points[0].values
        }
        tables = []
        for place, point in enumerate(points):
            for scheme, seed in self._runs():
                table = self._outcomes[place, scheme.name, seed].samples
                if table is None:
                    continue
                about = {**point.values, "scheme": scheme.name, "seed": seed}
                for column, (name, value) in enumerate(about.items()):
                    constant = pa.repeat(pa.scalar(value, types.get(name)), table.num_rows)
                    table = table.add_column(column, name, constant.dictionary_encode())
                tables.append(table)
        return pa.concat_tables(tables).unify_dictionaries() if tables else None


def lost(outcome: Outcome) -> float:
    """The number of lost packets."""
    return total(outcome, "drops")
