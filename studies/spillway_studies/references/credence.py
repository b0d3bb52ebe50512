"""Comparison with Credence's program: DT and LQD, flow by flow."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from rich.table import Table

from spillway.base import parquet
from spillway.base.errors import ScenarioError
from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references import credence_paths, replayed
from spillway_studies.references.files import ONE_RUN, Booleans, Floats, fct_ns, read
from spillway_studies.references.numbers import (
    PERCENTILES,
    SHARES_WITHIN,
    Json,
    agreement,
    judged,
    percentile,
)
from spillway_studies.references.replayed import (
    LATE,
    LEAST_TIMEOUT_MS,
    are_incast,
    compare,
    repeat,
    shared_tables,
)
from spillway_studies.references.tables import shown_table
from spillway_studies.references.validation import Validation, validation

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
_BACKGROUND = ("background", *_SIZES)
"""The kinds of flows that are compared flow by flow."""
_CLASSES = (*_SIZES, "incast")
_PLACES = [(kind, p) for kind in _CLASSES for p in PERCENTILES]
"""The percentiles that are compared, in their order."""
DIFFERENCES = (
    "switch.aqm.threshold=11pkt",
    "switch.uncounted_bytes=0B",
    "transport.recovery=sack, transport.recovery.reduction=proportional-ns3",
    "transport.loss_cut=alpha",
    "transport.recovery.reduction=proportional-rfc6937",
    "transport.recovery.reduction=at-once",
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
    references = {sharing: read_flows(folder / f"{sharing}-{name}") for sharing in _SHARING}
    found = {}
    with TemporaryDirectory() as place:
        given, drawn = _replay(_with_paths(listed, Path(place))), _replay(flows)
        ways = DIFFERENCES if differences else ()
        for sharing, assignment in _SHARING.items():
            reference = references[sharing]
            work, own = partial(_measured, reference), given.set(assignment)
            runs = repeat(work, own, drawn.set(assignment), paths, ways, jobs)
            found[sharing] = compare(reference, _PLACES, runs)
    changed = {sharing: each for sharing, each in found.items() if each["differences"]}
    return validation(
        found,
        [
            *shared_tables("sharing", found),
            _counts(found),
            *(_differences(*each) for each in changed.items()),
        ],
        (one for each in found for one in judged(each, found[each]["rows"], "class")),
    )


@dataclass(frozen=True)
class Flows(replayed.Flows):
    """The flows of a run, the reference's or ours."""

    start_us: Floats

    def fcts(self, kind: str) -> dict[tuple[str, str], float]:
        """The FCT of the flows of a kind that have ended, by size and start.

        The reference gives six digits of both. Flows that these do not distinguish are left out.
        """
        wanted = self.are(kind)
        sizes, starts = self.class_bytes[wanted], self.start_us[wanted]
        keys = [(f"{size:.6g}", f"{start:.6g}") for size, start in zip(sizes, starts, strict=True)]
        counts = Counter(keys)
        fcts = zip(keys, self.fct_ns[wanted].tolist(), strict=True)
        return {key: fct for key, fct in fcts if counts[key] == 1 and fct < math.inf}


def flows_of(
    source: str,
    size_bytes: Floats,
    start_us: Floats,
    fct_ns: Floats,
    slowdown: Floats,
    is_incast: Booleans,
) -> Flows:
    """Flows in classes. Those of a query have the same start and size.

    Args:
        source: what an error about missing flows names.
        size_bytes: their sizes.
        start_us: when they start.
        fct_ns: their completion times.
        slowdown: their slowdowns.
        is_incast: which of them are answers to queries.
    """
    query = np.full(len(size_bytes), math.nan)
    keys = np.stack([start_us[is_incast], size_bytes[is_incast]])
    query[is_incast] = np.unique(keys, axis=1, return_inverse=True)[1]
    return Flows(_SIZES, size_bytes, is_incast, query, fct_ns, slowdown, start_us, source=source)


def read_flows(file: Path) -> Flows:
    """The flows of the program's output."""
    columns = ("size_bytes", "flowstart_us", "fct_ns", "slowdown", "incast")
    table = read(file, "the output", columns)
    size, start, fct, slowdown, incast = (table[name].to_numpy() for name in columns)
    return flows_of(str(file), size, start, fct, slowdown, incast.astype(bool))


def _own_flows(table: pa.Table) -> Flows:
    """The flows of our run, with times and slowdowns as the program tells them."""
    size, fct = table["size_bytes"].to_numpy(), fct_ns(table)
    start = _ORIGIN_US + table["start_ps"].to_numpy() / 1e6
    slowdown = fct / (_BASE_RTT_NS + size * _NS_PER_BYTE)
    return flows_of("the list of flows", size, start, fct, slowdown, are_incast(table))


