"""Comparison with Credence's program: DT and LQD, flow by flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.base import parquet
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references import credence_paths
from spillway_studies.references.agreement import (
    BACKGROUND,
    CLASSES,
    LEAST_TIMEOUT_MS,
    PLACES,
    WITHIN,
    Agreement,
    Bounds,
    Flows,
    Row,
    Verdict,
    agreement,
    bootstrap,
    bounds,
    percentile,
)
from spillway_studies.references.files import read
from spillway_studies.references.tables import interval, shown_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from rich.console import Group
    from rich.table import Table

    Booleans = npt.NDArray[np.bool_]

_ORIGIN_US = 1.1e6 - 10e6
"""Our time 0 in the times of the reference's output."""
_BASE_RTT_NS, _NS_PER_BYTE = 24_000.0, 0.8
"""The reference's slowdown is relative to the propagation both ways, and the payload at 10 Gbps."""

DIFFERENCES = (
    "switch.aqm.threshold=11pkt",
    "switch.uncounted_bytes=0B",
    "transport.loss_detection=sack, transport.reduction=proportional-ns3",
    "transport.loss_cut=alpha",
    "transport.reduction=proportional-rfc6937",
    "transport.reduction=at-once",
    "transport.min_window=2pkt",
    "transport.alpha0=0.0",
    "transport.share_of=delivered",
    "transport.host_backlog=1bdp",
    "transport.slow_start=true",
)
"""Settings that may differ in the reference, or are taken from it: one is changed at a time."""
HASHES = ("hash_seeds=same", "hash_seeds=per-switch")
"""Ways to draw paths ourselves instead of using the program's."""


@dataclass(frozen=True)
class Run:
    """One of our runs, compared with the reference."""

    percentiles: list[float]
    """Percentiles of slowdown, in the order of `PLACES`."""
    flow_by_flow: list[Agreement]
    flows_over_least_timeout: dict[str, int]
    """Flows that took longer than the least timeout, by class."""
    drops: int
    marks: int
    packet_hops: int
    occupancy_p99: float


