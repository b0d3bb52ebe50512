"""What an agent may set: rows of a table, or numbers within ranges, at one port or several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from spillway.base.arguments import check_once, items
from spillway.base.errors import ScenarioError
from spillway.tuning.space import Range, parameters

Numbers: TypeAlias = dict[str, object]
"""The numbers that an action sets, by path."""


@dataclass(frozen=True)
class Table:
    """An action is a row: the values that its keys get together.

    `Table(["aqm.min", "aqm.max"], [("5pkt", "20pkt"), ("10pkt", "50pkt")])` has two actions.
    """

    keys: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        hint = 'for one: Table(["aqm.min", "aqm.max"], [("5pkt", "20pkt"), ("10pkt", "50pkt")])'
        if isinstance(self.keys, str) or not self.keys:
            raise ScenarioError("a table of actions needs a list of keys", hint)
        check_once(self.keys, "the key", "each row has one value for it")
        rows = [tuple(items(row, "values", hint)) for row in items(self.rows, "rows", hint)]
        if not rows:
            raise ScenarioError("a table of actions needs a row", hint)
        for number, row in enumerate(rows):
            if isinstance(self.rows[number], str) or len(row) != len(self.keys):
                raise ScenarioError(
                    f"row {number}, {self.rows[number]!r}, has not {len(self.keys)} values", hint
                )


@dataclass(frozen=True, init=False)
class Ranges:
    """An action is a number within each range, from -1, its low end, to 1, its high one.

    Ranges are written as those of `spillway tune`: `Ranges("aqm.min=1pkt..50pkt",
    "sharing.alpha=0.1..8:log")`.
    """

    ranges: tuple[Range, ...]

    def __init__(self, *ranges: str) -> None:
        hint = 'for one: Ranges("aqm.min=1pkt..50pkt", "sharing.alpha=0.1..8:log")'
        if not ranges:
            raise ScenarioError("there is no range", hint)
        found = parameters(ranges)
        for each in found:
            if not isinstance(each, Range):
                raise ScenarioError(f"{each} is no range: a list of values is a Table", hint)
        object.__setattr__(self, "ranges", tuple(found))

    @property
    def keys(self) -> list[str]:
        """The keys that an action sets."""
        return [each.key for each in self.ranges]


Actions: TypeAlias = Table | Ranges


class Setter:
    """Turns actions into numbers to be set."""

    def __init__(self, actions: Actions, at: str | Iterable[str]) -> None:
        if not isinstance(actions, Table | Ranges):
            raise ScenarioError(
                f"{actions!r} are no actions", "a Table or Ranges of spillway.learning.gym"
            )
        hint = 'for one: at="switch.leaf0.port.0"'
        given = [at] if isinstance(at, str) else list(items(at, "places", hint))
        check_once(given, "the place", "each has one action")
        for outer, inner in permutations(given, 2):
            if _is_within(inner, outer):
                raise ScenarioError(
                    f"the place {inner!r} is within {outer!r}", "each has one action"
                )
        self.places = given or [""]
        self.actions = actions
        self.paths = [
            f"{place}.{key}" if place else key for place in self.places for key in actions.keys
        ]
        """What each of an action's numbers sets, place after place."""

    @property
    def space(self) -> spaces.Space[Any]:
        """A row of the table (at each place), or a number from -1 to 1 for each range and place."""
        places = len(self.places)
        if isinstance(self.actions, Ranges):
            shape = (places * len(self.actions.ranges),)
            return spaces.Box(-1.0, 1.0, shape, np.float32)
        rows = len(self.actions.rows)
        return spaces.Discrete(rows) if places == 1 else spaces.MultiDiscrete([rows] * places)

    def numbers(self, action: Any) -> Numbers:
        """The numbers that an action sets.

        >>> Setter(Table(["min"], [["1pkt"], ["2pkt"]]), "leaf0").numbers(1)
        {'leaf0.min': '2pkt'}
        >>> Setter(Ranges("a=0..8", "b=1.0..100.0:log"), ()).numbers([0.5, 0.0])
        {'a': '6', 'b': '10.0'}

        Raises:
            ScenarioError: the action is not in the space. Numbers beyond the ends of a range count
                as its ends.
        """
        values: list[object]
        if isinstance(self.actions, Table):
            rows = self.actions.rows
            values = [value for row in self._rows(action, len(rows)) for value in rows[row]]
        else:
            ranges = self.actions.ranges * len(self.places)
            shares = self._shares(action, len(ranges))
            values = [
                each.text(_within(each, share)) for each, share in zip(ranges, shares, strict=True)
            ]
        return dict(zip(self.paths, values, strict=True))

    def extremes(self) -> list[Numbers]:
        """Actions that show whether all can be set.

        For a table: every row. For ranges: all low, all high, and each of both with one range at
        its other end. So any two ranges are tried at all four pairs of ends.
        """
        places = len(self.places)
        if isinstance(self.actions, Table):
            return [self.numbers([row] * places) for row in range(len(self.actions.rows))]
        ranges = range(len(self.actions.ranges))
        return [
            self.numbers([-end if each == other else end for each in ranges] * places)
            for end in (-1.0, 1.0)
            for other in (None, *ranges)
        ]

    def _rows(self, action: Any, rows: int) -> list[int]:
        places = len(self.places)
        chosen = _numbers(action)
        is_whole = chosen is not None and chosen.dtype.kind in "iu" and chosen.size == places
        if chosen is None or not is_whole or chosen.min() < 0 or chosen.max() >= rows:
            raise ScenarioError(
                f"{action!r} is no action",
                f"a row from 0 to {rows - 1}" + (f" for each of {places} places" * (places > 1)),
            )
        return chosen.ravel().tolist()

    def _shares(self, action: Any, count: int) -> list[float]:
        """How far within its range each number of an action is, from 0 to 1."""
        given = _numbers(action)
        is_number = given is not None and given.dtype.kind in "iuf" and given.size == count
        if given is None or not is_number or not np.isfinite(given).all():
            raise ScenarioError(
                f"{action!r} is no action",
                f"{count} numbers from -1 to 1" if count > 1 else "a number from -1 to 1",
            )
        shares = (np.clip(given.ravel().astype(np.float64), -1.0, 1.0) + 1.0) / 2.0
        return list(map(float, shares))


def _is_within(inner: str, outer: str) -> bool:
    """Whether a place is a part of another: a port of a switch, or `leaf0` of the tier `leaf`."""
    if not inner.startswith(outer) or inner == outer:
        return False
    follows = inner[len(outer)]
    return not outer or follows == "." or (follows.isdigit() and not outer[-1].isdigit())


def _numbers(action: Any) -> NDArray[Any] | None:
    try:
        return np.asarray(action)
    except ValueError:
        return None


def _within(range: Range, share: float) -> float:
    if range.is_log:
        value = math.exp(math.log(range.low) + share * math.log(range.high / range.low))
    else:
        value = range.low + share * (range.high - range.low)
    if range.step is None:
        return value
    return range.low + round((value - range.low) / range.step) * range.step
