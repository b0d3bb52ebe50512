"""What keys are, for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from spillway.scenario.catalogue import listed, sentence
from spillway.show.tables import Row, named


def explained(told: Mapping[str, Any]) -> RenderableType:
    """A key in all of its forms, or the keys of a section; plug-ins."""
    parts: list[RenderableType] = [Text(told["path"], "bold cyan")]
    if "has" in told:
        parts += [Padding(_has(told), (0, 0, 0, 2)), Text()]
    for form in told.get("forms", ()):
        parts += [Padding(_form(form), (0, 0, 0, 2)), Text()]
    if told.get("keys"):
        rows = [
            (key["name"], _kinds(key["kinds"], ""), sentence(key["meaning"]))
            for key in told["keys"]
        ]
        parts += [Padding(listed(rows, {"max_width": 30}), (0, 0, 0, 2)), Text()]
    return Group(*parts, Text(f"page: {told['page']}", "dim"))


def _has(told: Mapping[str, Any]) -> RenderableType:
    """What a kind of plug-ins or what its hooks are told has."""
    parts: list[RenderableType] = [Text(told["meaning"]), Text()] if told["meaning"] else []
    for row in told["has"]:
        text = Text(sentence(row["meaning"]), "dim")
        parts += [Text(row["name"], "green"), Padding(text, (0, 0, 0, 2))]
    if told["told"]:
        parts += [Text(), Text(f"hooks are told of {', '.join(told['told'])}")]
    return Group(*parts)


def _form(form: Mapping[str, Any]) -> RenderableType:
    default = "required" if form["required"] else json.dumps(form["default"])
    rows: list[Row] = [("meaning", sentence(form["meaning"])), ("takes", sentence(form["takes"]))]
    if form["choices"] and form["choices"][0] not in form["takes"]:
        rows.append(("choices", ", ".join(form["choices"])))
    rows.append(("default", "none" if default == "null" else default))
    if form["kinds"]:
        rows.append(("with", _kinds(form["kinds"], "all kinds")))
    yes, no = "an event or a stepped run can change it", "it stays as it is"
    rows.append(("in a run", yes if form["changes"] else no))
    return named(rows)


def _kinds(kinds: Iterable[str] | None, all_of_them: str) -> str:
    return all_of_them if kinds is None else ", ".join(kinds)
