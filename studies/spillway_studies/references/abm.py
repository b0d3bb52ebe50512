"""Comparison with ABM's program: Dynamic Thresholds under DCTCP and Cubic, flow by flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references.abm_flows import (
    CLASSES,
    CUBIC,
    DCTCP,
    KINDS,
    Flows,
    in_order,
    interval,
    read_reference,
    replay,
)
from spillway_studies.references.abm_others import Beside, run_others
from spillway_studies.references.agreement import (
    PERCENTILES,
    Agreement,
    Bounds,
    Row,
    Verdict,
    bounds,
    of_pairs,
    percentile,
)
from spillway_studies.references.closed_form import LARGEST, SHORTER_HERE_NS, uncontended_ns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

PLACES = [(kind, p) for kind in (*CLASSES, "incast") for p in PERCENTILES]
"""The percentiles that are compared, in their order."""
EXPERIMENTS = (DCTCP, CUBIC)
UNCONTENDED_NS = (20, 100)
"""How close a flow is to the closed form if it has met no other flow, in ns."""


DIFFERENCES = (
    "switch.port_fifo_packets=0, nic.fifo_packets=0",
    "switch.port_fifo_packets=0",
    "nic.fifo_packets=0",
    "nic.scheduling=fifo",
    "transport.syn_window=unlimited",
    "transport.loss_detection=sack, transport.reduction=proportional-ns3",
    "transport.loss_detection=rack, transport.reduction=proportional-ns3",
    "transport.reduction=proportional-rfc6937",
    "transport.reduction=at-once",
    "transport.host_backlog=1bdp",
    "switch.sharing.count_arrival=false",
    "switch.uncounted_bytes=0B",
)
HASHES = ("hash_seeds=same", "hash_seeds=per-switch")


@dataclass(frozen=True)
class Uncontended:
    """Flows compared with the closed form for flows that meet no others."""

    flows: int
    """The number of flows small enough for it."""
    reference_within_ns: dict[int, int]
    """The number of the reference's flows within each distance of it, in nanoseconds."""
    ours_within_ns: dict[int, int]
    ours_exactly: int
    """The number of our flows that it gives to the picosecond."""
    both: int
    """The number of flows within the wider distance on both sides."""
    residual_ns: tuple[float | None, float | None]
    """The median difference within the wider distance: the reference's and ours."""


@dataclass(frozen=True)
class Run:
    """One of our runs."""

    percentiles: list[float | None]
    """Percentiles of slowdown for every class; None if a class has no flows."""
    flow_by_flow: list[Agreement]
    flows_over_least_timeout: dict[str, int]
    flows_with_timeout: dict[str, int]
    drops: int
    marks: int
    packet_hops: int
    uncontended: Uncontended


@dataclass(frozen=True)
class Comparison:
    """The reference's run compared with ours."""

    transport: str
    rows: list[Row]
    counts: dict[str, int]
    """The number of flows of each class."""
    flows_over_least_timeout: dict[str, int]
    """In the reference."""
    ours: Run
    drawn: list[Run]
    """Runs with paths that we have drawn, anew for each."""
    differences: dict[str, Run]
    """Runs with one setting changed, by the change."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
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
                "agrees": row.verdict is Verdict.near,
                "verdict": row.verdict,
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
    others: list[Beside]
    """Other schemes and transports, if they were asked for."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON: by transport, and the others in a list."""
        by_transport = {found.transport: found.document for found in self.comparisons}
        others = {"others": [each.document for each in self.others]} if self.others else {}
        return by_transport | others | {"bounds": asdict(self.bounds)}

    @property
    def bounds(self) -> Bounds:
        """The bounds for all percentiles of the reference, and those published of other runs."""
        rows = [
            (f"{found.transport} {row.name}", row.difference, row.verdict)
            for found in self.comparisons
            for row in found.rows
        ]
        places = [
            (f"{each.name} {place.name}", place.difference, place.verdict)
            for each in self.others
            if each.is_of_program
            for place in each.places
        ]
        return bounds([*rows, *places])


def abm(
    folder: Path,
    *,
    paths: int = 0,
    jobs: int = 2,
    differences: bool = False,
    others: bool = False,
) -> Validation:
    """ABM's program (inet-tub/ns3-datacenter): DT under DCTCP and under Cubic, at load 40%.

    (`runs/TRANSPORT-dt-LOAD.parquet`). Flows that never got a connection there are left out.
    `paths` is the number of runs with paths that our own hash draws, `differences` one run for each
    setting that is changed, and `others` runs of other schemes and transports, of which only
    percentiles are known.
    """
    references = [read_reference(folder, experiment) for experiment in EXPERIMENTS]
    comparisons = []
    with TemporaryDirectory() as place:
        for experiment, (listed, reference) in zip(EXPERIMENTS, references, strict=True):
            given = replay(experiment, listed, Path(place) / f"{experiment.load}.parquet")
            pathless = listed.drop_columns(["path", "ack_path"])
            drawn = replay(experiment, pathless, Path(place) / f"{experiment.load}-drawn.parquet")
            draws = [drawn.set(f"routing.hash_seed={seed}") for seed in range(1, paths + 1)]
            changes: dict[str, Scenario] = {}
            if differences:
                ways = (*DIFFERENCES, *experiment.differences)
                changes = {change: given.set(*change.split(", ")) for change in ways}
                changes |= {f"paths drawn, {each}": drawn.set(f"routing.{each}") for each in HASHES}
            scenarios = [given, *draws, *changes.values()]
            ours, *more = all_of(partial(_run, listed, reference), scenarios, jobs)
            comparisons.append(
                Comparison(
                    experiment.transport,
                    _rows(reference, ours, more[:paths]),
                    {kind: int(reference.are(kind).sum()) for kind in (*KINDS, "incast")},
                    reference.late,
                    ours,
                    more[:paths],
                    dict(zip(changes, more[paths:], strict=True)),
                )
            )
    return Validation(comparisons, run_others(folder, jobs=jobs) if others else [])


def _run(listed: pa.Table, reference: Flows, scenario: Scenario, report: Report) -> Run:
    result = run_whole(scenario, report)
    ours, with_timeout = in_order(listed, reference, result.flows)
    summary = result.summary
    return Run(
        [_percentile(ours, kind, p) for kind, p in PLACES],
        _flow_by_flow(reference, ours),
        ours.late,
        {kind: int((with_timeout & ours.are(kind)).sum()) for kind in (*CLASSES, "incast")},
        sum(summary["drops"].values()),
        summary["marks"],
        summary["packet_hops"],
        _uncontended(reference, ours),
    )


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
    """The FCT of finished incast flows by query and rank, if both are known."""
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
        bounds = (min(seen), max(seen)) if seen else None
        rows.append(Row(kind, p, percentile(there, p), interval(reference, kind, p), here, bounds))
    return rows
