"""Spillway: a packet-level simulator of datacenter switches.

    >>> import spillway
    >>> result = spillway.run("leaf-spine-128", set=["duration=1ms"])
    >>> result.status
    'complete'

`run` runs one scenario, `sweep` several seeds and variants of it side by side; `tune` finds the
best values of its keys; a `Simulation` halts when it is told to. A scenario is a
path, the name of a bundled one, a dict, or a `Scenario`. `spillway.plugins` has the base classes of
your own algorithms, `spillway.oracle` trains oracles for Credence, `spillway.slotted` is the model
of the theory of sharing, `spillway.fluid` that of flows under RED, and `spillway.thresholds` finds
thresholds for taggers.
"""

import sys

try:
    import importlib
    from typing import TYPE_CHECKING

    from spillway._core import __version__
    from spillway.errors import (
        Interrupted,
        PluginError,
        ScenarioError,
        ScenarioWarning,
        SpillwayError,
        UncheckedWarning,
    )
    from spillway.experiments.asking import experiment, load
    from spillway.experiments.experiment import Experiment
    from spillway.result import Result
    from spillway.run import run
    from spillway.scenario import Scenario
    from spillway.simulation import Simulation
    from spillway.sweep import Sweep, sweep
except KeyboardInterrupt:
    # The command line begins with these imports: Ctrl-C ends it here without a traceback, too.
    if sys.argv[0].rpartition("/")[2] not in ("-m", "spillway"):
        raise
    sys.stderr.write("interrupted\n")
    sys.exit(130)

Error = SpillwayError
"""The base class of all errors, under a short name."""

if TYPE_CHECKING:
    from spillway import fluid, oracle, plugins, slotted, thresholds
    from spillway.tuning import Tuned, tune
else:

    def __getattr__(name: str) -> object:
        """Imports a slow package, or what is in one, when it is first used."""
        if name in ("Tuned", "tune"):
            return getattr(importlib.import_module("spillway.tuning"), name)
        if name in ("fluid", "oracle", "slotted", "thresholds"):
            return importlib.import_module(f"spillway.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Error",
    "Experiment",
    "Interrupted",
    "PluginError",
    "Result",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Simulation",
    "SpillwayError",
    "Sweep",
    "Tuned",
    "UncheckedWarning",
    "__version__",
    "experiment",
    "fluid",
    "load",
    "oracle",
    "plugins",
    "run",
    "slotted",
    "sweep",
    "thresholds",
    "tune",
]
