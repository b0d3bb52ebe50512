"""The command line: a module for every group of commands."""

from spillway.cli import measure, oracle, reproduce, simulate, slotted
from spillway.cli.app import app, invoke, main

__all__ = ["app", "invoke", "main", "measure", "oracle", "reproduce", "simulate", "slotted"]
