"""The variants of a scenario: combinations of values of some of its keys."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from spillway.base.arguments import Vary, choices_of
from spillway.base.errors import ScenarioError

Path: TypeAlias = tuple[str | int, ...]
"""The steps to a value: keys of tables, and places in lists."""
_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
"""A step of a key: a name, or a place in brackets."""
MOST_RUNS = 100_000
"""More runs than anybody would intend."""


@dataclass(frozen=True)
class Variant:
    """A scenario's assignments, and what distinguishes them from the other variants'."""

    label: str
    assignments: tuple[str, ...]


def check_number(runs: int) -> None:
    """Refuses more runs than one experiment has."""
    if runs > MOST_RUNS:
        raise ScenarioError("too many runs", f"one experiment has {MOST_RUNS:,} at most")


def variants(vary: Vary | Sequence[Variant]) -> list[Variant]:
    """All combinations of texts such as `switch.sharing=dt,lqd`, or the variants as they are given.

    Keys that are varied together count as one.
    """
    if isinstance(vary, (list, tuple)) and vary and isinstance(vary[0], Variant):
        return list(vary)
    choices = choices_of(cast(Vary, vary))
    check_number(math.prod(len(rows) for _, rows in choices))
    keys = [key for together, _ in choices for key in together]
    found = []
    for rows in itertools.product(*(rows for _, rows in choices)):
        values = [value for row in rows for value in row]
        assignments = tuple(f"{key}={value}" for key, value in zip(keys, values, strict=True))
        found.append(Variant(label(keys, dict(zip(keys, values, strict=True))), assignments))
    return found


def label(keys: Sequence[str], values: Mapping[str, str]) -> str:
    """The values of varied keys, which are shortened to their last parts where these differ.

    >>> label(["switch.sharing", "traffic.web.load"], {"switch.sharing": "dt"})
    'sharing=dt load=unset'
    """
    last = [key.removesuffix(".kind").rpartition(".")[2] for key in keys]
    short = [key if last.count(name) > 1 else name for key, name in zip(keys, last, strict=True)]
    return " ".join(
        f"{name}={values.get(key) or 'unset'}" for name, key in zip(short, keys, strict=True)
    )


def assigned(assignments: Sequence[str]) -> dict[str, str]:
    """Assigned values by their keys."""
    parts = (text.partition("=") for text in assignments)
    return {key: value for key, _, value in parts}


def within(document: Mapping[str, Any], key: str) -> Any:
    """The value of a key in a scenario with all values; of a policy its kind; None if unset.

    >>> within({"switch": {"sharing": {"kind": "dt", "alpha": 0.5}}}, "switch.sharing")
    'dt'
    """
    found = at(document, key)
    return found.get("kind") if isinstance(found, Mapping) else found


def at(document: Mapping[str, Any], key: str) -> Any:
    """The same, but for a policy its whole table."""
    found: Any = document
    for step in path_of(document, key):
        found = _below(found, step)
    return found


def path_of(document: Mapping[str, Any], key: str) -> Path:
    """The steps to a key's value: the same ones for all names that a key has.

    >>> path_of({"a": [{"name": "x"}]}, "a.x.b") == path_of({"a": [{"name": "x"}]}, "a[00].b")
    True
    >>> path_of({}, "a.b[1]")
    ('a', 'b', 1)
    """
    steps: list[str | int] = []
    found: Any = document
    for name, place in _STEP.findall(key):
        text = name or place
        listed = found if isinstance(found, list) else []
        names = [each.get("name") if isinstance(each, Mapping) else None for each in listed]
        if name in names:
            steps.append(names.index(name))
        elif not isinstance(found, Mapping) and re.fullmatch(r"\+?[0-9]+", text):
            steps.append(int(text))
        else:
            steps.append(text)
        found = _below(found, steps[-1])
    return tuple(steps)


def _below(found: Any, step: str | int) -> Any:
    """What a step leads to; None if there is no such value."""
    if isinstance(found, list):
        return found[step] if isinstance(step, int) and step < len(found) else None
    return found.get(step) if isinstance(found, Mapping) else None
