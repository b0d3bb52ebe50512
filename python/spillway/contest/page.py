"""The page of an arena."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from spillway.base.arguments import seeds_told
from spillway.contest import plots, tables
from spillway.show import html
from spillway.show.drawing import data_uri
from spillway.show.pages import render


def written(found: Mapping[str, Any]) -> bytes:
    """The page, with all texts escaped."""
    has_numbers = "levels" in found
    shown = {}
    if has_numbers:
        shown = {
            "standings": tables.standings(found),
            "beaten": tables.beaten(found),
            "metrics": tables.other_metrics(found),
            "worst": tables.worst_cases(found),
            "front": tables.front(found),
        }
        if found["effects"]:
            shown["effects"] = tables.effects(found)
    levels = tables.levels(found) if has_numbers and found["effects"] else []
    return render(
        "spillway.contest",
        "arena.html",
        {"named": _named, "seeds": seeds_told},
        found=found,
        has_numbers=has_numbers,
        told=tables.told(found) if has_numbers else "",
        never_bad=tables.never_bad(found) if has_numbers else None,
        hardware=tables.hardware_told(),
        tables={name: html.of(table) for name, table in shown.items()},
        levels=[(name, html.of(table)) for name, table in levels],
        plots={name: data_uri(svg) for name, svg in plots.drawn(found).items()}
        if has_numbers
        else {},
        lists={
            "impossible": html.of(tables.listed(found["design"]["impossible"], "pair", "why")),
            "refused": html.of(
                tables.listed(found["design"]["refused"], "level", "contexts", "why")
            ),
            "missing": html.of(tables.listed(found["design"]["missing"], "level", "why")),
            "warnings": html.of(tables.listed(found["warnings"], "count", "text")),
        },
    )


def _named(text: str) -> Markup:
    """A text in which names between backquotes are set as code."""
    parts = text.split("`")
    return Markup().join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )
