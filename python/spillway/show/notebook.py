"""Results and scenarios in notebooks: the tables of the command line, in HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway.base.errors import SpillwayError
from spillway.show import tables

if TYPE_CHECKING:
    from spillway.experiment.experiment import Experiment
    from spillway.result.result import Result
    from spillway.scenario.scenario import Scenario

_MOST_FLOWS = 10_000
"""The most flows counted in each traffic section, because the output must appear at once."""


def run(result: Result) -> str:
    """A run's numbers."""
    parts: list[RenderableType] = [tables.run(result)]
    try:
        parts.append(Text(f"tables: {', '.join(result.names())}"))
    except (OSError, SpillwayError) as error:
        parts.append(Text(f"its tables cannot be listed: {error}"))
    return page(*parts)


def experiment(shown: Experiment) -> str:
    """Variants side by side."""
    return page(tables.experiment(shown))


def scenario(scenario: Scenario) -> str:
    """A scenario and the facts that follow from it, or the reason why it cannot be read."""
    parts: list[RenderableType] = [Text(scenario.described())]
    try:
        parts.append(tables.facts(scenario.facts_of(_MOST_FLOWS)))
    except SpillwayError as error:
        hint = "" if error.hint is None else f" ({error.hint})"
        parts.append(Text(f"it cannot be read: {error}{hint}"))
    return page(*parts)


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
