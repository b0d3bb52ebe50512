"""Metrics: numbers from a point's outcomes, and how far chance may have moved them."""

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spillway.base.threads import one_for_linear_algebra
from spillway_studies.claims import samples
from spillway_studies.claims.point import Outcome

REPLICATES = 1000
"""How often seeds, and samples within them, are resampled."""
LEAST_SEEDS = 3
"""With fewer seeds nothing is known about other seeds, so there is no interval."""
ENOUGH_SEEDS = 10
"""With fewer seeds an interval may be too narrow, so the range over seeds is shown."""

BySeed: TypeAlias = Mapping[int, Outcome]


def caution(seeds: int) -> str:
    """What this number of seeds cannot show, in words; empty if there are enough."""
    if seeds < LEAST_SEEDS:
        return (
            "fewer than three seeds tell nothing of others: there are no 95% intervals, and what "
            "hangs on one is undecided"
        )
    if seeds < ENOUGH_SEEDS:
        return (
            "fewer than ten seeds: 95% intervals may be too narrow; beside them stand the least "
            "and the greatest of the seeds' own numbers"
        )
    return ""


def seeds_in_words(seeds: Sequence[int]) -> str:
    """The seeds of a series; many that follow each other by the first and the last.

    >>> seeds_in_words((1, 2, 7)), seeds_in_words(range(1, 21))
    ('1, 2, 7', '1 to 20')
    """
    if len(seeds) > 5 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


@dataclass(frozen=True)
class Measured:
    """A number and, if it is based on samples, its replicates under resampling."""

    value: float | None
    replicates: NDArray[np.float64] | None = None
    """NaN if the drawn seeds have no such samples."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The range of the middle 95% of the replicates."""
        if self.replicates is None:
            return None
        known = self.replicates[~np.isnan(self.replicates)]
        if not len(known):
            return None
        low, high = np.quantile(known, (0.025, 0.975), method="inverted_cdf")
        return float(low), float(high)


class Behind(NamedTuple):
    """The data behind a tail percentile."""

    flows: int
    """The number of flows at or beyond it."""
    with_timeout: int
    """The number of these that had a timeout."""


class Metric(Protocol):
    """A number of every point."""

    @property
    def name(self) -> str:
        """Its description."""

    @property
    def unit(self) -> str:
        """The unit on a plot's axis."""

    def measured(self, outcomes: BySeed, replicates: int, /) -> Measured:
        """The number over all of these seeds."""


@dataclass(frozen=True)
class _Flows:
    """The values of all seeds that a metric is computed from, the worst first."""

    values: NDArray[np.float64]
    owner: NDArray[np.int64]
    """The unit of each flow; the units of a seed follow those of the previous seed."""
    units: tuple[tuple[int, int], ...]
    """The seeds, with the number of units of each."""
    sizes: NDArray[np.int64]
    """The number of flows of each unit."""


@dataclass(frozen=True)
class OfFlows:
    """A number of all seeds' flows together; its replicates draw seeds and flows again."""

    of: str
    """A class, `all`, a section, or several of them such as "short+incast"."""

    column: ClassVar[str]
    """The column of the samples that it is computed from."""
    scale: ClassVar[float]
    """What its values are multiplied by."""

    def measured(self, outcomes: BySeed, replicates: int = REPLICATES) -> Measured:
        """The number over all seeds' flows together."""
        return _resampled(self, {"": outcomes}, replicates)[""]

    def of_flows(self, flows: _Flows) -> float:
        """The number of all flows."""
        raise NotImplementedError

    def of_drawn(self, flows: _Flows, counts: NDArray[np.int64]) -> float:
        """The number with units drawn this often; NaN if none is."""
        raise NotImplementedError


@dataclass(frozen=True)
class Tail(OfFlows):
    """A percentile of the slowdowns of a class, or section: the ceil(n p)-th of n in order."""

    p: float
    unit: str = "slowdown"

    column: ClassVar[str] = "slowdown"
    scale: ClassVar[float] = 1.0
    what: ClassVar[str] = "slowdown"

    @property
    def name(self) -> str:
        """The class and the percentile."""
        return f"{_classes(self.of)} flows' p{100 * self.p:g} {self.what}"

    def of_flows(self, flows: _Flows) -> float:
        """The percentile of all flows, of which the worst come first."""
        return float(flows.values[len(flows.values) - samples.rank(len(flows.values), self.p)])

    def of_drawn(self, flows: _Flows, counts: NDArray[np.int64]) -> float:
        """The percentile with units drawn this often; NaN if none is."""
        total = int(counts @ flows.sizes)
        if not total:
            return math.nan
        beyond = total - samples.rank(total, self.p)
        # A number of worst flows that nearly always suffices.
        worst = min(len(flows.values), int(3 * (1 - self.p) * len(flows.values)) + 1000)
        place = _first_above(counts[flows.owner[:worst]], beyond)
        if place == worst:
            place = _first_above(counts[flows.owner], beyond)
        return float(flows.values[place])

    def behind(self, outcomes: BySeed) -> Behind:
        """The number of flows at or beyond the percentile, and of these with a timeout."""
        values = together(outcomes, self.of, self.column)
        found = samples.percentile(values, self.p)
        if found is None:
            return Behind(0, 0)
        beyond = values >= found
        late = together(outcomes, self.of, "with_timeout")[beyond]
        return Behind(int(beyond.sum()), int(late.sum()))


