"""What is varied: ranges and choices, and which of them matter beside which choices."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeAlias

from spillway.base.arguments import check_text, items, split, written
from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway.scenario.variants import Path, path_of, within

Over: TypeAlias = str | Mapping[str, Any] | Iterable[str]
"""Texts such as `switch.sharing.alpha=0.1..8:log`, or a mapping of keys to ranges (texts) or to
lists of values.
"""
Assignments: TypeAlias = tuple[str, ...]

_HINT = "for one: switch.sharing.alpha=0.1..8:log, or switch.sharing=dt,lqd"
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_RANGE = re.compile(
    rf"(?P<low>{_NUMBER})(?P<unit>[A-Za-z%][\w/%]*)?\s*\.\.\s*"
    rf"(?P<high>{_NUMBER})(?P<other>[A-Za-z%][\w/%]*)?(?P<options>(?::[^:]*)*)"
)
_DIGITS = 4
"""A number within a range is written with at least this many significant digits."""
_MOST_DIGITS = 17
"""With this many digits every float differs from all others."""
_MEASURES = ("name", "warmup", "slowdown_base", "record", "limits")
"""The keys, and sections, that change nothing in the network."""
_MOST_PLACES = 1_000_000_000
"""The most places of a range in steps, or of whole numbers."""


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included, with a unit or without."""

    key: str
    low: float
    high: float
    unit: str = ""
    is_log: bool = False
    """Whether the range is logarithmic: equal ratios count the same, not equal distances."""
    step: float | None = None
    """The distance between neighbours, from `low` on; None if all numbers are allowed."""
    own: str = field(default="", compare=False)
    """The scenario's own value, if it is in the range: it is written as the scenario has it."""

    @property
    def is_whole(self) -> bool:
        """Whether all its numbers are whole."""
        return self.step is not None and self.low % 1 == 0 and self.step % 1 == 0

    def text(self, value: float) -> str:
        """A number in it as a scenario has it, with its unit.

        >>> Range("k", 0.1, 8).text(0.72635), Range("k", 10, 200, "pkt", step=1).text(57)
        ('0.7264', '57pkt')
        """
        if self.own and value == self.value(self.own):
            return self.own
        return self._written(value)

    def _written(self, value: float) -> str:
        if self.is_whole:
            return f"{round(value)}{self.unit}"
        is_exact = value in (self.low, self.high)
        rounded = value if is_exact else float(f"{value:.{self._digits}g}")
        rounded = rounded if self.step is None else round(value, 12)
        kept = min(max(rounded, self.low), self.high)
        # Fixed notation: scenarios' quantities have no exponents. Without a unit it is a float.
        digits = format(Decimal(repr(kept)), "f")
        digits = digits.rstrip("0").rstrip(".") if self.unit and "." in digits else digits
        return f"{digits}{self.unit}"

    @property
    def _digits(self) -> int:
        """The significant digits of a number, enough to tell at least a hundred apart."""
        first = math.floor(math.log10(max(abs(self.low), abs(self.high))))
        last = math.floor(math.log10(min(self.high - self.low, 1e308))) - 2
        return min(max(_DIGITS, first - last + 1), _MOST_DIGITS)

    def value(self, text: str) -> float | None:
        """The number that a scenario's value stands for, if it is in this range and unit.

        >>> Range("k", 10, 200, "pkt").value("65pkt"), Range("k", 10, 200, "pkt").value("65KB")
        (65.0, None)
        """
        match = re.fullmatch(rf"({_NUMBER})({re.escape(self.unit)})", text)
        found = float(match[1]) if match else math.nan
        if not self.low <= found <= self.high:
            return None
        if self.step is not None and not _is_near_whole((found - self.low) / self.step):
            return None
        return found

    @property
    def ends(self) -> tuple[str, str]:
        """Its least and greatest value as a scenario has them."""
        return self._written(self.low), self._written(self.high)

    def __str__(self) -> str:
        options = ":log" if self.is_log else ""
        if self.step is not None and not (self.is_whole and self.step == 1):
            options += f":step={self.step:g}"
        return f"{self.key}={'..'.join(self.ends)}{options}"


@dataclass(frozen=True)
class Choices:
    """One of several values; an empty one unsets the key."""

    key: str
    values: tuple[str, ...]

    def value(self, text: str) -> str | None:
        """The choice that a scenario's value is, if it is one."""
        return text if text in self.values else None

    def __str__(self) -> str:
        return f"{self.key}={','.join(self.values)}"


