"""The flows and the output of ABM's program, and the scenario in which they run here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base import parquet
from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway_studies.references.agreement import LEAST_TIMEOUT_MS, bootstrap
from spillway_studies.references.files import read

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

_BASE_RTT_NS = 80_000
_NS_PER_BYTE = 0.8

CLASSES: dict[str, Callable[[Floats], Booleans]] = {
    "short": lambda size: size < 100e3,
    "medium": lambda size: (size >= 100e3) & (size < 1e6),
    "large": lambda size: (size >= 1e6) & (size < 30e6),
    "longest": lambda size: size >= 30e6,
}
"""The classes of the background, by the size that the reference gives a flow."""
KINDS = ("background", *CLASSES)
"""The kinds of flows that are compared flow by flow."""


@dataclass(frozen=True)
class Experiment:
    """One of the reference's runs."""

    transport: str
    load: str
    transport_keys: dict[str, Any]
    """What differs from that section of the scenario `abm`; a key with None is removed."""
    settings: tuple[str, ...]
    """Other assignments to the scenario."""
    differences: tuple[str, ...] = ()
    """Changes that are made one at a time, besides those common to all runs."""


DCTCP = Experiment(
    "dctcp",
    "load0.4-burst0.5",
    {},
    (),
    (
        "transport.loss_cut=alpha",
        "transport.loss_cut=alpha, transport.min_window=1B",
        "transport.alpha0=0.0",
        "transport.min_window=2pkt",
        "switch.aqm.threshold=65pkt",
    ),
)
CUBIC = Experiment(
    "cubic",
    "load0.4-burst0.3",
    {
        "kind": "cubic",
        "g": None,
        "alpha0": None,
        "share_of": None,
        "loss_cut": None,
        "tcp_friendly": False,
        "hystart": "ns3",
    },
    ("switch.aqm=none",),
    (
        "transport.hystart=exact",
        "transport.hystart=none",
        "transport.tcp_friendly=true",
        "transport.fast_convergence=false",
    ),
)


@dataclass(frozen=True)
class Flows:
    """The flows that are compared, in the order of the list, and their times on one side."""

    payload: Whole
    is_incast: Booleans
    query: Floats
    """NaN for the background, and if the reference's output does not give it."""
    rank: Floats
    """The rank among the query's flows, by end."""
    fct_ns: Floats

    @property
    def size(self) -> Floats:
        """The reference's size: payload, and 64 bytes per 1400 of it, including fractions."""
        return self.payload + ((self.payload - 1) / 1400.0 + 1) * 64

    @property
    def slowdown(self) -> Floats:
        """The reference's slowdown: FCT over 80 us plus the size at 10 Gbps."""
        return self.fct_ns / (_BASE_RTT_NS + self.size * _NS_PER_BYTE)

    def are(self, kind: str) -> Booleans:
        """Which flows belong to a class, or to the background."""
        if kind == "incast":
            return self.is_incast
        background = ~self.is_incast
        return background & CLASSES[kind](self.size) if kind in CLASSES else background

    @property
    def late(self) -> dict[str, int]:
        """The number of flows of each class that took longer than the least timeout."""
        is_late = self.fct_ns > LEAST_TIMEOUT_MS * 1e6
        return {kind: int((is_late & self.are(kind)).sum()) for kind in (*CLASSES, "incast")}


def read_reference(folder: Path, experiment: Experiment) -> tuple[pa.Table, Flows]:
    """The list of flows without those that were lost, and their times in the same order.

    The output does not distinguish the flows of a query, which come in the order of their ends.
    """
    import numpy as np
    import pyarrow.compute as pc

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

    is_incast = _are_incast(listed)
    background = listed["flow_id"].to_numpy()[~is_incast]
    fct_of = dict(zip(flow.tolist(), fct.tolist(), strict=True))
    missing = [number for number in background.tolist() if number not in fct_of]
    if missing or np.isnan(flow).sum() != is_incast.sum():
        raise ScenarioError(
            f"{file}: its flows are not those of the list",
            "the flows and the output must be of one run",
        )
    payload = listed["size_bytes"].to_numpy()
    order = np.argsort(is_incast, kind="stable")
    times = np.concatenate(
        [[fct_of[number] for number in background.tolist()], fct[np.isnan(flow)]]
    )
    return listed.take(order), Flows(
        payload[order],
        is_incast[order],
        np.concatenate([np.full(len(background), math.nan), query[np.isnan(flow)]]),
        np.concatenate([np.full(len(background), math.nan), rank[np.isnan(flow)]]),
        times,
    )