@dataclass(frozen=True)
class TailTime(Tail):
    """A percentile of the completion times of a class, as `Tail`; in milliseconds."""

    unit: str = "ms"

    column: ClassVar[str] = "fct_us"
    scale: ClassVar[float] = 1e-3
    what: ClassVar[str] = "completion time"


@dataclass(frozen=True)
class MeanTime(OfFlows):
    """The mean completion time of a class, over all seeds' flows together, in milliseconds."""

    unit: str = "ms"

    column: ClassVar[str] = "fct_us"
    scale: ClassVar[float] = 1e-3

    @property
    def name(self) -> str:
        """The class."""
        return f"{_classes(self.of)} flows' mean completion time"

    def of_flows(self, flows: _Flows) -> float:
        """The mean of all flows."""
        return float(flows.values.mean())

    def of_drawn(self, flows: _Flows, counts: NDArray[np.int64]) -> float:
        """The mean with units drawn this often; NaN if none is."""
        times = counts[flows.owner]
        return float(times @ flows.values / times.sum()) if times.any() else math.nan


@one_for_linear_algebra()
def _resampled(
    metric: OfFlows, outcomes: Mapping[str, BySeed], replicates: int
) -> dict[str, Measured]:
    """A metric of several schemes, and its replicates under the same draws.

    Seeds are resampled and, within each drawn seed, its units (queries, or flows without a query).
    All schemes and points use the same draws of seeds, and of units if they have the same number of
    them, so that runs with the same traffic are compared in pairs.
    """
    flows = {scheme: _flows_of(metric, by_seed) for scheme, by_seed in outcomes.items()}
    known = {scheme: each for scheme, each in flows.items() if each is not None}
    seeds = sorted({seed for by_seed in outcomes.values() for seed in by_seed})
    if len(seeds) < LEAST_SEEDS:
        replicates = 0
    drawn = {scheme: np.empty(replicates) for scheme in known}
    again = _draws_of_seeds(seeds)
    streams = {
        (seed, units): _draws(seed, metric.of, units)
        for each in known.values()
        for seed, units in each.units
    }
    for number in range(replicates):
        times = again()
        counts = {units: draw(times[units[0]]) for units, draw in streams.items()}
        for scheme, each in known.items():
            own = np.concatenate([counts[units] for units in each.units])
            drawn[scheme][number] = metric.of_drawn(each, own)
    return {
        scheme: Measured(None)
        if each is None
        else Measured(metric.of_flows(each), drawn[scheme] if replicates else None)
        for scheme, each in flows.items()
    }


def _flows_of(metric: OfFlows, outcomes: BySeed) -> _Flows | None:
    """The flows of these outcomes; None if there are none."""
    found, owners, units, first = [], [], [], 0
    for seed, outcome in sorted(outcomes.items()):
        if outcome.samples is None:
            continue
        unit = samples.select(outcome.samples, metric.of, "unit").astype(np.int64)
        if not len(unit):
            continue
        found.append(samples.select(outcome.samples, metric.of, metric.column))
        owners.append(unit + first)
        units.append((seed, int(unit.max()) + 1))
        first += units[-1][1]
    if not found:
        return None
    values, owner = metric.scale * np.concatenate(found), np.concatenate(owners)
    worst_first = np.argsort(-values, kind="stable")
    values, owner = values[worst_first], owner[worst_first]
    sizes = np.bincount(owner, minlength=first)
    return _Flows(values, owner, tuple(units), sizes)


def together(outcomes: BySeed, of: str, column: str = "slowdown") -> NDArray[Any]:
    """A column of a class's flows, of all seeds; see `samples.select`."""
    tables = [each.samples for each in outcomes.values() if each.samples is not None]
    return np.concatenate([np.empty(0), *(samples.select(table, of, column) for table in tables)])


