"""Tables for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from spillway_studies.references.numbers import SHARES_WITHIN, Json, Range

_NAMES = ("sharing", "disc", "transport", "class", "flows", "count", "change")
_SIDE_BY_SIDE = 7
FLOW_BY_FLOW = "FCT flow by flow: Spillway's to the reference's"
WITHIN_COLUMNS = [f"within {100 * bound:g}%" for bound in SHARES_WITHIN]
"""The columns with the shares of flows that are within a bound."""


def shown_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]] = (), caption: str = ""
) -> Table:
    """A table with these columns; names are aligned to the left, numbers to the right."""
    shown = Table(title=title, caption=caption or None)
    for column in columns:
        is_name = column in _NAMES
        shown.add_column(column, justify="left" if is_name else "right", no_wrap=is_name)
    for row in rows:
        shown.add_row(*row)
    return shown


def interval(ends: Range) -> str:
    """A range, from the least to the greatest."""
    return f"{ends[0]:.2f} .. {ends[1]:.2f}"


def judgement(row: Json) -> list[str]:
    """The difference of a compared number, and the verdict."""
    return [f"{row['difference']:+.1%}", row["verdict"]]


def texts(names: Iterable[str], words: str = "left out: ") -> list[Text]:
    """A line for each, behind the same words."""
    return [Text(f"{words}{name}") for name in names]


def percentiles(
    title: str,
    names: Sequence[str],
    rows: Iterable[tuple[Sequence[str], Json]],
    number: str = ".2f",
    caption: str = "",
) -> Table:
    """Percentiles, the reference's and ours, each behind columns with names.

    `number` is the format of both.
    """
    listed = list(rows)
    drawn = ["over drawn paths"] if any(row["drawn"] for _, row in listed) else []
    lines = [
        [
            *named,
            f"{100 * row['percentile']:g}",
            f"{row['reference']:{number}}",
            interval(row["interval"]),
            f"{row['ours']:{number}}",
            *([interval(row["drawn"])] if row["drawn"] else []),
            *judgement(row),
        ]
        for named, row in listed
    ]
    return shown_table(
        title,
        [*names, "percentile", "reference", "95% interval", "ours", *drawn, "difference", ""],
        lines,
        caption,
    )


def flow_by_flow(
    title: str, names: Sequence[str], found: Iterable[tuple[Sequence[str], Json]]
) -> Table:
    """How well flows agree one by one, each kind behind columns with names."""
    return shown_table(
        title,
        [*names, "flows", "matched", "correlation", "median ratio", "mean ratio", *WITHIN_COLUMNS],
        (
            [
                *named,
                each["flows"],
                f"{each['matched']:,} of {each['count']:,}",
                f"{each['correlation']:.3f}",
                f"{each['median_ratio']:.4f}",
                f"{each['mean_ratio']:.4f}",
                *shares(each),
            ]
            for named, each in found
        ),
    )


def shares(agreement: Json) -> list[str]:
    """The shares of flows that are within a bound."""
    return [f"{100 * share:.0f}%" for share in agreement["within"]]


def changes_tables(
    run: str,
    names: Sequence[str],
    rows: Sequence[Json],
    differences: Mapping[str, Sequence[float]],
    number: Callable[[float], str],
) -> list[Table]:
    """Compared numbers, and ours with one setting changed: so many side by side as there is room.

    Args:
        run: the run.
        names: the numbers' names.
        rows: the numbers.
        differences: ours with a setting changed, by the change.
        number: how a number is shown.
    """
    lines = {
        "reference": [row["reference"] for row in rows],
        "none": [row["ours"] for row in rows],
        **differences,
    }
    return [
        shown_table(
            f"{run}: one change at a time",
            ["change", *names[first : first + _SIDE_BY_SIDE]],
            (
                [change, *(number(value) for value in values[first : first + _SIDE_BY_SIDE])]
                for change, values in lines.items()
            ),
        )
        for first in range(0, len(names), _SIDE_BY_SIDE)
    ]
