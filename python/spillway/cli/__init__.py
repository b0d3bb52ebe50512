"""The command line: a module for every group of commands."""

from spillway.cli import measure, oracle, reproduce, simulate, slotted
from spillway.cli.app import app, invoke

__all__ = ["app", "invoke", "measure", "oracle", "reproduce", "simulate", "slotted"]