def _measured(reference: Flows, scenario: Scenario, report: Report) -> Json:
    """Runs a scenario, and compares its flows with the reference's."""
    result = run_whole(scenario, report)
    flows, summary = _own_flows(result.flows), result.summary
    return {
        "percentiles": [percentile(flows.slowdowns(kind), p) for kind, p in _PLACES],
        "flow_by_flow": [one_by_one(kind, reference, flows) for kind in _BACKGROUND],
        LATE: flows.late,
        "drops": sum(summary["drops"].values()),
        "marks": summary["marks"],
        "packet_hops": summary["packet_hops"],
        "occupancy_p99": summary["buffer_occupancy"]["p99"],
    }


def one_by_one(kind: str, reference: Flows, ours: Flows) -> Json:
    """Compares the flows of one kind, flow by flow."""
    there, here = reference.fcts(kind), ours.fcts(kind)
    common = [key for key in there if key in here]
    if len(common) < 2:
        problem = f"{reference.source}: it has {len(common)} of the {kind} flows"
        raise ScenarioError(problem, ONE_RUN)
    pairs = np.array([[values[key] for key in common] for values in (there, here)])
    return agreement(kind, int(reference.are(kind).sum()), *pairs)


def _replay(flows: Path) -> Scenario:
    """The reference's scenario with its flows."""
    replay = {"kind": "flows", "file": str(flows.resolve()), "origin": "1100ms"}
    traffic = [
        {"name": "websearch", "only_class": "background", **replay},
        {
            "name": "incast",
            "only_class": "incast",
            "initial_window": "flow",
            "handshake": False,
            **replay,
        },
    ]
    resolved = Scenario.load("credence-code").resolved
    return Scenario(resolved | {"traffic": traffic, "duration": "150ms"})


def _with_paths(listed: pa.Table, folder: Path) -> Path:
    """The list of flows with the paths that they took in the program."""
    columns = (listed[name].to_pylist() for name in ("src", "dst", "start_ns", "open_ns"))
    rows = zip(*columns, are_incast(listed).tolist(), strict=True)
    taken = credence_paths.connections([credence_paths.Flow(*row) for row in rows])
    listed = listed.append_column("path", [[each.spine for each in taken]])
    listed = listed.append_column("ack_path", [[each.reverse.spine for each in taken]])
    file = folder / "flows.parquet"
    parquet.write(listed, file)
    return file


def _counts(comparisons: Mapping[str, Json]) -> Table:
    has_drawn = any(found["drawn"] for found in comparisons.values())
    columns = ["sharing", "count", "reference", "ours"]
    return shown_table(
        "Counts",
        [*columns, *["over drawn paths"] * has_drawn],
        (line for found in comparisons.items() for line in _counted(*found)),
        f"over {LEAST_TIMEOUT_MS} ms: longer than the least timeout, or unfinished; long flows "
        "may take that without one. * the folder has no such counts of the reference.",
    )


def _counted(sharing: str, found: Json) -> Iterable[list[str]]:
    """The lines of one way of sharing."""
    runs, late = [found["ours"], *found["drawn"]], found["reference"][LATE]
    counts = {
        f"{kind} flows over {LEAST_TIMEOUT_MS} ms": (
            f"{late[kind]:,}",
            [run[LATE][kind] for run in runs],
        )
        for kind in _CLASSES
    }
    counts |= {name: ("*", [run[name] for run in runs]) for name in ("drops", "marks")}
    for name, (there, (ours, *drawn)) in counts.items():
        seen = [f"{min(drawn):,} .. {max(drawn):,}"] if drawn else []
        yield [sharing, name, there, f"{ours:,}", *seen]


def _differences(sharing: str, found: Json) -> Table:
    places = [("short", 0.95), ("long", 0.5), ("long", 0.95)]
    columns = ["change", "marks", "drops", "correlation", "mean ratio", "within 5%"]
    lines = []
    for change, run in {"none": found["ours"], **found["differences"]}.items():
        background = run["flow_by_flow"][0]
        slowdowns = (run["percentiles"][_PLACES.index(place)] for place in places)
        lines.append(
            [
                change,
                f"{run['marks']:,}",
                f"{run['drops']:,}",
                f"{background['correlation']:.3f}",
                f"{background['mean_ratio']:.4f}",
                f"{100 * background['within'][SHARES_WITHIN.index(0.05)]:.0f}%",
                *(f"{slowdown:.2f}" for slowdown in slowdowns),
            ]
        )
    return shown_table(
        f"{sharing} with one change: counts, background flow by flow, slowdowns",
        [*columns, *(f"{kind} {100 * p:g}" for kind, p in places)],
        lines,
    )
