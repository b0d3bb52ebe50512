"""Comparison with queue discs of ns-3: marks packet by packet, queues, completion times."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from spillway.base import core
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway.base.threads import all_of
from spillway.run.run import run_whole
from spillway.tasks.run import Report
from spillway_studies.references.aqm_discs import (
    TRANSPORTS,
    WINDOW_US,
    Disc,
    disc_of,
    endless,
    listed,
)
from spillway_studies.references.files import (
    ONE_RUN,
    Booleans,
    Floats,
    Whole,
    arrays,
    as_listed,
    check_folder,
    fct_ns,
    foreign,
    numbering,
    table,
)
from spillway_studies.references.numbers import (
    PERCENTILES,
    RULE,
    Json,
    Judged,
    Verdict,
    agreements,
    bootstrap,
    compared,
    judged,
    nearest_rank,
    off,
    percentile_row,
)
from spillway_studies.references.tables import (
    FLOW_BY_FLOW,
    flow_by_flow,
    interval,
    judgement,
    percentiles,
    shown_table,
    texts,
)
from spillway_studies.references.validation import Validation, validation

_MEAN_WITHIN, _P99_WITHIN = 0.05, 0.1
"""How far the mean and the 99th percentile of a queue may be from the reference's."""
_RULE = (
    "marks the same or, where random, as many as in 99% of replays; queues' means within "
    f"{100 * _MEAN_WITHIN:g}%, p99 within {100 * _P99_WITHIN:g}%; completion times' {RULE}"
)
_SEEDS = 200
"""Replays of a disc that marks at random."""
_DEVIATIONS = 2.576
"""Half the width of a normal distribution's middle 99%, in standard deviations."""
_TRACE = re.compile(r"trace_n(\d+)_(.+)\.parquet")
_PACKET = 1500
"""A packet's bytes, as the disc counts them."""
_CLASSES = ("le100k_nicfree", "le100k", "100k_1m", "gt1m", "all")
"""Flows by size; the first are those short ones whose sender has no other unfinished flow there."""


def aqm(folder: Path, *, jobs: int = 2) -> Validation:
    """Queue discs of ns-3 3.37 at one port: which packets they mark, queues, completion times.

    `folder` holds traces of packets (`trace_nN_DISC.parquet`), statistics of queues
    (`summary.csv`), and a list of flows with their times (`F_flows.csv`, `F_fct.parquet`). What it
    lacks is left out, and so are discs and transports that are not known.
    """
    found = read_folder(folder)
    known, left_out = _known(found), found.left_out
    rows = [row for row in found.queues if row["disc"] in known]
    for name in sorted({row["cc"] for row in rows} - set(TRANSPORTS)):
        left_out.append(f"{name}: no transport of ours is known by this name")
    rows = [row for row in rows if row["cc"] in TRANSPORTS]
    timed = [disc for disc in found.times if disc in known]

    def queue(row: Json, report: Report) -> Json:
        return _queue(known[row["disc"]], row, report)

    def fcts(name: str, report: Report) -> Json:
        return {"disc": name} | _times(known[name], found, found.times[name], report)

    marks = [_marks(known[disc], disc, n, file) for disc, n, file in found.traces if disc in known]
    queues, times = all_of(queue, rows, jobs), all_of(fcts, timed, jobs)
    content = {"marks": marks, "queues": queues, "completion_times": times, "left_out": left_out}
    if not (marks or queues or times):
        raise ScenarioError(
            f"{folder}: there is nothing to compare: {'; '.join(left_out)}",
            "see studies/spillway_studies/references/validation.md for what such a folder holds",
        )
    shown = [_marks_table(marks)] if marks else []
    shown += [_queues_table(queues)] if queues else []
    shown += _times_tables(times) if times else []
    return validation(
        content,
        [*shown, *texts(left_out)],
        [
            *map(_judged_marks, marks),
            *(one for each in queues for one in _judged_queue(each)),
            *(
                one
                for each in times
                for one in judged(f"times {each['disc']}", each["rows"], "class")
            ),
        ],
        _RULE,
    )


