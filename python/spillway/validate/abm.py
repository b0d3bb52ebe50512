"""ABM's program: Dynamic Thresholds under DCTCP and Cubic, flow by flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.agreement import (
    LEAST_TIMEOUT_MS,
    PERCENTILES,
    Agreement,
    Row,
    bootstrap,
    bootstrap_groups,
    of_pairs,
    percentile,
)
from spillway.errors import ScenarioError
from spillway.run import run_to
from spillway.scenario import Scenario
from spillway.validate.closed_form import LARGEST, SHORTER_HERE_NS, uncontended_ns
from spillway.validate.files import read

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

_BASE_RTT_NS = 80_000
_NS_PER_BYTE = 0.8

_CLASSES: dict[str, Callable[[Floats], Booleans]] = {
    "short": lambda size: size < 100e3,
    "medium": lambda size: (size >= 100e3) & (size < 1e6),
    "large": lambda size: (size >= 1e6) & (size < 30e6),
    "longest": lambda size: size >= 30e6,
}
"""The classes of the background, by the size that the reference gives a flow."""
KINDS = ("background", *_CLASSES)
"""The kinds of flows that are compared one by one."""
PLACES = [(kind, p) for kind in (*_CLASSES, "incast") for p in PERCENTILES]
"""The percentiles that are compared, in their order."""
UNCONTENDED_NS = (20, 100)
"""How close to the closed form a flow is taken to have met no other."""


@dataclass(frozen=True)
class Experiment:
    """One of the reference's runs."""

    transport: str
    load: str
    transport_keys: dict[str, Any]
    """What is other than in the scenario `abm`'s section; a key with None goes."""
    settings: tuple[str, ...]
    """What else it sets there."""
    differences: tuple[str, ...]
    """What is set otherwise, one at a time, beside what both runs have in common."""


