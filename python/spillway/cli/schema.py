"""spillway schema."""

from __future__ import annotations

import json

from spillway.cli.app import app
from spillway.cli.options import PluginOption
from spillway.plugins import load
from spillway.scenario.schema import json_schema


@app.command()
def schema(plugin: PluginOption = None) -> None:
    """Print a JSON Schema of scenarios, with which editors complete and check them."""
    print(json.dumps(json_schema([load(name) for name in plugin or ()]), indent=2))
