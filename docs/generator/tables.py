"""Tables about policies and runs that the catalogue fills."""

from __future__ import annotations

import os
from pathlib import Path

from generator.catalogue import CATALOGUE, source_of
from generator.markdown import code, table
from spillway.base.result_schema import SCHEMA

COST = {
    "queue": "for every queue",
    "port": "for every port",
    "switch": "once",
    "others": "for what else",
    "arrival": "arrival",
    "departure": "departure",
    "at_times": "at other times",
    "needs": "needs",
}
"""The columns of the table of costs, by the parts that the catalogue has."""


def costs(room: str, page: Path) -> str:
    """What the algorithms of a room ask of a switch, seen from a page."""
    rows = []
    for entry in CATALOGUE[room]:
        file = Path(os.path.relpath(source_of(room, entry["id"]), page.parent)).as_posix()
        parts = (entry["cost"][part] or "-" for part in COST)
        rows.append([f"[`{entry['id']}`]({file})", *parts])
    return table(["", *COST.values()], rows)


COLUMNS = {**SCHEMA["tables"], **SCHEMA["further"]}
"""The columns of tables, and the further columns of flows."""


def columns(name: str, _: Path) -> str:
    """The columns of a table."""
    rows = []
    for column in COLUMNS[name]:
        type_ = "name" if column["is_name"] else column["type"]
        or_null = " or null" if column["may_be_null"] else ""
        rows.append([code(column["name"]), type_ + or_null, column["meaning"]])
    return table(["column", "type", "meaning"], rows)


def reasons(_: Path) -> str:
    """The reasons that a plug-in may give for a drop."""
    *others, last = map(code, SCHEMA["plugins_reasons"])
    return f"The reasons are {', '.join(others)} and {last}."


def signals(_: Path) -> str:
    """What a run can be asked for."""
    rows = [
        [code(row["id"]), row["each"], "yes" if row["is_since"] else "", row["meaning"]]
        for row in CATALOGUE["signals"]
    ]
    return table(["signal", "a number for each", "since the last look", ""], rows)
