"""The command line: a module for every group of commands."""

from spillway.cli import (
    acc,
    bounds,
    exchange,
    fluid,
    measure,
    oracle,
    reproduce,
    simulate,
    slotted,
    thresholds,
    tune,
    work,
)
from spillway.cli.app import app, invoke

__all__ = [
    "acc",
    "app",
    "bounds",
    "exchange",
    "fluid",
    "invoke",
    "measure",
    "oracle",
    "reproduce",
    "simulate",
    "slotted",
    "thresholds",
    "tune",
    "work",
]