@dataclass(frozen=True)
class WithTimeout:
    """The share of a class's flows, over all seeds, that had a timeout."""

    of: str
    """A class or section, as in `Tail`."""
    unit: str = "% of the flows"

    @property
    def name(self) -> str:
        """The class."""
        return f"{_classes(self.of)} flows with a timeout"

    def measured(self, outcomes: BySeed, _replicates: int = REPLICATES) -> Measured:
        """The share in percent, without resampling."""
        late = together(outcomes, self.of, "with_timeout")
        return Measured(100 * float(late.mean()) if len(late) else None)


OverSeeds: TypeAlias = Literal["mean", "largest"]
_OVER_SEEDS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "largest": np.max}


@dataclass(frozen=True)
class Number:
    """A number of the summary, by its dotted path, or one that a function returned."""

    path: str
    name: str
    unit: str = ""
    scale: float = 1.0
    over_seeds: OverSeeds = "mean"

    def measured(self, outcomes: BySeed, _replicates: int = REPLICATES) -> Measured:
        """The mean over seeds, or the largest, without resampling."""
        found = [outcome.numbers.get(self.path) for outcome in outcomes.values()]
        known = [number for number in found if number is not None]
        return Measured(self.scale * float(_OVER_SEEDS[self.over_seeds](known)) if known else None)


@dataclass(frozen=True)
class Sum:
    """The sum of some numbers of the summary."""

    paths: tuple[str, ...]
    name: str
    unit: str = ""

    def measured(self, outcomes: BySeed, _replicates: int = REPLICATES) -> Measured:
        """The mean over seeds; without a number if one of them is missing."""
        found = [[each.numbers.get(path) for path in self.paths] for each in outcomes.values()]
        known = [sum(n for n in numbers if n is not None) for numbers in found]
        if not found or any(number is None for numbers in found for number in numbers):
            return Measured(None)
        return Measured(float(np.mean(known)))


@dataclass(frozen=True)
class Total:
    """A sum of counts of all kinds."""

    within: str
    """The first part of the counts' paths."""
    name: str
    unit: str
    over_seeds: OverSeeds = "mean"

    def measured(self, outcomes: BySeed, _replicates: int = REPLICATES) -> Measured:
        """The mean over seeds, or the largest; a missing count is 0."""
        totals = [total(outcome, self.within) for outcome in outcomes.values()]
        return Measured(float(_OVER_SEEDS[self.over_seeds](totals)) if totals else None)


@dataclass(frozen=True)
class Share:
    """The share of one count in a sum of counts, over all switches and seeds."""

    part: str
    """The last part of the path of the count."""
    of: tuple[str, ...]
    within: str
    """The first part of the counts' paths."""
    name: str
    unit: str = "%"

    def measured(self, outcomes: BySeed, _replicates: int = REPLICATES) -> Measured:
        """The share in percent."""
        counts = dict.fromkeys(self.of, 0.0)
        for outcome in outcomes.values():
            for path, number in outcome.numbers.items():
                last = path.rpartition(".")[2]
                if path.startswith(f"{self.within}.") and last in counts:
                    counts[last] += number or 0
        total = sum(counts.values())
        return Measured(100 * counts[self.part] / total if total else None)


def total(outcome: Outcome, within: str) -> float:
    """The sum of the counts whose paths begin with this part."""
    return sum(n or 0 for path, n in outcome.numbers.items() if path.startswith(f"{within}."))


def of_each(metric: Metric, outcomes: Mapping[str, BySeed], replicates: int) -> dict[str, Measured]:
    """A metric of several schemes, which share the same draws."""
    if isinstance(metric, OfFlows):
        return _resampled(metric, outcomes, replicates)
    return {scheme: metric.measured(each, replicates) for scheme, each in outcomes.items()}


def _classes(of: str) -> str:
    """A description of classes or of a section."""
    return of.removeprefix(samples.SECTION).replace("+", " and ")


def _first_above(counts: NDArray[np.int64], number: int) -> int:
    """The index at which the cumulative counts first exceed a number."""
    return int(np.searchsorted(np.cumsum(counts), number, side="right"))


def _draws_of_seeds(seeds: Sequence[int]) -> Callable[[], Mapping[int, int]]:
    """How often each seed is drawn in each replicate; always the same for the same seeds."""
    stream = np.random.default_rng([zlib.crc32(b"seeds"), *seeds])

    def draw() -> Mapping[int, int]:
        times = np.bincount(stream.integers(len(seeds), size=len(seeds)), minlength=len(seeds))
        return dict(zip(seeds, times.tolist(), strict=True))

    return draw


def _draws(seed: int, name: str, units: int) -> Callable[[int], NDArray[np.int64]]:
    """How often each unit is drawn if its seed is drawn so often; the same for the same units."""
    stream = np.random.default_rng([seed, zlib.crc32(name.encode()), units])
    return lambda times: np.bincount(stream.integers(units, size=times * units), minlength=units)
