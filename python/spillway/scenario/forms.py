"""The values that a key takes, as JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from spillway.scenario.sections import Bound, Key

Json = dict[str, Any]

MOST = 2**63 - 1
"""The greatest whole number of TOML."""

_NUMBER = r"[0-9_]*[0-9][0-9_]*(?:\.[0-9_]*)?"
_NOT_NOTHING = r"(?=[^1-9]*[1-9])"
_SIZES = ("B", "KB", "MB", "GB", "KiB", "MiB", "GiB")
_TIMES = ("ps", "ns", "us", "ms", "s")
_RATES = ("bps", "Kbps", "Mbps", "Gbps", "Tbps")

NAME: Json = {"type": "string", "pattern": r"\S"}
"""A text that is not blank."""
INDEX: Json = {"type": "integer", "minimum": 0}
"""A number by which something is named."""
RANGE: Json = {"type": "string", "pattern": r"\.\."}


def quantity(
    units: Iterable[str], *words: str, is_positive: bool = False, behind: str = ""
) -> Json:
    """A number with one of these units, or one of these words.

    Args:
        units: The units.
        *words: What may stand instead of a number.
        is_positive: Whether the number must be above 0.
        behind: A pattern of what may follow the unit.
    """
    number = (_NOT_NOTHING if is_positive else "") + _NUMBER
    forms = [rf"{number}\s*(?:{'|'.join(units)}){behind}", *words]
    return {"type": "string", "pattern": rf"^\s*(?:{'|'.join(forms)})\s*$"}


def either(*forms: Json) -> Json:
    """Any of these."""
    return {"anyOf": list(forms)}


def listed(item: Json, least: int = 1) -> Json:
    """A list."""
    return {"type": "array", "items": item, "minItems": least}


_BEGINNINGS: tuple[tuple[str, Json], ...] = (
    ("a name", NAME),
    ("the name of a switch", NAME),
    ("a file's name", NAME),
    ("a class's name", NAME),
    ("a path, seen from", NAME),
    ("the path of a number", NAME),
    ('a switch such as "leaf0", or its number', either(NAME, INDEX)),
    ('a switch such as "leaf0", or a host', {"type": "string"}),
    ("a time of at most 1s", quantity(_TIMES)),
    ("a time from 100ns on", quantity(_TIMES, is_positive=True)),
    ('a time such as "20us", or a multiple of the smoothed RTT', quantity((*_TIMES, "rtt"))),
    ('a time above 0 such as "45us"', quantity((*_TIMES, "rtt"), "none")),
    ('"least", or a time', quantity(_TIMES, "least")),
    ('"auto", bytes', quantity((*_SIZES, "bdp"), "auto", r"[-+.0-9eE]+bdp")),
    ('a rate such as "40Gbps", "unlimited", or a table', either(
        quantity(_RATES, "unlimited"), {"type": "object"}
    )),
    ('a rate such as "40Mbps"', quantity((*_RATES, "%"), "expected-flows", "[0-9]+ ?steps")),
    ("a list of flow numbers", {"type": "array", "items": INDEX}),
    ("a list of queue classes", {"type": "array", "items": {**INDEX, "maximum": 63}}),
    ("a share of the buffer", quantity((*_SIZES, "%"))),
    ("a number, a quantity", either(
        {"type": ["number", "string"]}, listed({"type": ["number", "string"]})
    )),
    ("a window such as", quantity((*_SIZES, "pkt", "bdp"), "flow")),
    ('a size such as "500KB", or a share', quantity((*_SIZES, "%"))),
    ('a size such as "30KB" or "1bdp", or "unlimited"', quantity((*_SIZES, "bdp"), "unlimited")),
    ('a size such as "64KiB", or "none"', quantity(_SIZES, "none")),
    ('a size such as "16KB", "round-trip"', quantity(_SIZES, "round-trip", "last-sent")),
    ("a size above 0 such as", quantity((*_SIZES, "bdp"), "start", "none", is_positive=True)),
    ('"exact", "per-25Gbps"', either(
        {"enum": ["exact", "per-25Gbps"]}, {"type": "integer", "minimum": 1, "maximum": 1000}
    )),
    ("a host, a list of hosts", either(INDEX, listed(INDEX), RANGE)),
    ("a host's number", INDEX),
    ("a list of pairs", listed({**listed(INDEX, 2), "maxItems": 2})),
    ("a distribution's name", NAME),
    ("a range such as", RANGE),
    ('"other-rack" or', either({"enum": ["other-rack", "uniform", "next-rack"]}, INDEX)),
    ("a whole number from 1 to 2^32 - 1, or a range", either(
        {"type": "integer", "minimum": 1, "maximum": 2**32 - 1}, RANGE
    )),
    ('"default", "smartbuf", a path', either(NAME, {"type": "object"})),
    ('"pred", "acc", or a path', NAME),
    ("parts per million", {"type": "string", "pattern": r"^\s*-?[0-9.]+\.\.-?[0-9.]+\s*ppm\s*$"}),
)  # fmt: skip
"""The forms of what only a text tells, by its beginning; the first that fits counts."""

_OF_PLUGINS: dict[str, Json] = {
    "true or false": {"type": "boolean"},
    "a whole number": {"type": "integer"},
    "a number": {"type": "number"},
    "a text": {"type": "string"},
}


def form(key: Key) -> Json:
    """The values that a key takes; for a policy, the names among which it chooses."""
    match key.type:
        case "time" | "size":
            return quantity(key.units, is_positive="above 0" in key.takes)
        case "rate":
            return quantity(key.units, is_positive=True)
        case "amount":
            return quantity(key.units, "unlimited")
        case "buffer":
            per_port = "(?:/port/Gbps)?"
            return quantity(key.units, "unlimited", is_positive=True, behind=per_port)
        case "bdp-size":
            return quantity(key.units)
        case "number":
            return {"type": "number", **_bounds(key.least, key.most)}
        case "numbers":
            number = {"type": "number", **_bounds(key.least, key.most)}
            return either(number, listed(number))
        case "integer":
            return {"type": "integer", **_bounds(key.least, key.most, whole=True)}
        case "flag":
            return {"type": "boolean"}
        case "choice" | "policy":
            return {"enum": list(key.choices)}
        case "plug-in":
            return _of_plugin(key.takes)
    return of_text(key.takes) or {}


def of_text(takes: str) -> Json | None:
    """The form of what a text tells; `None` if it is unknown."""
    if takes.endswith('or a list of sizes that rise, such as ["100KB", "1MB"]'):
        names = re.findall(r'"([\w.-]+)"', takes.partition(", or a list")[0])
        return either({"enum": names}, listed(quantity(_SIZES), 0))
    return next((form for begins, form in _BEGINNINGS if takes.startswith(begins)), None)


def _of_plugin(takes: str) -> Json:
    """The form of a plug-in's parameter."""
    if takes.startswith('"'):
        return {"enum": re.findall(r'"((?:[^"\\]|\\.)*)"', takes)}
    items = takes.removeprefix("a list, each item ")
    form = _OF_PLUGINS.get(items, {})
    return form if items == takes else {"type": "array", "items": form}


def _bounds(least: Bound | None, most: Bound | None, *, whole: bool = False) -> Json:
    """The ends of a range of numbers."""
    found: Json = {}
    ends = ((least, "inimum"), (most, "aximum"))
    for (bound, end), letter in zip(ends, "mm", strict=True):
        if bound is None:
            continue
        name = letter + end if bound.included else f"exclusive{letter.upper()}{end}"
        found[name] = min(int(bound.value), MOST) if whole else bound.value
    return found
