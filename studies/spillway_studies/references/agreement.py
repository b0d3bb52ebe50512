"""How close the flows of one run are to those of another, flow by flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spillway_studies.references.kinds import Booleans, Floats

WITHIN = (0.01, 0.05, 0.1)


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


def of_pairs(kind: str, count: int, there: Floats, here: Floats) -> Agreement:
    """Compares the flows of one kind whose FCT is known on both sides."""
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
    found = []
    for name, members in classes.items():
        both = members & np.isfinite(there) & np.isfinite(here)
        if both.sum() > 1:
            found.append(of_pairs(name, int(members.sum()), there[both], here[both]))
    return found
