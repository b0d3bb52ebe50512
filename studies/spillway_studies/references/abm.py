"""Comparison with ABM's program: Dynamic Thresholds under DCTCP and Cubic, flow by flow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from rich.table import Table

from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.abm_others import others_table, run_others
from spillway_studies.references.abm_runs import (
    BACKGROUND,
    CLASSES,
    CUBIC,
    DCTCP,
    Flows,
    in_order,
    read_reference,
    replay,
)
from spillway_studies.references.files import Floats, Whole
from spillway_studies.references.numbers import (
    PERCENTILES,
    SHARES_WITHIN,
    Json,
    agreement,
    agreements,
    judged,
    percentile,
)
from spillway_studies.references.replayed import (
    LATE,
    LEAST_TIMEOUT_MS,
    compare,
    repeat,
    shared_tables,
)
from spillway_studies.references.tables import shown_table
from spillway_studies.references.validation import Validation, validation

EXPERIMENTS = (DCTCP, CUBIC)
DIFFERENCES = (
    "switch.port_fifo_packets=0, nic.fifo_packets=0",
    "switch.port_fifo_packets=0",
    "nic.fifo_packets=0",
    "nic.scheduling=fifo",
    "transport.syn_window=unlimited",
    "transport.recovery=sack, transport.recovery.reduction=proportional-ns3",
    "transport.recovery=rack, transport.recovery.reduction=proportional-ns3",
    "transport.recovery.reduction=proportional-rfc6937",
    "transport.recovery.reduction=at-once",
    "transport.host_backlog=1bdp",
    "switch.sharing.count_arrival=false",
    "switch.uncounted_bytes=0B",
)
PLACES = [(kind, p) for kind in CLASSES for p in PERCENTILES]
"""The percentiles that are compared, in their order."""
_CHANGED = [(kind, p) for kind in ("short", "medium", "large", "incast") for p in (0.5, 0.99)]
"""The percentiles that are shown where one setting is changed."""


def abm(
    folder: Path,
    *,
    paths: int = 0,
    jobs: int = 2,
    differences: bool = False,
    others: bool = False,
) -> Validation:
    """ABM's program (inet-tub/ns3-datacenter): DT under DCTCP and under Cubic, at load 40%.

    `folder` holds its flows (`flows/flows-LOAD.parquet`) and its output
    (`runs/TRANSPORT-dt-LOAD.parquet`). Flows that never got a connection there are left out.
    `paths` is the number of runs with paths that our own hash draws, `differences` one run for each
    setting that is changed, and `others` runs of other schemes and transports, of which only
    percentiles are known.
    """
    references = [read_reference(folder, experiment) for experiment in EXPERIMENTS]
    content: Json = {}
    with TemporaryDirectory() as place:
        for experiment, (listed, reference) in zip(EXPERIMENTS, references, strict=True):
            given = replay(experiment, listed, Path(place) / f"{experiment.load}.parquet")
            pathless = listed.drop_columns(["path", "ack_path"])
            drawn = replay(experiment, pathless, Path(place) / f"{experiment.load}-drawn.parquet")
            ways = (*DIFFERENCES, *experiment.differences) if differences else ()
            work = partial(_measured, listed, reference)
            runs = repeat(work, given, drawn, paths, ways, jobs)
            counts = {kind: int(reference.are(kind).sum()) for kind in (*BACKGROUND, "incast")}
            content[experiment.transport] = compare(reference, PLACES, runs, counts)
    counted = [one for name, run in content.items() for one in judged(name, run["rows"], "class")]
    shown = [*shared_tables("transport", content), _counts(content), _uncontended(content)]
    shown += [_differences(*found) for found in content.items() if found[1]["differences"]]
    if others:
        content["others"], more = run_others(folder, jobs=jobs)
        counted += more
        shown.append(others_table(content["others"]))
    return validation(content, shown, counted)


def _measured(listed: pa.Table, reference: Flows, scenario: Scenario, report: Report) -> Json:
    """Runs a scenario, and compares its flows with the reference's."""
    result = run_whole(scenario, report)
    ours, with_timeout = in_order(listed, reference, result.flows)
    summary = result.summary
    return {
        "percentiles": [
            percentile(ours.slowdowns(kind), p) if ours.are(kind).any() else None
            for kind, p in PLACES
        ],
        "flow_by_flow": _flow_by_flow(reference, ours),
        LATE: ours.late,
        "flows_with_timeout": {
            kind: int((with_timeout & ours.are(kind)).sum()) for kind in CLASSES
        },
        "drops": sum(summary["drops"].values()),
        "marks": summary["marks"],
        "packet_hops": summary["packet_hops"],
        "uncontended": uncontended(reference, ours),
    }


def _flow_by_flow(reference: Flows, ours: Flows) -> list[Json]:
    classes = {kind: reference.are(kind) for kind in BACKGROUND}
    found = agreements(classes, reference.fct_ns, ours.fct_ns)
    here = _by_rank(ours)
    there = {key: fct for key, fct in _by_rank(reference).items() if here.get(key, 0) > 0}
    if len(there) > 1:
        pairs = np.array(list(there.values())), np.array([here[key] for key in there])
        found.append(agreement("incast, by rank", int(reference.is_incast.sum()), *pairs))
    return found


def _by_rank(flows: Flows) -> dict[tuple[float, float], float]:
    """The FCT of finished incast flows by query and rank, if both are known."""
    rows = np.stack([flows.query, flows.rank, flows.fct_ns])
    known = rows[:, np.isfinite(rows).all(axis=0)]
    return {(query, rank): fct for query, rank, fct in known.T.tolist()}


