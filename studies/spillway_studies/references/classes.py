"""Flows in classes: those of the background by size, and incast, a class of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from spillway_studies.references.kinds import Booleans, Floats
from spillway_studies.references.percentiles import bootstrap

LEAST_TIMEOUT_MS = 10


class Classed:
    """The flows of a run, the reference's or ours, in classes."""

    sizes: ClassVar[Mapping[str, Callable[[Floats], Booleans]]]
    """The classes of the background."""
    is_incast: Booleans
    fct_ns: Floats

    def are(self, kind: str) -> Booleans:
        """Which flows belong to a class, or to the background."""
        if kind == "incast":
            return self.is_incast
        background = ~self.is_incast
        return (
            background & self.sizes[kind](self.class_bytes()) if kind in self.sizes else background
        )

    @property
    def late(self) -> dict[str, int]:
        """The number of flows of each class that took longer than the least timeout."""
        is_late = self.fct_ns > LEAST_TIMEOUT_MS * 1e6
        return {kind: int((is_late & self.are(kind)).sum()) for kind in (*self.sizes, "incast")}

    def interval(self, kind: str, p: float) -> tuple[float, float]:
        """The 95% interval of a percentile of slowdown, by flow, or for incast by query."""
        return bootstrap(self.by_query() if kind == "incast" else self.slowdowns(kind), p)

    def class_bytes(self) -> Floats:
        """The sizes of flows by which they have classes."""
        raise NotImplementedError

    def slowdowns(self, kind: str) -> Floats:
        """The slowdowns of the flows of a kind."""
        raise NotImplementedError

    def by_query(self) -> list[Floats]:
        """The slowdowns of the flows of each query."""
        raise NotImplementedError


def are_incast(listed: pa.Table) -> Booleans:
    """Which flows of a list are of the class `incast`."""
    return np.array([name == "incast" for name in listed["class"].to_pylist()])
