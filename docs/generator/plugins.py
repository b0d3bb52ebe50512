"""What plug-ins may see and do, in tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from generator.markdown import code, sentence, table
from spillway.plugins import hooks
from spillway.plugins.base import ROOMS, Plugin, Policy


def kinds(_: Path) -> str:
    """The base classes."""
    rows = [
        [
            code(room.base.__name__),
            code(room.key),
            room.each,
            " or ".join(map(code, room.needed)),
        ]
        for room in ROOMS.values()
    ]
    return table(["derives from", "named in", "one object for", "must have"], rows)


def hooks_of(base: type[Plugin], _: Path) -> str:
    """What a base class has beside what it inherits."""
    found = hooks.signatures(base, own=True)
    rows = [[code(each["name"]), sentence(each["meaning"])] for each in found]
    return table(["hook", "meaning"], rows)


def told(names: Iterable[str], _: Path) -> str:
    """What hooks are told."""
    rows = [
        [code(name) if place == 0 else "", code(field["name"]), sentence(field["meaning"])]
        for name in names
        for place, field in enumerate(hooks.fields(name))
    ]
    return table(["object", "has", "meaning"], rows)


def _told() -> Iterator[tuple[str, Table]]:
    """For every base class what its hooks are told and those of no earlier one are."""
    seen: list[str] = []
    for base in BASES:
        new = [name for name in hooks.told(base) if name not in seen]
        seen += new
        if new:
            yield f"plugin.{base.__name__}.told", partial(told, new)


Table = Callable[[Path], str]
BASES = (Policy, *(room.base for room in ROOMS.values()))
TABLES: dict[str, Table] = {
    "plugin": kinds,
    **{f"plugin.{base.__name__}": partial(hooks_of, base) for base in BASES},
    **dict(_told()),
}
