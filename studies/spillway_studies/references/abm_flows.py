"""The flows and the output of ABM's program, and our flows in their order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spillway.base.errors import ScenarioError
from spillway_studies.references.abm_runs import Experiment
from spillway_studies.references.classes import Classed, are_incast
from spillway_studies.references.files import ONE_RUN, read
from spillway_studies.references.flow_lists import as_listed, fct_ns, numbering
from spillway_studies.references.kinds import Booleans, Floats, Whole

_BASE_RTT_NS = 80_000
_NS_PER_BYTE = 0.8

_SIZES: dict[str, Callable[[Floats], Booleans]] = {
    "short": lambda size: size < 100e3,
    "medium": lambda size: (size >= 100e3) & (size < 1e6),
    "large": lambda size: (size >= 1e6) & (size < 30e6),
    "longest": lambda size: size >= 30e6,
}
"""The classes of the background, by the size that the reference gives a flow."""
CLASSES = (*_SIZES, "incast")
BACKGROUND = ("background", *_SIZES)
"""The kinds of flows that are compared flow by flow."""


@dataclass(frozen=True)
class Flows(Classed):
    """The flows that are compared, in the order of the list, and their times on one side."""

    payload: Whole
    is_incast: Booleans
    query: Floats
    """NaN for the background, and if the reference's output does not give it."""
    rank: Floats
    """The rank among the query's flows, by end."""
    fct_ns: Floats
    sizes: ClassVar = _SIZES

    def class_bytes(self) -> Floats:
        """The reference's size: payload, and 64 bytes per 1400 of it, including fractions."""
        return self.payload + ((self.payload - 1) / 1400.0 + 1) * 64

    @property
    def slowdown(self) -> Floats:
        """The reference's slowdown: FCT over 80 us plus the size at 10 Gbps."""
        return self.fct_ns / (_BASE_RTT_NS + self.class_bytes() * _NS_PER_BYTE)

    def slowdowns(self, kind: str) -> Floats:
        """The slowdowns of the flows of a kind."""
        return self.slowdown[self.are(kind)]

    def by_query(self) -> list[Floats]:
        """The slowdowns of each query. Flows of unknown queries count as one query."""
        query, slowdown = self.query[self.is_incast], self.slowdowns("incast")
        groups = [slowdown[query == number] for number in np.unique(query[~np.isnan(query)])]
        unknown = slowdown[np.isnan(query)]
        return [*groups, unknown] if len(unknown) else groups


def read_reference(folder: Path, experiment: Experiment) -> tuple[pa.Table, Flows]:
    """The list of flows without those that were lost, and their times in the same order.

    The output does not distinguish the flows of a query, which come in the order of their ends.
    """
    columns = ["flow_id", "src", "dst", "size_bytes", "start_ns", "class", "lost"]
    columns += ["path", "ack_path"]
    file = folder / "flows" / f"flows-{experiment.load}.parquet"
    listed = read(file, "the flows", columns, ["query_id"])
    listed = listed.filter(pc.invert(listed["lost"])).drop_columns(["lost"])
    place = listed.column_names.index("class")
    listed = listed.set_column(place, "class", listed["class"].cast("string"))
    file = folder / "runs" / f"{experiment.transport}-dt-{experiment.load}.parquet"
    output = read(file, "the output", ["fct_ns"], ["flow_id", "query_id", "rank"])
    flow, query, rank = (_numbers(output[name]) for name in ("flow_id", "query_id", "rank"))
    fct = output["fct_ns"].to_numpy().astype(float)

    is_incast, is_answer = are_incast(listed), np.isnan(flow)
    background = listed["flow_id"].to_numpy()[~is_incast]
    fct_of = dict(zip(flow.tolist(), fct.tolist(), strict=True))
    missing = [number for number in background.tolist() if number not in fct_of]
    if missing or is_answer.sum() != is_incast.sum():
        raise ScenarioError(f"{file}: its flows are not those of the list", ONE_RUN)
    order = np.argsort(is_incast, kind="stable")
    unknown = np.full(len(background), math.nan)
    return listed.take(order), Flows(
        listed["size_bytes"].to_numpy()[order],
        is_incast[order],
        np.concatenate([unknown, query[is_answer]]),
        np.concatenate([unknown, rank[is_answer]]),
        np.concatenate([[fct_of[number] for number in background.tolist()], fct[is_answer]]),
    )


def in_order(listed: pa.Table, reference: Flows, flows: pa.Table) -> tuple[Flows, Booleans]:
    """Our flows in the order of the list, and which of them had a timeout."""
    ours = as_listed(flows, numbering(listed))
    times, with_timeout = fct_ns(ours), ours["timeouts"].to_numpy() > 0
    query = _numbers(listed["query_id"])
    query[~reference.is_incast] = math.nan
    rank = np.full(len(query), math.nan)
    # By query and then by end; the background comes last.
    by_query = np.lexsort((times, query))
    latest, following = math.nan, 0
    for row in by_query[: int(reference.is_incast.sum())]:
        following = following + 1 if query[row] == latest else 0
        latest, rank[row] = query[row], following
    return Flows(reference.payload, reference.is_incast, query, rank, times), with_timeout


def _numbers(column: pa.ChunkedArray) -> Floats:
    """A column as floats, NaN where there is no value."""
    values = [math.nan if value is None else float(value) for value in column.to_pylist()]
    return np.array(values)
