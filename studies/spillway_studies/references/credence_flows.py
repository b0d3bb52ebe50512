"""The flows of a run of Credence's program, the program's own or ours."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from spillway.base.errors import ScenarioError
from spillway_studies.references import replayed
from spillway_studies.references.agreement import Agreement, of_pairs
from spillway_studies.references.classes import Classed, are_incast
from spillway_studies.references.files import ONE_RUN, read
from spillway_studies.references.flow_lists import fct_ns
from spillway_studies.references.kinds import Booleans, Floats
from spillway_studies.references.percentiles import PERCENTILES

_ORIGIN_US = 1.1e6 - 10e6
"""Our time 0 in the times of the reference's output."""
_BASE_RTT_NS, _NS_PER_BYTE = 24_000.0, 0.8
"""The reference's slowdown is relative to the propagation both ways, and the payload at 10 Gbps."""
_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000
_SIZES: dict[str, Callable[[Floats], Booleans]] = {
    "short": lambda size: size <= _SHORT_BYTES,
    "medium": lambda size: (size > _SHORT_BYTES) & (size < _LONG_BYTES),
    "long": lambda size: size >= _LONG_BYTES,
}
BACKGROUND = ("background", *_SIZES)
"""The kinds of flows that are compared flow by flow."""
CLASSES = (*_SIZES, "incast")
PLACES = [(kind, p) for kind in CLASSES for p in PERCENTILES]
"""The percentiles that are compared, in their order."""


@dataclass(frozen=True)
class Flows(Classed):
    """The flows of a run, the reference's or ours."""

    source: str
    size_bytes: Floats
    start_us: Floats
    fct_ns: Floats
    slowdown: Floats
    is_incast: Booleans
    sizes: ClassVar = _SIZES

    def class_bytes(self) -> Floats:
        """The sizes of flows by which they have classes."""
        return self.size_bytes

    def slowdowns(self, kind: str) -> Floats:
        """The slowdowns of the flows of a kind."""
        wanted = self.are(kind)
        if not wanted.any():
            raise ScenarioError(f"{self.source}: there are no {kind} flows")
        return self.slowdown[wanted]

    def by_query(self) -> list[Floats]:
        """The slowdowns of the flows of each query: they have the same start and size."""
        keys = np.stack([self.start_us[self.is_incast], self.size_bytes[self.is_incast]])
        queries, query = np.unique(keys, axis=1, return_inverse=True)
        slowdown = self.slowdowns("incast")
        return [slowdown[query == place] for place in range(queries.shape[1])]

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


@dataclass(frozen=True)
class Run(replayed.Run):
    """One of our runs, compared with the reference."""

    drops: int
    marks: int
    packet_hops: int
    occupancy_p99: float


def agreement(kind: str, reference: Flows, ours: Flows) -> Agreement:
    """Compares the flows of one kind, flow by flow."""
    there, here = reference.fcts(kind), ours.fcts(kind)
    common = [key for key in there if key in here]
    if len(common) < 2:
        problem = f"{reference.source}: it has {len(common)} of the {kind} flows"
        raise ScenarioError(problem, ONE_RUN)
    pairs = np.array([[values[key] for key in common] for values in (there, here)])
    return of_pairs(kind, int(reference.are(kind).sum()), *pairs)


def read_flows(file: Path) -> Flows:
    """The flows of the program's output."""
    columns = ("size_bytes", "flowstart_us", "fct_ns", "slowdown", "incast")
    table = read(file, "the output", columns)
    size, start, fct, slowdown, incast = (table[name].to_numpy() for name in columns)
    return Flows(str(file), size, start, fct, slowdown, incast.astype(bool))


def own_flows(table: pa.Table) -> Flows:
    """The flows of our run, with times and slowdowns as the program tells them."""
    size, fct = table["size_bytes"].to_numpy(), fct_ns(table)
    return Flows(
        "the list of flows",
        size,
        _ORIGIN_US + table["start_ps"].to_numpy() / 1e6,
        fct,
        fct / (_BASE_RTT_NS + size * _NS_PER_BYTE),
        are_incast(table),
    )
