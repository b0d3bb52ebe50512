"""Comparison with Credence's program: DT and LQD, flow by flow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from spillway.base import parquet
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references import credence_paths
from spillway_studies.references.bounds import bounds
from spillway_studies.references.classes import are_incast
from spillway_studies.references.credence_flows import (
    BACKGROUND,
    PLACES,
    Flows,
    Run,
    agreement,
    own_flows,
    read_flows,
)
from spillway_studies.references.credence_tables import tables
from spillway_studies.references.files import read
from spillway_studies.references.percentiles import percentile
from spillway_studies.references.replayed import Comparison, compared
from spillway_studies.references.scenarios import run_each, with_changes, with_hash_seeds
from spillway_studies.references.validation import Validation

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
_SHARING = {
    "dt": "switch.sharing={ kind = 'dt', alpha = [64, 0.5] }",
    "lqd": "switch.sharing={ kind = 'lqd', count_arrival = false, tie = 'lowest-index' }",
}


def credence(
    folder: Path, *, paths: int = 0, jobs: int = 2, differences: bool = False
) -> Validation[Comparison[Run]]:
    """Credence's program (inet-tub/ns3-datacenter): DT and LQD, load 40%, bursts of half a buffer.

    `folder` holds its flows (`flows-load0.4-burst0.5.parquet`) and its output (`dt-...`,
    `lqd-...`). Our flows take the paths that they took there. `paths` is the number of runs with
    paths that our own hash draws, which shows the effect of paths alone; `differences` adds one run
    for each setting that is changed.
    """
    name = "load0.4-burst0.5.parquet"
    flows = folder / f"flows-{name}"
    listed = read(flows, "the flows", ("src", "dst", "start_ns", "open_ns", "class"))
    references = {sharing: read_flows(folder / f"{sharing}-{name}") for sharing in _SHARING}
    comparisons = []
    with TemporaryDirectory() as place:
        given, drawn = _replay(_with_paths(listed, Path(place))), _replay(flows)
        draws = with_hash_seeds(drawn, paths)
        changes = with_changes(given, drawn, DIFFERENCES) if differences else {}
        for sharing, assignment in _SHARING.items():
            reference = references[sharing]
            runs = run_each(
                partial(_run, reference),
                given.set(assignment),
                [draw.set(assignment) for draw in draws],
                {change: changed.set(assignment) for change, changed in changes.items()},
                jobs,
            )
            comparisons.append(compared(sharing, reference, PLACES, runs))
    return Validation(
        comparisons,
        {found.name: found.document for found in comparisons},
        tables(comparisons),
        bounds(each for found in comparisons for each in found.judged),
    )


def _run(reference: Flows, scenario: Scenario, report: Report) -> Run:
    result = run_whole(scenario, report)
    flows, summary = own_flows(result.flows), result.summary
    return Run(
        [percentile(flows.slowdowns(kind), p) for kind, p in PLACES],
        [agreement(kind, reference, flows) for kind in BACKGROUND],
        flows.late,
        sum(summary["drops"].values()),
        summary["marks"],
        summary["packet_hops"],
        summary["buffer_occupancy"]["p99"],
    )


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
        for flow in zip(*columns, are_incast(listed).tolist(), strict=True)
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
