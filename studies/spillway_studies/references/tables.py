"""Tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_NAMES = ("sharing", "disc", "transport", "class", "flows", "count", "change")


def shown_table(title: str, columns: Sequence[str]) -> Table:
    """A table with these columns; names are aligned to the left, numbers to the right."""
    from rich.table import Table

    shown = Table(title=title)
    for column in columns:
        is_name = column in _NAMES
        shown.add_column(column, justify="left" if is_name else "right", no_wrap=is_name)
    return shown


def interval(ends: tuple[float, float]) -> str:
    """A range, from the least to the greatest."""
    return f"{ends[0]:.2f} .. {ends[1]:.2f}"
