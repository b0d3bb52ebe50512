"""spillway schema and explain."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from spillway.cli.app import app
from spillway.cli.options import JsonOption, PluginOption
from spillway.cli.output import display
from spillway.plugins import load
from spillway.scenario import explain as explaining
from spillway.scenario import key_tables
from spillway.scenario.schema import json_schema


@app.command()
def schema(plugin: PluginOption = None) -> None:
    """Print a JSON Schema of scenarios, with which editors complete and check them."""
    print(json.dumps(json_schema([load(name) for name in plugin or ()]), indent=2))


@app.command()
def explain(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A key's dotted path, such as [bold]switch.leaf.aqm.threshold[/bold], or that of "
            "a section; [bold]plugin[/bold] for what plug-ins may see and do.",
        ),
    ],
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what a key means and takes, and whether it may change in a run; what plug-ins see."""
    told = explaining.explain(path, [load(name) for name in plugin or ()])
    display(told, key_tables.explained(told), as_json)
