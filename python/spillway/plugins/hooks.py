"""What plug-ins may see and do, as users are told.

It is taken from the base classes, and from the core's classes of what hooks are told.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

from spillway.base import core
from spillway.base.arguments import meant
from spillway.base.errors import ScenarioError
from spillway.plugins.base import ROOMS, Plugin, Room

PAGE = "docs/plugins.md"


def hooks_of(base: type[Plugin]) -> dict[str, Callable[..., Any]]:
    """The hooks of a base class, its own before those that it inherits."""
    classes = base.__mro__[: base.__mro__.index(Plugin)]
    return {
        name: hook
        for each in classes
        for name, hook in vars(each).items()
        if inspect.isfunction(hook) and not name.startswith("_")
    }


def hooks(base: type[Plugin], own: bool = False) -> list[dict[str, Any]]:
    """What hooks a base class has, or has of its `own`: how they are called, what they answer."""
    return [
        {
            "name": name,
            "call": f"{name}({', '.join([*inspect.signature(hook).parameters][1:])})",
            "answer": str(hook.__annotations__["return"]),
            "meaning": _text(hook),
        }
        for name, hook in hooks_of(base).items()
        if not own or name in vars(base)
    ]


def attributes(base: type[Plugin], own: bool = False) -> list[dict[str, Any]]:
    """What a base class lets classes set beside their parameters: with types and defaults."""
    found = []
    hints = get_type_hints(base, include_extras=True)
    for name, hint in hints.items():
        inner = get_args(hint)[0] if get_origin(hint) is ClassVar else hint
        if get_origin(inner) is Annotated and (not own or name in vars(base)):
            kind, meaning = get_args(inner)
            takes = kind.__name__ if isinstance(kind, type) else str(kind).removeprefix("typing.")
            default = repr(getattr(base, name))
            found.append({"name": name, "takes": takes, "default": default, "meaning": meaning})
    return found


def signatures(base: type[Plugin], *, own: bool = False) -> list[dict[str, str]]:
    """The hooks and attributes of a base class as they are written; only its `own`, if asked."""
    calls = [(f"{each['call']} -> {each['answer']}", each) for each in hooks(base, own=own)]
    fields = [
        (f"{each['name']}: {each['takes']} = {each['default']}", each)
        for each in attributes(base, own=own)
    ]
    return [{"name": written, "meaning": each["meaning"]} for written, each in (*calls, *fields)]


def told(base: type[Plugin]) -> list[str]:
    """The names of what the hooks of a base class are told, also within the fields of others."""
    names = [
        name
        for function in hooks_of(base).values()
        for argument, hint in function.__annotations__.items()
        if argument != "return"
        for name in _named(hint)
    ]
    within = (name for each in names for field in fields(each) for name in _named(field["gives"]))
    return list(dict.fromkeys([*names, *(name for name in within if name not in names)]))


def fields(name: str) -> list[dict[str, Any]]:
    """The fields and methods of what hooks are told: with types, and meanings as the core has them.

    They stand in the order of the core's stub.
    """
    found = []
    for member in _stub()[name].body:
        call, gives = "", None
        if isinstance(member, ast.AnnAssign):
            label, gives = ast.unparse(member.target), member.annotation
        elif isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            label, gives = member.name, member.returns
            if not member.decorator_list:
                call = f"({', '.join(each.arg for each in member.args.args[1:])})"
        if gives is not None:
            meaning = _text(getattr(getattr(core, name), label))
            answer = ast.unparse(gives)
            found.append({"name": f"{label}{call}", "gives": answer, "meaning": meaning})
    return found


def _named(hint: str) -> list[str]:
    """The classes of the core that a type names."""
    return [name for name in re.findall(r"\w+", hint) if name in _stub()]


@cache
def _stub() -> dict[str, ast.ClassDef]:
    """The classes of the core, as its stub declares them."""
    text = core.FILE.with_name("_core.pyi").read_text(encoding="utf-8")
    return {each.name: each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)}


def _text(documented: Any) -> str:
    """What is written of something, on one line, without its arguments."""
    return " ".join((inspect.getdoc(documented) or "").partition("\nArgs:")[0].split())


def explained(path: str) -> dict[str, Any]:
    """What is told of `plugin`, of a kind of plug-ins, of a hook, or of what a hook is told.

    Args:
        path: `plugin`, or behind it a base class or one of its hooks or attributes, such as
            `plugin.Scheduler.select`, or what hooks are told, such as `plugin.Arrival.size`. Case
            does not matter.

    Raises:
        ScenarioError: There is no such thing.
    """
    kinds = {room.base.__name__: room for room in ROOMS.values()}
    objects = dict.fromkeys(name for room in ROOMS.values() for name in told(room.base))
    _, *steps = path.split(".")
    if not steps:
        rows = [{"name": name, "meaning": _of_kind(room)} for name, room in kinds.items()]
        rows += [{"name": name, "meaning": _text(getattr(core, name))} for name in objects]
        return _told("plugin", "Algorithms as Python classes.", rows)
    first = _meant(steps[0], [*kinds, *objects], "plugin", path)
    if first in kinds:
        base = kinds[first].base
        rows = signatures(base)
        whole = _told(f"plugin.{first}", _of_kind(kinds[first]), rows, told(base))
    else:
        rows = [_of_field(field) for field in fields(first)]
        whole = _told(f"plugin.{first}", _text(getattr(core, first)), rows)
    if len(steps) == 1:
        return whole
    by_name = {re.split(r"\W", row["name"])[0]: row for row in rows}
    name = _meant(".".join(steps[1:]), by_name, f"plugin.{first}", path)
    return _told(f"plugin.{first}.{name}", "", [by_name[name]])


def _meant(given: str, known: Iterable[str], where: str, path: str) -> str:
    """The known name that is a given one in another case."""
    by_case = {name.lower(): name for name in known}
    if given.lower() not in by_case:
        hint = meant(given, by_case.values(), f"there are {', '.join(by_case.values())}")
        raise ScenarioError(f"{where} has no {given}", hint, path, "unknown-key")
    return by_case[given.lower()]


def _told(
    path: str, meaning: str, rows: list[dict[str, str]], names: Iterable[str] = ()
) -> dict[str, Any]:
    others = [f"plugin.{name}" for name in names]
    return {"path": path, "page": PAGE, "meaning": meaning, "has": rows, "told": others}


def _of_kind(room: Room) -> str:
    return (
        f"{_text(room.base)} Scenarios name it in `{room.key}`. There is an object for "
        f"{room.each}. It must have {' or '.join(f'`{hook}`' for hook in room.needed)}."
    )


def _of_field(field: dict[str, Any]) -> dict[str, str]:
    between = " -> " if "(" in field["name"] else ": "
    return {"name": f"{field['name']}{between}{field['gives']}", "meaning": field["meaning"]}
