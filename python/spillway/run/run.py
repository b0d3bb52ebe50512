"""Running one scenario."""

from __future__ import annotations

import contextlib
import json
import re
import resource
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from spillway.base import core, interrupts, parquet
from spillway.base.arguments import LARGEST_SEED, Assignments, assignments_of, callback, whole
from spillway.base.errors import Interrupted, ScenarioWarning
from spillway.base.folder import OutputFolder
from spillway.base.progress import Progress, Report
from spillway.base.result_schema import TABLES
from spillway.base.threads import MOST_THREADS
from spillway.plugins import Plugins, plugins_of
from spillway.result.result import Result
from spillway.scenario.inputs import Inputs
from spillway.scenario.scenario import Scenario, Source

if TYPE_CHECKING:
    import pyarrow as pa

_REPORT_INTERVAL_S = 0.1
_ROW_GROUP = 1 << 18


def run(
    source: Source,
    *,
    seed: int | None = None,
    set: Assignments = (),
    plugins: Plugins = (),
    out: str | Path | None = None,
    force: bool = False,
    threads: int = 1,
    progress: Report | None = None,
) -> Result:
    """Runs a scenario to its end.

    Args:
        source: A path, the name of a bundled scenario, TOML text, a dict, or a `Scenario`. In place
            of a result's folder its scenario is run.
        seed: The seed of all random numbers; by default the scenario's own.
        set: `key=value` assignments, or a mapping of keys to values, of which None unsets the key.
            They are applied in order.
        plugins: Classes that the scenario names by their ids; it must name each.
        out: A folder to which tables are written during the run. Without it they are kept in
            memory.
        force: Replace the result in `out`. What is no result is never replaced.
        threads: How many threads share the run, at most. Results do not depend on it.
        progress: Called about ten times a second with a `Progress`.

    Returns:
        Its result. Its `status` says whether the run is "complete", or ended as "stopped" or
        "deadlock".

    Raises:
        Interrupted: Ctrl-C; its `result` holds what there is so far.
        ScenarioError: The scenario or another argument is wrong, or `out` cannot be made or is
            taken; nothing was run.
        PluginError: A plug-in has failed.
        SpillwayError: The run takes more than its `limits` allow.
        OSError: The folder cannot be written to.
    """
    scenario = prepared(source, seed, set, plugins)
    callback("progress", progress)
    threads = whole("threads", threads, 1, MOST_THREADS)
    result = run_to(out, scenario, force=force, threads=threads, progress=progress)
    if result.status == "interrupted":
        raise Interrupted(result)
    return result


def prepared(
    source: Source, seed: int | None, assignments: Assignments, plugins: Plugins
) -> Scenario:
    """The scenario that these arguments of `run` give."""
    scenario = Scenario.of(source).plug(*plugins_of(plugins)).set(*assignments_of(assignments))
    if seed is not None:
        scenario = scenario.set(f"seed={whole('seed', seed, 0, LARGEST_SEED)}")
    return scenario


def run_to(
    out: str | Path | None,
    scenario: Scenario,
    *,
    keep: bool = True,
    force: bool = False,
    threads: int = 1,
    progress: Report | None = None,
    warns: bool = True,
) -> Result:
    """Runs a scenario; an interruption is visible in the result's status.

    Without `out` tables are kept in memory, or dropped if `keep` is false. With `warns` it warns of
    possible mistakes in the scenario.
    """
    if out is None:
        read = read_with_inputs(scenario, warns)
        return _simulate(*read, Kept() if keep else Streamed(), progress, threads)
    with OutputFolder(out, force) as output:
        result = run_into(output.partial, scenario, progress, threads=threads)
    result.folder = output.place
    return result


def run_into(
    folder: Path,
    scenario: Scenario,
    progress: Report | None = None,
    warns: bool = True,
    threads: int = 1,
) -> Result:
    """Runs a scenario, and writes all that a result's folder has, but for the checksums."""
    read, inputs = read_with_inputs(scenario, warns)
    inputs.write(folder)
    with Streamed(folder, read.tables) as sink:
        result = _simulate(read, inputs, sink, progress, threads)
    result.write_documents(folder)
    return result


def run_whole(scenario: Scenario, report: Report) -> Result:
    """Runs a scenario to its end, and keeps its tables in memory.

    Raises:
        KeyboardInterrupt: `report` has ended it, or Ctrl-C.
    """
    result = run_to(None, scenario, progress=report)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result


class Kept:
    """Keeps tables in memory."""

    rows = sys.maxsize

    def __init__(self) -> None:
        self._tables: dict[str, pa.Table] = {}

    def take(self, simulation: core.Simulation) -> None:
        """Takes all rows, once, at the end."""
        from spillway.base import arrow

        self._tables = {name: arrow.table(simulation.take(name)) for name in TABLES}

    def tables(self) -> dict[str, pa.Table]:
        """All tables, in the memory in which the simulator wrote them."""
        return self._tables


