"""The tables that `spillway validate aqm` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.table import Table
from rich.text import Text

from spillway_studies.references.aqm_marks import SEEDS, Marks
from spillway_studies.references.aqm_queues import Length
from spillway_studies.references.aqm_times import Times
from spillway_studies.references.percentiles import Row
from spillway_studies.references.tables import (
    FLOW_BY_FLOW,
    flow_by_flow,
    interval,
    percentiles,
    shown_table,
    texts,
)


def tables(
    marks: Sequence[Marks],
    lengths: Sequence[Length],
    times: Sequence[Times],
    left_out: Sequence[str],
) -> list[Table | Text]:
    """What agrees and what does not: marks, queues, completion times; then what is left out."""
    parts: list[Table | Text] = []
    if marks:
        parts.append(_marks(marks))
    if lengths:
        parts.append(_lengths(lengths))
    if times:
        by_flow = [([each.disc], found) for each in times for found in each.flow_by_flow]
        parts += [_times(times), flow_by_flow(FLOW_BY_FLOW, ["disc"], by_flow)]
    return [*parts, *texts(left_out)]


def _marks(marks: Sequence[Marks]) -> Table:
    lines = (
        [
            each.disc,
            f"{each.senders}",
            f"{each.packets:,}",
            f"{each.reference:,}",
            f"{each.ours:,}" if each.interval is None else f"{each.ours:,.1f}",
            "random" if each.differ is None else f"{each.differ:,}",
            "" if each.interval is None else interval(each.interval),
            each.verdict,
        ]
        for each in marks
    )
    caption = (
        f"random: the number of marks is compared, not each. Ours is the mean of {SEEDS} "
        "seeds; of 100 single numbers 99 lie in the interval."
    )
    return shown_table(
        "Marks of the same packets at the same times",
        ["disc", "n", "packets", "reference", "ours", "differ", "99% interval", ""],
        lines,
        caption if any(each.interval for each in marks) else "",
    )


def _lengths(lengths: Sequence[Length]) -> Table:
    columns = ["disc", "transport", "n", "", "reference", "ours", "difference", ""]
    lines = (
        [
            each.reference.disc,
            each.reference.transport,
            f"{each.reference.senders}",
            one.name,
            f"{one.reference:.2f}",
            f"{one.ours:.2f}",
            f"{one.difference:+.1%}",
            one.verdict,
            f"{each.reference.goodput_gbps:.3f}",
            f"{each.goodput_gbps:.3f}",
            f"{each.empty:.1%}",
        ]
        for each in lengths
        for one in each.statistics
    )
    return shown_table(
        "Queues of endless senders, in packets, and goodput",
        [*columns, "Gbps", "ours", "empty"],
        lines,
        "empty: the share of our samples with no packet in the disc.",
    )


def _times(times: Sequence[Times]) -> Table:
    return percentiles(
        "Completion times in us",
        ["disc", "class", "n"],
        (
            ([each.disc, row.flows, f"{each.counts[row.flows]:,}"], _in_us(row))
            for each in times
            for row in each.rows
        ),
        ",.1f",
    )


def _in_us(row: Row) -> Row:
    low, high = row.interval
    return replace(
        row, reference=row.reference / 1e3, interval=(low / 1e3, high / 1e3), ours=row.ours / 1e3
    )
