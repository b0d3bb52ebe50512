"""What pages that put all schemes of a kind side by side have in common.

Tables come out of the published numbers of runs; a scheme is a policy, or an AQM under a
transport.
"""

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from spillway.show.drawing import log_scale
from spillway.show.tables import FEW
from spillway_studies.claims.late import Axes
from spillway_studies.claims.metric import seeds_in_words
from spillway_studies.claims.samples import rank
from spillway_studies.claims.write import Published

PERCENTILES = {"p99": 0.99, "p99_9": 0.999}
ENOUGH = 10
"""A percentile with fewer values beyond it rests on few."""

Json = dict[str, Any]
Row = Mapping[str, Any]
"""The numbers of a run by their dotted path, and its scheme and seed."""
Number = Callable[[Row], float | None]
"""Takes one number from those of a run."""


@dataclass(frozen=True)
class Results:
    """The results of a point: runs by scheme."""

    runs: Mapping[str, Sequence[Row]]

    @property
    def schemes(self) -> list[str]:
        """The schemes, in their order."""
        return list(self.runs)

    def each(self, scheme: str, number: Number) -> list[float]:
        """A number of every run that has it."""
        found = (number(row) for row in self.runs[scheme])
        return [value for value in found if value is not None]

    def mean(self, scheme: str, number: Number) -> float | None:
        """The mean of a number over the seeds."""
        found = self.each(scheme, number)
        return statistics.mean(found) if found else None

    def is_few(self, scheme: str, of: str, percentile: str) -> bool:
        """Whether few values lie beyond a percentile in any run."""
        return any(is_few(row.get(f"{of}.count"), percentile) for row in self.runs[scheme])

    def regret(self, scheme: str, number: Number) -> float | None:
        """A scheme's mean, divided by the least mean of all schemes."""
        own, best = self.mean(scheme, number), self.best(number)
        least = None if best is None else self.mean(best, number)
        return own / least if own is not None and least else None

    def best(self, number: Number) -> str | None:
        """The scheme that has the least; None if no scheme has any."""
        means = {scheme: self.mean(scheme, number) for scheme in self.runs}
        known = [(mean, scheme) for scheme, mean in means.items() if mean is not None]
        return min(known, key=itemgetter(0))[1] if known else None


def is_few(count: float | None, percentile: str) -> bool:
    """Whether fewer than ten of this many values are beyond a percentile."""
    if not count or percentile not in PERCENTILES:
        return False
    return count - rank(int(count), PERCENTILES[percentile]) < ENOUGH


# Numbers of a run --------------------------------------------------------------------------------


def at(path: str) -> Number:
    """The number at a dotted path."""
    return lambda row: row.get(path)


def slowdown(of: str, percentile: str) -> Number:
    """A class's slowdown."""
    return at(f"fct_slowdown.{of}.{percentile}")


def lost(within: str) -> Number:
    """Packets lost for any reason: the sum of the counts whose paths begin so."""
    return lambda row: sum(n or 0 for path, n in row.items() if path.startswith(within))


def with_timeout(row: Row) -> float | None:
    """Flows that saw a timeout, in percent."""
    count = row["fct_slowdown.all.count"]
    return 100 * row["fct_slowdown.all.with_timeout"] / count if count else None


# Tables ------------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """Three digits, and commas where there are more."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread(values: Sequence[float], mark: str = "") -> str:
    """The mean over seeds, and their standard deviation."""
    if not values:
        return "-"
    deviation = f" ± {number(statistics.stdev(values))}" if len(values) > 1 else ""
    return f"{number(statistics.mean(values))}{mark}{deviation}"


def cell(results: Results, scheme: str, of: str, percentile: str) -> str:
    """A class's slowdown over the seeds, marked where it rests on few flows."""
    mark = FEW if results.is_few(scheme, f"fct_slowdown.{of}", percentile) else ""
    return spread(results.each(scheme, slowdown(of, percentile)), mark)


def markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_pairs(results: Results, scheme: str, base: str, number: Number) -> list[tuple[float, float]]:
    """A number of a scheme and of a base with the same flows, for each seed where both have it."""
    olds = {row["seed"]: number(row) for row in results.runs[base]}
    pairs = [(number(row), olds[row["seed"]]) for row in results.runs[scheme]]
    return [(new, old) for new, old in pairs if new is not None and old is not None]


