"""The terminal's output as HTML: the same tables, from the same code."""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup, escape
from rich.console import Group, RenderableType
from rich.style import Style, StyleType
from rich.table import Column, Table
from rich.text import Text

from spillway.base.texts import printable
from spillway.show.tables import SideBySide


def of(shown: RenderableType) -> Markup:
    """A table, a line, or several of them, with all texts escaped."""
    if isinstance(shown, Group):
        return Markup("\n").join(map(of, shown.renderables))
    if isinstance(shown, SideBySide):
        return _table(shown.wide())
    if isinstance(shown, Table):
        return _table(shown)
    assert isinstance(shown, str | Text), shown
    return Markup("<p>{}</p>").format(_text(shown))


def _table(table: Table) -> Markup:
    lines = []
    if table.show_header:
        # Breaks within a word are for narrow terminals.
        heads = [str(column.header).replace("-\n", "") for column in table.columns]
        cells = zip(table.columns, heads, strict=True)
        lines.append(Markup().join(_cell("th", column, head) for column, head in cells))
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = zip(table.columns, row, strict=True)
        lines.append(Markup().join(_cell("td", column, cell) for column, cell in cells))
    rows = Markup("\n").join(Markup("<tr>{}</tr>").format(line) for line in lines)
    return Markup('<div class="wide"><table>\n{}\n</table></div>').format(rows)


def _cell(tag: str, column: Column, shown: RenderableType) -> Markup:
    assert isinstance(shown, str | Text), shown
    classes = [
        *_classes(column.style),
        *(["n"] if column.justify == "right" else []),
        *(["whole"] if column.no_wrap else []),
    ]
    opened = Markup('<{} class="{}">').format(tag, " ".join(classes)) if classes else f"<{tag}>"
    return Markup(opened) + _text(shown) + Markup(f"</{tag}>")


def _text(shown: str | Text) -> Markup:
    text = Text(shown) if isinstance(shown, str) else shown.copy()
    text.plain = printable(text.plain)
    places = {0, len(text.plain)}
    places.update(place for span in text.spans for place in (span.start, span.end))
    parts = []
    for start, end in pairwise(sorted(place for place in places if place <= len(text.plain))):
        styles = [span.style for span in text.spans if span.start <= start and end <= span.end]
        part = escape(text.plain[start:end]).replace("\n", Markup("<br>"))
        classes = _classes(Style.combine(map(_style, [text.style, *styles])))
        parts.append(
            Markup('<span class="{}">{}</span>').format(" ".join(classes), part)
            if classes
            else part
        )
    return Markup().join(parts)


def _classes(style: StyleType) -> list[str]:
    """The names of classes for a style: `bold`, `dim`, and a colour."""
    found = _style(style)
    names = [name for name, has in (("bold", found.bold), ("dim", found.dim)) if has]
    return [*names, *([found.color.name] if found.color is not None else [])]


def _style(style: StyleType) -> Style:
    return style if isinstance(style, Style) else Style.parse(style)
