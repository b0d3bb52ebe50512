"""A study on one self-contained HTML page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from spillway.base.texts import printable
from spillway.show import html
from spillway.show.tables import number
from spillway.tuning import plots, tables

_TEMPLATE = "tune.html"


def written(summary: Mapping[str, Any]) -> bytes:
    """The page, with all texts escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("spillway.show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    shown = {name: html.of(table) for name, table in tables.parts(summary).items()}
    drawn = {name: _uri(content) for name, content in plots.drawn(summary).items()}
    text = environment.get_template(_TEMPLATE).render(
        summary=summary,
        counted=tables.counted(summary),
        broken=tables.broken(summary),
        tables=shown,
        plots=drawn,
    )
    return printable(text).encode()


def _uri(content: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()
