"""spillway show, flows and list."""

from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.syntax import Syntax
from rich.text import Text

from spillway.base import core
from spillway.base.arguments import meant, toml
from spillway.base.errors import ScenarioError
from spillway.base.texts import UNSAFE, escaped
from spillway.cli.app import app
from spillway.cli.common import scenario_of
from spillway.cli.options import (
    JsonOption,
    PluginOption,
    ReplaceOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
)
from spillway.cli.output import console, display
from spillway.plugins import describe_all, load
from spillway.scenario import catalogue, tables
from spillway.scenario.scenario import facts


@app.command()
def show(
    scenario: ScenarioArgument,
    set: SetOption = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a scenario with every value written out, and what follows from it, in comments."""
    read = scenario_of(scenario, set, plugin).read()
    found = facts(read)
    document = {
        "scenario": tomllib.loads(read.resolved),
        "facts": found,
        "warnings": read.warnings,
    }
    follows = io.StringIO()
    plain = console(follows)
    plain.width = console(sys.stdout).width - len("# ")
    plain.print(tables.facts(found))
    about = "".join(f"# {line}".rstrip() + "\n" for line in follows.getvalue().splitlines())
    whole = f"{about}\n{_printable(read.resolved)}".rstrip()
    text = Syntax("", "toml", theme="ansi_dark", background_color="default").highlight(whole)
    display(document, text, as_json)


_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\])*"''' + r"""|'''.*?'''|'[^']*'""", re.DOTALL
)


def _printable(scenario: str) -> str:
    """The same scenario, in which escapes stand for what must not reach a terminal."""

    def safe(found: re.Match[str]) -> str:
        if UNSAFE.search(found[0]) is None:
            return found[0]
        return escaped(toml("", tomllib.loads(f"x = {found[0]}")["x"]))

    return _STRING.sub(safe, scenario)


@app.command()
def flows(
    scenario: ScenarioArgument,
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write them to this file: .parquet or .csv."),
    ],
    set: SetOption = None,
    plugin: PluginOption = None,
    force: ReplaceOption = False,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the flows that a scenario would send; traffic of kind `flows` reads them again."""
    from spillway.scenario import flow_export

    chosen = scenario_of(scenario, set, plugin)
    if seed is not None:
        chosen = chosen.set(f"seed={seed}")
    written = flow_export.write(chosen.read(), out, force=force)
    display(written, tables.flows(written), as_json)


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
    entries: dict[str, Any] = json.loads(core.catalogue())
    for description in describe_all(map(load, plugin or ())):
        entries[description.room].append(description.row())
    bundled = dict(core.bundled())
    names = [*catalogue.ROOMS, "scenarios"]
    if room is not None and room not in names:
        raise ScenarioError(
            f"there is nothing to list called {room!r}",
            meant(room, names, f"valid here: {', '.join(names)}"),
        )
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
