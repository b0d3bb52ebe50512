"""Numbers of a reference beside ours: percentiles, flows one by one, and whether they are near.

A compared number is a row, a part of the JSON document: it has `reference` and `ours`, then the
`difference` of ours as a fraction of the reference, and the `verdict` on it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from spillway_studies.references.files import Booleans, Floats

Json: TypeAlias = dict[str, Any]
Range: TypeAlias = tuple[float, float]
Judged: TypeAlias = "tuple[str, float | str, Verdict]"
"""A comparison: its name, the difference as a fraction or in words, and the verdict."""

PERCENTILES = (0.5, 0.95, 0.99)
MEDIAN_WITHIN, TAIL_WITHIN = 0.05, 0.15
RULE = f"medians within {100 * MEDIAN_WITHIN:g}%, tails within {100 * TAIL_WITHIN:g}%"
SHARES_WITHIN = (0.01, 0.05, 0.1)
_RESAMPLES = 1000


class Verdict(enum.StrEnum):
    """How two numbers compare."""

    near = "agrees"
    """Within the bound: a median is within 5%, a tail within 15%."""
    undecided = "undecided"
    """Beyond the bound, but one number lies within the other's wide 95% interval."""
    in_range = "in range"
    """Beyond the bound, but the reference's number lies within the range of our runs."""
    outside = "differs"
    told = "told"
    """The number has no bound, so it is shown but not judged."""


def within(p: float) -> float:
    """How far a percentile may be off, as a fraction of the reference's."""
    return MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN


def off(ours: float, reference: float) -> float:
    """The difference of ours from the reference, as a fraction of it."""
    if reference:
        return ours / reference - 1
    return math.inf if ours else 0.0


def compared(
    row: Json, bound: float | None, *otherwise: tuple[Verdict, float, Range | None]
) -> Json:
    """A row with the difference and the verdict on it.

    Args:
        row: what is known of the number, with `reference` and `ours`.
        bound: the allowed difference as a fraction; None if the number is shown but not judged.
        otherwise: verdicts on what is farther off, each if a number lies in a range; the first that
            holds counts.
    """
    difference = off(row["ours"], row["reference"])
    if bound is None:
        verdict = Verdict.told
    elif abs(difference) <= bound:
        verdict = Verdict.near
    else:
        ranges = ((its, number, ends) for its, number, ends in otherwise if ends is not None)
        holding = (its for its, number, (low, high) in ranges if low <= number <= high)
        verdict = next(holding, Verdict.outside)
    return row | {"difference": difference, "verdict": verdict}


def percentile_row(
    flows: str, p: float, reference: float, interval: Range, ours: float, drawn: Range | None = None
) -> Json:
    """One percentile of one class: the reference's and ours.

    Args:
        flows: the class.
        p: which percentile, as a fraction.
        reference: the reference's.
        interval: its 95% bootstrap interval.
        ours: ours.
        drawn: the least and the greatest of further runs of ours, if there are any.
    """
    return compared(
        {
            "flows": flows,
            "percentile": p,
            "reference": reference,
            "interval": interval,
            "ours": ours,
            "drawn": drawn,
        },
        within(p),
        (Verdict.undecided, ours, interval),
    )


def percentile_name(flows: str, p: float) -> str:
    """A name such as "incast p99"."""
    return f"{flows} p{100 * p:g}"


def judged(run: str, rows: Iterable[Json], key: str) -> list[Judged]:
    """Comparisons from rows; `key` has a number's name or, with percentiles, the class."""
    found = []
    for row in rows:
        name = percentile_name(row[key], row["percentile"]) if "percentile" in row else row[key]
        found.append((f"{run} {name}", row["difference"], row["verdict"]))
    return found


def ends(values: Sequence[float]) -> Range | None:
    """The least and the greatest, if there are any."""
    return (min(values), max(values)) if values else None


def percentile(values: Floats, p: float) -> float:
    """The percentile by the reference's rule: sorted[int(n p) - 1]."""
    return float(np.sort(values)[max(int(len(values) * p) - 1, 0)])


def nearest_rank(values: Floats, p: float) -> float:
    """The percentile by nearest rank: sorted[ceil(n p) - 1]."""
    return float(np.sort(values)[math.ceil(len(values) * p) - 1])


def bootstrap(flows: Floats | Sequence[Floats], p: float) -> Range:
    """The 95% interval of a percentile, by resampling flows.

    Flows that depend on each other, such as a query's, are given in groups, which are resampled.
    """
    picks = np.random.default_rng(1).integers(0, len(flows), (_RESAMPLES, len(flows)))
    if isinstance(flows, np.ndarray):
        place = max(int(len(flows) * p) - 1, 0)
        found = np.partition(flows[picks], place, axis=1)[:, place]
    else:
        resampled = (np.concatenate([flows[place] for place in pick]) for pick in picks)
        found = np.array([percentile(each, p) for each in resampled])
    found.sort()
    return float(found[int(0.025 * _RESAMPLES)]), float(found[int(0.975 * _RESAMPLES)])


def agreement(kind: str, count: int, there: Floats, here: Floats) -> Json:
    """How well the flows of one kind agree, flow by flow, whose FCT is known on both sides.

    `count` is the number of flows of the kind in the reference. The correlation is that of the
    logarithms of FCT. The median and the geometric mean are of our FCT over the reference's, and
    `within` the shares of flows whose FCT differs by at most 1%, 5% and 10%.
    """
    logs = np.log([there, here])
    ratios = np.exp(logs[1] - logs[0])
    return {
        "flows": kind,
        "count": count,
        "matched": len(there),
        "correlation": float(np.corrcoef(logs)[0, 1]),
        "median_ratio": float(np.median(ratios)),
        "mean_ratio": float(np.exp(np.mean(logs[1] - logs[0]))),
        "within": [float(np.mean(abs(ratios - 1) <= bound)) for bound in SHARES_WITHIN],
    }


def agreements(classes: Mapping[str, Booleans], there: Floats, here: Floats) -> list[Json]:
    """Compares the flows of every class that are complete on both sides.

    Classes with less than two such flows are left out.
    """
    found = []
    for name, members in classes.items():
        both = members & np.isfinite(there) & np.isfinite(here)
        if both.sum() > 1:
            found.append(agreement(name, int(members.sum()), there[both], here[both]))
    return found
