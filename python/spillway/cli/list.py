"""spillway list."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from spillway.base import core
from spillway.base.arguments import meant
from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.options import JsonOption, PluginOption
from spillway.cli.output import display
from spillway.plugins import describe_all, load


@app.command("list")
def list_(
    room: Annotated[
        str | None,
        typer.Argument(
            metavar="ROOM",
            help="sharing, aqm, scheduling, transport, tagging, traffic, topology or scenarios; "
            "all of them without it.",
        ),
    ] = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every plug-in with its parameters and its source, and the bundled scenarios."""
    from spillway.scenario import catalogue, tables

    entries: dict[str, Any] = json.loads(core.catalogue())
    for description in describe_all(map(load, plugin or ())):
        entries[description.room].append(description.row())
    bundled = dict(core.bundled())
    names = [*catalogue.ROOMS, "scenarios"]
    if room is not None and room not in names:
        hint = meant(room, names, f"valid here: {', '.join(names)}")
        raise ScenarioError(f"there is nothing to list called {room!r}", hint)
    chosen = names if room is None else [room]
    parts = [catalogue.catalogue(entries, [name for name in chosen if name in catalogue.ROOMS])]
    if "scenarios" in chosen:
        heading = Text.assemble(("scenarios", "bold cyan"), ("  spillway run NAME", "dim"), "\n")
        parts = [*(parts if room is None else []), Group(heading, tables.scenarios(bundled))]
    document = {name: entries[name] for name in chosen if name in entries}
    if "traffic" in chosen:
        document["sizes"] = entries["sizes"]
    if "scenarios" in chosen:
        document["scenarios"] = list(bundled)
    display(document, Group(*parts), as_json)
