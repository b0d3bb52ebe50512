"""The runs of ABM's program: their flows, their output, and the scenarios that repeat them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spillway.base import parquet
from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway_studies.references import replayed
from spillway_studies.references.files import (
    ONE_RUN,
    Booleans,
    Floats,
    Whole,
    as_listed,
    fct_ns,
    numbering,
    read,
)
from spillway_studies.references.numbers import Json
from spillway_studies.references.replayed import are_incast

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
class Experiment:
    """One of the reference's runs."""

    transport: str
    load: str
    transport_keys: Json
    """What differs from that section of the scenario `abm`, also in the tables within it.

    A key with None is removed.
    """
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
class Flows(replayed.Flows):
    """The flows that are compared, in the order of the list, and their times on one side."""

    payload: Whole
    rank: Floats
    """The rank among the query's flows, by end."""


def _flows(
    payload: Whole, is_incast: Booleans, query: Floats, rank: Floats, fct_ns: Floats
) -> Flows:
    # The reference's size: payload, and 64 bytes per 1400 of it, including fractions.
    size = payload + ((payload - 1) / 1400.0 + 1) * 64
    # Its slowdown: FCT over 80 us plus the size at 10 Gbps.
    slowdown = fct_ns / (_BASE_RTT_NS + size * _NS_PER_BYTE)
    return Flows(_SIZES, size, is_incast, query, fct_ns, slowdown, payload, rank)


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
    background = listed["flow_id"].to_numpy()[~is_incast].tolist()
    fct_of = dict(zip(flow.tolist(), fct.tolist(), strict=True))
    if not fct_of.keys() >= set(background) or is_answer.sum() != is_incast.sum():
        raise ScenarioError(f"{file}: its flows are not those of the list", ONE_RUN)
    order = np.argsort(is_incast, kind="stable")
    unknown = np.full(len(background), math.nan)
    return listed.take(order), _flows(
        listed["size_bytes"].to_numpy()[order],
        is_incast[order],
        np.concatenate([unknown, query[is_answer]]),
        np.concatenate([unknown, rank[is_answer]]),
        np.concatenate([[fct_of[number] for number in background], fct[is_answer]]),
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
    by_query = by_query[: int(reference.is_incast.sum())]
    _, first, place = np.unique(query[by_query], return_index=True, return_inverse=True)
    rank[by_query] = np.arange(len(by_query)) - first[place]
    return _flows(reference.payload, reference.is_incast, query, rank, times), with_timeout


def with_answers(listed: pa.Table, flows: Flows, answer_bytes: int) -> tuple[pa.Table, Flows]:
    """The list and the flows with answers of another size."""
    payload = np.where(flows.is_incast, answer_bytes, flows.payload)
    column = listed.column_names.index("size_bytes")
    listed = listed.set_column(column, "size_bytes", pa.array(payload))
    return listed, _flows(payload, flows.is_incast, flows.query, flows.rank, flows.fct_ns)


def replay(experiment: Experiment, listed: pa.Table, file: Path) -> Scenario:
    """The reference's scenario with its flows."""
    parquet.write(listed, file)
    replay = {"kind": "flows", "file": str(file)}
    resolved = Scenario.load("abm").resolved
    transport = _changed(resolved["transport"], experiment.transport_keys)
    first: Json = {key: "flow" for key in ("initial_window", "start_window") if key in transport}
    traffic = [
        {"name": "background", "only_class": "background", **replay},
        {"name": "incast", "only_class": "incast", "handshake": False, **first, **replay},
    ]
    own = {
        "transport": transport,
        "record": resolved["record"] | {"drops": False},
        "traffic": traffic,
        "slowdown_base": "published",
    }
    return Scenario(resolved | own).set(*experiment.settings)


def _changed(section: Json, keys: Json) -> Json:
    """A section with other keys, also of the tables within it; a key with None is removed."""
    given = {
        key: _changed(section[key], value) if isinstance(value, dict) else value
        for key, value in keys.items()
    }
    return {key: value for key, value in (section | given).items() if value is not None}


def _numbers(column: pa.ChunkedArray) -> Floats:
    """A column as floats, NaN where there is no value."""
    found: Floats = column.cast("double").fill_null(math.nan).to_numpy()
    return np.array(found)
