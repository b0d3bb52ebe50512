"""How close the flows of one run are to those of another."""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spillway.errors import ScenarioError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Booleans = npt.NDArray[np.bool_]

PERCENTILES = (0.5, 0.95, 0.99)
WITHIN = (0.01, 0.05, 0.1)
_RESAMPLES = 1000
LEAST_TIMEOUT_MS = 10

_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000
_SIZES: dict[str, Callable[[Floats], Booleans]] = {
    "short": lambda size: size <= _SHORT_BYTES,
    "medium": lambda size: (size > _SHORT_BYTES) & (size < _LONG_BYTES),
    "long": lambda size: size >= _LONG_BYTES,
}
"""The classes of the background, by the sizes of its flows; incast is a class of its own."""
BACKGROUND = ("background", *_SIZES)
"""The kinds of flows that are compared one by one."""
CLASSES = (*_SIZES, "incast")
PLACES = [(kind, p) for kind in CLASSES for p in PERCENTILES]
"""The percentiles that are compared, in their order."""


MEDIAN_WITHIN, TAIL_WITHIN = 0.05, 0.15


class Verdict(enum.StrEnum):
    """How one number stands to the other."""

    near = "agrees"
    """A median is within 5%, a tail within 15%."""
    undecided = "undecided"
    """It is not, but the one number is inside the other's 95% interval, which is that wide."""
    outside = "differs"


def verdict(difference: float, p: float, number: float, interval: tuple[float, float]) -> Verdict:
    """Of a difference at a percentile, or else of a number and the other one's interval."""
    if abs(difference) <= (MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN):
        return Verdict.near
    low, high = interval
    return Verdict.undecided if low <= number <= high else Verdict.outside


@dataclass(frozen=True)
class Bounds:
    """Which of the numbers that were compared keep the bounds that validation states."""

    compared: int
    undecided: list[str]
    """Those beyond the bound for the difference, but inside the interval, and by how much."""
    broken: list[str]
    """Those that differ, and by how much."""

    @property
    def sentence(self) -> str:
        """What came of it, in one line."""
        counts = [f"{self.compared - len(self.undecided) - len(self.broken)} agree"]
        if self.undecided:
            named = "; ".join(self.undecided)
            counts.append(f"{len(self.undecided)} undecided, inside the 95% interval ({named})")
        if self.broken:
            counts.append(f"{len(self.broken)} differ ({'; '.join(self.broken)})")
        rule = f"medians within {100 * MEDIAN_WITHIN:g}%, tails within {100 * TAIL_WITHIN:g}%"
        return f"of {self.compared} numbers {', '.join(counts)}; {rule}"


def bounds(compared: Iterable[tuple[str, float, Verdict]]) -> Bounds:
    """Of what was compared: its name, the difference as a fraction, the verdict."""
    found = list(compared)

    def named(of: Verdict) -> list[str]:
        return [f"{name} {difference:+.1%}" for name, difference, verdict in found if verdict is of]

    return Bounds(len(found), named(Verdict.undecided), named(Verdict.outside))


@dataclass(frozen=True)
class Row:
    """One percentile of one class, there and here."""

    flows: str
    percentile: float
    reference: float
    interval: tuple[float, float]
    """95% bootstrap interval of the reference."""
    ours: float
    drawn: tuple[float, float] | None
    """Least and greatest with paths that we have drawn, where there are such runs."""

    @property
    def difference(self) -> float:
        """How far ours is from the reference, as a fraction of it."""
        return self.ours / self.reference - 1

    @property
    def verdict(self) -> Verdict:
        """Ours beside the reference, and else beside its interval."""
        return verdict(self.difference, self.percentile, self.ours, self.interval)

    @property
    def name(self) -> str:
        """What it is of: "incast p99"."""
        return f"{self.flows} p{100 * self.percentile:g}"


@dataclass(frozen=True)
class Agreement:
    """How close the flows of one kind are, one by one."""

    flows: str
    count: int
    """Flows of the kind in the reference."""
    matched: int
    correlation: float
    """Of the logarithms of FCT."""
    median_ratio: float
    """Of our FCT to the reference's."""
    mean_ratio: float
    """The geometric mean of the same."""
    within: list[float]
    """The shares of flows whose FCT differs by at most 1%, 5% and 10%."""