Parameter: TypeAlias = Range | Choices


def parameters(over: Over) -> list[Parameter]:
    """Reads what is varied.

    >>> [str(each) for each in parameters(["a=0.1..8:log", "b=10pkt..200pkt", "c=dt,abm"])]
    ['a=0.1..8.0:log', 'b=10pkt..200pkt', 'c=dt,abm']
    """
    if isinstance(over, Mapping):
        texts = [f"{key}={_listed(str(key), values)}" for key, values in over.items()]
    else:
        texts = [over] if isinstance(over, str) else list(items(over, "parameters", _HINT))
    found = [_parameter(text) for text in texts]
    if not found:
        raise ScenarioError("nothing is varied", _HINT, typed=f"--over says what; {_HINT}")
    keys = [_named(parameter.key) for parameter in found]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise ScenarioError(f"{twice} is varied twice", "one range or list for each key")
    return found


def _listed(key: str, values: object) -> str:
    if isinstance(values, str):
        return values
    return ",".join(written(key, value) for value in items(values, "values", _HINT))


def _parameter(text: object) -> Parameter:
    if not isinstance(text, str) or not text.partition("=")[1]:
        raise ScenarioError(f"{text!r} is not of the form key=low..high or key=a,b", _HINT)
    check_text(text)
    key, _, values = (part.strip() for part in text.partition("="))
    if not key or not values.strip():
        raise ScenarioError(f"{text!r} is not of the form key=low..high or key=a,b", _HINT)
    if key == "seed":
        raise ScenarioError(
            "seed is no parameter to choose",
            "all trials have the same seeds: say which with seeds",
            typed="all trials have the same seeds: say which with --seeds",
        )
    if key in ("duration", "stop"):
        raise ScenarioError(
            f"{key} is no parameter to choose",
            "the confirmation makes all runs longer; set it for all of them",
        )
    if re.split(r"[.\[]", key)[0] in _MEASURES:
        raise ScenarioError(
            f"{key} is no parameter to choose",
            "it changes what is measured, and not the network: set it for all trials",
        )
    match = _RANGE.fullmatch(values)
    if match and "..." in match[0]:
        raise ScenarioError(
            f"{text!r} has three points in a row",
            "two points, and a digit before a decimal point, as in 0.1..0.8",
        )
    if match:
        return _range(key, match)
    choices = tuple(split(values))
    if len(choices) == 1:
        if ".." in values and values[0] not in "\"'[{":
            raise ScenarioError(
                f"{text!r} is not a range",
                "two numbers with the same unit and .. between them, then :log or :step=N",
            )
        raise ScenarioError(f"{key} has one value, {values}: there is nothing to choose", _HINT)
    if len({*choices}) < len(choices):
        raise ScenarioError(f"{text!r} has the same value twice", "list each once")
    return Choices(key, choices)


def _range(key: str, match: re.Match[str]) -> Range:
    def refused(problem: str, hint: str) -> ScenarioError:
        return ScenarioError(f"{key}={match[0]}: {problem}", hint, key)

    units = match["unit"], match["other"]
    if units[0] and units[1] != units[0]:
        raise refused(
            "the ends of a range have one unit", "both ends in the same unit, as in 10pkt..200pkt"
        )
    low, high = float(match["low"]), float(match["high"])
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise refused("the second end is not above the first", "for one: 0.1..8")
    is_log, step = False, None
    for option in match["options"].split(":")[1:]:
        name, _, value = option.strip().partition("=")
        if (name == "log" and is_log) or (name == "step" and step is not None):
            raise refused(f"{name} is there twice", "each option once")
        if name == "log" and not value:
            is_log = True
        elif name == "step" and re.fullmatch(_NUMBER, value) and float(value) > 0:
            step = float(value)
        else:
            raise refused(f"{option.strip()!r} is no option", "valid here: log, step=N")
    if is_log and low <= 0:
        raise refused("a logarithmic range begins above 0", "begin above 0, or leave out :log")
    # Ends without a point are whole numbers, and then all between them are.
    if step is None and re.fullmatch(r"[-+]?[0-9]+", match["low"] + match["high"].lstrip("+-")):
        step = 1.0
    elif step is not None and is_log:
        raise refused("a logarithmic range has no steps", "leave out one of the two")
    if step is not None:
        places = (high - low) / step
        if not _is_near_whole(places) or not 1 <= places <= _MOST_PLACES:
            raise refused(
                f"steps of {step:g} do not lead from one end to the other",
                f"a step leads from the first end to the second, {_MOST_PLACES:,} at most",
            )
    return Range(key, low, high, units[1] or "", is_log, step)