# Flows that meet no others -----------------------------------------------------------------------
#
# Between hosts of different leaves there are 4 links of 10 Gbps and 10 us. The request for a
# connection and its answer take 58 bytes on each of them. Then come an ack of 54 bytes and the
# data, back to back, in frames of up to 1454 bytes for 1400 of payload, as many as fit a first
# flight.

_NS_PER_BYTE = 0.8
_WAY_NS = 4 * 10_000
_LINKS = 4
_SYN, _ACK, _HEADER, _PAYLOAD = 58, 54, 54, 1400
_LARGEST = 65_535
"""The largest payload of a first flight: the receiver's window before it is scaled."""
SHORTER_HERE_NS = _NS_PER_BYTE * (2 * _LINKS * (_SYN - _ACK) + _ACK)
"""Our handshake has 54 bytes instead of 58, and our first data serves as its last ack."""
_UNCONTENDED_NS = (20, 100)
"""How close a flow is to the closed form if it has met no other flow, in ns."""


def uncontended_ns(payload: Whole) -> Floats:
    """From the request for a connection to the arrival of the last byte, in a first flight."""
    packets = -(-payload // _PAYLOAD)
    last = payload - (packets - 1) * _PAYLOAD + _HEADER
    full = _PAYLOAD + _HEADER
    # The last frame follows the others on the first link. On the other links it waits for the one
    # before it, being shorter.
    data = np.where(packets > 1, (packets - 1 + _LINKS - 1) * full + last, _LINKS * last)
    return 3 * _WAY_NS + _NS_PER_BYTE * (2 * _LINKS * _SYN + _ACK + data)


def uncontended(reference: Flows, ours: Flows) -> Json:
    """Compares the flows of the background that fit a first flight with the closed form.

    The result tells how many flows of each side are within the distances `_UNCONTENDED_NS` of it,
    for how many of ours it is right to the picosecond, how many are within the wider distance on
    both sides, and the median difference of those within that distance on each side.
    """
    fits = ~reference.is_incast & (reference.payload <= _LARGEST)
    expected = uncontended_ns(reference.payload[fits])
    there = reference.fct_ns[fits] - expected
    here = ours.fct_ns[fits] - (expected - SHORTER_HERE_NS)
    wide = [abs(each) <= max(_UNCONTENDED_NS) for each in (there, here)]

    def close(off_ns: Floats) -> dict[int, int]:
        return {bound: int((abs(off_ns) <= bound).sum()) for bound in _UNCONTENDED_NS}

    return {
        "flows": int(fits.sum()),
        "reference_within_ns": close(there),
        "ours_within_ns": close(here),
        "ours_exactly": int((abs(here) < 1e-3).sum()),
        "both": int((wide[0] & wide[1]).sum()),
        "residual_ns": [
            float(np.median(off_ns[near])) if near.any() else None
            for off_ns, near in zip((there, here), wide, strict=True)
        ],
    }


# Tables ------------------------------------------------------------------------------------------


def _counts(comparisons: Mapping[str, Json]) -> Table:
    bound = f"over {LEAST_TIMEOUT_MS} ms"
    lines = []
    for name, found in comparisons.items():
        late, hit = found["ours"][LATE], found["ours"]["flows_with_timeout"]
        for kind, there in found["reference"][LATE].items():
            lines.append([name, kind, f"{there:,}", f"{late[kind]:,}", f"{hit[kind]:,}"])
    return shown_table(
        "Flows that a timeout has hit",
        ["transport", "class", f"reference {bound}", f"ours {bound}", "ours with a timeout"],
        lines,
        f"{bound}: longer than the least timeout, or unfinished; flows from 1 MB on may take that "
        "without one, and the reference's output does not tell timeouts.",
    )


def _uncontended(comparisons: Mapping[str, Json]) -> Table:
    columns = ["transport", "flows"]
    columns += [
        f"{side} within {ns} ns" for ns in _UNCONTENDED_NS for side in ("reference", "ours")
    ]
    columns += ["ours exactly", "both", "reference off by", "ours off by"]
    lines = []
    for name, comparison in comparisons.items():
        found = comparison["ours"]["uncontended"]
        sides = (found["reference_within_ns"], found["ours_within_ns"])
        close = (within[ns] for ns in _UNCONTENDED_NS for within in sides)
        counts = (found["flows"], *close, found["ours_exactly"], found["both"])
        off = ("-" if ns is None else f"{ns:.1f} ns" for ns in found["residual_ns"])
        lines.append([name, *(f"{count:,}" for count in counts), *off])
    return shown_table(
        "Small background flows and the closed form for those that meet none", columns, lines
    )


def _differences(name: str, found: Json) -> Table:
    there = {(row["class"], row["percentile"]): row["reference"] for row in found["rows"]}
    late = found["reference"][LATE]["incast"]
    lines = [("reference", "", late, [there.get(at) for at in _CHANGED])]
    for change, run in {"none": found["ours"], **found["differences"]}.items():
        share = run["flow_by_flow"][0]["within"][SHARES_WITHIN.index(0.05)]
        slowdowns = [run["percentiles"][PLACES.index(at)] for at in _CHANGED]
        lines.append((change, f"{100 * share:.0f}%", run[LATE]["incast"], slowdowns))
    return shown_table(
        f"{name} with one change: background flow by flow, timeouts, slowdowns",
        ["change", "within 5%", "timeouts", *(f"{kind} {100 * p:g}" for kind, p in _CHANGED)],
        (
            [change, share, f"{late:,}", *("-" if x is None else f"{x:.2f}" for x in slowdowns)]
            for change, share, late, slowdowns in lines
        ),
        "timeouts: incast flows over the least timeout.",
    )