def _known(found: Found) -> dict[str, Disc]:
    """The discs that are known. Tells of the others, and of what is missing of these."""
    parts = {
        "marks": {disc for disc, *_ in found.traces},
        "queues": {row["disc"] for row in found.queues},
        "completion times": set(found.times),
    }
    known = {}
    for name in sorted(set().union(*parts.values())):
        disc = disc_of(name)
        if disc is None:
            found.left_out.append(f"{name}: no AQM of ours is known by this name")
            continue
        known[name] = disc
        missing = [part for part, discs in parts.items() if discs and name not in discs]
        if missing:
            found.left_out.append(f"{name}: the folder has no {' and no '.join(missing)}")
    return known


# Files -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What a folder holds. What it lacks is empty here."""

    traces: list[tuple[str, int, Path]]
    """Disc, senders, file."""
    queues: list[Json]
    """The rows of the summary: queues at the port of the receiver, in packets."""
    listed: Path
    """The list of flows."""
    flows: dict[str, Whole]
    """Its columns."""
    times: dict[str, Floats]
    """The completion times in ns, in the order of the list, by disc."""
    left_out: list[str]
    """What the folder lacks, or has but cannot be compared, in words."""


def read_folder(folder: Path) -> Found:
    """Everything in the folder but the packets of traces."""
    check_folder(folder, "it holds the output of the reference")
    named = [(_TRACE.fullmatch(file.name), file) for file in folder.iterdir()]
    traces = sorted((match[2], int(match[1]), file) for match, file in named if match)
    summary, listed, fct = (
        folder / name for name in ("summary.csv", "F_flows.csv", "F_fct.parquet")
    )
    queues = _read_queues(summary) if summary.is_file() else []
    flows = _read_flows(listed) if listed.is_file() else {}
    times = _read_times(fct, len(flows["src"])) if flows and fct.is_file() else {}
    left_out = []
    if not traces:
        left_out.append("there is no trace_nN_DISC.parquet: marks are not compared")
    if not summary.is_file():
        left_out.append("there is no summary.csv: queues are not compared")
    if missing := [file.name for file in (listed, fct) if not file.is_file()]:
        left_out.append(f"there is no {missing[0]}: completion times are not compared")
    return Found(traces, queues, listed, flows, times, left_out)


def _read_queues(file: Path) -> list[Json]:
    """The runs with endless senders."""
    summary = table(file)
    family = taken(summary, {"family": "string"}, str(file))["family"]
    texts = dict.fromkeys(("disc", "cc"), "string")
    numbers = dict.fromkeys(("goodput_gbps", "q_mean", "q_p99"), "double")
    endless = summary.filter(pc.equal(family, "S"))
    rows: list[Json] = pa.table(
        taken(endless, {**texts, "n": "int64", **numbers}, str(file))
    ).to_pylist()
    for row in rows:
        if min(row["n"], row["q_mean"], row["q_p99"]) <= 0:
            name = f"{row['disc']} under {row['cc']}, n = {row['n']}"
            raise ScenarioError(f"{file}: {name}: n, q_mean and q_p99 must be above 0")
    return rows


def _read_flows(file: Path) -> dict[str, Whole]:
    types = dict.fromkeys(("src", "dst", "size_bytes", "start_ns"), "int64")
    listed = arrays(table(file), types, file)
    if not len(listed["src"]):
        raise ScenarioError(f"{file}: there are no flows")
    return listed


def _read_times(file: Path, count: int) -> dict[str, Floats]:
    """The completion times of so many flows by disc."""
    types = {"disc": "string", "flow": "int64", "fct_ns": "double"}
    disc, flow, fct = arrays(foreign(file), types, file).values()
    if (fct <= 0).any():
        raise ScenarioError(f"{file}: fct_ns must be above 0")
    times = {}
    for name in sorted(set(disc.tolist())):
        rows = disc == name
        order = np.argsort(flow[rows])
        if not np.array_equal(flow[rows][order], np.arange(count)):
            problem = f"{file}: {name}: its flows are not 0 to {count - 1}, each once"
            raise ScenarioError(problem, ONE_RUN)
        times[name] = fct[rows][order]
    return times