class Space:
    """The parameters of a scenario, those that others depend on first.

    A parameter below a key that is varied itself, such as `switch.sharing.alpha` below
    `switch.sharing`, matters only beside those choices that have its key; `absences` names the
    other choices, in words.
    """

    def __init__(self, base: Scenario, given: Sequence[Parameter]) -> None:
        """Refuses a value that the scenario refuses, and a key that no choice has."""
        self.base = base
        self._resolved = base.checked().resolved
        values = tomllib.loads(self._resolved)
        self.parameters = [
            _with_own(each, values) for each in sorted(given, key=lambda each: _depth(each.key))
        ]
        own = {each.key: _own(values, each.key) for each in self.parameters}
        self.own = {key: value for key, value in own.items() if value is not None}
        """The scenario's own values, whether they are among those varied or not."""
        self._paths = {each.key: path_of(values, _named(each.key)) for each in self.parameters}
        _check_paths(self._paths)
        self._above = {
            each.key: [
                other
                for other in self.parameters
                if isinstance(other, Choices) and self._is_below(each, other)
            ]
            for each in self.parameters
        }
        self._has: dict[tuple[str, ...], bool] = {}
        self.absences: list[str] = []
        for parameter in self.parameters:
            self._check(parameter)

    def above(self, parameter: Parameter) -> list[Choices]:
        """The choices on which it depends."""
        return self._above[parameter.key]

    def matters(self, parameter: Parameter, chosen: Mapping[str, str]) -> bool:
        """Whether a parameter is a key of what has been chosen above it."""
        above = [
            f"{other.key}={chosen[other.key]}"
            for other in self._above[parameter.key]
            if other.key in chosen
        ]
        known = (parameter.key, *above)
        if above and known not in self._has:
            self._has[known] = self._problem(parameter, above, _some(parameter)) is None
        return not above or self._has[known]

    def chosen(self, choose: Callable[[Parameter], str]) -> dict[str, str]:
        """The values of all parameters that matter; `choose` is asked for each in turn."""
        found: dict[str, str] = {}
        for parameter in self.parameters:
            if self.matters(parameter, found):
                found[parameter.key] = choose(parameter)
        return found

    def with_values(self, chosen: Mapping[str, str]) -> Scenario:
        """The scenario with these values, and only the plug-ins that it then names."""
        return self.base.set(*assignments(chosen)).with_named_plugins()

    def default(self) -> dict[str, str] | None:
        """The values that the scenario has itself, if all of them are among those varied.

        With these values set, the scenario must be the same as without. That is not certain, since
        a choice replaces a whole policy, with all keys of it.
        """
        kept = {each.key: self._kept(each) for each in self.parameters}
        for values in itertools.product(*(each or [""] for each in kept.values())):
            given = dict(zip(kept, values, strict=True))
            chosen = self.chosen(lambda parameter, given=given: given[parameter.key])  # type: ignore[misc]
            is_same = self._resolved_with(assignments(chosen)) == self._resolved
            if is_same and all(kept[key] for key in chosen):
                return chosen
        return None

    def _kept(self, parameter: Parameter) -> list[str]:
        """The values of a parameter that leave the scenario as it is if they alone are set.

        The one that the scenario itself has comes first. If there are parameters below this one,
        only its name must stay: the keys below it may differ.
        """
        own = self.own.get(parameter.key)
        if isinstance(parameter, Range):
            return [] if own is None or parameter.value(own) is None else [own]
        has_below = any(parameter in above for above in self._above.values())

        def is_kept(value: str) -> bool:
            found = self._resolved_with([f"{parameter.key}={value}"])
            if found is None or not has_below:
                return found == self._resolved
            return _own(tomllib.loads(found), parameter.key) == own

        return sorted(filter(is_kept, parameter.values), key=lambda value: value != own)

    def _resolved_with(self, given: Sequence[str]) -> str | None:
        """The resolved scenario with some assignments; None if it is not valid."""
        try:
            return self.base.set(*given).checked().resolved
        except ScenarioError:
            return None

    def _is_below(self, parameter: Parameter, above: Parameter) -> bool:
        """Whether a parameter's key lies below another's."""
        path, other = self._paths[parameter.key], self._paths[above.key]
        return len(path) > len(other) and path[: len(other)] == other

    def _concerns(self, error: ScenarioError, parameter: Parameter) -> bool:
        """Whether an error is about this key, or about a part of its path."""
        path = path_of(tomllib.loads(self._resolved), _named(error.path))
        own = self._paths[parameter.key]
        return bool(error.path) and path[: len(own)] == own[: len(path)]

    def _check(self, parameter: Parameter) -> None:
        """Reads the scenario with both ends, or every choice, under all combinations above it."""
        ends = parameter.ends if isinstance(parameter, Range) else parameter.values
        combinations = _combinations(self._above[parameter.key])
        lacking: list[tuple[list[str], ScenarioError]] = []
        for above in combinations:
            problem = self._problem(parameter, above, _some(parameter))
            if problem is not None:
                lacking.append((above, problem))
                continue
            for value in ends:
                self._problem(parameter, above, value, is_checked=True)
        if len(lacking) == len(combinations):
            raise lacking[0][1]
        if lacking:
            told = f"{parameter.key} is not varied where it does not exist: with "
            self.absences.append(told + ", ".join(" and ".join(above) for above, _ in lacking))

    def _problem(
        self, parameter: Parameter, above: Sequence[str], value: str, is_checked: bool = False
    ) -> ScenarioError | None:
        """The error that the key does not exist, if it does not.

        With `is_checked` another error is raised if this key alone is to blame. Other errors may be
        about two values that do not go together, which other parameters can change.
        """
        try:
            self.base.set(*above, f"{parameter.key}={value}").checked()
        except ScenarioError as error:
            if error.kind in _NO_KEY and self._concerns(error, parameter):
                return error
            if is_checked and self._is_to_blame(error, parameter):
                raise
        return None

    def _is_to_blame(self, error: ScenarioError, parameter: Parameter) -> bool:
        """Whether no other parameter could make a value valid."""
        if error.kind == "wrong-value" and error.path:
            return self._concerns(error, parameter)
        # A policy may also lack a key that is varied. Two numbers that do not go together do not
        # matter here.
        has_below = any(parameter in above for above in self._above.values())
        return isinstance(parameter, Choices) and not has_below


