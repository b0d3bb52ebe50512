"""How much each factor matters for several numbers of a run.

A percentile that lies where timeouts begin jumps between two values. So beside the metric of the
ranks there are the share of flows with a timeout, the slowdown of the others, and goodput.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spillway.contest.effects import Effects, effects
from spillway.contest.plan import Plan
from spillway.contest.ranks import Estimate

Document = dict[str, Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Explained:
    """A number of a run, whose differences are explained."""

    title: str
    column: str
    is_ratio: bool = True
    """Whether its logarithm is explained, so that levels have ratios."""


BESIDE = (
    Explained("flows with a timeout", "timeouts", is_ratio=False),
    Explained("mean without a timeout", "without_timeout.all.mean"),
    Explained("goodput", "goodput_gbps.all"),
)


def explained(plan: Plan, runs: pa.Table, main: str) -> list[Document]:
    """The effects on the main metric, and on others; what never differs is left out."""
    every = (Explained(main, f"rank.{main}"), *BESIDE)
    found = (_of(each, plan, runs) for each in every if each.column in runs.column_names)
    return [each for each in found if each is not None]


def _of(asked: Explained, plan: Plan, runs: pa.Table) -> Document | None:
    numbers = runs[asked.column].to_numpy(zero_copy_only=False)
    is_there = np.isfinite(numbers)
    if asked.is_ratio:
        is_there &= np.nan_to_num(numbers) > 0
    part = runs.filter(pa.array(is_there))
    columns: Mapping[str, list[str]] = {
        name: part[name].to_pylist() for name in ("scenario", *(each.name for each in plan.factors))
    }
    values = np.log(numbers[is_there]) if asked.is_ratio else numbers[is_there]
    contexts, seeds = part["context"].to_pylist(), part["seed"].to_pylist()
    found = effects(values, seeds, columns, contexts, plan.ranked.name)
    if found is None:
        return None
    shown = _exp if asked.is_ratio else _itself
    return {
        "metric": asked.title,
        "is_ratio": asked.is_ratio,
        "excluded": int((~is_there).sum()),
        **_told(found, shown),
    }


def _exp(each: Estimate) -> Estimate:
    return Estimate(*np.exp((each.value, each.low, each.high)).tolist())


def _itself(each: Estimate) -> Estimate:
    return each


def _told(found: Effects, shown: Callable[[Estimate], Estimate]) -> Document:
    shares = sorted(found.shares.items(), key=lambda pair: -pair[1].value)
    return {
        "runs": found.runs,
        "left": found.left,
        "few": [list(each) for each in found.few],
        "shares": [{"of": list(of), **share.told} for of, share in shares],
        "levels": {
            name: [
                {"level": level, **shown(each).told}
                for level, each in sorted(levels.items(), key=lambda pair: pair[1].value)
            ]
            for name, levels in found.levels.items()
        },
    }
