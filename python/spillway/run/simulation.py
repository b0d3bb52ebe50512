"""A run in steps: it halts when it is told to, is copied, and goes on."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from spillway.base import core
from spillway.base.arguments import Assignments, callback, check_line, check_text, items, written
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import OutputFolder
from spillway.base.progress import Report
from spillway.plugins import Plugins, Tagger
from spillway.result.result import Result
from spillway.run.run import Kept, Running, Streamed, prepared, read_with_inputs
from spillway.scenario.scenario import Source

if TYPE_CHECKING:
    import numpy as np

Signals: TypeAlias = str | Iterable[str]
"""Names of signals; one, or several."""
Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64] | np.dtype[np.float64]]"
"""Whole numbers, or means and slowdowns."""


class Simulation:
    """A run that halts at times of one's choice.

    Where it halts, everything before that moment has happened, and nothing of that moment has.
    However a run is cut, its results are those of `spillway.run`, to the bit.
    """

    def __init__(
        self,
        source: Source,
        *,
        seed: int | None = None,
        set: Assignments = (),
        plugins: Plugins = (),
        out: str | Path | None = None,
        force: bool = False,
        signals: Signals = (),
    ) -> None:
        """A run that is about to begin.

        Args:
            source: The scenario, as `spillway.run` takes it.
            seed: The seed of all random numbers; by default the scenario's own.
            set: Changes of the scenario, as `spillway.run` takes them.
            plugins: Classes that the scenario names by their ids; it must name each.
            out: A folder to which tables are written during the run. It must then be finished:
                otherwise nothing is left of the folder. A run without it can be copied.
            force: Replace the result in `out`.
            signals: Names of signals that `observe` counts from the start; one, or several.

        Raises:
            ScenarioError: The scenario or another argument is wrong, or `out` cannot be made or is
                taken.
            PluginError: A plug-in has failed.
        """
        self._scenario = prepared(source, seed, set, plugins)
        read, inputs = read_with_inputs(self._scenario)
        self._output: OutputFolder | None = None
        self._open = ExitStack()
        # From here on a failure to begin leaves nothing of the folder, either.
        self._abandon = weakref.finalize(self, _abandoned, self._open)
        sink: Kept | Streamed = Kept()
        if out is not None:
            self._output = self._open.enter_context(OutputFolder(out, force))
            inputs.write(self._output.partial)
            sink = self._open.enter_context(Streamed(self._output.partial, read.tables))
        self._running = Running(read, inputs, sink, core.Simulation(read))
        self._status = "begun"
        self._gone: str | None = None
        self._running.simulation.follow(names_of(signals))

    @property
    def now(self) -> int:
        """The simulated time in picoseconds.

        Raises:
            SpillwayError: a hook of one of the run's own plug-ins asks.
        """
        return self._running.simulation.now()

    @property
    def status(self) -> str:
        """How far it is: "begun", "halted", "interrupted", or how it has ended."""
        return self._status

    def run_until(self, time: str | int, *, progress: Report | None = None) -> bool:
        """Goes on to a time, and halts there. After Ctrl-C the run can go on.

        Args:
            time: A text such as "3ms", or a whole number of picoseconds; no earlier than `now`.
            progress: Called about ten times a second with a `Progress`.

        Returns:
            False if the run is over before that time.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            ScenarioError: The time is none, or lies before `now`.
            PluginError: A plug-in has failed.
            SpillwayError: The run has been finished or has failed, or takes more than its `limits`
                allow.
            OSError: The folder cannot be written to.
        """
        self._check()
        until = _picoseconds(time)
        if until < self.now:
            raise ScenarioError(f"{time!r} has passed: the run is at {self.now} ps")
        return self._go(progress, until) == "halted"

    def set(self, path: str | Mapping[str, object], value: object = None) -> None:
        """Sets a number from now on: it holds for all that happens at this moment.

        Args:
            path: The scenario's, as in "switch.aqm.min". A tier may be replaced by a switch's name
                and be followed by a port, as in "switch.leaf0.port.3.aqm.min". A mapping of paths
                to values sets several numbers that go together at once.
            value: As written in a scenario: 0.5, "20pkt", [0.5, 8]. None beside a mapping.

        Raises:
            ScenarioError: A path leads to no number that can change, or the values are not valid
                there. Nothing has changed then.
            SpillwayError: The run has ended, or was interrupted between two moments.
        """
        self._check()
        if self._status not in ("begun", "halted"):
            raise SpillwayError(
                f"nothing can change where a run is {self._status}",
                "only where it begins, and where `run_until` has halted it",
            )
        if isinstance(path, Mapping) and value is not None:
            raise ScenarioError(f"{value!r} belongs to no path", "a mapping has its values")
        numbers = path if isinstance(path, Mapping) else {path: value}
        self._running.simulation.set([_number(*each) for each in numbers.items()])

    def finish(self, *, progress: Report | None = None) -> Result:
        """Goes on to the end.

        Args:
            progress: Called about ten times a second with a `Progress`.

        Returns:
            A result as that of `spillway.run`.

        Raises:
            KeyboardInterrupt: Ctrl-C; the run can go on.
            PluginError: A plug-in has failed.
            SpillwayError: The run has been finished or has failed, or takes more than its `limits`
                allow.
            OSError: The folder cannot be written to.
        """
        self._go(progress, None)
        self._gone = "it has been finished"
        with self._open:
            result = self._running.result()
            if self._output is not None:
                result.write_documents(self._output.partial)
        if self._output is not None:
            result.folder = self._output.place
        self._abandon.detach()
        return result

    def observe(self, signals: Signals) -> dict[str, Array]:
        """The values of signals now, by their names. It changes nothing of the run.

        A signal is of this moment (`queue_bytes`, `queue_packets`, `occupancy_bytes`), or of what
        has happened since the last look at the same name: a number that is counted, a mean over
        time, or the flows that have become complete. A name that is new counts from now on; one
        that `Simulation(signals=)` was given, from the start. `docs/stepping.md` and `spillway list
        signals` tell of each what it is.

        Names, and the shapes of their arrays; ports come switch after switch:

        - `switch.SIGNAL`, `switch.leaf.SIGNAL`: all switches, or a tier. (switches,) for a number
          per switch, (ports,) per port, (ports, queues) per queue.
        - `switch.leaf0.SIGNAL`: one switch. (), (ports,) or (ports, queues).
        - `switch.leaf0.port.3.SIGNAL`: one port. () or (queues,).
        - `switch.leaf0.port.3.queue.1.SIGNAL`: one queue. ().
        - `SIGNAL`, `traffic.NAME.SIGNAL`: all flows, or a section of traffic. (), or (flows,) for a
          number per complete flow.

        Args:
            signals: Names of signals; one, or several.

        Returns:
            An array for each name: a copy that cannot be written to, of whole numbers (`int64`), or
            of means and slowdowns (`float64`).

        Raises:
            ScenarioError: A name is none of a signal. Then nothing has been looked at.
            SpillwayError: The run has been finished, or has failed.
        """
        self._check()
        import numpy as np

        names = names_of(signals)
        told = zip(names, self._running.simulation.observe(names), strict=True)
        return {name: np.asarray(column).reshape(shape) for name, (column, shape) in told}

    def copy(self) -> Simulation:
        """A run of its own that goes on from this very moment, with the same future.

        Plug-ins are copied by `copy.deepcopy`.

        Raises:
            SpillwayError: the run writes to a folder, has a tagger as a plug-in, or has been
                finished.
            PluginError: a plug-in cannot be copied.
        """
        self._check()
        if self._output is not None:
            raise SpillwayError(
                f"a run that writes to a folder, {self._output.place}, cannot be copied",
                "without out= tables are kept in memory",
            )
        for plugin in self._scenario.plugins:
            if issubclass(plugin, Tagger):
                raise SpillwayError(
                    f"a run with the tagger {plugin.id} cannot be copied",
                    "one object tags the packets of all its flows",
                )
        again = self._scenario.read() if self._scenario.plugins else None
        copy = object.__new__(Simulation)
        copy._scenario, copy._output, copy._open = self._scenario, None, ExitStack()
        copy._running = self._running.copied(self._running.simulation.copy(again))
        copy._status, copy._gone = self._status, None
        copy._abandon = weakref.finalize(copy, _abandoned, copy._open)
        return copy

    def __copy__(self) -> Simulation:
        return self.copy()

    def __deepcopy__(self, _memo: dict[int, object]) -> Simulation:
        return self.copy()

    def _go(self, progress: Report | None, until: int | None) -> str:
        self._check()
        callback("progress", progress)
        self._gone = "it is running"
        try:
            self._status = self._running.go(progress, until)
        except BaseException:
            self._gone = "it has failed"
            raise
        self._gone = None
        if self._status == "interrupted":
            raise KeyboardInterrupt
        return self._status

    def _check(self) -> None:
        if self._gone is not None:
            raise SpillwayError(f"this run cannot go on: {self._gone}")

    def __repr__(self) -> str:
        read = self._running.read
        return f"<Simulation of {read.name!r}, seed {read.seed}: {self._status} at {self.now} ps>"


def _abandoned(opened: ExitStack) -> None:
    """Leaves nothing of a folder that a run has not written to its end."""
    opened.__exit__(GeneratorExit, GeneratorExit(), None)


def names_of(signals: Signals) -> list[str]:
    """The names, each once.

    >>> names_of("fct_ps"), names_of(["fct_ps", "flows_started", "fct_ps"])
    (['fct_ps'], ['fct_ps', 'flows_started'])
    """
    if isinstance(signals, str):
        signals = [signals]
    hint = 'for one: "switch.leaf.queue_bytes"; `spillway list signals` shows all'
    names = list(items(signals, "names of signals", hint))
    for name in names:
        if not isinstance(name, str):
            raise ScenarioError(f"{name!r} is no name of a signal", hint)
        if not name.isascii():
            check_text(name)
    return list(dict.fromkeys(names))


def _number(path: object, value: object) -> tuple[str, str]:
    """The path and value of a number that is set.

    >>> _number("switch.sharing.alpha", [0.5, 8])
    ('switch.sharing.alpha', '[0.5, 8]')
    """
    if not isinstance(path, str) or not path.strip():
        raise ScenarioError(f"{path!r} is no path", 'for one: "switch.leaf0.port.3.aqm.min"')
    text = written(path, value)
    for each in (path, text):
        check_line(each, "one path and value at a time")
    return path, text


def _picoseconds(time: str | int) -> int:
    """A time as picoseconds.

    >>> _picoseconds("1.5us"), _picoseconds(7)
    (1500000, 7)
    """
    if isinstance(time, str):
        check_text(time)
        return core.picoseconds(time)
    try:
        picoseconds = index(time)
    except TypeError:
        picoseconds = -1
    if isinstance(time, bool) or not 0 <= picoseconds < 2**63:
        raise ScenarioError(
            f"{time!r} is no time", 'a text such as "3ms", or a whole number of picoseconds'
        )
    return picoseconds
