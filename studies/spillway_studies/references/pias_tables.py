"""The tables that `spillway validate pias` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillway_studies.references.agreement import PERCENTILES
from spillway_studies.references.pias import Comparison, Validation
from spillway_studies.references.tables import interval, shown_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_NAMES = [f"{100 * p:g}" for p in PERCENTILES]


def table(validation: Validation) -> Group:
    """What agrees and what does not; then other flows, changed settings, and what is left out."""
    from rich.console import Group
    from rich.text import Text

    parts = []
    for found in validation.comparisons:
        parts += [_compared(found), _others(found)]
        if found.differences:
            parts.append(_differences(found))
    return Group(*parts, *(Text(f"left out: {each}") for each in validation.left_out))


def _compared(found: Comparison) -> Table:
    has_drawn = any(row.drawn for row in found.rows)
    columns = ["class", "percentile", "reference", "95% interval", "ours"]
    columns += [*(["over drawn paths"] if has_drawn else []), "difference", ""]
    title = f"{found.run}: {found.count:,} flows under 100 KB on used connections"
    shown = shown_table(title, columns)
    for row in found.rows:
        shown.add_row(
            "slowdown" if row.flows == "slowdown" else "time in us",
            f"{100 * row.percentile:g}",
            f"{row.reference:,.2f}",
            interval(row.interval),
            f"{row.ours:,.2f}",
            *([interval(row.drawn)] if row.drawn else []),
            f"{row.difference:+.1%}",
            row.verdict,
        )
    counts = ", ".join(f"{number:,} {name}" for name, number in found.counts.items())
    shown.caption = f"ours: {counts}"
    return shown


def _others(found: Comparison) -> Table:
    title = f"{found.run}: slowdowns of other flows, which are not compared"
    columns = ["class", "n", *(f"{name}{of}" for name in _NAMES for of in ("", ", ours"))]
    shown = shown_table(title, columns)
    for each in found.others:
        pairs = zip(each.reference, each.ours, strict=True)
        values = (f"{value:.2f}" for pair in pairs for value in pair)
        shown.add_row(each.flows, f"{each.count:,}", *values)
    return shown


def _differences(found: Comparison) -> Table:
    columns = ["change", *(f"{row.flows} {100 * row.percentile:g}" for row in found.rows)]
    shown = shown_table(f"{found.run}: one change at a time", columns)
    lines = {
        "reference": [row.reference for row in found.rows],
        "none": [row.ours for row in found.rows],
    }
    for change, values in (lines | found.differences).items():
        shown.add_row(change, *(f"{value:,.2f}" for value in values))
    return shown
