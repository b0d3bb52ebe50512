"""Numbers as text, and tables of them that fit the place where they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
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


def grid(*texts: str, numbers: Iterable[str] = ()) -> Table:
    """An empty table: columns of texts with these heads, and then columns of numbers."""
    return _headed(texts, numbers, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def wide_grid(*texts: str, numbers: Iterable[str] = ()) -> Table:
    """As `grid`, with more room between columns."""
    return _headed(texts, numbers, box=box.SIMPLE_HEAD, pad_edge=False)


def open_grid(*texts: str, numbers: Iterable[str] = ()) -> Table:
    """As `grid`, without a line below the heads."""
    return _headed(texts, numbers, box=None)


def _headed(texts: Iterable[str], numbers: Iterable[str], **form: Any) -> Table:
    table = Table(header_style="bold", **form)
    for text in texts:
        table.add_column(text)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


Row = tuple[str, RenderableType]
"""A name, and what is said of it."""


def named(rows: Iterable[Row], *, no_wrap: bool = False) -> Table:
    """Names, and what is said of each; with `no_wrap` no name is broken."""
    return _filled(Table.grid(padding=(0, 2)), rows, {"no_wrap": no_wrap}, {})


def properties(rows: Iterable[Row]) -> Table:
    """The properties of something by name; long ones go on in another line."""
    return _filled(Table(box=None, show_header=False), rows, {}, {"overflow": "fold"})


def _filled(
    table: Table, rows: Iterable[Row], names: dict[str, Any], others: dict[str, Any]
) -> Table:
    table.add_column(style="bold", **names)
    table.add_column(**others)
    for row in rows:
        table.add_row(*row)
    return table


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