EXPERIMENTS = (
    Experiment(
        "dctcp",
        "load0.4-burst0.5",
        {},
        (),
        ("transport.alpha0=0.0", "transport.min_window=2pkt", "switch.aqm.threshold=65pkt"),
    ),
    Experiment(
        "cubic",
        "load0.4-burst0.3",
        {
            "kind": "cubic",
            "g": None,
            "alpha0": None,
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
    ),
)
DIFFERENCES = (
    "switch.port_fifo_packets=0, nic.fifo_packets=0",
    "switch.port_fifo_packets=0",
    "nic.fifo_packets=0",
    "nic.scheduling=fifo",
    "transport.syn_window=unlimited",
    "transport.partial_acks_tell=false",
    "transport.reduction=proportional",
    "transport.reduction=at-once",
    "transport.host_backlog=1bdp",
    "switch.sharing.count_arrival=false",
    "switch.uncounted_bytes=0B",
)
HASHES = ("hash_seeds=same", "hash_seeds=per-switch")


@dataclass(frozen=True)
class Flows:
    """The flows that are compared, in the list's order, and their times there or here."""

    payload: Whole
    is_incast: Booleans
    query: Floats
    """NaN for the background, and where the reference's output does not tell it."""
    rank: Floats
    """Place among the flows of the query, by their ends."""
    fct_ns: Floats

    @property
    def size(self) -> Floats:
        """Payload and 64 bytes for every 1400 of it, fractions too: the reference's size."""
        return self.payload + ((self.payload - 1) / 1400.0 + 1) * 64

    @property
    def slowdown(self) -> Floats:
        """FCT over 80 us and the size at 10 Gbps: the reference's slowdown."""
        return self.fct_ns / (_BASE_RTT_NS + self.size * _NS_PER_BYTE)

    def are(self, kind: str) -> Booleans:
        """Which of them are of a class, or of the background."""
        if kind == "incast":
            return self.is_incast
        background = ~self.is_incast
        return background & _CLASSES[kind](self.size) if kind in _CLASSES else background

    @property
    def late(self) -> dict[str, int]:
        """How many of each class took longer than the least timeout."""
        is_late = self.fct_ns > LEAST_TIMEOUT_MS * 1e6
        return {kind: int((is_late & self.are(kind)).sum()) for kind in (*_CLASSES, "incast")}


@dataclass(frozen=True)
class Uncontended:
    """Flows beside the closed form for those that meet no others."""

    flows: int
    """So many are small enough for it."""
    reference_within_ns: dict[int, int]
    """In the reference, those that it tells to so many nanoseconds."""
    ours_within_ns: dict[int, int]
    ours_exactly: int
    """Of ours, those that it tells to a picosecond."""
    both: int
    """Within the wider bound there and here."""
    residual_ns: tuple[float | None, float | None]
    """Median distance from the closed form, within the wider bound: there and here."""


@dataclass(frozen=True)
class Run:
    """One of our runs."""

    percentiles: list[float | None]
    """Of slowdown: every class at every percentile; none where a class has no flows."""
    flow_by_flow: list[Agreement]
    flows_over_least_timeout: dict[str, int]
    flows_with_timeout: dict[str, int]
    drops: int
    marks: int
    packet_hops: int
    uncontended: Uncontended


@dataclass(frozen=True)
class Comparison:
    """One run, there and here."""

    transport: str
    rows: list[Row]
    counts: dict[str, int]
    """Flows of each class."""
    flows_over_least_timeout: dict[str, int]
    """In the reference."""
    ours: Run
    drawn: list[Run]
    """With paths that we have drawn, each time anew."""
    differences: dict[str, Run]
    """With one setting changed, by the change."""

    @property
    def document(self) -> dict[str, Any]:
        """All of it, for JSON."""
        rows = [
            {
                "class": row.flows,
                "flows": self.counts[row.flows],
                "percentile": row.percentile,
                "reference": row.reference,
                "reference_interval": list(row.interval),
                "ours": row.ours,
                "drawn_min_max": None if row.drawn is None else list(row.drawn),
                "difference": row.difference,
                "agrees": row.agrees,
            }
            for row in self.rows
        ]
        return {
            "rows": rows,
            "reference": {"flows_over_least_timeout": self.flows_over_least_timeout},
            "ours": asdict(self.ours),
            "drawn": [asdict(run) for run in self.drawn],
            "differences": {change: asdict(run) for change, run in self.differences.items()},
        }


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation."""

    comparisons: list[Comparison]

    @property
    def document(self) -> dict[str, Any]:
        """All of it, for JSON, by the transport."""
        return {found.transport: found.document for found in self.comparisons}


def abm(folder: Path, *, paths: int = 0, jobs: int = 2, differences: bool = False) -> Validation:
    """ABM's program (inet-tub/ns3-datacenter): DT under DCTCP and under Cubic, at load 40%.

    `folder` holds its flows (`flows/flows-LOAD.parquet`) and its output
    (`runs/TRANSPORT-dt-LOAD.parquet`). Flows that never got a connection there are left out. With
    `paths` there are so many runs more with paths that our own hash draws, with `differences` one
    for each setting that is changed.
    """
    references = [_reference(folder, experiment) for experiment in EXPERIMENTS]
    comparisons = []
    with TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as pool:
        for experiment, (listed, reference) in zip(EXPERIMENTS, references, strict=True):
            given = _replay(experiment, listed, Path(place) / f"{experiment.load}.parquet")
            pathless = listed.drop_columns(["path", "ack_path"])
            drawn = _replay(experiment, pathless, Path(place) / f"{experiment.load}-drawn.parquet")
            draws = [drawn.set(f"routing.hash_seed={seed}") for seed in range(1, paths + 1)]
            changes: dict[str, Scenario] = {}
            if differences:
                ways = (*DIFFERENCES, *experiment.differences)
                changes = {change: given.set(*change.split(", ")) for change in ways}
                changes |= {f"paths drawn, {each}": drawn.set(f"routing.{each}") for each in HASHES}
            scenarios = [given, *draws, *changes.values()]
            ours, *others = pool.map(partial(_run, listed, reference), scenarios)
            comparisons.append(
                Comparison(
                    experiment.transport,
                    _rows(reference, ours, others[:paths]),
                    {kind: int(reference.are(kind).sum()) for kind in (*KINDS, "incast")},
                    reference.late,
                    ours,
                    others[:paths],
                    dict(zip(changes, others[paths:], strict=True)),
                )
            )
    return Validation(comparisons)


def _reference(folder: Path, experiment: Experiment) -> tuple[pa.Table, Flows]:
    """The list of flows without those that were lost, and their times in the same order.

    The output does not tell the flows of a query apart: they come in the order of their ends.
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


def _replay(experiment: Experiment, listed: pa.Table, file: Path) -> Scenario:
    """Their scenario with their flows."""
    import pyarrow.parquet as pq

    pq.write_table(listed, file)
    replay = {"kind": "flows", "file": str(file)}
    open_before = {"initial_window": "flow", "handshake": False}
    traffic = [
        {"name": "background", "only_class": "background", **replay},
        {"name": "incast", "only_class": "incast", **open_before, **replay},
    ]
    resolved = dict(Scenario.load("abm").resolved)
    transport = resolved["transport"] | experiment.transport_keys
    resolved["transport"] = {key: value for key, value in transport.items() if value is not None}
    resolved["record"] = resolved["record"] | {"drops": False}
    resolved |= {"traffic": traffic, "slowdown_base": "published"}
    return Scenario(resolved).set(*experiment.settings)


def _run(listed: pa.Table, reference: Flows, scenario: Scenario) -> Run:
    result = run_to(None, scenario)
    ours, with_timeout = _ours(listed, reference, result.flows)
    summary = result.summary
    return Run(
        [_percentile(ours, kind, p) for kind, p in PLACES],
        _flow_by_flow(reference, ours),
        ours.late,
        {kind: int((with_timeout & ours.are(kind)).sum()) for kind in (*_CLASSES, "incast")},
        sum(summary["drops"].values()),
        summary["marks"],
        summary["packet_hops"],
        _uncontended(reference, ours),
    )


def _ours(listed: pa.Table, reference: Flows, flows: pa.Table) -> tuple[Flows, Booleans]:
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
    # By query and then by end; background comes last.
    by_query = np.lexsort((fct_ns, query))
    latest, following = math.nan, 0
    for row in by_query[: int(reference.is_incast.sum())]:
        following = following + 1 if query[row] == latest else 0
        latest, rank[row] = query[row], following
    return Flows(reference.payload, reference.is_incast, query, rank, fct_ns), with_timeout


def _percentile(flows: Flows, kind: str, p: float) -> float | None:
    slowdowns = flows.slowdown[flows.are(kind)]
    return percentile(slowdowns, p) if len(slowdowns) else None


def _flow_by_flow(reference: Flows, ours: Flows) -> list[Agreement]:
    import numpy as np

    found = []
    for kind in KINDS:
        wanted = reference.are(kind)
        both = wanted & np.isfinite(ours.fct_ns)
        if both.sum() > 1:
            pairs = reference.fct_ns[both], ours.fct_ns[both]
            found.append(of_pairs(kind, int(wanted.sum()), *pairs))
    here = _by_rank(ours)
    there = {key: fct for key, fct in _by_rank(reference).items() if here.get(key, 0) > 0}
    if len(there) > 1:
        pairs = np.array(list(there.values())), np.array([here[key] for key in there])
        found.append(of_pairs("incast, by rank", int(reference.is_incast.sum()), *pairs))
    return found


def _by_rank(flows: Flows) -> dict[tuple[float, float], float]:
    """The FCT of incast flows by query and rank, where both are known and the flow has ended."""
    import numpy as np

    known = np.isfinite(flows.query) & np.isfinite(flows.rank) & np.isfinite(flows.fct_ns)
    columns = (flows.query[known], flows.rank[known], flows.fct_ns[known])
    return {(q, r): fct for q, r, fct in zip(*(c.tolist() for c in columns), strict=True)}


def _uncontended(reference: Flows, ours: Flows) -> Uncontended:
    import numpy as np

    fits = ~reference.is_incast & (reference.payload <= LARGEST)
    expected = uncontended_ns(reference.payload[fits])
    there = reference.fct_ns[fits] - expected
    here = ours.fct_ns[fits] - (expected - SHORTER_HERE_NS)
    within = {bound: [abs(each) <= bound for each in (there, here)] for bound in UNCONTENDED_NS}
    wide = within[max(UNCONTENDED_NS)]

    def median(values: Floats) -> float | None:
        return float(np.median(values)) if len(values) else None

    return Uncontended(
        int(fits.sum()),
        {bound: int(close.sum()) for bound, (close, _) in within.items()},
        {bound: int(close.sum()) for bound, (_, close) in within.items()},
        int((abs(here) < 1e-3).sum()),
        int((wide[0] & wide[1]).sum()),
        (median(there[wide[0]]), median(here[wide[1]])),
    )


def _rows(reference: Flows, ours: Run, drawn: Sequence[Run]) -> list[Row]:
    rows = []
    for place, (kind, p) in enumerate(PLACES):
        there, here = reference.slowdown[reference.are(kind)], ours.percentiles[place]
        if here is None:
            continue
        seen = [each for run in drawn if (each := run.percentiles[place]) is not None]
        by_query = kind == "incast"
        interval = bootstrap_groups(_queries(reference), p) if by_query else bootstrap(there, p)
        bounds = (min(seen), max(seen)) if seen else None
        rows.append(Row(kind, p, percentile(there, p), interval, here, bounds))
    return rows


def _queries(flows: Flows) -> list[Floats]:
    """The slowdowns of each query. Flows whose query is not known count as one."""
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