class Streamed:
    """Writes the tables of these names to a folder, in groups of so many rows; drops the others."""

    rows = _ROW_GROUP
    """The number of rows at which a table should be taken."""

    def __init__(self, folder: Path = Path(), names: Iterable[str] = ()) -> None:
        self._folder = folder
        self._names = tuple(names)
        self._open = contextlib.ExitStack()
        self._writers: dict[str, parquet.Writer] = {}
        self._rest: dict[str, pa.Table] = {}

    def take(self, simulation: core.Simulation) -> None:
        """Writes the rows recorded so far, but for those that fill no group."""
        for name in TABLES:
            columns = simulation.take(name)
            if name not in self._names:
                continue
            from spillway.base import arrow

            table = arrow.table(columns)
            if name not in self._writers:
                writer = parquet.Writer(self._folder / f"{name}.parquet", table.schema)
                self._writers[name] = self._open.enter_context(writer)
            else:
                table = arrow.joined([self._rest[name], table])
            # Groups end after fixed numbers of rows, whenever rows are taken.
            for _ in range(table.num_rows // self.rows):
                self._writers[name].write_table(table.slice(0, self.rows))
                table = table.slice(self.rows)
            self._rest[name] = table

    def tables(self) -> dict[str, pa.Table]:
        """None, since they are in the folder."""
        return {}

    def __enter__(self) -> Streamed:
        return self

    def __exit__(self, *error: Any) -> None:
        with self._open:
            for name, table in self._rest.items():
                if table.num_rows:
                    self._writers[name].write_table(table)


Sink: TypeAlias = Kept | Streamed
"""A destination for the rows of tables."""


def read_with_inputs(scenario: Scenario, warns: bool = True) -> tuple[core.Scenario, Inputs]:
    """A scenario as it is run, and the files that it is made from."""
    read = scenario.read() if warns else scenario.checked()
    return read, Inputs.of(read, scenario.folder, scenario.plugins)


def _simulate(
    read: core.Scenario, inputs: Inputs, sink: Sink, progress: Report | None, threads: int = 1
) -> Result:
    simulation = core.Simulation(read, threads)
    _, reason = simulation.threads()
    if reason is not None:
        warnings.warn(ScenarioWarning(f"runs on one thread: {reason}"), stacklevel=4)
    running = Running(read, inputs, sink, simulation)
    running.go(progress)
    return running.result()


class Running:
    """A run under way, and where its rows go."""

    def __init__(
        self, read: core.Scenario, inputs: Inputs, sink: Sink, simulation: core.Simulation
    ) -> None:
        self.read = read
        self.inputs = inputs
        self.simulation = simulation
        self._sink = sink
        self._began = datetime.now(UTC)
        self.cpu_s = 0.0
        """The processor time that it has taken so far."""
        self._wall_s = 0.0
        self._threads, _ = simulation.threads()

    def go(self, progress: Report | None = None, until_ps: int | None = None) -> str:
        """Goes on to the end, or to a time, and returns the status."""
        cpu, wall = self._cpu(), time.perf_counter()
        times = (self.read.duration_ps, self.read.stop_ps)

        def report(now: int, *counts: int) -> None:
            if progress is not None:
                progress(Progress(now, *times, *counts))

        rows = self._sink.rows
        try:
            return self.simulation.run(report, _REPORT_INTERVAL_S, self._drain, rows, until_ps)
        finally:
            self.cpu_s += self._cpu() - cpu
            self._wall_s += time.perf_counter() - wall

    def _cpu(self) -> float:
        """The processor time of this thread, and of those that share the run with it."""
        return time.thread_time() + self.simulation.cpu_elsewhere()

    def _drain(self) -> None:
        # Rows that the core has handed over would be lost before the sink has them.
        with interrupts.deferred():
            self._sink.take(self.simulation)

    def copied(self, simulation: core.Simulation) -> Running:
        """The same for a copy of its simulation, whose tables are kept in memory."""
        return Running(self.read, self.inputs, Kept(), simulation)

    def result(self) -> Result:
        """The result so far. The run cannot go on after that."""
        cpu, wall = self._cpu(), time.perf_counter()
        self.simulation.finish()
        self._drain()
        summary: dict[str, Any] = json.loads(self.simulation.summary())
        summary["run"] = {
            "threads": self._threads,
            "cpu_s": round(self.cpu_s + self._cpu() - cpu, 6),
            "wall_s": round(self._wall_s + time.perf_counter() - wall, 6),
            "peak_rss_mb": round(peak_rss_bytes() * 1e-6, 1),
            "began": self._began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        _warn_of_oracles(summary)
        tables, recorded = self._sink.tables(), self.read.tables
        told = self.simulation.with_what_was_set
        inputs = replace(self.inputs, scenario=told(self.inputs.scenario))
        scenario = told(self.read.resolved)
        return Result(summary, scenario, tables=tables, recorded=recorded, inputs=inputs)


def _warn_of_oracles(summary: dict[str, Any]) -> None:
    """Warns if a model was asked about inputs unlike those of its training."""
    for tier, counts in summary["sharing_counts"].items():
        if counts.get("oracle_outside"):
            asked = "its model was asked about packets outside of what it was trained on"
            text = f"switch.sharing, {tier} tier: {asked} (sharing_counts.{tier}.oracle_outside)"
            warnings.warn(ScenarioWarning(text), stacklevel=4)


def peak_rss_bytes() -> int:
    """The most memory that this process has held."""
    # This process's own, if the system reports it: getrusage may report the parent's.
    status = Path("/proc/self/status")
    own = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    if own is not None:
        return int(own[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
