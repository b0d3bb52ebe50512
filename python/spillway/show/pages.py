"""Pages from templates: a room's own, and those of this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from spillway.base.texts import printable
from spillway.show.tables import count, number, percent

Filters = Mapping[str, Callable[..., Any]]


def render(room: str, template: str, filters: Filters | None = None, **values: Any) -> bytes:
    """A page, with all texts escaped."""
    text = _template(room, template, filters or {}).render(**values)
    return printable(text).encode()


def part(room: str, template: str, filters: Filters | None = None, **values: Any) -> Markup:
    """A part of a page."""
    return Markup(_template(room, template, filters or {}).render(**values))


def _template(room: str, name: str, filters: Filters) -> Template:
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader(each) for each in dict.fromkeys((room, "spillway.show"))]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        count=count,
        percent=percent,
        slug=lambda text: text.replace(" ", "-"),
        **filters,
    )
    return environment.get_template(name)
