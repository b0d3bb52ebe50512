"""spillway show."""

from __future__ import annotations

import tomllib

from rich.console import Group
from rich.syntax import Syntax
from rich.text import Text

from spillway.cli.app import app
from spillway.cli.common import scenario_of
from spillway.cli.options import JsonOption, PluginOption, ScenarioArgument, SetOption
from spillway.cli.output import display
from spillway.scenario.scenario import facts


@app.command()
def show(
    scenario: ScenarioArgument,
    set: SetOption = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a scenario with every value written out, and what follows from it."""
    from spillway.scenario import tables

    read = scenario_of(scenario, set, plugin).read()
    found = facts(read)
    document = {
        "scenario": tomllib.loads(read.resolved),
        "facts": found,
        "warnings": read.warnings,
    }
    text = Syntax(read.resolved.strip(), "toml", theme="ansi_dark", background_color="default")
    display(document, Group(tables.facts(found), text, Text()), as_json)
