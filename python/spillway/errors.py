"""What can go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillway.result import Result
    from spillway.sweep import Sweep


class SpillwayError(Exception):
    """Something that Spillway cannot do."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.hint = hint

    @property
    def hint(self) -> str | None:
        """What may help, if anything is known. Tracebacks show it below the error."""
        return self._hint

    @hint.setter
    def hint(self, hint: str | None) -> None:
        self._hint = hint
        self.__notes__ = [] if hint is None else [f"hint: {hint}"]


class ScenarioError(SpillwayError, ValueError):
    """A scenario, or something else that was asked for, is wrong.

    `path` is the dotted path of the key that is, such as `switch.sharing.alpha`; it is empty where
    there is none.
    """

    def __init__(self, text: str, hint: str | None = None, path: str = "") -> None:
        super().__init__(text, hint)
        self.path = path


class ScenarioWarning(UserWarning):
    """Something in a scenario that deserves a second look."""


class UncheckedWarning(ScenarioWarning):
    """Something was read that has no checksum."""


class PluginError(SpillwayError):
    """A plug-in has raised an exception, which is the cause of this one (`__cause__`).

    `plugin` is its id, `hook` what was called, and `time_ps` the simulated time in picoseconds,
    `None` before the run.
    """

    def __init__(self, text: str, plugin: str, hook: str, time_ps: int | None = None) -> None:
        super().__init__(text)
        self.plugin = plugin
        self.hook = hook
        self.time_ps = time_ps


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. `result` is what there is of it, its status "interrupted"."""

    def __init__(self, result: Result | Sweep) -> None:
        super().__init__("interrupted")
        self.result = result
