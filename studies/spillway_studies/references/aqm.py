"""Comparison with queue discs of ns-3: marks packet by packet, queues, completion times."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.run.run import run_whole
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references.agreement import (
    MEDIAN_WITHIN,
    TAIL_WITHIN,
    Agreement,
    Bounds,
    Row,
    Verdict,
    bootstrap,
    of_pairs,
)
from spillway_studies.references.aqm_discs import Disc, disc_of
from spillway_studies.references.aqm_files import (
    Listed,
    Queue,
    read_flows,
    read_queues,
    read_times,
    read_trace,
    traces,
)
from spillway_studies.references.aqm_runs import TRANSPORTS, WINDOW_US, endless, listed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]

MEAN_WITHIN, P99_WITHIN = 0.05, 0.1
"""How far the mean and the 99th percentile of a queue may be from the reference's."""
SEEDS = 200
"""Replays of a disc that marks at random."""
_DEVIATIONS = 2.576
"""Half the width of a normal distribution's middle 99%, in standard deviations."""
_PACKET = 1500
"""A packet's bytes, as the disc counts them."""
PERCENTILES = (0.5, 0.95, 0.99)
CLASSES = ("le100k_nicfree", "le100k", "100k_1m", "gt1m", "all")
"""Flows by size; the first are those short ones whose sender has no other unfinished flow there."""


@dataclass(frozen=True)
class Marks:
    """The marks of the packets of a trace, the reference's and ours at the same times."""

    disc: str
    senders: int
    packets: int
    reference: int
    ours: float
    """For a disc that marks at random, the mean over seeds."""
    differ: int | None
    """The number of packets marked on one side only; None for a disc that marks at random."""
    interval: tuple[float, float] | None
    """Where 99% of our own numbers of marks lie, for a disc that marks at random."""

    @property
    def verdict(self) -> Verdict:
        """Whether all packets agree, or the number of marks is one that could be ours."""
        if self.interval is None:
            return Verdict.outside if self.differ else Verdict.near
        low, high = self.interval
        return Verdict.near if low <= self.reference <= high else Verdict.outside

    @property
    def name(self) -> str:
        """What is compared, and how far it is off."""
        what = f"marks {self.disc} n{self.senders}"
        if self.interval is None:
            return f"{what} {self.differ:,} of {self.packets:,} packets"
        return f"{what} {_off(self.ours, self.reference):+.1%}"


@dataclass(frozen=True)
class Statistic:
    """A statistic of a queue, in packets."""

    name: str
    reference: float
    ours: float
    within: float

    @property
    def difference(self) -> float:
        """The difference of ours from the reference, as a fraction of it."""
        return _off(self.ours, self.reference)

    @property
    def verdict(self) -> Verdict:
        """Whether it is within its bound."""
        return Verdict.near if abs(self.difference) <= self.within else Verdict.outside


@dataclass(frozen=True)
class Length:
    """The length of the queue of one run with endless senders."""

    reference: Queue
    goodput_gbps: float
    empty: float
    """The share of samples in which our disc is empty."""
    statistics: tuple[Statistic, Statistic]
    """Mean and 99th percentile."""

    @property
    def name(self) -> str:
        """The run."""
        return f"queue {self.reference.disc} {self.reference.transport} n{self.reference.senders}"


@dataclass(frozen=True)
class Times:
    """The completion times under one disc."""

    disc: str
    rows: list[Row]
    counts: dict[str, int]
    """The number of flows of each class."""
    flow_by_flow: list[Agreement]
    unfinished: int
    """Of ours."""
    marks: int
    drops: int


@dataclass(frozen=True)
class AqmBounds(Bounds):
    """The bounds of this validation."""

    @property
    def rule(self) -> str:
        """The bounds in words."""
        return (
            "marks the same or, where random, as many as in 99% of replays; queues' means within "
            f"{100 * MEAN_WITHIN:g}%, p99 within {100 * P99_WITHIN:g}%; completion times' medians "
            f"within {100 * MEDIAN_WITHIN:g}%, tails within {100 * TAIL_WITHIN:g}%"
        )


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation."""

    marks: list[Marks]
    lengths: list[Length]
    times: list[Times]
    left_out: list[str]
    """What the folder lacks, or has but cannot be compared, in words."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        marks = [
            {"verdict": each.verdict} | asdict(each) | {"random": each.interval is not None}
            for each in self.marks
        ]
        return {
            "marks": marks,
            "queues": [_length_document(each) for each in self.lengths],
            "completion_times": [_times_document(each) for each in self.times],
            "left_out": self.left_out,
            "bounds": asdict(self.bounds),
        }

    @property
    def bounds(self) -> AqmBounds:
        """The bounds of all three parts."""
        compared = [(each.name, each.verdict) for each in self.marks]
        compared += [
            (f"{each.name} {one.name} {one.difference:+.1%}", one.verdict)
            for each in self.lengths
            for one in each.statistics
        ]
        compared += [
            (f"times {each.disc} {row.name} {row.difference:+.1%}", row.verdict)
            for each in self.times
            for row in each.rows
        ]

        def named(of: Verdict) -> list[str]:
            return [name for name, verdict in compared if verdict is of]

        return AqmBounds(len(compared), named(Verdict.undecided), named(Verdict.outside))