@dataclass(frozen=True)
class Comparison:
    """One way of sharing the buffer: the reference's run and ours."""

    sharing: str
    rows: list[Row]
    flows_over_least_timeout: dict[str, int]
    """In the reference: flows that took longer than the least timeout, by class."""
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

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON, by the way of sharing."""
        by_sharing = {found.sharing: found.document for found in self.comparisons}
        return by_sharing | {"bounds": asdict(self.bounds)}

    @property
    def bounds(self) -> Bounds:
        """The bounds of all percentiles that the reference gives."""
        return bounds(
            (f"{found.sharing} {row.name}", row.difference, row.verdict)
            for found in self.comparisons
            for row in found.rows
        )


def credence(
    folder: Path, *, paths: int = 0, jobs: int = 2, differences: bool = False
) -> Validation:
    """Credence's program (inet-tub/ns3-datacenter): DT and LQD, load 40%, bursts of half a buffer.

    `folder` holds its flows (`flows-load0.4-burst0.5.parquet`) and its output (`dt-...`,
    `lqd-...`). Our flows take the paths that they took there. `paths` is the number of runs with
    paths that our own hash draws, which shows the effect of paths alone; `differences` adds one run
    for each setting that is changed.
    """
    name = "load0.4-burst0.5.parquet"
    flows = folder / f"flows-{name}"
    listed = read(flows, "the flows", ("src", "dst", "start_ns", "open_ns", "class"))
    references = {sharing: _reference(folder / f"{sharing}-{name}") for sharing in _SHARING}
    comparisons = []
    with TemporaryDirectory() as place:
        given, drawn = _replay(_with_paths(listed, Path(place))), _replay(flows)
        draws = [drawn.set(f"routing.hash_seed={seed}") for seed in range(1, paths + 1)]
        changes: dict[str, Scenario] = {}
        if differences:
            changes = {change: given.set(*change.split(", ")) for change in DIFFERENCES}
            changes |= {f"paths drawn, {hash}": drawn.set(f"routing.{hash}") for hash in HASHES}
        for sharing, assignment in _SHARING.items():
            reference = references[sharing]
            scenarios = [each.set(assignment) for each in (given, *draws, *changes.values())]
            ours, *others = all_of(partial(_run, reference), scenarios, jobs)
            comparisons.append(
                Comparison(
                    sharing,
                    _rows(reference, ours, others[:paths]),
                    reference.late,
                    ours,
                    others[:paths],
                    dict(zip(changes, others[paths:], strict=True)),
                )
            )
    return Validation(comparisons)


_SHARING = {
    "dt": "switch.sharing={ kind = 'dt', alpha = [64, 0.5] }",
    "lqd": "switch.sharing={ kind = 'lqd', count_arrival = false, tie = 'lowest-index' }",
}


def _reference(path: Path) -> Flows:
    columns = ("size_bytes", "flowstart_us", "fct_ns", "slowdown", "incast")
    table = read(path, "the output", columns)
    size, start, fct, slowdown, incast = (table[name].to_numpy() for name in columns)
    return Flows(str(path), size, start, fct, slowdown, incast.astype(bool))


def _run(reference: Flows, scenario: Scenario, report: Report) -> Run:
    result = run_whole(scenario, report)
    flows, summary = _flows(result.flows), result.summary
    return Run(
        [percentile(flows.slowdowns(kind), p) for kind, p in PLACES],
        [agreement(kind, reference, flows) for kind in BACKGROUND],
        flows.late,
        sum(summary["drops"].values()),
        summary["marks"],
        summary["packet_hops"],
        summary["buffer_occupancy"]["p99"],
    )


def _flows(table: pa.Table) -> Flows:
    import numpy as np

    fct_ps = np.array([math.inf if fct is None else fct for fct in table["fct_ps"].to_pylist()])
    return Flows(
        "the list of flows",
        table["size_bytes"].to_numpy(),
        _ORIGIN_US + table["start_ps"].to_numpy() / 1e6,
        fct_ps / 1e3,
        fct_ps / 1e3 / (_BASE_RTT_NS + table["size_bytes"].to_numpy() * _NS_PER_BYTE),
        _are_incast(table),
    )


def _rows(reference: Flows, ours: Run, drawn: Sequence[Run]) -> list[Row]:
    rows = []
    for place, (kind, p) in enumerate(PLACES):
        there = reference.slowdowns(kind)
        seen = [run.percentiles[place] for run in drawn]
        rows.append(
            Row(
                kind,
                p,
                percentile(there, p),
                _interval(reference, kind, p),
                ours.percentiles[place],
                (min(seen), max(seen)) if seen else None,
            )
        )
    return rows


def _interval(reference: Flows, kind: str, p: float) -> tuple[float, float]:
    """The 95% interval of a percentile of slowdown, by flow, or for incast by query.

    The flows of a query have the same start and size.
    """
    import numpy as np

    if kind != "incast":
        return bootstrap(reference.slowdowns(kind), p)
    rows = reference.is_incast
    keys = np.stack([reference.start_us[rows], reference.size_bytes[rows]])
    queries, query = np.unique(keys, axis=1, return_inverse=True)
    slowdown = reference.slowdowns(kind)
    return bootstrap([slowdown[query == place] for place in range(queries.shape[1])], p)


def _replay(flows: Path) -> Scenario:
    """The reference's scenario with its flows."""
    scenario = Scenario.load("credence-code")
    replay = {"kind": "flows", "file": str(flows.resolve()), "origin": "1100ms"}
    background = {"name": "websearch", "only_class": "background", **replay}
    incast = {
        "name": "incast",
        "only_class": "incast",
        "initial_window": "flow",
        "handshake": False,
        **replay,
    }
    resolved = scenario.resolved
    resolved["traffic"] = [background, incast]
    resolved["duration"] = "150ms"
    return Scenario(resolved)


def _with_paths(listed: pa.Table, folder: Path) -> Path:
    """The list of flows with the paths that they took in the program."""
    columns = (listed[name].to_pylist() for name in ("src", "dst", "start_ns", "open_ns"))
    flows = [
        credence_paths.Flow(*flow)
        for flow in zip(*columns, _are_incast(listed).tolist(), strict=True)
    ]
    connections = credence_paths.connections(flows)
    ways = {
        "path": [connection.spine for connection in connections],
        "ack_path": [connection.reverse.spine for connection in connections],
    }
    for name, values in ways.items():
        listed = listed.append_column(name, [values])
    file = folder / "flows.parquet"
    parquet.write(listed, file)
    return file


