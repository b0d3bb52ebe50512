"""What a key of a scenario is, by its path."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.plugins import Plugins, hooks
from spillway.scenario.sections import Key, Section, Sections, at, path_below, sections

_PAGES = {"": "run", "record": "run", "limits": "run", "nic": "hosts", "event": "routing"}
"""The pages of sections that are not named after them."""
_OWN_PAGES = ("topology", "switch", "transport", "traffic", "routing")
_MOST_NEAR = 3
"""The most names that a hint suggests."""


def explain(path: str, plugins: Plugins = ()) -> dict[str, Any]:
    """What a key is and takes, or which keys a section has; what plug-ins may see and do.

    Args:
        path: Its dotted path, such as `switch.leaf.aqm.threshold` or `traffic.web.load`; `plugin`
            for plug-ins, and a path such as `plugin.scheduler.select` for parts of them.
        plugins: Classes whose parameters count as keys.

    Raises:
        ScenarioError: There is no such key.
    """
    if path.partition(".")[0] == "plugin":
        return hooks.explained(path)
    found = sections(plugins)
    told = _explained(path, found)
    if told is None:
        # What stands in a table that is the value of a key.
        owner, _, name = path.rpartition(".")
        told = _explained(owner, found) if _may_hold(owner, name, found) else None
    if told is not None:
        return told
    now = dict(core.moved_keys()).get(path)
    near = _nearest(path, paths(found))
    listed = ", ".join(f"`{name}`" for name in near)
    hint = f"did you mean {' or '.join(listed.rsplit(', ', 1))}?" if near else _SEARCH
    hint = hint if now is None else f"it is {now} now"
    raise ScenarioError(f"there is no key {path}", hint, path, "unknown-key")


def _explained(path: str, found: Sections) -> dict[str, Any] | None:
    """What is told of a path; `None` if it leads nowhere."""
    for place, name in _places(path, found) if path.strip() else ():
        forms = _forms(found, place, name)
        section = f"{place}.{name}".strip(".")
        below = [] if forms else _below(found, section)
        if forms or below:
            page = f"docs/scenario/{_page(place or section)}.md"
            return {"path": shown(section), "page": page, "forms": forms, "keys": below}
    return None


_SEARCH = "`spillway list --find TEXT` searches names and meanings"


def paths(found: Sections) -> list[str]:
    """The paths of all keys; `NAME` and `N` stand for places in lists."""
    names = {f"{each.path}.{name}".strip("."): 0 for each in found for name in each.keys}
    return [shown(name) for name in names]


def _places(path: str, found: Sections) -> Iterator[tuple[str, str]]:
    """The sections, and the names in them, that a path may mean; the likeliest first."""
    steps = [re.sub(r"(\[\d+\])+$", "", step) for step in path.strip().split(".")]
    first, rest = steps[0], steps[1:]
    if first in ("switch", "nic"):
        yield _split([first, *rest])
        # A tier, a switch or a host may come first, and then a port.
        known = {name for section in at(found, first) for name in section.keys}
        if len(rest) > 1 and rest[0] not in {*known, "port"}:
            rest = rest[1:]
        if rest[:1] == ["port"]:
            rest = rest[2:]
        steps = [first, *rest]
    lists = {section.path.partition(".*")[0] for section in found if ".*" in section.path}
    for start in (2, 1):
        owner = ".".join(steps[:start])
        if owner in lists:
            yield from _in_list(owner, steps[start:])
    yield _split(steps)
    if first == "nic" and len(steps) > 1:
        yield _split([path_below("nic", steps[1]), *steps[2:]])


def _in_list(owner: str, steps: list[str]) -> Iterator[tuple[str, str]]:
    """What a path into a list of tables may mean, with and without a place in the list."""
    for below in (steps, steps[1:]):
        yield _split([owner, "*", *below])
        if owner == "traffic" and below:
            yield _split(["transport", *below])


def _split(steps: list[str]) -> tuple[str, str]:
    place, _, name = ".".join(steps).rpartition(".")
    return place, name


def _forms(found: Sections, place: str, name: str) -> list[dict[str, Any]]:
    """What is told of a key: once for all kinds of its section that have it alike."""
    kinds: dict[Key, list[str]] = {}
    there = at(found, place)
    for section in there:
        if name in section.keys:
            kinds.setdefault(section.keys[name], []).append(section.kind or "")
    everywhere = {section.kind or "" for section in there}
    return [_told(key, None if {*with_} == everywhere else with_) for key, with_ in kinds.items()]


def _may_hold(owner: str, name: str, found: Sections) -> bool:
    """Whether the value of a key may be a table with this name; of a policy that is `kind`."""
    keys = [
        section.keys[last]
        for place, last in _places(owner, found)
        for section in at(found, place)
        if last in section.keys
    ]
    return any(
        form["form"] == "table" and (key.type != "policy" or name == "kind")
        for key in keys
        for form in key.forms
    )


def _told(key: Key, kinds: list[str] | None) -> dict[str, Any]:
    """A key for programs; no kinds are all kinds."""
    told = asdict(key)
    del told["forms"], told["default"], told["name"]
    told |= {"choices": list(key.choices), "units": list(key.units)}
    return {"kinds": kinds, "required": key.is_required, "default": key.default_value, **told}


def _below(found: Sections, section: str) -> list[dict[str, Any]]:
    """The keys of a section, or of one of its kinds."""
    there = at(found, section) or at(found, f"{section}.*")
    place, _, kind = section.rpartition(".")
    there = there or [
        each for each in (*at(found, place), *at(found, f"{place}.*")) if each.kind == kind
    ]
    meanings: dict[str, tuple[str, list[str]]] = {}
    for each in there:
        for name, key in each.keys.items():
            meanings.setdefault(name, (key.meaning, []))[1].append(_kind(each))
    return [
        {"name": name, "meaning": meaning, "kinds": _unless_all(kinds, there)}
        for name, (meaning, kinds) in meanings.items()
    ]


def _kind(section: Section) -> str:
    return section.kind or ""


def _unless_all(kinds: list[str], there: list[Section]) -> list[str] | None:
    return None if len(kinds) == len(there) else kinds


def _page(section: str) -> str:
    first = section.partition(".")[0]
    return _PAGES.get(first, first if first in _OWN_PAGES else "run")


def shown(path: str) -> str:
    """A path in which a name or a number stands for a place in a list."""
    stands = "N" if path.startswith(("event", "topology.link")) else "NAME"
    return path.replace("*", stands)


def _nearest(path: str, known: list[str]) -> list[str]:
    """The paths that are most like one that is wrong: with the same last step, or nearly so."""
    last = path.rpartition(".")[2]
    same = [name for name in known if name.rpartition(".")[2] == last]
    if len(same) > _MOST_NEAR:
        return difflib.get_close_matches(path, same, _MOST_NEAR, 0)
    return [*same, *(_similar(path, known, same))][:_MOST_NEAR]


def _similar(path: str, known: list[str], without: list[str]) -> list[str]:
    others = [name for name in known if name not in without]
    return difflib.get_close_matches(path, others, _MOST_NEAR, 0.7 if without else 0.6)
