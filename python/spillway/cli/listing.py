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
from spillway.scenario import catalogue, find, tables
from spillway.scenario.bundled import bundled
from spillway.scenario.sections import sections


@app.command("list")
def list_(
    room: Annotated[
        str | None,
        typer.Argument(
            metavar="ROOM",
            help="sharing, aqm, scheduling, transport, recovery, tagging, protection, traffic, "
            "topology, signals or scenarios, with parameters and sources; an overview of all of "
            "them without it.",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--find",
            metavar="TEXT",
            help="Only what has this text in its name or meaning: algorithms, keys, bundled "
            "scenarios, signals.",
        ),
    ] = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """List algorithms with their parameters and sources, signals, and the bundled scenarios."""
    classes = [load(name) for name in plugin or ()]
    entries: dict[str, Any] = json.loads(core.catalogue())
    for description in describe_all(classes):
        entries[description.room].append(description.row())
    if text is not None:
        if room is not None:
            raise ScenarioError("--find searches all rooms", f"leave out {room}")
        found = find.find(text, entries, sections(classes))
        if not any(found.values()):
            raise ScenarioError(f"nothing has {text!r} in its name or meaning", "try a shorter one")
        display(found, find.found(found), as_json)
        return
    names = [*catalogue.ROOMS, "scenarios"]
    if room is not None and room not in names:
        raise ScenarioError(
            f"there is nothing to list called {room!r}",
            meant(room, names, f"valid here: {', '.join(names)}; --find searches all of them"),
        )
    chosen = names if room is None else [room]
    document = {name: entries[name] for name in chosen if name in entries}
    if "traffic" in chosen:
        document["sizes"] = entries["sizes"]
    if "scenarios" in chosen:
        document["scenarios"] = list(bundled())
    if room is None:
        people = catalogue.overview(entries, bundled())
    elif room == "scenarios":
        heading = Text.assemble(("scenarios", "bold cyan"), ("  spillway run NAME", "dim"), "\n")
        people = Group(heading, tables.scenarios(bundled()))
    else:
        people = catalogue.catalogue(entries, [room])
    display(document, people, as_json)
