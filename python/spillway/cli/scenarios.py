"""spillway show and flows."""

from __future__ import annotations

import io
import re
import sys
import tomllib
from pathlib import Path
from typing import Annotated

import typer
from rich.syntax import Syntax

from spillway.base.arguments import toml
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
from spillway.scenario import tables
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