def ratios(results: Results, scheme: str, base: str, of: str, percentile: str = "p99") -> str:
    """A class's slowdown over that under a base with the same flows, seed by seed.

    The mean of the seeds' ratios, the least and the greatest.
    """
    pairs = in_pairs(results, scheme, base, slowdown(of, percentile))
    found = [new / old for new, old in pairs if old]
    if not found:
        return "-"
    few = any(results.is_few(each, f"fct_slowdown.{of}", percentile) for each in (scheme, base))
    mean = f"{statistics.mean(found):.2f}{FEW if few else ''}"
    return f"{mean} ({min(found):.2f} to {max(found):.2f})"


Regret = tuple[float | None, bool]
"""A scheme's number divided by the best scheme's, and whether it rests on few values."""
NO_REGRET: Regret = (None, False)


def regret_of(results: Results, of: str, percentile: str, scheme: str) -> Regret:
    """A scheme's regret in a percentile or mean of a class or of queries; it may have no runs."""
    number = at(f"{of}.{percentile}")
    if scheme not in results.runs:
        return NO_REGRET
    compared = (each for each in (scheme, results.best(number)) if each is not None)
    few = any(results.is_few(each, of, percentile) for each in compared)
    return results.regret(scheme, number), few


def greatest(found: Iterable[Regret]) -> Regret:
    """The greatest of the known regrets."""
    known = [each for each in found if each[0] is not None]
    return max(known, key=lambda each: each[0] or 0.0) if known else NO_REGRET


def regret_table(columns: Mapping[str, Callable[[str], Regret]], schemes: Iterable[str]) -> str:
    """Every scheme's regrets, column by column; last its greatest one."""
    rows = []
    for scheme in schemes:
        found = [regret(scheme) for regret in columns.values()]
        rows.append([f"`{scheme}`", *map(times, found), times(greatest(found))])
    return markdown(["", *columns, "at worst"], rows)


def times(regret: Regret) -> str:
    """A regret as text."""
    value, few = regret
    if value is None:
        return "-"
    return (f"{value:.2f}" if value < 10 else f"{value:.0f}") + (FEW if few else "")


# Results -----------------------------------------------------------------------------------------


def load(published: Published) -> dict[str, Results]:
    """The runs of a figure by point."""
    points = {}
    for point in published.figure.points:
        here = [
            row
            for row in published.runs
            if all(row[axis] == value for axis, value in point.values.items())
        ]
        runs: dict[str, list[Row]] = {scheme.name: [] for scheme in published.figure.schemes}
        for row in here:
            runs[row["scheme"]].append(row)
        points[point.label] = Results(runs)
    return points


def printed(file: Path) -> str:
    """What was printed of runs whose numbers are not kept: a list of texts and tables."""
    parts = json.loads(file.read_text(encoding="utf-8"))
    return "\n\n".join(
        part if isinstance(part, str) else markdown(part["heads"], part["rows"]) for part in parts
    )


def caption(summary: Json) -> str:
    """A caption: how the numbers were made."""
    seeds = seeds_in_words(summary["seeds"])
    sets = ", ".join(f"`{each}`" for each in summary["scale_sets"])
    return (
        f"Scale `{summary['scale']}`: {sets}; seeds {seeds}; version {summary['version']}, core "
        f"{summary['build'][:8]}."
    )


# Plots -------------------------------------------------------------------------------------------


def dots(
    axis: Axes, place: float, results: Results, scheme: str, of: str, percentile: str, colour: str
) -> None:
    """A class's slowdown at a height: a line for every seed, a dot for their mean.

    The dot is hollow where it rests on few flows.
    """
    known = results.each(scheme, slowdown(of, percentile))
    axis.plot(known, [place] * len(known), "|", color=colour, markersize=8)
    if known:
        few = results.is_few(scheme, f"fct_slowdown.{of}", percentile)
        face = "white" if few else colour
        axis.plot([statistics.mean(known)], [place], "o", color=colour, markerfacecolor=face)


def below_each_other(axis: Axes, names: Sequence[str]) -> None:
    """Names a row for each, from the top down, over slowdowns."""
    axis.set_yticks(range(len(names)), names, fontsize=7)
    axis.set(ylim=(len(names) - 0.5, -0.5), xlabel="slowdown")
    log_scale(axis, "x")
    axis.tick_params(axis="x", labelsize=7)


NOTE = "a line for every seed, a dot for their mean, hollow: fewer than 10 flows beyond it in a run"
"""The note below such a plot."""
