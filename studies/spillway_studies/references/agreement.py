"""How close the flows of one run are to those of another."""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spillway.base.errors import ScenarioError

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
"""The kinds of flows that are compared flow by flow."""
CLASSES = (*_SIZES, "incast")
PLACES = [(kind, p) for kind in CLASSES for p in PERCENTILES]
"""The percentiles that are compared, in their order."""


MEDIAN_WITHIN, TAIL_WITHIN = 0.05, 0.15


class Verdict(enum.StrEnum):
    """How two numbers compare."""

    near = "agrees"
    """A median is within 5%, a tail within 15%."""
    undecided = "undecided"
    """It is not, but one number lies within the other's wide 95% interval."""
    in_range = "in range"
    """It is not, but the reference's lies within the range of our runs."""
    outside = "differs"
    told = "told"
    """It has no bound."""


def verdict(difference: float, p: float, number: float, interval: tuple[float, float]) -> Verdict:
    """The verdict on a difference at a percentile, or on a number and the other's interval."""
    if abs(difference) <= (MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN):
        return Verdict.near
    low, high = interval
    return Verdict.undecided if low <= number <= high else Verdict.outside


@dataclass(frozen=True)
class Bounds:
    """Which compared numbers keep the bounds that validation states."""

    compared: int
    undecided: list[str]
    """Numbers beyond the bound but inside the interval, with their differences."""
    broken: list[str]
    """Numbers that differ, with their differences."""

    @property
    def is_kept(self) -> bool:
        """Whether some number was compared, and none differs."""
        return self.compared > 0 and not self.broken

    @property
    def rule(self) -> str:
        """The bounds in words."""
        return f"medians within {100 * MEDIAN_WITHIN:g}%, tails within {100 * TAIL_WITHIN:g}%"

    @property
    def sentence(self) -> str:
        """The result in one line."""
        if not self.compared:
            return "nothing could be compared"
        counts = [f"{self.compared - len(self.undecided) - len(self.broken)} agree"]
        if self.undecided:
            named = "; ".join(self.undecided)
            counts.append(f"{len(self.undecided)} undecided, inside the 95% interval ({named})")
        if self.broken:
            counts.append(f"{len(self.broken)} differ ({'; '.join(self.broken)})")
        return f"of {self.compared} numbers {', '.join(counts)}; {self.rule}"


def bounds(compared: Iterable[tuple[str, float, Verdict]]) -> Bounds:
    """Counts comparisons, given as name, difference as a fraction, and verdict."""
    found = list(compared)

    def named(of: Verdict) -> list[str]:
        return [f"{name} {difference:+.1%}" for name, difference, verdict in found if verdict is of]

    return Bounds(len(found), named(Verdict.undecided), named(Verdict.outside))


@dataclass(frozen=True)
class Row:
    """One percentile of one class: the reference's and ours."""

    flows: str
    percentile: float
    reference: float
    interval: tuple[float, float]
    """95% bootstrap interval of the reference."""
    ours: float
    drawn: tuple[float, float] | None
    """The least and the greatest in runs with paths that we have drawn, if there are any."""

    @property
    def difference(self) -> float:
        """The difference of ours from the reference, as a fraction of it."""
        return self.ours / self.reference - 1

    @property
    def verdict(self) -> Verdict:
        """Ours compared with the reference or, failing that, with its interval."""
        return verdict(self.difference, self.percentile, self.ours, self.interval)

    @property
    def name(self) -> str:
        """A name such as "incast p99"."""
        return f"{self.flows} p{100 * self.percentile:g}"


@dataclass(frozen=True)
class Agreement:
    """How well the flows of one kind agree, flow by flow."""

    flows: str
    count: int
    """Flows of the kind in the reference."""
    matched: int
    correlation: float
    """The correlation of the logarithms of FCT."""
    median_ratio: float
    """The median of our FCT over the reference's."""
    mean_ratio: float
    """The geometric mean of the same ratio."""
    within: list[float]
    """The shares of flows whose FCT differs by at most 1%, 5% and 10%."""


@dataclass(frozen=True)
class Flows:
    """The flows of a run, the reference's or ours."""

    source: str
    size_bytes: Floats
    start_us: Floats
    fct_ns: Floats
    slowdown: Floats
    is_incast: Booleans

    def are(self, kind: str) -> Booleans:
        """Which flows belong to a class, or to the background."""
        if kind == "incast":
            return self.is_incast
        background = ~self.is_incast
        return background & _SIZES[kind](self.size_bytes) if kind in _SIZES else background

    def slowdowns(self, kind: str) -> Floats:
        """The slowdowns of the flows of a kind."""
        wanted = self.are(kind)
        if not wanted.any():
            raise ScenarioError(f"{self.source}: there are no {kind} flows")
        return self.slowdown[wanted]

    def fcts(self, kind: str) -> dict[tuple[str, str], float]:
        """The FCT of the flows of a kind that have ended, by size and start.

        The reference gives six digits of both. Flows that these do not distinguish are left out.
        """
        wanted = self.are(kind)
        sizes, starts = self.size_bytes[wanted], self.start_us[wanted]
        keys = [(f"{size:.6g}", f"{start:.6g}") for size, start in zip(sizes, starts, strict=True)]
        counts = Counter(keys)
        fcts = zip(keys, self.fct_ns[wanted].tolist(), strict=True)
        return {key: fct for key, fct in fcts if counts[key] == 1 and fct < math.inf}

    @property
    def late(self) -> dict[str, int]:
        """The number of flows of each class that took longer than the least timeout."""
        is_late = self.fct_ns > LEAST_TIMEOUT_MS * 1e6
        return {kind: int((is_late & self.are(kind)).sum()) for kind in CLASSES}


def percentile(values: Floats, p: float) -> float:
    """The percentile by the reference's rule: sorted[int(n p) - 1]."""
    import numpy as np

    return float(np.sort(values)[max(int(len(values) * p) - 1, 0)])


def agreement(kind: str, reference: Flows, ours: Flows) -> Agreement:
    """Compares the flows of one kind, flow by flow."""
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
    """Compares the flows of one kind whose FCT is known on both sides."""
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


def of_classes(classes: Mapping[str, Booleans], there: Floats, here: Floats) -> list[Agreement]:
    """Compares the flows of every class that are complete on both sides.

    Classes with less than two such flows are left out.
    """
    import numpy as np

    found = []
    for name, members in classes.items():
        both = members & np.isfinite(there) & np.isfinite(here)
        if both.sum() > 1:
            found.append(of_pairs(name, int(members.sum()), there[both], here[both]))
    return found


def bootstrap(flows: Floats | Sequence[Floats], p: float) -> tuple[float, float]:
    """The 95% interval of a percentile, by resampling flows.

    Flows that depend on each other, such as a query's, are given in groups, which are resampled.
    """
    import numpy as np

    picks = np.random.default_rng(1).integers(0, len(flows), (_RESAMPLES, len(flows)))
    if isinstance(flows, np.ndarray):
        place = max(int(len(flows) * p) - 1, 0)
        return _middle(np.partition(flows[picks], place, axis=1)[:, place])
    found = [percentile(np.concatenate([flows[place] for place in pick]), p) for pick in picks]
    return _middle(np.array(found))


def _middle(found: Floats) -> tuple[float, float]:
    """The range of the middle 95% of the values."""
    found.sort()
    return float(found[int(0.025 * _RESAMPLES)]), float(found[int(0.975 * _RESAMPLES)])
