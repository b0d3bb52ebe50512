"""Tables in notebooks: those of the command line, in HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from spillway.show import tables


def page(*parts: RenderableType) -> str:
    """Tables and texts as HTML."""
    return f"<div>\n{''.join(map(_html, parts))}</div>"


def _html(part: RenderableType) -> str:
    """A part of a page, with all texts escaped."""
    if isinstance(part, Group):
        return "".join(map(_html, part.renderables))
    if isinstance(part, tables.SideBySide):
        return _html(part.wide())
    if isinstance(part, Table):
        return _table(part)
    assert isinstance(part, Text)
    return f"<p>{escape(part.plain)}</p>\n"


def _table(table: Table) -> str:
    styles = [f' style="text-align: {column.justify}"' for column in table.columns]
    heads = [tables.one_line(_plain(column.header)) for column in table.columns]
    lines = [_row("th", heads, styles)] if any(heads) else []
    for row in zip(*(column.cells for column in table.columns), strict=True):
        lines.append(_row("td", [" ".join(_plain(cell).split()) for cell in row], styles))
    return f"<table>\n{''.join(lines)}</table>\n"


def _row(tag: str, cells: Iterable[str], styles: Iterable[str]) -> str:
    pairs = zip(cells, styles, strict=True)
    inside = "".join(f"<{tag}{style}>{escape(cell)}</{tag}>" for cell, style in pairs)
    return f"<tr>{inside}</tr>\n"


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


@dataclass(frozen=True)
class Shown:
    """A table that a terminal, a notebook and `print` show."""

    of: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.of

    def __repr__(self) -> str:
        console = Console(width=140, no_color=True, highlight=False, markup=False)
        with console.capture() as captured:
            console.print(self.of)
        return captured.get()

    def _repr_html_(self) -> str:
        return page(self.of)
