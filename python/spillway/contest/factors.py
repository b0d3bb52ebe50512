"""What an arena varies: factors, and the levels that each of them has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from spillway.base import core
from spillway.base.arguments import check_known, check_line, check_once, items, split
from spillway.base.errors import ScenarioError
from spillway.plugins.description import Description

Factors: TypeAlias = str | Mapping[str, str | Iterable[str]] | Iterable[str]
"""Texts such as `sharing=dt,lqd`, or a mapping of factors to their levels."""

KEYS = {
    "transport": "transport.kind",
    "recovery": "transport.recovery",
    "protection": "transport.protection",
    "levels": "transport.tagging",
    "aqm": "switch.aqm",
    "sharing": "switch.sharing",
}
"""The factors, in the order in which their keys are set, and the key by which each chooses."""
ON_REQUEST = frozenset({"protection"})
"""The factors that are varied only if they are named. Otherwise all is as the scenario has it."""
OWN = "own"
"""The level at which a factor is as the scenario has it."""
QUEUES = 9
"""The queues of a port with a tagger: eight priorities, and that of acks."""

NO_PRESET = "transport.preset="
"""What levels of `transport` set besides, in scenarios that have one: a preset is that of a kind.
"""
_LIMIT = "switch.unimportant_limit"
_LIMITED_TO = "9%"
"""The limit of TLT's scripts: 400 KB of 4.5 MB."""
_OWN_LEVEL = re.compile(r"([A-Za-z0-9][\w.-]*):(?=\s*[A-Za-z_][\w.\[\]-]*\s*=)")
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][\w-]*(\[\d+\])*(\.[\w-]+(\[\d+\])*)*\s*=")


@dataclass(frozen=True)
class Level:
    """One choice of a factor."""

    name: str
    assignments: tuple[str, ...]
    kind: str = ""
    """The id of the algorithm, if it is one with its defaults."""
    is_named: bool = False
    """Whether it was asked for by its name."""
    is_plugin: bool = False


@dataclass(frozen=True)
class Factor:
    """Something that is varied."""

    name: str
    levels: tuple[Level, ...]

    def place(self, name: str) -> int | None:
        """The index of a level; None if it has no such level."""
        names = [level.name for level in self.levels]
        return names.index(name) if name in names else None


def factors(given: Factors, plugins: Iterable[Description] = (), ranked: str = "") -> list[Factor]:
    """All factors, each with the levels that were asked for, or all of the catalogue.

    Plug-ins are levels of their factors, whatever was asked for. A factor `ON_REQUEST` is left out
    unless levels of it were asked for, or it is the one that is ranked.

    >>> [[level.name for level in factor.levels] for factor in factors(["sharing=dt,lqd"])][-1]
    ['dt', 'lqd']

    Raises:
        ScenarioError: There is no such factor or level, or one is there twice.
    """
    asked = _asked(given)
    known = _catalogue(plugins)
    found = []
    for name, levels in known.items():
        if name in ON_REQUEST and name not in asked and name != ranked:
            continue
        chosen = [_level(name, text, levels) for text in asked[name]] if name in asked else levels
        names = {level.name for level in chosen}
        own = [each for each in levels if each.is_plugin and each.name not in names]
        check_once([level.name for level in chosen], f"{name}: the level", "each is there once")
        found.append(Factor(name, (*chosen, *(own if name in asked else ()))))
    return found


def _asked(given: Factors) -> dict[str, list[str]]:
    hint = "for one: sharing=dt,lqd, or aqm=own"
    if isinstance(given, Mapping):
        pairs = [
            (name, split(each) if isinstance(each, str) else list(items(each, "levels", hint)))
            for name, each in given.items()
        ]
    else:
        texts = [given] if isinstance(given, str) else items(given, "factors", hint)
        parts = [str(text).partition("=") for text in texts]
        pairs = [(name.strip(), split(levels)) for name, _, levels in parts]
    check_once([name for name, _ in pairs], "the factor", "list all of its levels at once")
    for name, levels in pairs:
        check_known("factors", name, KEYS)
        if not levels or not all(isinstance(each, str) and each.strip() for each in levels):
            raise ScenarioError(f"the factor {name} has no level, or an empty one", hint)
    return dict(pairs)