def aqm(folder: Path, *, jobs: int = 2) -> Validation:
    """Queue discs of ns-3 3.37 at one port: which packets they mark, queues, completion times.

    `folder` holds traces of packets (`trace_nN_DISC.parquet`), statistics of queues
    (`summary.csv`), and a list of flows with their times (`F_flows.csv`, `F_fct.parquet`). What it
    lacks is left out, and so are discs and transports that are not known.
    """
    if not folder.is_dir():
        raise ScenarioError(f"there is no folder {folder}", "it holds the output of the reference")
    left_out: list[str] = []
    traced, queues = traces(folder), read_queues(folder)
    flows = read_flows(folder)
    times = None if flows is None else read_times(folder, flows)
    if not traced:
        left_out.append("there is no trace_nN_DISC.parquet: marks are not compared")
    if queues is None:
        left_out.append("there is no summary.csv: queues are not compared")
    if times is None:
        missing = "F_flows.csv" if flows is None else "F_fct.parquet"
        left_out.append(f"there is no {missing}: completion times are not compared")
    parts = {
        "marks": {disc for disc, *_ in traced},
        "queues": {row.disc for row in queues or []},
        "completion times": set(times or {}),
    }
    known = _known(parts, left_out)
    rows = [row for row in queues or [] if row.disc in known]
    for name in sorted({row.transport for row in rows} - set(TRANSPORTS)):
        left_out.append(f"{name}: no transport of ours is known by this name")
    rows = [row for row in rows if row.transport in TRANSPORTS]
    marks = [_marks(known[disc], disc, n, file) for disc, n, file in traced if disc in known]
    timed = [
        partial(_times, known[disc], flows, disc, there)
        for disc, there in (times or {}).items()
        if flows is not None and disc in known
    ]
    lengths = all_of(lambda row, report: _length(known[row.disc], row, report), rows, jobs)
    found = all_of(lambda times, report: times(report), timed, jobs)
    validation = Validation(marks, lengths, found, left_out)
    if not validation.bounds.compared:
        raise ScenarioError(
            f"{folder}: there is nothing to compare: {'; '.join(left_out)}",
            "see docs/validation.md for what such a folder holds",
        )
    return validation


def _known(parts: dict[str, set[str]], left_out: list[str]) -> dict[str, Disc]:
    """The discs that are known. Tells of the others, and of what is missing of these."""
    known = {}
    for name in sorted(set().union(*parts.values())):
        disc = disc_of(name)
        if disc is None:
            left_out.append(f"{name}: no AQM of ours is known by this name")
            continue
        known[name] = disc
        missing = [part for part, discs in parts.items() if discs and name not in discs]
        if missing:
            left_out.append(f"{name}: the folder has no {' and no '.join(missing)}")
    return known


def _marks(disc: Disc, name: str, senders: int, file: Path) -> Marks:
    """Replays a trace."""
    import numpy as np

    trace = read_trace(file)
    there = trace.marked
    keys = {key: value for key, value in disc.aqm.items() if key != "kind"}

    def replayed(seed: int) -> Booleans:
        try:
            marks = core.replayed_marks(
                disc.aqm["kind"],
                keys,
                trace.joined_ps,
                trace.left_ps,
                trace.found,
                trace.remaining,
                _PACKET,
                seed,
            )
        except ScenarioError as error:
            raise ScenarioError(f"{file}: {error}", error.hint) from error
        return np.asarray(marks).astype(bool)

    counts = len(there), int(there.sum())
    if not disc.is_random:
        here = replayed(1)
        return Marks(name, senders, *counts, int(here.sum()), int((here != there).sum()), None)
    drawn = np.array([replayed(seed).sum() for seed in range(1, SEEDS + 1)], dtype=float)
    mean = float(drawn.mean())
    half = _DEVIATIONS * float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / SEEDS)
    return Marks(name, senders, *counts, mean, None, (mean - half, mean + half))


