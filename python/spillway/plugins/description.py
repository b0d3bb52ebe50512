"""The description of a plug-in's class that the simulator needs.

Its parameters are its annotated attributes, as keys of a scenario.
"""

from __future__ import annotations

import difflib
import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.plugins.base import ROOMS, Plugin
from spillway.plugins.hooks import hooks_of

Read = Callable[[Any], Any]
"""Converts a scenario's value to that of the attribute; `None` if it is not valid."""
Forms = list[dict[str, Any]]
"""The forms of values, as the core tells of those of its keys."""


@dataclass(frozen=True)
class Parameter:
    """A key of a scenario that becomes an attribute."""

    name: str
    takes: str
    default: Any
    meaning: str
    forms: Forms
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


@dataclass(frozen=True)
class Description:
    """A plug-in's class, with its parameters and hooks."""

    plugin: type[Plugin]
    """The class."""
    room: str
    """What it is, as in `ROOMS`."""
    id: str
    """The name by which scenarios name it."""
    hooks: list[str]
    """The names of the hooks that it has."""
    parameters: list[Parameter]
    """The keys of a scenario that become its attributes."""

    @property
    def key(self) -> str:
        """The key by which scenarios name it."""
        return ROOMS[self.room].key

    @cached_property
    def names(self) -> list[str]:
        """The names of its parameters."""
        return [parameter.name for parameter in self.parameters]

    @property
    def ecn_capable(self) -> bool:
        """For a congestion controller: whether packets are ECN-capable by default."""
        return bool(getattr(self.plugin, "ecn_capable", False))

    @property
    def echoes_each_mark(self) -> bool:
        """For a congestion controller: whether acks echo each mark."""
        return bool(getattr(self.plugin, "echoes_each_mark", False))

    @property
    def asks_telemetry(self) -> bool:
        """For a congestion controller: whether switches write telemetry on its packets."""
        return bool(getattr(self.plugin, "asks_telemetry", False))

    @property
    def knows_base_rtt(self) -> bool:
        """For a congestion controller: whether it compares with the base RTT."""
        return bool(getattr(self.plugin, "knows_base_rtt", False))

    def read(self, path: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all parameters. The section at `path` gives some of them."""
        return {
            parameter.name: parameter.value(path, given[parameter.name])
            if parameter.name in given
            else parameter.default
            for parameter in self.parameters
        }

    def make(self, path: str, values: Mapping[str, Any], start: tuple[Any, ...] | None) -> Plugin:
        """An object with these parameters, which it may refuse with a `ValueError`.

        It is started with the arguments `start`, unless that is `None`.
        """
        try:
            made = self.plugin(**values)
            if start is not None:
                made.start(*start)  # type: ignore[attr-defined]
        except ValueError as error:
            if not path:
                raise
            raise ScenarioError(f"{path}: {error}", path=path, kind="conflict") from error
        return made

    def row(self) -> dict[str, Any]:
        """Its entry in the catalogue, as `spillway list` shows it."""
        summary = (inspect.getdoc(self.plugin) or "").partition("\n")[0].rstrip(".")
        keys = [
            {
                "name": parameter.name,
                "takes": parameter.takes,
                "default": json.dumps(parameter.default),
                "meaning": parameter.meaning,
            }
            for parameter in self.parameters
        ]
        citation = self.plugin.citation
        return {"id": self.id, "summary": summary, "citation": citation, "keys": keys}


def describe(plugin: type[Plugin]) -> Description:
    """Describes a plug-in's class, and refuses anything else."""
    name = getattr(plugin, "__name__", repr(plugin))
    bases = {each.base: room for room, each in ROOMS.items()}
    rooms = [
        room
        for base, room in bases.items()
        if isinstance(plugin, type) and issubclass(plugin, base)
    ]
    if len(rooms) != 1 or plugin in bases:
        *others, last = (base.__name__ for base in bases)
        names = f"{', '.join(others)} and {last}"
        raise ScenarioError(
            f"{name} is no plug-in", f"a plug-in is a class that derives from one of {names}"
        )
    room = rooms[0]
    base, needed = ROOMS[room].base, ROOMS[room].needed
    if not isinstance(plugin.id, str) or not re.fullmatch(r"[A-Za-z0-9][\w-]*", plugin.id):
        problem = f"the id of {name} is {plugin.id!r}" if plugin.id else f"{name} has no id"
        raise ScenarioError(problem, f'give the class one: id = "my-{room}"')
    if plugin.id in _built_in(room):
        raise ScenarioError(
            f"the id of {name}, {plugin.id!r}, is taken in {room}",
            f'call it something else: id = "my-{plugin.id}"',
        )
    hooks = [hook for hook, theirs in hooks_of(base).items() if getattr(plugin, hook) is not theirs]
    _check_names(plugin, base)
    _check_flags(plugin, base)
    if not any(hook in hooks for hook in needed):
        kind = base.__name__
        raise ScenarioError(
            f"{name} has no {' and no '.join(needed)}",
            f"every plug-in that derives from {kind} must have {' or '.join(needed)}",
        )
    parameters = _parameters_of(plugin, base)
    taken = _taken(room)
    for parameter in parameters:
        if parameter.name in taken:
            raise ScenarioError(
                f"the parameter {parameter.name} of {name} is a key of every {room} already",
                "call it something else",
            )
    return Description(plugin, room, plugin.id, hooks, parameters)


def _check_names(plugin: type[Plugin], base: type[Plugin]) -> None:
    """Refuses methods whose names suggest hooks that do not exist."""
    known = list(hooks_of(base))
    for name, _ in inspect.getmembers(plugin, inspect.isfunction):
        if name.startswith("on_") and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise ScenarioError(
                f"{plugin.__name__} has {name}, which is no hook",
                f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}",
            )