# Marks -------------------------------------------------------------------------------------------


def _marks(disc: Disc, name: str, senders: int, file: Path) -> Json:
    """The marks of the packets of a trace, the reference's and ours at the same times.

    `differ` counts packets marked on one side only. For a disc that marks at random only the number
    of marks is compared: ours is the mean over seeds, and the `interval` contains 99% of our
    numbers.
    """
    types = dict.fromkeys(("enq_ps", "deq_ps"), "uint64") | dict.fromkeys(
        ("found", "left"), "uint32"
    )
    columns = arrays(foreign(file), types | {"marked": "bool"}, file)
    joined, left, found, remaining, there = columns.values()
    keys = {key: value for key, value in disc.aqm.items() if key != "kind"}

    def replayed(seed: int) -> Booleans:
        try:
            marks = core.replayed_marks(
                disc.aqm["kind"], keys, joined, left, found, remaining, _PACKET, seed
            )
        except ScenarioError as error:
            raise ScenarioError(f"{file}: {error}", error.hint) from error
        return np.asarray(marks).astype(bool)

    reference, ends, differ = int(there.sum()), None, None
    if disc.is_random:
        drawn = np.array([replayed(seed).sum() for seed in range(1, _SEEDS + 1)], dtype=float)
        ours = float(drawn.mean())
        half = _DEVIATIONS * float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / _SEEDS)
        ends = (ours - half, ours + half)
        agrees = ends[0] <= reference <= ends[1]
    else:
        here = replayed(1)
        ours, differ = int(here.sum()), int((here != there).sum())
        agrees = differ == 0
    return {
        "verdict": Verdict.near if agrees else Verdict.outside,
        "disc": name,
        "senders": senders,
        "packets": len(there),
        "reference": reference,
        "ours": ours,
        "differ": differ,
        "interval": ends,
        "random": disc.is_random,
    }


def _judged_marks(marks: Json) -> Judged:
    name = f"marks {marks['disc']} n{marks['senders']}"
    if marks["random"]:
        return name, off(marks["ours"], marks["reference"]), marks["verdict"]
    return name, f"{marks['differ']:,} of {marks['packets']:,} packets", marks["verdict"]


def _marks_table(marks: Sequence[Json]) -> Table:
    caption = (
        f"random: the number of marks is compared, not each. Ours is the mean of {_SEEDS} "
        "seeds; of 100 single numbers 99 lie in the interval."
    )
    return shown_table(
        "Marks of the same packets at the same times",
        ["disc", "n", "packets", "reference", "ours", "differ", "99% interval", ""],
        (
            [
                each["disc"],
                f"{each['senders']}",
                f"{each['packets']:,}",
                f"{each['reference']:,}",
                f"{each['ours']:,.1f}" if each["random"] else f"{each['ours']:,}",
                "random" if each["random"] else f"{each['differ']:,}",
                interval(each["interval"]) if each["random"] else "",
                each["verdict"],
            ]
            for each in marks
        ),
        caption if any(each["random"] for each in marks) else "",
    )


# Queues of endless senders -----------------------------------------------------------------------


def _queue(disc: Disc, row: Json, report: Report) -> Json:
    """Runs endless senders. The packet below the disc counts, the one in transmission does not."""
    result = run_whole(endless(disc, row["cc"], row["n"]), report)
    queues = result.queues
    time = queues["time_ps"]
    begin, end = (1_000_000 * us for us in WINDOW_US)
    wanted = pc.and_(
        pc.equal(queues["port"], row["n"]),
        pc.and_(pc.greater_equal(time, begin), pc.less(time, end)),
    )
    packets = queues.filter(wanted)["packets"].to_numpy()
    length = packets + 1.0
    mean = {"reference": row["q_mean"], "ours": float(length.mean())}
    p99 = {"reference": row["q_p99"], "ours": nearest_rank(length, 0.99)}
    goodput = {"reference": row["goodput_gbps"], "ours": result.summary["goodput_gbps"]["all"]}
    return {
        "disc": row["disc"],
        "transport": row["cc"],
        "senders": row["n"],
        "goodput_gbps": goodput,
        "empty": float(np.mean(packets == 0)),
        "mean": compared(mean, _MEAN_WITHIN),
        "p99": compared(p99, _P99_WITHIN),
    }


