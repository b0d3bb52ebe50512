"""A run on a page of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from spillway.result import tables
from spillway.show import html
from spillway.show.pages import part
from spillway.show.report import Document, Section


def _article(entry: Document) -> Markup:
    shown = html.of(tables.summary(entry))
    return part("spillway.result", "run.html", entry=entry, shown=shown, dates=dates([entry]))


def dates(runs: Iterable[Mapping[str, Any]]) -> str:
    """The day of runs, or the first and last day; empty for older results."""
    days = sorted({run["run"]["began"][:10] for run in runs if "began" in run["run"]})
    if not days:
        return ""
    return f", run on {days[0]}" if len(days) == 1 else f", run from {days[0]} to {days[-1]}"


SECTION = Section("runs", "run", 4, lambda document: "fct_slowdown" in document, _article)
