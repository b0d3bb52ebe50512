"""The command line: a module for every group of commands."""

from spillway.cli import fluid, measure, oracle, reproduce, simulate, slotted, thresholds
from spillway.cli.app import app, invoke

__all__ = [
    "app",
    "fluid",
    "invoke",
    "measure",
    "oracle",
    "reproduce",
    "simulate",
    "slotted",
    "thresholds",
]
