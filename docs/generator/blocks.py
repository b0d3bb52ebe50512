"""The blocks of pages that the catalogue fills."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from generator.algorithms import keys_of
from generator.catalogue import ALGORITHMS, CATALOGUE, ROOMS, page_name
from generator.keys import own, rows
from generator.markdown import code, key_table, sentence, table
from generator.plugins import TABLES
from generator.tables import COLUMNS, columns, costs, reasons, signals
from generator.transports import shared_tables


def policies(room: str, page: Path) -> str:
    """The ids of a room, with links to their pages."""
    folder = Path(os.path.relpath(ALGORITHMS, page.parent)).as_posix()
    rows = [
        [
            f"[`{entry['id']}`]({folder}/{page_name(room, entry['id'])})",
            sentence(entry["summary"]),
            ", ".join(code(key["name"]) for key in keys_of(room, entry)) or "none",
        ]
        for entry in CATALOGUE[room]
    ]
    return table(["id", "", "parameters"], rows)


def keys(path: str, kind: str, _: Path) -> str:
    """The keys of a kind of traffic or topology."""
    return key_table(rows(own(path, kind)))


def sizes(_: Path) -> str:
    """The distributions of flow sizes."""
    rows = [
        [code(entry["id"]), f"{entry['mean_bytes']:,.0f}", entry["citation"]]
        for entry in CATALOGUE["sizes"]
    ]
    return table(["name", "mean, bytes", "source"], rows)


GENERATED: dict[str, Callable[[Path], str]] = {
    **{room: partial(policies, room) for room in ROOMS},
    **{
        f"{room}.{entry['id']}": partial(keys, path, entry["id"])
        for room, path in (("topology", "topology"), ("traffic", "traffic.*"))
        for entry in CATALOGUE[room]
    },
    **{f"columns.{name}": partial(columns, name) for name in COLUMNS},
    "transport.keys": lambda _: shared_tables(),
    "sizes": sizes,
    "cost": partial(costs, "sharing"),
    "cost.protection": partial(costs, "protection"),
    "signals": signals,
    **TABLES,
    "plugins.reasons": reasons,
}
"""What writes a block, seen from its page."""
