"""Numbers as text, and tables of them that fit the place where they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

FEW = "~"
"""Marks a percentile with few samples beyond it."""


def number(value: float | None, digits: int = 3) -> str:
    """A number with this many significant digits, and its thousands separated."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def count(value: float | None) -> str:
    """A count, with its thousands separated."""
    return "-" if value is None else f"{round(value):,}"


def percent(value: float | None) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.1f}%"


def size(value: float | None) -> str:
    """Bytes in a decimal unit."""
    if value is None:
        return "unlimited"
    units = ["B", "KB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.4g} {units[0]}"


def seconds(value: float) -> str:
    """A time in seconds or milliseconds."""
    return f"{number(value)} s" if value >= 1 else f"{number(value * 1e3)} ms"


SHOWN: dict[str, Callable[[float | None], str]] = {
    "number": number,
    "count": count,
    "percent": percent,
    "size": lambda value: "-" if value is None else size(value),
}
STATUS_STYLES = {
    "complete": "green",
    "stopped": "yellow",
    "deadlock": "red",
    "interrupted": "red",
}


def grid() -> Table:
    """An empty table in the form that all have."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", collapse_padding=True)


def one_line(heading: str) -> str:
    r"""A heading whose lines are joined.

    >>> one_line("un-\nfinished"), one_line("with\ntimeout")
    ('unfinished', 'with timeout')
    """
    return heading.replace("-\n", "").replace("\n", " ")


class Headed(Protocol):
    """What heads a column: a heading, whose lines may break, and the same in one line."""

    @property
    def heading(self) -> str: ...  # noqa: D102

    @property
    def name(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class SideBySide:
    """A row for every variant; if that is too wide, a column each, or several tables."""

    labels: Sequence[str]
    metrics: Sequence[Headed]
    cells: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbound = options.update(max_width=10_000)

        def fits(table: Table) -> bool:
            return Measurement.get(console, unbound, table).maximum <= options.max_width

        wide, tall = self.wide(), self._tall()
        if fits(wide) or fits(tall):
            yield wide if fits(wide) else tall
            return
        first = 0
        while first < len(self.metrics):
            last = len(self.metrics)
            while last > first + 1 and not fits(self.wide(first, last)):
                last -= 1
            yield self.wide(first, last)
            first = last

    def wide(self, first: int = 0, last: int | None = None) -> Table:
        """A row for every variant, with some of the metrics."""
        table = grid()
        table.add_column("", no_wrap=True)
        for metric in self.metrics[first:last]:
            table.add_column(metric.heading, justify="right")
        for label, *row in zip(self.labels, *self.cells[first:last], strict=True):
            table.add_row(label, *row)
        return table

    def _tall(self) -> Table:
        tall = grid()
        tall.add_column("", no_wrap=True)
        for label in self.labels:
            tall.add_column(label.replace(" ", "\n"), justify="right")
        for metric, column in zip(self.metrics, self.cells, strict=True):
            tall.add_row(metric.name, *(Text(" ").join(cell.split("\n")) for cell in column))
        return tall