_ASKING = ("asks_", "knows_", "watches_", "hears_", "passes_", "echoes_", "keeps_")
"""The beginnings of the names of flags by which a class asks for something."""


def _check_flags(plugin: type[Plugin], base: type[Plugin]) -> None:
    """Refuses what a class asks for and would not get."""
    name, kind = plugin.__name__, base.__name__
    flags = [flag for flag in dir(base) if flag.startswith(_ASKING)]
    asked = [flag for flag in dir(plugin) if flag.startswith(_ASKING) and flag not in flags]
    for flag in asked:
        if getattr(plugin, flag) is True:
            near = difflib.get_close_matches(flag, flags, 1)
            valid = f"it may ask for {', '.join(flags)}" if flags else f"{kind} has no such flags"
            raise ScenarioError(
                f"{name} asks for {flag}, which {kind} does not give",
                f"did you mean {near[0]}?" if near else valid,
            )
    others = {
        hook: other.base.__name__
        for other in ROOMS.values()
        for hook in hooks_of(other.base)
        if not hasattr(base, hook)
    }
    for hook, other in others.items():
        if inspect.isfunction(getattr(plugin, hook, None)):
            raise ScenarioError(
                f"{name} has {hook}, which is a hook of {other} and is never called of {kind}",
                f"if it is no hook, call it something else: _{hook}",
            )


def describe_all(plugins: Iterable[type[Plugin]]) -> list[Description]:
    """Describes several plug-ins' classes, whose ids must differ."""
    found: dict[tuple[str, str], Description] = {}
    for plugin in dict.fromkeys(plugins):
        description = describe(plugin)
        before = found.setdefault((description.room, description.id), description)
        if before is not description:
            names = f"{before.plugin.__name__} and {plugin.__name__}"
            raise ScenarioError(
                f"two plug-ins of {description.room} have the id {description.id!r}: {names}",
                "give each an id of its own",
            )
    return list(found.values())


def check_named(descriptions: Iterable[Description], named: Iterable[Description]) -> None:
    """Refuses plug-ins that the scenario does not name."""
    classes = [description.plugin for description in named]
    for description in descriptions:
        if description.plugin not in classes:
            raise ScenarioError(
                f"the plug-in {description.id} is there, but the scenario does not name it",
                f'name it: set="{description.key}={description.id}"',
                typed=f"name it: --set {description.key}={description.id}",
            )


def _built_in(room: str) -> list[str]:
    return [entry["id"] for entry in json.loads(core.catalogue())[room]]


def _taken(room: str) -> set[str]:
    """The names of keys that a plug-in's parameters must not have."""
    if room == "tagging":
        return {"kind", "acks", "repairs"}
    if room != "transport":
        return {"kind"}
    entries = {entry["id"]: entry for entry in json.loads(core.catalogue())[room]}
    return {"kind", "name", "base_rtt", *(key["name"] for key in entries["newreno"]["keys"])}


# Parameters ---------------------------------------------------------------------------------------


def _parameters_of(plugin: type, base: type) -> list[Parameter]:
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
        raise ScenarioError(
            f"{whose} is annotated {hint}, which no key can be",
            "bool, int, float, str, a Literal of texts, or tuple[float, ...] are",
        )
    takes, forms, read = kind
    if not hasattr(plugin, name):
        raise ScenarioError(f"{whose} has no default", f"give it one: {name}: ... = ...")
    default = getattr(plugin, name)
    value = read(list(default) if isinstance(default, tuple) else default)
    if value is None:
        raise ScenarioError(f"the default of {whose}, {default!r}, is not {takes}")
    return Parameter(name, takes, value, meaning, forms, read)


def _kind(hint: Any) -> tuple[str, Forms, Read] | None:
    """The values that a key with this annotation accepts, and how they are converted."""
    if hint in _KINDS:
        return _KINDS[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal and all(isinstance(choice, str) for choice in inner):
        takes = " or ".join(json.dumps(choice) for choice in inner)
        words = [{"form": "word", "word": choice} for choice in inner]
        return takes, words, lambda given: given if given in inner else None
    if origin in (tuple, list) and inner[:1] and inner[0] in _KINDS:
        takes, forms, read = _KINDS[inner[0]]
        items = {"form": "list", "of": forms, "least": 0, "most": sys.maxsize}
        return f"a list, each item {takes}", [items], lambda given: _items(given, read)
    return None


def _items(given: Any, read: Read) -> tuple[Any, ...] | None:
    """A list as a tuple, so that no object can change it for another one."""
    if not isinstance(given, (list, tuple)):
        return None
    values = tuple(read(item) for item in given)
    return None if None in values else values


def _number(given: Any) -> float | None:
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    return float(given) if is_number and math.isfinite(given) else None


def _of(kind: type) -> Read:
    return lambda given: given if type(given) is kind else None


_KINDS: dict[Any, tuple[str, Forms, Read]] = {
    bool: ("true or false", [{"form": "flag"}], _of(bool)),
    int: ("a whole number", [{"form": "integer", "least": -(2**63), "most": 2**63}], _of(int)),
    float: ("a number", [{"form": "number", "least": None, "most": None}], _number),
    str: ("a text", [{"form": "pattern", "pattern": r"[\s\S]*"}], _of(str)),
}
