"""The errors and warnings of Spillway."""

from __future__ import annotations

from typing import Any


class SpillwayError(Exception):
    """Something that Spillway cannot do."""

    def __init__(self, text: str, hint: str | None = None, *, typed: str | None = None) -> None:
        super().__init__(text)
        self.hint = hint
        self.typed = typed
        """The hint on the command line, where it differs: it names options, not arguments."""

    @property
    def hint(self) -> str | None:
        """Advice, if there is any. Tracebacks show it below the error."""
        return self._hint

    @hint.setter
    def hint(self, hint: str | None) -> None:
        self._hint = hint
        self.__notes__ = [] if hint is None else [f"hint: {hint}"]


class ScenarioError(SpillwayError, ValueError):
    """A scenario, or another request, is wrong.

    `path` is the dotted path of the wrong key, such as `switch.sharing.alpha`; it is empty if no
    key is to blame. `kind` is "unknown-key" (no such key, section or element), "unknown-place" (a
    switch or host in the path that is not there), "unused-key" (it needs another setting),
    "missing-key", "wrong-value" (of another type, out of range, or an unknown name), "file" (the
    file that it names cannot be read, or is wrong), "limit" (too much for the scenario's limits, or
    for the simulator), or "other".
    """

    def __init__(
        self,
        text: str,
        hint: str | None = None,
        path: str = "",
        kind: str = "other",
        *,
        typed: str | None = None,
    ) -> None:
        super().__init__(text, hint, typed=typed)
        self.path = path
        self.kind = kind


class ScenarioWarning(UserWarning):
    """Something in a scenario that is valid but may be a mistake."""


class UncheckedWarning(ScenarioWarning):
    """A file without a checksum was read."""


class PluginError(SpillwayError):
    """A plug-in has raised an exception, which is the cause of this one (`__cause__`).

    `plugin` is its id, `hook` the function called, and `time_ps` the simulated time in picoseconds,
    `None` before the run.
    """

    def __init__(self, text: str, plugin: str, hook: str, time_ps: int | None = None) -> None:
        super().__init__(text)
        self.plugin = plugin
        self.hook = hook
        self.time_ps = time_ps


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. `result` is what there is so far, with the status "interrupted".

    It is a `Result`, an `Experiment`, or a `Tuned`.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result
