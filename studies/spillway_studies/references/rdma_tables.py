"""The tables that `spillway validate rdma` shows."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from spillway_studies.references.rdma_numbers import Comparison
from spillway_studies.references.tables import changes, flow_by_flow, shown_table, texts


def tables(
    comparisons: Sequence[Comparison], left_out: Sequence[str], wrong: Sequence[str]
) -> list[Table | Text]:
    """What agrees and what does not, run by run; changed settings; what is left out."""
    parts: list[Table | Text] = []
    for found in comparisons:
        parts += [_numbers(found), *texts(found.notes, f"{found.run}: ")]
        if found.flow_by_flow:
            title = f"{found.run}: FCT flow by flow, ours to the reference's"
            parts.append(flow_by_flow(title, [], (([], each) for each in found.flow_by_flow)))
        if found.differences:
            parts += _differences(found)
    return [*parts, *texts(left_out), *texts(wrong, "wrong, and left out: ")]


def _numbers(found: Comparison) -> Table:
    lines = (
        [
            each.what,
            each.unit,
            _shown(each.reference),
            _shown(each.ours),
            f"{each.difference:+.1%}",
            " .. ".join(_shown(end) for end in each.moved),
            each.verdict,
        ]
        for each in found.numbers
    )
    columns = ["class", "unit", "reference", "ours", "difference", "with moved starts", ""]
    return shown_table(found.run, columns, lines)


def _differences(found: Comparison) -> list[Table]:
    lines = {
        "reference": [each.reference for each in found.numbers],
        "none": [each.ours for each in found.numbers],
    }
    names = [each.what for each in found.numbers]
    return changes(found.run, names, lines | found.differences, _shown)


def _shown(value: float) -> str:
    """A number with four digits or so."""
    return f"{value:,.1f}" if value >= 1_000 else f"{value:.4g}"