def _length(disc: Disc, reference: Queue, report: Report) -> Length:
    """Runs endless senders. The packet below the disc counts, the one in transmission does not."""
    import numpy as np
    import pyarrow.compute as pc

    result = run_whole(endless(disc, reference.transport, reference.senders), report)
    table = result.queues
    time = table["time_ps"]
    begin, end = (1_000_000 * us for us in WINDOW_US)
    wanted = pc.and_(
        pc.equal(table["port"], reference.senders),
        pc.and_(pc.greater_equal(time, begin), pc.less(time, end)),
    )
    packets = table.filter(wanted)["packets"].to_numpy()
    length = packets + 1.0
    return Length(
        reference,
        result.summary["goodput_gbps"]["all"],
        float(np.mean(packets == 0)),
        (
            Statistic("mean", reference.mean, float(length.mean()), MEAN_WITHIN),
            Statistic("p99", reference.p99, _percentile(length, 0.99), P99_WITHIN),
        ),
    )


def _times(disc: Disc, flows: Listed, name: str, there: Floats, report: Report) -> Times:
    """Runs the list of flows."""
    import numpy as np

    hosts = int(max(flows.src.max(), flows.dst.max())) + 1
    result = run_whole(listed(disc, flows.file, hosts, int(flows.start_ns.max())), report)
    table = result.flows
    fct_ps = table["fct_ps"].cast("double").fill_null(math.inf).to_numpy()
    ours = [table[key].to_numpy() for key in ("dst", "src", "size_bytes", "start_ps")]
    own = np.lexsort(ours)
    order = np.lexsort([flows.dst, flows.src, flows.size_bytes, flows.start_ns])
    here = np.empty(len(order))
    here[order] = fct_ps[own] / 1e3
    classes = _classes(flows, there)
    rows, by_flow = [], []
    for kind, members in classes.items():
        if not members.any():
            continue
        for p in PERCENTILES:
            values = [_percentile(times[members], p) for times in (there, here)]
            rows.append(Row(kind, p, values[0], bootstrap(there[members], p), values[1], None))
        both = members & np.isfinite(here)
        if both.sum() > 1:
            by_flow.append(of_pairs(kind, int(members.sum()), there[both], here[both]))
    return Times(
        name,
        rows,
        {kind: int(members.sum()) for kind, members in classes.items()},
        by_flow,
        int(np.isinf(here).sum()),
        result.summary["marks"],
        sum(result.summary["drops"].values()),
    )


def _classes(flows: Listed, fct_ns: Floats) -> dict[str, Booleans]:
    """Which flows belong to which class."""
    import numpy as np

    size = flows.size_bytes
    ends = flows.start_ns + fct_ns
    is_free = np.ones(len(size), dtype=bool)
    for sender in np.unique(flows.src):
        own = np.flatnonzero(flows.src == sender)
        own = own[np.argsort(flows.start_ns[own], kind="stable")]
        latest = np.maximum.accumulate(ends[own])
        is_free[own[1:]] = latest[:-1] <= flows.start_ns[own[1:]]
    found = [size <= 100_000, (size > 100_000) & (size <= 1_000_000), size > 1_000_000]
    members = [found[0] & is_free, *found, np.ones(len(size), dtype=bool)]
    return dict(zip(CLASSES, members, strict=True))


def _percentile(values: Floats, p: float) -> float:
    """The percentile by nearest rank, as the reference has it."""
    import numpy as np

    return float(np.sort(values)[math.ceil(len(values) * p) - 1])


def _off(ours: float, reference: float) -> float:
    """The difference as a fraction of the reference."""
    if reference:
        return ours / reference - 1
    return math.inf if ours else 0.0


def _length_document(length: Length) -> dict[str, Any]:
    statistics = {
        one.name: {
            "reference": one.reference,
            "ours": one.ours,
            "difference": one.difference,
            "verdict": one.verdict,
        }
        for one in length.statistics
    }
    reference = length.reference
    return {
        "disc": reference.disc,
        "transport": reference.transport,
        "senders": reference.senders,
        "goodput_gbps": {"reference": reference.goodput_gbps, "ours": length.goodput_gbps},
        "empty": length.empty,
        **statistics,
    }


def _times_document(times: Times) -> dict[str, Any]:
    rows = [
        {
            "class": row.flows,
            "flows": times.counts[row.flows],
            "percentile": row.percentile,
            "reference_us": row.reference / 1e3,
            "reference_interval_us": [end / 1e3 for end in row.interval],
            "ours_us": row.ours / 1e3,
            "difference": row.difference,
            "verdict": row.verdict,
        }
        for row in times.rows
    ]
    return {
        "disc": times.disc,
        "rows": rows,
        "flow_by_flow": [asdict(each) for each in times.flow_by_flow],
        "unfinished": times.unfinished,
        "marks": times.marks,
        "drops": times.drops,
    }