def _judged_queue(queue: Json) -> list[Judged]:
    run = f"queue {queue['disc']} {queue['transport']} n{queue['senders']}"
    return judged(run, ({"name": name, **queue[name]} for name in ("mean", "p99")), "name")


def _queues_table(queues: Sequence[Json]) -> Table:
    return shown_table(
        "Queues of endless senders, in packets, and goodput",
        [
            "disc",
            "transport",
            "n",
            "",
            "reference",
            "ours",
            "difference",
            "",
            "Gbps",
            "ours",
            "empty",
        ],
        (
            [
                each["disc"],
                each["transport"],
                f"{each['senders']}",
                name,
                f"{each[name]['reference']:.2f}",
                f"{each[name]['ours']:.2f}",
                *judgement(each[name]),
                f"{each['goodput_gbps']['reference']:.3f}",
                f"{each['goodput_gbps']['ours']:.3f}",
                f"{each['empty']:.1%}",
            ]
            for each in queues
            for name in ("mean", "p99")
        ),
        "empty: the share of our samples with no packet in the disc.",
    )


# Completion times --------------------------------------------------------------------------------


def _times(disc: Disc, found: Found, there: Floats, report: Report) -> Json:
    """Runs the list of flows."""
    flows = found.flows
    hosts = int(max(flows["src"].max(), flows["dst"].max())) + 1
    result = run_whole(listed(disc, found.listed, hosts, int(flows["start_ns"].max())), report)
    here = fct_ns(as_listed(result.flows, numbering(flows)))
    classes = _classes(flows, there)
    rows = []
    for kind, members in classes.items():
        for p in PERCENTILES if members.any() else ():
            reference, ours = (nearest_rank(times[members], p) for times in (there, here))
            row = percentile_row(kind, p, reference, bootstrap(there[members], p), ours)
            rows.append(
                {
                    "class": kind,
                    "flows": int(members.sum()),
                    "percentile": p,
                    "reference_us": reference / 1e3,
                    "reference_interval_us": [end / 1e3 for end in row["interval"]],
                    "ours_us": ours / 1e3,
                    "difference": row["difference"],
                    "verdict": row["verdict"],
                }
            )
    return {
        "rows": rows,
        "flow_by_flow": agreements(classes, there, here),
        "unfinished": int(np.isinf(here).sum()),
        "marks": result.summary["marks"],
        "drops": sum(result.summary["drops"].values()),
    }


def _classes(flows: Mapping[str, Whole], fct_ns: Floats) -> dict[str, Booleans]:
    """Which flows belong to which class."""
    size, src, start = flows["size_bytes"], flows["src"], flows["start_ns"]
    ends = start + fct_ns
    is_free = np.ones(len(size), dtype=bool)
    for sender in np.unique(src):
        own = np.flatnonzero(src == sender)
        own = own[np.argsort(start[own], kind="stable")]
        latest = np.maximum.accumulate(ends[own])
        is_free[own[1:]] = latest[:-1] <= start[own[1:]]
    found = [size <= 100_000, (size > 100_000) & (size <= 1_000_000), size > 1_000_000]
    members = [found[0] & is_free, *found, np.ones(len(size), dtype=bool)]
    return dict(zip(_CLASSES, members, strict=True))


def _times_tables(times: Sequence[Json]) -> list[Table]:
    rows, by_flow = [], []
    for each in times:
        by_flow += [([each["disc"]], found) for found in each["flow_by_flow"]]
        for row in each["rows"]:
            numbers = {"reference": row["reference_us"], "ours": row["ours_us"], "drawn": None}
            numbers["interval"] = row["reference_interval_us"]
            rows.append(([each["disc"], row["class"], f"{row['flows']:,}"], row | numbers))
    return [
        percentiles("Completion times in us", ["disc", "class", "n"], rows, ",.1f"),
        flow_by_flow(FLOW_BY_FLOW, ["disc"], by_flow),
    ]
