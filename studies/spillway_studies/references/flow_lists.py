"""Lists of flows: what they must be, and their order in a run of ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spillway.base.errors import ScenarioError
from spillway_studies.references.kinds import Floats, Whole


def check(
    source: str,
    column: Mapping[str, npt.NDArray[Any]],
    hosts: int,
    above_0: Iterable[str],
    from_0: Iterable[str],
) -> None:
    """Refuses flows that cannot be those of a run in a network with so many hosts.

    `source` begins the message; the other names are of columns whose values have a least one.
    """
    for name in ("src", "dst"):
        if ((column[name] < 0) | (column[name] >= hosts)).any():
            problem = f"{name}: the network has the hosts 0 to {hosts - 1} only"
            raise ScenarioError(f"{source}: {problem}")
    if (column["src"] == column["dst"]).any():
        raise ScenarioError(f"{source}: a flow has the same src and dst")
    for name in above_0:
        if (column[name] <= 0).any():
            raise ScenarioError(f"{source}: {name} must be above 0")
    for name in from_0:
        if (column[name] < 0).any():
            raise ScenarioError(f"{source}: {name} must not be below 0")


def numbering(listed: pa.Table | Mapping[str, npt.NDArray[Any]]) -> Whole:
    """The order in which a run numbers the flows of a list, as places in the list."""
    # What decides first comes last.
    return np.lexsort([np.asarray(listed[key]) for key in ("size_bytes", "dst", "src", "start_ns")])


def as_listed(flows: pa.Table, order: Whole) -> pa.Table:
    """A run's flows in the order of the list. `order` is how the run numbers them."""
    return flows.sort_by("flow_id").take(np.argsort(order))


def fct_ns(flows: pa.Table, column: str = "fct_ps") -> Floats:
    """The completion times of a run's flows, infinite for those that are not complete."""
    found: Floats = flows[column].cast("double").fill_null(math.inf).to_numpy() / 1e3
    return found
