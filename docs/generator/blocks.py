"""The blocks of docs/scenario.md that the catalogue fills."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from generator.catalogue import CATALOGUE, DOCS, NET, Json, head, page_name, parts
from generator.markdown import code, default_of, key_table, linked, sentence, table, takes


def policies(room: str) -> str:
    """The ids of a room, with links to their pages."""
    rows = [
        [
            f"[`{entry['id']}`](algorithms/{page_name(room, entry['id'])})",
            sentence(entry["summary"]),
            ", ".join(code(key["name"]) for key in entry["keys"]) or "none",
        ]
        for entry in CATALOGUE[room]
    ]
    return table(["id", "", "parameters"], rows)


def transports() -> str:
    """A table for the keys that many transports share, then one for those of each transport."""
    entries = CATALOGUE["transport"]
    keys: dict[str, tuple[Json, dict[str, str]]] = {}
    own: dict[tuple[str, str], Json] = {}
    for entry in entries:
        for key in entry["keys"]:
            known, defaults = keys.setdefault(key["name"], (key, {}))
            if key["name"] in DIFFERENT:
                own[entry["id"], key["name"]] = key
            elif {**known, "default": None} != {**key, "default": None}:
                raise SystemExit(f"transports differ about {key['name']}")
            defaults[entry["id"]] = default_of(key)

    def key_rows(names: Iterable[str], kinds: list[str]) -> str:
        rows = []
        for name in names:
            key, defaults = keys[name]
            key = own.get((kinds[0], name), key)
            values = {kind: defaults[kind] for kind in kinds}
            if len(set(values.values())) > 1:
                told = ", ".join(f"{value} ({kind})" for kind, value in values.items())
            else:
                told = next(iter(values.values()))
            taken = takes({**key, **IN_GENERAL.get(("transport", name), {})}["takes"])
            rows.append([code(name), taken, told, sentence(key["meaning"])])
        return table(["key", "takes", "default", "meaning"], rows)

    sharers: dict[tuple[str, ...], list[str]] = {}
    for name, (_, defaults) in keys.items():
        if name not in DIFFERENT:
            sharers.setdefault(tuple(defaults), []).append(name)
    shared = {
        kinds: names
        for kinds, names in sharers.items()
        if len(kinds) > 1 and len(names) >= SHARED_KEYS
    }
    ids = [entry["id"] for entry in entries]
    blocks = []
    for kinds, names in sorted(shared.items(), key=lambda each: -len(each[0])):
        blocks += [f"#### {in_words(kinds, ids)}", key_rows(names, list(kinds))]
    common = {name for names in shared.values() for name in names}
    for entry in entries:
        names = [key["name"] for key in entry["keys"] if key["name"] not in common]
        blocks += [f"#### `{entry['id']}`", sentence(entry["summary"])]
        blocks += [key_rows(names, [entry["id"]])] if names else ["It has no keys of its own."]
    return "\n\n".join(blocks)


def kinds_of_transport() -> str:
    """The ids of all transports, with links to their pages; the default is the first."""
    entries = CATALOGUE["transport"]
    page = {entry["id"]: page_name("transport", entry["id"]) for entry in entries}
    ids = [f"[`{id}`](algorithms/{name})" for id, name in page.items()]
    listed = f"{ids[0]} (the default), {', '.join(ids[1:-1])} and {ids[-1]}"
    return textwrap.fill(f"`kind` is one of {listed}.", 116, break_on_hyphens=False)


DIFFERENT = ("preset", "rate_step", "hyper_after", "window", "base_rtt", "pace_from")
"""Keys that take or mean something else in some transports, or list their values otherwise."""

SHARED_KEYS = 4
"""This many keys that the same transports have are a table; fewer stand with each of them."""


def in_words(kinds: Iterable[str], ids: Iterable[str]) -> str:
    """These transports, by those that are missing where that is shorter."""
    there = list(kinds)
    missing = [id for id in ids if id not in there]
    if not missing:
        return "All transports"
    names = missing if len(missing) < len(there) else there
    listed = " and ".join(filter(None, [", ".join(map(code, names[:-1])), code(names[-1])]))
    return f"All transports except {listed}" if names is missing else listed


def described(room: str, folder: Path, skip: Iterable[str] = ()) -> str:
    """Every kind of a room: what the head of its file says, and its keys."""
    blocks = []
    for entry in CATALOGUE[room]:
        file = folder / f"{FILES.get(entry['id'], entry['id'].replace('-', '_'))}.rs"
        told = parts(head(file))
        # The first paragraph is the summary's.
        text = [told[""].partition("\n\n")[2]]
        text += [body for heading, body in told.items() if heading not in ("", "Cost")]
        keys = [
            {**key, **IN_GENERAL.get((entry["id"], key["name"]), {})}
            for key in entry["keys"]
            if key["name"] not in skip
        ]
        blocks += [
            f"#### `{entry['id']}`",
            sentence(entry["summary"]),
            *filter(None, text),
            key_table(keys),
        ]
    return linked("\n\n".join(blocks), DOCS / "scenario.md")


FILES = {"flows": "flow_list"}
"""Kinds whose file has another name."""

IN_GENERAL: dict[tuple[str, str], Json] = {
    ("incast", "queries_per_host_per_s"): {"default": "none"},
    ("permutation", "shift"): {"takes": "a whole number from 1 to the number of hosts less one"},
    ("transport", "min_window"): {"takes": 'a length such as "2pkt" or "3KB"'},
}
"""Where the catalogue tells what holds for the example that it reads the keys with."""


def sizes() -> str:
    """The distributions of flow sizes."""
    rows = [
        [code(entry["id"]), f"{entry['mean_bytes']:,.0f}", entry["citation"]]
        for entry in CATALOGUE["sizes"]
    ]
    return table(["name", "mean, bytes", "source"], rows)


GENERATED: dict[str, Callable[[], str]] = {
    **{room: partial(policies, room) for room in ("sharing", "aqm", "scheduling", "tagging")},
    "transport": transports,
    "transport.kind": kinds_of_transport,
    "traffic": lambda: described("traffic", NET / "traffic", skip=("priority", "bound")),
    "topology": lambda: described("topology", NET / "topology"),
    "sizes": sizes,
}