@dataclass(frozen=True)
class Flows:
    """Flows of a run, there or here."""

    source: str
    size_bytes: Floats
    start_us: Floats
    fct_ns: Floats
    slowdown: Floats
    is_incast: Booleans

    def are(self, kind: str) -> Booleans:
        """Which of them are of a class, or of the background."""
        if kind == "incast":
            return self.is_incast
        background = ~self.is_incast
        return background & _SIZES[kind](self.size_bytes) if kind in _SIZES else background

    def slowdowns(self, kind: str) -> Floats:
        """The slowdowns of those of a kind."""
        wanted = self.are(kind)
        if not wanted.any():
            raise ScenarioError(f"{self.source}: there are no {kind} flows")
        return self.slowdown[wanted]

    def fcts(self, kind: str) -> dict[tuple[str, str], float]:
        """The FCT of those of a kind that have ended, by size and start.

        The reference has six digits of both. Flows that these do not tell apart are left out.
        """
        wanted = self.are(kind)
        sizes, starts = self.size_bytes[wanted], self.start_us[wanted]
        keys = [(f"{size:.6g}", f"{start:.6g}") for size, start in zip(sizes, starts, strict=True)]
        counts = Counter(keys)
        fcts = zip(keys, self.fct_ns[wanted].tolist(), strict=True)
        return {key: fct for key, fct in fcts if counts[key] == 1 and fct < math.inf}

    @property
    def late(self) -> dict[str, int]:
        """How many of each class took longer than the least timeout."""
        is_late = self.fct_ns > LEAST_TIMEOUT_MS * 1e6
        return {kind: int((is_late & self.are(kind)).sum()) for kind in CLASSES}


def percentile(values: Floats, p: float) -> float:
    """The reference's rule: sorted[int(n p) - 1]."""
    import numpy as np

    return float(np.sort(values)[max(int(len(values) * p) - 1, 0)])


def agreement(kind: str, reference: Flows, ours: Flows) -> Agreement:
    """The flows of one kind, one by one."""
    import numpy as np

    there, here = reference.fcts(kind), ours.fcts(kind)
    common = [key for key in there if key in here]
    if len(common) < 2:
        raise ScenarioError(
            f"{reference.source}: it has {len(common)} of the {kind} flows",
            "the flows and the output must be of one run",
        )
    pairs = np.array([[values[key] for key in common] for values in (there, here)])
    return of_pairs(kind, int(reference.are(kind).sum()), *pairs)


def of_pairs(kind: str, count: int, there: Floats, here: Floats) -> Agreement:
    """The flows of one kind of which the FCT is known on both sides."""
    import numpy as np

    logs = np.log([there, here])
    ratios = np.exp(logs[1] - logs[0])
    return Agreement(
        kind,
        count,
        len(there),
        float(np.corrcoef(logs)[0, 1]),
        float(np.median(ratios)),
        float(np.exp(np.mean(logs[1] - logs[0]))),
        [float(np.mean(abs(ratios - 1) <= bound)) for bound in WITHIN],
    )


def bootstrap(values: Floats, p: float) -> tuple[float, float]:
    """The 95% interval of a percentile, by resampling flows."""
    import numpy as np

    random = np.random.default_rng(1)
    picked = random.choice(values, (_RESAMPLES, len(values)))
    place = max(int(len(values) * p) - 1, 0)
    return _middle(np.partition(picked, place, axis=1)[:, place])


def bootstrap_groups(groups: Sequence[Floats], p: float) -> tuple[float, float]:
    """The same by resampling groups of flows that share their fate, such as those of a query."""
    import numpy as np

    random = np.random.default_rng(1)
    picks = random.integers(0, len(groups), (_RESAMPLES, len(groups)))
    found = [percentile(np.concatenate([groups[place] for place in pick]), p) for pick in picks]
    return _middle(np.array(found))


def _middle(found: Floats) -> tuple[float, float]:
    """Between which values 95% of them are."""
    found.sort()
    return float(found[int(0.025 * _RESAMPLES)]), float(found[int(0.975 * _RESAMPLES)])
