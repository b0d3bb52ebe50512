"""The variants of a scenario: combinations of values of some of its keys."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillway.base.arguments import Vary, choices_of
from spillway.base.errors import ScenarioError

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


def variants(vary: Vary) -> list[Variant]:
    """All combinations of texts such as `switch.sharing=dt,lqd`.

    Keys that are varied together count as one.
    """
    choices = choices_of(vary)
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
    """The same; of a policy all of it."""
    found: Any = document
    for step in key.split("."):
        if isinstance(found, list):
            # Sections of traffic are found by their names.
            named = {each.get("name"): each for each in found if isinstance(each, dict)}
            found = named.get(step)
        elif isinstance(found, Mapping):
            found = found.get(step)
        else:
            return None
    return found
