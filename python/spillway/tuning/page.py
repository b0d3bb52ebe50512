"""A study on a page of its own, and on one of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from spillway.show import html
from spillway.show.drawing import data_uri
from spillway.show.pages import part, render
from spillway.show.report import Document, Section
from spillway.tuning import plots, tables


def written(summary: Mapping[str, Any]) -> bytes:
    """The page, with all texts escaped."""
    return render(
        "spillway.tuning",
        "tune.html",
        summary=summary,
        counted=tables.counted(summary),
        broken=tables.broken(summary),
        tables={name: html.of(table) for name, table in tables.parts(summary).items()},
        plots={name: data_uri(content) for name, content in plots.drawn(summary).items()},
    )


def _article(entry: Document) -> Markup:
    """The answer of a study; the study's own page has the rest."""
    drawn = plots.drawn(entry)
    shown = [(name, data_uri(drawn[name])) for name in ("confirmation", "front") if name in drawn]
    table = html.of(tables.shown(entry))
    return part("spillway.tuning", "study.html", entry=entry, shown=table, plots=shown)


SECTION = Section("studies", "study", 3, lambda document: "goals" in document, _article)
