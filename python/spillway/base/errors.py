"""The errors and warnings of Spillway."""

from __future__ import annotations

from typing import Any


class SpillwayError(Exception):
    """Something that Spillway cannot do.

    `path` is the dotted path of the key to blame, such as `switch.sharing.alpha`; it is empty if
    there is none. `kind` is "unknown-key" (no such key, section or element), "unknown-place" (a
    name that no switch or host has, or several have), "unused-key" (it needs another setting),
    "missing-key", "wrong-value" (of another type, out of range, or an unknown name), "conflict" (it
    does not go together with other values), "file" (the file that it names cannot be read, or is
    wrong), "limit" (too much for the scenario's limits, or for the simulator), or "other" (no
    request is wrong: something else has failed).
    """

    kind = "other"

    def __init__(
        self,
        text: str,
        hint: str | None = None,
        path: str = "",
        kind: str | None = None,
        *,
        typed: str | None = None,
    ) -> None:
        super().__init__(text)
        self.hint = hint
        self.path = path
        self.kind = kind or self.kind
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
    """A scenario, or another request, is wrong: a value of it, unless `kind` says otherwise."""

    kind = "wrong-value"


class FileError(ScenarioError):
    """A file cannot be read or written, or has wrong contents."""

    kind = "file"


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