_NO_KEY = ("unknown-key", "unknown-place")


def assignments(chosen: Mapping[str, str]) -> Assignments:
    """Values as `key=value`."""
    return tuple(f"{key}={value}" for key, value in chosen.items())


def _is_near_whole(number: float) -> bool:
    """Whether a number is whole but for rounding."""
    return abs(number - round(number)) < 1e-9


def _named(key: str) -> str:
    """The key of a policy, also if the key of its `kind` is given."""
    return key.removesuffix(".kind")


def _depth(key: str) -> int:
    return len(re.split(r"[.\[]", _named(key)))


def _check_paths(paths: Mapping[str, Path]) -> None:
    """Refuses two names of one key."""
    first: dict[Path, str] = {}
    for key, path in paths.items():
        if first.setdefault(path, key) != key:
            raise ScenarioError(
                f"{first[path]} and {key} are two names of one key, which is varied twice",
                "one range or list for each key",
            )


def _some(parameter: Parameter) -> str:
    return parameter.ends[0] if isinstance(parameter, Range) else parameter.values[0]


def _combinations(above: Sequence[Choices]) -> list[list[str]]:
    """Every way to choose above a parameter, as assignments."""
    each = ([f"{choices.key}={value}" for value in choices.values] for choices in above)
    return [list(chosen) for chosen in itertools.product(*each)]


def _with_own(parameter: Parameter, resolved: Mapping[str, Any]) -> Parameter:
    """A range that knows the scenario's own value, if that is in it."""
    own = _own(resolved, parameter.key) if isinstance(parameter, Range) else None
    if not isinstance(parameter, Range) or own is None or parameter.value(own) is None:
        return parameter
    return replace(parameter, own=own)


def _own(resolved: Mapping[str, Any], key: str) -> str | None:
    """The scenario's own value of a key; of a policy it is the name."""
    kind = within(resolved, _named(key))
    return None if kind is None or isinstance(kind, Mapping) else written(key, kind)