def _level(factor: str, text: str, known: Iterable[Level]) -> Level:
    """A level by its name, `own`, or a new one: `NAME:KEY=VALUE/KEY=VALUE`."""
    check_line(text, "one level at a time")
    by_name = {level.name: level for level in known}
    match = _OWN_LEVEL.match(text)
    if match is not None:
        if match[1] in (*by_name, OWN):
            raise ScenarioError(
                f"{factor}: the name {match[1]!r} is taken", "give the level a name of its own"
            )
        return Level(match[1], tuple(split(text[match.end() :], "/", _ASSIGNMENT)), is_named=True)
    if text == OWN:
        return Level(OWN, (), is_named=True)
    text = text.strip()
    check_known(factor, text, [*by_name, OWN])
    level = by_name[text]
    return Level(level.name, level.assignments, level.kind, True, level.is_plugin)


def _catalogue(plugins: Iterable[Description]) -> dict[str, list[Level]]:
    """Every level that is only a kind, and those of priorities; plug-ins are kinds, too."""
    told = json.loads(core.catalogue())
    kinds = {
        room: [(each["id"], False) for each in told[room]]
        for room in (*KEYS, *_QUEUEING)
        if room in told
    }
    for each in plugins:
        kinds[each.room].append((each.id, True))
    found = {
        factor: [
            Level(kind, _chosen(key, kind), kind, is_plugin=is_plugin)
            for kind, is_plugin in kinds[factor]
        ]
        for factor, key in KEYS.items()
        if factor in kinds
    }
    schedulers = [
        Level(kind, _queues(_FEW.get(kind, 2), kind, "fixed"), kind, is_plugin=is_plugin)
        for kind, is_plugin in kinds["scheduling"]
    ]
    taggers = [
        Level(kind, _queues(QUEUES, "strict", kind), kind, is_plugin=is_plugin)
        for kind, is_plugin in kinds["tagging"]
        if kind != "fixed"
    ]
    # Some transports repair losses in their own way, and take no other.
    found["recovery"].append(Level(OWN, ()))
    found["protection"] = [
        Level("none", (f"{KEYS['protection']}=", f"{_LIMIT}="), "none"),
        *(
            Level(kind, (f"{KEYS['protection']}={kind}", f"{_LIMIT}={_LIMITED_TO}"), kind)
            for kind, _ in kinds["protection"]
        ),
    ]
    return {name: found.get(name, [*schedulers, *taggers]) for name in KEYS}


def _chosen(key: str, kind: str) -> tuple[str, ...]:
    return (f"{key}={kind}", *([NO_PRESET] if key == KEYS["transport"] else []))


_QUEUEING = ("scheduling", "tagging")
"""The rooms of the factor `levels`."""
_FEW = {"fifo": 1, "pfabric": 1}
"""The schedulers for ports with one queue. With others acks have a queue, and data has one."""


def _queues(queues: int, scheduling: str, tagging: str) -> tuple[str, ...]:
    """The queues of switches and NICs, acks in the first, data without a tagger in the last."""
    ports = [
        f"{where}.{key}"
        for where in ("switch", "nic")
        for key in (f"{_COUNT[where]}={queues}", "ack_queue=0", f"data_queue={queues - 1}")
    ]
    # pFabric's hosts serve by what flows have left, as its switches do.
    nic = "pfabric" if scheduling == "pfabric" else "fifo"
    choices = (f"switch.scheduling={scheduling}", f"nic.scheduling={nic}")
    return (f"transport.tagging={tagging}", *ports, *choices)


_COUNT = {"switch": "queues_per_port", "nic": "queues"}


def factor_of(description: Description) -> str:
    """The factor to whose levels a plug-in belongs."""
    return "levels" if description.room in _QUEUEING else description.room
