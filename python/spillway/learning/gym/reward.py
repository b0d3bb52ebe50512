"""What an interval was worth: arithmetic over signals, or a function of them."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spillway.base.errors import ScenarioError, SpillwayError

Signals: TypeAlias = Mapping[str, NDArray[Any]]
"""Signals by the names that the environment gives them."""
Reward: TypeAlias = str | Callable[[Signals], float]
"""An expression over these names, or a function."""

_Evaluate: TypeAlias = Callable[[Signals], Any]

_HINT = 'for one: "0.4 * sum(sent) / 257500 - 0.6 * mean(queue) / 500000"'
_DEEPEST = 64
_LARGEST = sys.float_info.max
_SIGNS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}


def _of_none(reduce: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The reduction, and 0 where there is nothing to reduce."""
    return lambda values: reduce(values) if np.size(values) else 0.0


def _extreme(reduce: Callable[[Any], Any], choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """With one argument its reduction, with two the choice between them."""
    of_one = _of_none(reduce)
    return lambda first, *second: choose(first, second[0]) if second else of_one(first)


_FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "sum": (np.sum, (1,)),
    "mean": (_of_none(np.mean), (1,)),
    "max": (_extreme(np.max, np.maximum), (1, 2)),
    "min": (_extreme(np.min, np.minimum), (1, 2)),
    "abs": (np.abs, (1,)),
    "sqrt": (np.sqrt, (1,)),
    "log": (np.log, (1,)),
    "exp": (np.exp, (1,)),
    "count": (np.size, (1,)),
}
"""The functions of an expression, and how many arguments they take."""


def compiled(reward: Reward, names: Iterable[str]) -> Callable[[Signals], float]:
    """A reward as a function. An expression is checked: it can name these signals and nothing else.

    >>> compiled("sum(a) - 2 * max(b, 1)", ["a", "b"])({"a": np.array([1, 2]), "b": np.array(0)})
    1.0
    """
    if callable(reward):
        return lambda signals: _finite(reward(signals), "the function of the reward")
    if not isinstance(reward, str):
        raise ScenarioError(f"{reward!r} is no reward: an expression or a function", _HINT)
    evaluate = _Reader(reward, tuple(names)).read()

    def value(signals: Signals) -> float:
        try:
            with np.errstate(all="ignore"):
                found = evaluate(signals)
        except ValueError as error:
            raise SpillwayError(
                f"{reward!r}: {error}",
                "arrays of different shapes are reduced to numbers before they are put together",
            ) from error
        return _finite(found, repr(reward))

    return value


def _finite(value: Any, of: str) -> float:
    if np.size(value) != 1:
        raise SpillwayError(
            f"{of} has {np.size(value)} numbers, not one",
            "reduce it to one by sum, mean, max or min",
        )
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise SpillwayError(f"{of} is {value!r}, which is no number")
    number = float(array.reshape(()))
    if not math.isfinite(number):
        raise SpillwayError(
            f"{of} is {number}, which is no reward",
            "keep away from 0 what it divides by, as in max(sum(sent), 1)",
        )
    return number


class _Reader:
    """Reads an expression: numbers, names of signals, + - * / **, brackets and functions."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self.text = text
        self.names = names

    def read(self) -> _Evaluate:
        try:
            tree = ast.parse(self.text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._refused("it is no arithmetic expression") from None
        return self._node(tree.body, 0)

    def _refused(self, problem: str, hint: str = _HINT) -> ScenarioError:
        return ScenarioError(f"reward {self.text!r}: {problem}", hint)

    def _node(self, node: ast.expr, depth: int) -> _Evaluate:
        if depth > _DEEPEST:
            raise self._refused("it is nested too deeply")
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                if number > _LARGEST:
                    raise self._refused("a number in it is too large")
                return lambda _: number
            case ast.Name(id=name) if name in self.names:
                return lambda signals: signals[name]
            case ast.Name(id=name):
                raise self._refused(
                    f"there is no signal {name}", f"the signals are {', '.join(self.names)}"
                )
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._node(operand, depth + 1)
                return lambda signals: np.negative(inner(signals))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
                operate = _SIGNS[type(op)]
                first, second = self._node(left, depth + 1), self._node(right, depth + 1)
                return lambda signals: operate(
                    np.asarray(first(signals), float), np.asarray(second(signals), float)
                )
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(name, args, depth)
        raise self._refused(f"{ast.unparse(node)!r} is not allowed in it")

    def _call(self, name: str, args: list[ast.expr], depth: int) -> _Evaluate:
        function, counts = _FUNCTIONS.get(name, (None, ()))
        if function is None:
            raise self._refused(
                f"there is no function {name}", f"the functions are {', '.join(_FUNCTIONS)}"
            )
        if len(args) not in counts:
            takes = " or ".join(map(str, counts))
            raise self._refused(f"{name} takes {takes} arguments, not {len(args)}")
        inner = [self._node(arg, depth + 1) for arg in args]
        return lambda signals: function(*(each(signals) for each in inner))
