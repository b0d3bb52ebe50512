"""Arithmetic over metrics, read by a small parser of its own: nothing else can be written in it.

    comparison = sum ("<=" | ">=") sum
    sum        = product (("+" | "-") product)*
    product    = factor (("*" | "/") factor)*
    factor     = "-" factor | "(" sum ")" | number | name | "`" name "`"

A name goes on over dots and hyphens, as in `goodput.web-search` or `short.p99.9`, so a minus behind
a name has spaces around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from spillway.base.arguments import check_text
from spillway.base.errors import ScenarioError

DEFAULT = "default"
"""The name that, in a comparison, stands for the other side in the unchanged scenario."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:[.-]\w+)*)|`(?P<quoted>[^`]+)`|(?P<mark><=|>=|==|[-+*/()<>=]))"
)
_HINT = "for one: goodput_gbps.all >= 0.98 * default"
_MOST = 256
"""How many operations an expression may have."""
_DEEPEST = 64
"""How many operators and brackets may stand within one another."""

Values: TypeAlias = Mapping[str, float]
_Evaluate: TypeAlias = Callable[[Values], float]
_Part: TypeAlias = tuple[tuple[str, ...], _Evaluate]
"""The names in a part of an expression, and how it is evaluated."""


class UndefinedError(Exception):
    """An expression without a value, since it divides by zero."""


@dataclass(frozen=True)
class Expression:
    """A sum over metrics."""

    text: str
    names: tuple[str, ...]
    """The metrics in it, each once, and `default` if it occurs."""
    evaluate: _Evaluate
    """Its value, given those of its names. Raises UndefinedError."""


@dataclass(frozen=True)
class Comparison:
    """Two sums, of which the left one is to be at most, or at least, the right one."""

    text: str
    left: Expression
    right: Expression
    is_at_most: bool


def expression(text: object) -> Expression:
    """Reads a sum, such as `incast.p99` or `0.5 * (short.p99 + incast.p99)`.

    >>> expression("2 * (a.p99 - 1)").evaluate({"a.p99": 4.0})
    6.0
    """
    reader = _Reader(text, "for one: fct_slowdown.incast.p99")
    found = reader.sum()
    reader.end()
    if DEFAULT in found.names:
        raise reader.refused(f"{DEFAULT} stands in --subject-to only")
    if not found.names:
        raise reader.refused("there is no metric in it")
    return found


def comparison(text: object) -> Comparison:
    """Reads a comparison, such as `goodput >= 0.98 * default`."""
    reader = _Reader(text, _HINT)
    left = reader.sum()
    mark = reader.take("<=", ">=")
    if mark is None:
        raise reader.refused("it compares two sides by <= or >=")
    right = reader.sum()
    reader.end()
    if DEFAULT in left.names and DEFAULT in right.names:
        raise reader.refused(f"{DEFAULT} stands on one side: it is the other side's value")
    if not {*left.names, *right.names} - {DEFAULT}:
        raise reader.refused("there is no metric in it")
    if any(
        DEFAULT in own.names and not other.names for own, other in ((left, right), (right, left))
    ):
        raise reader.refused(
            f"{DEFAULT} is the other side's value in the unchanged scenario, and that has no metric"
        )
    return Comparison(reader.text, left, right, mark == "<=")


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: object, hint: str) -> None:
        if not isinstance(text, str):
            raise ScenarioError(f"{text!r} is no expression", hint)
        check_text(text)
        self.text = text.strip()
        self._hint = hint
        self._place = 0
        self._depth = 0
        self._operations = 0

    def refused(self, problem: str) -> ScenarioError:
        """An error about this text."""
        text = self.text if len(self.text) <= 200 else f"{self.text[:197]}..."
        return ScenarioError(f"{text!r}: {problem}", self._hint)

    def take(self, *marks: str) -> str | None:
        """Takes one of these marks, if it comes next."""
        match = _TOKEN.match(self.text, self._place)
        if match is None or match["mark"] not in marks:
            return None
        self._place = match.end()
        return match["mark"]

    def end(self) -> None:
        """Refuses whatever is left."""
        rest = self.text[self._place :].strip()
        if rest:
            raise self.refused(f"{rest[:40]!r} is not expected there")

    def sum(self) -> Expression:
        """Reads a sum."""
        begin = self._place
        names, found = self._chain(("+", "-"), lambda: self._chain(("*", "/"), self._factor))
        text = self.text[begin : self._place].strip()
        return Expression(text, tuple(dict.fromkeys(names)), found)

    def _chain(self, marks: Sequence[str], part: Callable[[], _Part]) -> _Part:
        """Reads parts with one of these marks between them, from left to right."""
        names, found = part()
        while mark := self.take(*marks):
            self._operations += 1
            if self._operations > _MOST:
                raise self.refused(f"it has more than {_MOST} operations")
            more, other = part()
            names, found = (*names, *more), _operation(mark, found, other)
        return names, found

    def _factor(self) -> _Part:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.refused("it is nested too deeply")
        try:
            return self._nested()
        finally:
            self._depth -= 1

    def _nested(self) -> _Part:
        if self.take("-"):
            names, found = self._factor()
            return names, lambda values: -found(values)
        if self.take("("):
            inner = self.sum()
            if not self.take(")"):
                raise self.refused("a bracket is not closed")
            return inner.names, inner.evaluate
        match = _TOKEN.match(self.text, self._place)
        if match is None or match["mark"]:
            rest = self.text[self._place :].strip()
            what = f"{rest[:40]!r} stands" if rest else "it ends"
            raise self.refused(f"{what} where a metric or a number is expected")
        self._place = match.end()
        if match["number"]:
            number = float(match["number"])
            return (), lambda _: number
        name = match["name"] or match["quoted"].strip()
        return (name,), lambda values: values[name]


def _operation(mark: str, left: _Evaluate, right: _Evaluate) -> _Evaluate:
    def divided(values: Values) -> float:
        below = right(values)
        if below == 0:
            raise UndefinedError
        return left(values) / below

    return {
        "+": lambda values: left(values) + right(values),
        "-": lambda values: left(values) - right(values),
        "*": lambda values: left(values) * right(values),
        "/": divided,
    }[mark]
