"""The tables that `spillway validate aqm` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillway_studies.references.agreement import WITHIN
from spillway_studies.references.aqm import SEEDS, Validation
from spillway_studies.references.tables import interval, shown_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


def table(validation: Validation) -> Group:
    """What agrees and what does not: marks, queues, completion times; then what is left out."""
    from rich.console import Group
    from rich.text import Text

    parts = [
        *([_marks(validation)] if validation.marks else []),
        *([_lengths(validation)] if validation.lengths else []),
        *([_times(validation), _flow_by_flow(validation)] if validation.times else []),
    ]
    return Group(*parts, *(Text(f"left out: {each}") for each in validation.left_out))


def _marks(validation: Validation) -> Table:
    columns = ["disc", "n", "packets", "reference", "ours", "differ", "99% interval", ""]
    shown = shown_table("Marks of the same packets at the same times", columns)
    for each in validation.marks:
        is_random = each.interval is not None
        shown.add_row(
            each.disc,
            f"{each.senders}",
            f"{each.packets:,}",
            f"{each.reference:,}",
            f"{each.ours:,.1f}" if is_random else f"{each.ours:,}",
            "random" if each.differ is None else f"{each.differ:,}",
            "" if each.interval is None else interval(each.interval),
            each.verdict,
        )
    if any(each.interval for each in validation.marks):
        shown.caption = (
            f"random: the number of marks is compared, not each. Ours is the mean of {SEEDS} "
            "seeds; of 100 single numbers 99 lie in the interval."
        )
    return shown


def _lengths(validation: Validation) -> Table:
    columns = ["disc", "transport", "n", "", "reference", "ours", "difference", ""]
    columns += ["Gbps", "ours", "empty"]
    shown = shown_table("Queues of endless senders, in packets, and goodput", columns)
    for each in validation.lengths:
        there = each.reference
        for one in each.statistics:
            shown.add_row(
                there.disc,
                there.transport,
                f"{there.senders}",
                one.name,
                f"{one.reference:.2f}",
                f"{one.ours:.2f}",
                f"{one.difference:+.1%}",
                one.verdict,
                f"{there.goodput_gbps:.3f}",
                f"{each.goodput_gbps:.3f}",
                f"{each.empty:.1%}",
            )
    shown.caption = "empty: the share of our samples with no packet in the disc."
    return shown


def _times(validation: Validation) -> Table:
    columns = ["disc", "class", "n", "percentile", "reference", "95% interval", "ours"]
    shown = shown_table("Completion times in us", [*columns, "difference", ""])
    for each in validation.times:
        for row in each.rows:
            shown.add_row(
                each.disc,
                row.flows,
                f"{each.counts[row.flows]:,}",
                f"{100 * row.percentile:g}",
                f"{row.reference / 1e3:,.1f}",
                interval((row.interval[0] / 1e3, row.interval[1] / 1e3)),
                f"{row.ours / 1e3:,.1f}",
                f"{100 * row.difference:+.1f}%",
                row.verdict,
            )
    return shown


def _flow_by_flow(validation: Validation) -> Table:
    columns = ["disc", "flows", "matched", "correlation", "median ratio", "mean ratio"]
    shown = shown_table(
        "FCT flow by flow: Spillway's to the reference's",
        [*columns, *(f"within {100 * bound:g}%" for bound in WITHIN)],
    )
    for each in validation.times:
        for found in each.flow_by_flow:
            shown.add_row(
                each.disc,
                found.flows,
                f"{found.matched:,} of {found.count:,}",
                f"{found.correlation:.3f}",
                f"{found.median_ratio:.4f}",
                f"{found.mean_ratio:.4f}",
                *(f"{100 * share:.0f}%" for share in found.within),
            )
    return shown
