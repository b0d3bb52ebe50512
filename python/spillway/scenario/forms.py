"""The values that a key takes, as JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from spillway.scenario.sections import Key

Json = dict[str, Any]

MOST = 2**63 - 1
"""The greatest whole number of TOML."""

_NUMBER = r"[0-9_]*[0-9][0-9_]*(?:\.[0-9_]*)?"
_NOT_NOTHING = r"(?=[^1-9]*[1-9])"


def either(*forms: Json) -> Json:
    """Any of these."""
    return forms[0] if len(forms) == 1 else {"anyOf": list(forms)}


def listed(item: Json, least: int = 1) -> Json:
    """A list."""
    return {"type": "array", "items": item, "minItems": least}


def form(key: Key) -> Json:
    """The values that a key takes; for a policy, the names among which it chooses."""
    return {"enum": list(key.choices)} if key.choices else any_of(key.forms)


def any_of(forms: Iterable[Mapping[str, Any]]) -> Json:
    """Values of any of these forms, as the core tells of forms."""
    words: list[str] = []
    texts: list[str] = []
    others: list[Json] = []
    for form in forms:
        match form["form"]:
            case "text":
                texts.append(r".*\S.*")
            case "word":
                words.append(form["word"])
            case "pattern":
                texts.append(form["pattern"])
            case "quantity":
                above = _NOT_NOTHING if form["positive"] else ""
                units = "|".join(map(_escaped, form["units"]))
                texts.append(rf"{above}{_NUMBER}\s*(?:{units})")
            case "flag":
                others.append({"type": "boolean"})
            case "number":
                others.append({"type": "number", **_ends(form)})
            case "integer":
                ends = {"minimum": form["least"], "maximum": min(form["most"], MOST)}
                others.append({"type": "integer", **ends})
            case "list":
                most = {"maxItems": form["most"]} if form["most"] <= MOST else {}
                others.append({**listed(any_of(form["of"]), form["least"]), **most})
            case "table":
                others.append({"type": "object"})
    if texts:
        every = "|".join([*texts, *map(_escaped, words)])
        others.insert(0, {"type": "string", "pattern": rf"^\s*(?:{every})\s*$"})
    elif words:
        others.insert(0, {"enum": words})
    return either(*others)


def _ends(form: Mapping[str, Any]) -> Json:
    """The ends of a range of numbers."""
    found: Json = {}
    for end, closed, open_ in (
        ("least", "minimum", "exclusiveMinimum"),
        ("most", "maximum", "exclusiveMaximum"),
    ):
        bound = form[end]
        if bound is not None:
            found[closed if bound["included"] else open_] = bound["value"]
    return found


def _escaped(text: str) -> str:
    """A regular expression for a text, as JSON Schema has them: only what must be is escaped."""
    return re.sub(r"[\\^$.*+?()\[\]{}|]", r"\\\g<0>", text)
