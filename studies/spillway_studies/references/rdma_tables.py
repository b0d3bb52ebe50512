"""The tables that `spillway validate rdma` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillway_studies.references.agreement import WITHIN
from spillway_studies.references.rdma import Comparison, Validation
from spillway_studies.references.tables import shown_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_SIDE_BY_SIDE = 7


def table(validation: Validation) -> Group:
    """What agrees and what does not, run by run; changed settings; what is left out."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Table | Text] = []
    for found in validation.comparisons:
        parts.append(_numbers(found))
        parts += [Text(f"{found.run}: {note}") for note in found.notes]
        if found.flow_by_flow:
            parts.append(_flow_by_flow(found))
        if found.differences:
            parts += _differences(found)
    parts += [Text(f"left out: {each}") for each in validation.left_out]
    return Group(*parts, *(Text(f"wrong, and left out: {each}") for each in validation.wrong))


def _numbers(found: Comparison) -> Table:
    columns = ["class", "unit", "reference", "ours", "difference", "with moved starts", ""]
    shown = shown_table(found.run, columns)
    for each in found.numbers:
        low, high = each.moved
        shown.add_row(
            each.what,
            each.unit,
            _shown(each.reference),
            _shown(each.ours),
            f"{each.difference:+.1%}",
            f"{_shown(low)} .. {_shown(high)}",
            each.verdict,
        )
    return shown


def _flow_by_flow(found: Comparison) -> Table:
    columns = ["flows", "matched", "correlation", "median ratio", "mean ratio"]
    columns += [f"within {100 * bound:g}%" for bound in WITHIN]
    shown = shown_table(f"{found.run}: FCT flow by flow, ours to the reference's", columns)
    for each in found.flow_by_flow:
        shown.add_row(
            each.flows,
            f"{each.matched:,} of {each.count:,}",
            f"{each.correlation:.3f}",
            f"{each.median_ratio:.4f}",
            f"{each.mean_ratio:.4f}",
            *(f"{100 * share:.0f}%" for share in each.within),
        )
    return shown


def _differences(found: Comparison) -> list[Table]:
    """Changed settings: so many numbers side by side as there is room for."""
    lines = {
        "reference": [each.reference for each in found.numbers],
        "none": [each.ours for each in found.numbers],
        **found.differences,
    }
    tables = []
    for first in range(0, len(found.numbers), _SIDE_BY_SIDE):
        part = slice(first, first + _SIDE_BY_SIDE)
        columns = ["change", *(each.what for each in found.numbers[part])]
        shown = shown_table(f"{found.run}: one change at a time", columns)
        for change, values in lines.items():
            shown.add_row(change, *(_shown(value) for value in values[part]))
        tables.append(shown)
    return tables


def _shown(value: float) -> str:
    """A number with four digits or so."""
    return f"{value:,.1f}" if value >= 1_000 else f"{value:.4g}"