def _are_incast(flows: pa.Table) -> Booleans:
    import numpy as np

    return np.array([name == "incast" for name in flows["class"].to_pylist()])


def table(validation: Validation) -> Group:
    """What agrees and what does not: percentiles, flows one by one, counts, single changes."""
    from rich.console import Group

    found = validation.comparisons
    changed = [_differences(comparison) for comparison in found if comparison.differences]
    return Group(_percentiles(found), _flow_by_flow(found), _counts(found), *changed)


def _percentiles(comparisons: Sequence[Comparison]) -> Table:
    has_drawn = any(comparison.drawn for comparison in comparisons)
    columns = ["sharing", "class", "percentile", "reference", "95% interval", "ours"]
    columns += [*(["over drawn paths"] if has_drawn else []), "difference", ""]
    shown = shown_table("Slowdown: the reference and Spillway", columns)
    for comparison in comparisons:
        for row in comparison.rows:
            shown.add_row(
                comparison.sharing,
                row.flows,
                f"{100 * row.percentile:g}",
                f"{row.reference:.2f}",
                interval(row.interval),
                f"{row.ours:.2f}",
                *([interval(row.drawn)] if row.drawn else []),
                f"{100 * row.difference:+.1f}%",
                row.verdict,
            )
    return shown


def _flow_by_flow(comparisons: Sequence[Comparison]) -> Table:
    columns = ["sharing", "flows", "matched", "correlation", "median ratio", "mean ratio"]
    shown = shown_table(
        "FCT flow by flow: Spillway's to the reference's",
        [*columns, *(f"within {100 * bound:g}%" for bound in WITHIN)],
    )
    for comparison in comparisons:
        for found in comparison.ours.flow_by_flow:
            shown.add_row(
                comparison.sharing,
                found.flows,
                f"{found.matched:,} of {found.count:,}",
                f"{found.correlation:.3f}",
                f"{found.median_ratio:.4f}",
                f"{found.mean_ratio:.4f}",
                *(f"{100 * share:.0f}%" for share in found.within),
            )
    return shown


def _counts(comparisons: Sequence[Comparison]) -> Table:
    has_drawn = any(comparison.drawn for comparison in comparisons)
    columns = ["sharing", "count", "reference", "ours"]
    shown = shown_table("Counts", [*columns, *(["over drawn paths"] if has_drawn else [])])
    shown.caption = (
        f"over {LEAST_TIMEOUT_MS} ms: longer than the least timeout, or unfinished; long flows "
        "may take that without one. * the folder has no such counts of the reference."
    )

    def add(comparison: Comparison, name: str, reference: str, count: Callable[[Run], int]) -> None:
        seen = [count(run) for run in comparison.drawn]
        drawn = [f"{min(seen):,} .. {max(seen):,}"] if seen else []
        shown.add_row(comparison.sharing, name, reference, f"{count(comparison.ours):,}", *drawn)

    for comparison in comparisons:
        for kind in CLASSES:
            there = f"{comparison.flows_over_least_timeout[kind]:,}"
            late = partial(_late, kind)
            add(comparison, f"{kind} flows over {LEAST_TIMEOUT_MS} ms", there, late)
        for name in ("drops", "marks"):
            add(comparison, name, "*", attrgetter(name))
    return shown


def _late(kind: str, run: Run) -> int:
    return run.flows_over_least_timeout[kind]


def _differences(comparison: Comparison) -> Table:
    places = [("short", 0.95), ("long", 0.5), ("long", 0.95)]
    columns = ["change", "marks", "drops", "correlation", "mean ratio", "within 5%"]
    shown = shown_table(
        f"{comparison.sharing} with one change: counts, background flow by flow, slowdowns",
        [*columns, *(f"{kind} {100 * p:g}" for kind, p in places)],
    )
    for change, run in {"none": comparison.ours, **comparison.differences}.items():
        background = run.flow_by_flow[0]
        shown.add_row(
            change,
            f"{run.marks:,}",
            f"{run.drops:,}",
            f"{background.correlation:.3f}",
            f"{background.mean_ratio:.4f}",
            f"{100 * background.within[WITHIN.index(0.05)]:.0f}%",
            *(f"{run.percentiles[PLACES.index(place)]:.2f}" for place in places),
        )
    return shown
