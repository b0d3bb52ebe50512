"""A run's numbers as a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway.show.tables import (
    FEW,
    STATUS_STYLES,
    Row,
    count,
    grid,
    named,
    number,
    percent,
    seconds,
    size,
)


def run(numbers: Mapping[str, Any], folder: Path | None) -> RenderableType:
    """A run's numbers, from its summary, and where they are written to."""
    parts = [summary(numbers)]
    if folder is not None:
        parts.append(Text(f"written to {folder}", "dim"))
    return Group(*parts)


def summary(summary: Mapping[str, Any]) -> RenderableType:
    """A run's numbers, from its summary."""
    title = Text.assemble((summary["scenario"], "bold"), f"  seed {summary['seed']}  ")
    title.append(summary["status"], STATUS_STYLES[summary["status"]])
    parts: list[RenderableType] = [title]
    if any(row["count"] for row in summary["fct_slowdown"].values()):
        parts.append(_classes(summary))
    parts.append(_network(summary))
    if _has_few(summary):
        parts.append(Text(f"{FEW} fewer than 10 flows beyond this percentile", "dim"))
    return Group(*parts)


_PERCENTILES = ("p50", "p95", "p99", "p99_9")


def _classes(summary: Mapping[str, Any]) -> Table:
    rows = {name: row for name, row in summary["fct_slowdown"].items() if row["count"]}
    some_left = any(row["unfinished"] for row in rows.values())
    table = grid("slowdown", numbers=["flows"])
    if some_left:
        table.add_column("un-\nfinished", justify="right", style="red")
    for name in ("with\ntimeout", "mean", "p50", "p95", "p99", "p99.9", "max"):
        table.add_column(name, justify="right")
    for name, row in rows.items():
        table.add_row(
            name,
            count(row["count"]),
            *([count(row["unfinished"])] if some_left else []),
            count(row["with_timeout"]),
            number(row["mean"]),
            *_flagged(row),
            number(row["max"]),
            end_section=name == "all",
        )
    return table


def _flagged(row: Mapping[str, Any], scale: float = 1.0) -> list[str]:
    """Percentiles, marked if few samples lie beyond them."""
    marks = [FEW if p in row["few_samples"] else " " for p in _PERCENTILES]
    return [number(row[p] * scale) + mark for p, mark in zip(_PERCENTILES, marks, strict=True)]


def _probes(summary: Mapping[str, Any]) -> str:
    """Tail-loss probes, if there are any. Results of earlier versions do not tell of them."""
    probes, late = summary.get("tail_loss_probes", 0), summary.get("probes_for_timeouts", 0)
    return f", {count(probes)} probes ({count(late)} for timeouts)" if probes else ""


def _has_few(summary: Mapping[str, Any]) -> bool:
    rows = [*summary["fct_slowdown"].values(), summary["query_us"]]
    return any(row["count"] and row["few_samples"] for row in rows)


def _network(summary: Mapping[str, Any]) -> Table:
    rows: list[Row] = []
    for tier, row in summary["buffer_occupancy"]["by_tier"].items():
        show = size if row["unit"] == "bytes" else percent
        of = "in queues" if row["unit"] == "bytes" else "of the buffer"
        values = [f"{show(row[key])} {label}" for key, label in _OCCUPANCY]
        rows.append((tier, f"{', '.join(values)} {of}"))
    drops = summary["drops"]
    reasons = ", ".join(f"{name} {count(packets)}" for name, packets in drops.items())
    lost = f"{count(sum(drops.values()))} packets" + (f" ({reasons})" if reasons else "")
    load, flows = summary["load"], summary["flows"]
    rows += [
        ("drops", lost),
        (
            "packets",
            f"{count(summary['marks'])} marked, "
            f"{count(summary['retransmitted_packets'])} sent again, "
            f"{count(summary['timeouts'])} timeouts{_probes(summary)}",
        ),
        (
            "load",
            f"{percent(load['offered'])} offered, {percent(load['realised'])} realised, "
            f"{percent(load['on_wire'])} on the wire, of the {load['of']}",
        ),
        ("goodput", f"{number(summary['goodput_gbps']['all'])} Gbps"),
        (
            "flows",
            f"{count(flows['completed'])} of {count(flows['started'])} complete "
            f"in {seconds(summary['simulated_s'])} simulated",
        ),
    ]
    timed = {"queries": summary["query_us"]}
    if "job_us" in summary:
        timed |= {"jobs": summary["job_us"]["all"], "iterations": summary["iteration_us"]["all"]}
    for name, row in timed.items():
        if row["count"]:
            mean = number(row["mean"] * 1e-3)
            p50, p95, p99, _ = (text.strip() for text in _flagged(row, 1e-3))
            complete = (
                f"{count(row['count'] - row['unfinished'])} of {count(row['count'])} complete"
            )
            times = f"{mean} mean, {p50} p50, {p95} p95, {p99} p99"
            rows.append((name, f"{complete}, ms: {times}"))
    spent = summary["run"]
    rate = summary["packet_hops"] / max(spent["wall_s"], 1e-9)
    hops = f"{seconds(spent['wall_s'])} for {count(summary['packet_hops'])} packet-hops"
    speed = f"{rate * 1e-6:.1f} M per second, {spent['peak_rss_mb']:.0f} MB"
    return named([*rows, ("speed", f"{hops}: {speed}")])


_OCCUPANCY = (("mean", "mean"), ("p99", "p99"), ("p99_99", "p99.99"), ("max", "max"))
