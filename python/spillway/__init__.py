"""Spillway: a packet-level simulator of datacenter switches.

    >>> import spillway
    >>> result = spillway.run("leaf-spine-128", set=["duration=1ms"])
    >>> result.status
    'complete'

`run` runs one scenario, `sweep` several seeds and variants of it side by side; `tune` finds the
best values of its keys; `arena` ranks schemes over many scenarios; a `Simulation` halts when it is
told to. A scenario is a path, the name of a bundled one, a dict, or a `Scenario`.
`spillway.plugins` has the base classes of your own algorithms, `spillway.oracle` trains oracles for
Credence, `spillway.slotted` is the model of the theory of sharing, `spillway.fluid` that of flows
under RED, and `spillway.thresholds` finds thresholds for taggers.
"""

import sys

try:
    import importlib
    from typing import TYPE_CHECKING

    from spillway.base.core import __version__
    from spillway.base.errors import (
        FileError,
        Interrupted,
        PluginError,
        ScenarioError,
        ScenarioWarning,
        SpillwayError,
        UncheckedWarning,
    )
    from spillway.experiment.asking import experiment, load, sweep
    from spillway.experiment.experiment import Experiment
    from spillway.result.result import Result
    from spillway.run.run import run
    from spillway.run.simulation import Simulation
    from spillway.scenario.scenario import Scenario
except KeyboardInterrupt:
    # The command line begins with these imports: Ctrl-C ends it here without a traceback, too.
    if sys.argv[0].rpartition("/")[2] not in ("-m", "spillway"):
        raise
    sys.stderr.write("interrupted\n")
    sys.exit(130)

Sweep = Experiment
"""What `sweep` returns."""
Error = SpillwayError
"""The base class of all errors, under a short name."""

if TYPE_CHECKING:
    from spillway import plugins
    from spillway.contest.arena import Arena, arena
    from spillway.learning import gym, oracle
    from spillway.theory import fluid, slotted, thresholds
    from spillway.tuning.study import Tuned, tune
else:
    _LATER = {
        **dict.fromkeys(("Arena", "arena"), "contest.arena"),
        **dict.fromkeys(("Tuned", "tune"), "tuning.study"),
        **dict.fromkeys(("gym", "oracle"), "learning"),
        **dict.fromkeys(("fluid", "slotted", "thresholds"), "theory"),
    }

    def __getattr__(name: str) -> object:
        """Imports a slow package, or what is in one, when it is first used."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        room = importlib.import_module(f"spillway.{_LATER[name]}")
        if name in ("Arena", "Tuned", "arena", "tune"):
            return getattr(room, name)
        return importlib.import_module(f"{room.__name__}.{name}")


__all__ = [
    "Arena",
    "Error",
    "Experiment",
    "FileError",
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
    "arena",
    "experiment",
    "fluid",
    "gym",
    "load",
    "oracle",
    "plugins",
    "run",
    "slotted",
    "sweep",
    "thresholds",
    "tune",
]