def replay(experiment: Experiment, listed: pa.Table, file: Path) -> Scenario:
    """The reference's scenario with its flows."""
    parquet.write(listed, file)
    replay = {"kind": "flows", "file": str(file)}
    resolved = dict(Scenario.load("abm").resolved)
    transport = resolved["transport"] | experiment.transport_keys
    transport = {key: value for key, value in transport.items() if value is not None}
    first = {key: "flow" for key in ("initial_window", "start_window") if key in transport}
    traffic = [
        {"name": "background", "only_class": "background", **replay},
        {"name": "incast", "only_class": "incast", "handshake": False, **first, **replay},
    ]
    resolved["transport"] = transport
    resolved["record"] = resolved["record"] | {"drops": False}
    resolved |= {"traffic": traffic, "slowdown_base": "published"}
    return Scenario(resolved).set(*experiment.settings)


def in_order(listed: pa.Table, reference: Flows, flows: pa.Table) -> tuple[Flows, Booleans]:
    """Our flows in the order of the list, and which of them had a timeout."""
    import numpy as np

    def keys(table: pa.Table, start: str) -> list[tuple[int, ...]]:
        names = (start, "src", "dst", "size_bytes")
        return list(zip(*(table[name].to_pylist() for name in names), strict=True))

    place = {key: row for row, key in enumerate(keys(flows, "start_ps"))}
    listed_keys = [(1000 * start, *others) for start, *others in keys(listed, "start_ns")]
    order = [place[key] for key in listed_keys]
    fct_ns = _numbers(flows["fct_ps"])[order] / 1e3
    fct_ns = np.where(np.isnan(fct_ns), math.inf, fct_ns)
    with_timeout = flows["timeouts"].to_numpy()[order] > 0
    query = _numbers(listed["query_id"])
    query[~reference.is_incast] = math.nan
    rank = np.full(len(query), math.nan)
    # By query and then by end; the background comes last.
    by_query = np.lexsort((fct_ns, query))
    latest, following = math.nan, 0
    for row in by_query[: int(reference.is_incast.sum())]:
        following = following + 1 if query[row] == latest else 0
        latest, rank[row] = query[row], following
    return Flows(reference.payload, reference.is_incast, query, rank, fct_ns), with_timeout


def interval(flows: Flows, kind: str, p: float) -> tuple[float, float]:
    """The 95% interval of a percentile of slowdown, by flow, or for incast by query."""
    if kind == "incast":
        return bootstrap(_slowdowns_by_query(flows), p)
    return bootstrap(flows.slowdown[flows.are(kind)], p)


def _slowdowns_by_query(flows: Flows) -> list[Floats]:
    """The slowdowns of each query. Flows of unknown queries count as one query."""
    import numpy as np

    query, slowdown = flows.query[flows.is_incast], flows.slowdown[flows.is_incast]
    groups = [slowdown[query == number] for number in np.unique(query[~np.isnan(query)])]
    unknown = slowdown[np.isnan(query)]
    return [*groups, unknown] if len(unknown) else groups


def _are_incast(flows: pa.Table) -> Booleans:
    import numpy as np

    return np.array([name == "incast" for name in flows["class"].to_pylist()])


def _numbers(column: pa.ChunkedArray) -> Floats:
    """A column as floats, NaN where there is no value."""
    import numpy as np

    values = [math.nan if value is None else float(value) for value in column.to_pylist()]
    return np.array(values)
