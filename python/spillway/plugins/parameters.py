"""A plug-in's parameters: its annotated attributes, as keys of a scenario."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from spillway.base.errors import ScenarioError

Read = Callable[[Any], Any]
"""Converts a scenario's value to that of the attribute; `None` if it is not valid."""


@dataclass(frozen=True)
class Parameter:
    """A key of a scenario that becomes an attribute."""

    name: str
    takes: str
    default: Any
    meaning: str
    read: Read

    def value(self, path: str, given: Any) -> Any:
        """The attribute's value for a given value. The key is in the section at `path`."""
        value = self.read(given)
        if value is None:
            key = f"{path}.{self.name}" if path else self.name
            raise ScenarioError(
                f"{key}: {json.dumps(given)} is not valid; expected {self.takes}", path=key
            )
        return value


def parameters_of(plugin: type, base: type) -> list[Parameter]:
    """The annotated attributes that a plug-in's class adds to those of its base class.

    The text in `Annotated` is the parameter's meaning. Class variables, and attributes that begin
    with an underscore, are not parameters.
    """
    try:
        hints = get_type_hints(plugin, include_extras=True)
    except NameError as error:
        raise ScenarioError(
            f"the annotations of {plugin.__name__} cannot be read: {error}"
        ) from error
    between = plugin.__mro__[: plugin.__mro__.index(base)]
    names = dict.fromkeys(
        name for cls in reversed(between) for name in vars(cls).get("__annotations__", {})
    )
    found = []
    for name in names:
        hint = hints[name]
        if name.startswith("_") or name == "id" or get_origin(hint) is ClassVar or hint is ClassVar:
            continue
        found.append(_parameter(plugin, name, hint))
    return found


def _parameter(plugin: type, name: str, hint: Any) -> Parameter:
    meaning = ""
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        meaning = next((note for note in notes if isinstance(note, str)), "")
    whose = f"the parameter {name} of {plugin.__name__}"
    kind = _kind(hint)
    if kind is None:
        hint_text = "bool, int, float, str, a Literal of texts, or tuple[float, ...] are"
        raise ScenarioError(f"{whose} is annotated {hint}, which no key can be", hint_text)
    takes, read = kind
    if not hasattr(plugin, name):
        raise ScenarioError(f"{whose} has no default", f"give it one: {name}: ... = ...")
    default = getattr(plugin, name)
    value = read(list(default) if isinstance(default, tuple) else default)
    if value is None:
        raise ScenarioError(f"the default of {whose}, {default!r}, is not {takes}")
    return Parameter(name, takes, value, meaning, read)


def _kind(hint: Any) -> tuple[str, Read] | None:
    """The values that a key with this annotation accepts, and how they are converted."""
    if hint in _KINDS:
        return _KINDS[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal and all(isinstance(choice, str) for choice in inner):
        takes = " or ".join(json.dumps(choice) for choice in inner)
        return takes, lambda given: given if given in inner else None
    if origin in (tuple, list) and inner[:1] and inner[0] in _KINDS:
        takes, read = _KINDS[inner[0]]
        return f"a list, each item {takes}", lambda given: _items(given, read)
    return None


def _items(given: Any, read: Read) -> tuple[Any, ...] | None:
    """A list as a tuple, which objects cannot change for one another."""
    if not isinstance(given, (list, tuple)):
        return None
    values = tuple(read(item) for item in given)
    return None if None in values else values


def _number(given: Any) -> float | None:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    return float(given) if is_number and math.isfinite(given) else None


def _of(kind: type) -> Read:
    return lambda given: given if type(given) is kind else None


_KINDS: dict[Any, tuple[str, Read]] = {
    bool: ("true or false", _of(bool)),
    int: ("a whole number", _of(int)),
    float: ("a number", _number),
    str: ("a text", _of(str)),
}
