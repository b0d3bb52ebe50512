"""The tables that `spillway validate linux` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillway_studies.references.linux import UNITS, Comparison, Validation
from spillway_studies.references.tables import interval, shown_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


def table(validation: Validation) -> Group:
    """What agrees and what does not, of every setting; then what is left out."""
    from rich.console import Group
    from rich.text import Text

    parts = [_compared(found) for found in validation.comparisons]
    return Group(*parts, *(Text(f"left out: {each}") for each in validation.left_out))


def _compared(found: Comparison) -> Table:
    seeds = "1 seed" if found.count == 1 else f"{found.count} seeds"
    columns = ["count", "unit", "kernel", "its seeds", "ours", "difference", ""]
    shown = shown_table(f"{found.setting.name}: {seeds}", columns)
    for row in found.rows:
        shown.add_row(
            row.name,
            UNITS[row.name],
            f"{row.reference:,.2f}",
            interval(row.seeds),
            f"{row.ours:,.2f}",
            f"{row.difference:+.1%}",
            row.verdict,
        )
    return shown
