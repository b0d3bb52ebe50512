"""spillway flows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
from spillway.cli.output import display


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
    from spillway.scenario import flow_export, tables

    chosen = scenario_of(scenario, set, plugin)
    if seed is not None:
        chosen = chosen.set(f"seed={seed}")
    written = flow_export.write(chosen.read(), out, force=force)
    display(written, tables.flows(written), as_json)
