"""An experiment: variants of a scenario with several seeds, and their results."""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from spillway.base import core
from spillway.base.arguments import Assignments, assignments_of, callback, whole
from spillway.base.checksums import is_whole
from spillway.base.errors import Interrupted, ScenarioError, SpillwayError
from spillway.base.progress import Follow
from spillway.base.result_schema import STATUSES
from spillway.base.threads import MOST_JOBS, MOST_THREADS, processors
from spillway.experiment.engines import Told, start, untold
from spillway.experiment.keys import summary_of
from spillway.experiment.manifest import Asked, Entry, Manifest
from spillway.experiment.pairs import Pairs, paired
from spillway.experiment.statistics import (
    Glance,
    Measured,
    across_seeds,
    best,
    glance,
    mean,
    measured,
)
from spillway.experiment.work import RUNS, Run, tidy, work
from spillway.plugins.files import unpacked
from spillway.result.metrics import Chosen, choose, of_table
from spillway.result.result import Result
from spillway.result.summary_paths import Summary
from spillway.scenario.scenario import Scenario
from spillway.scenario.variants import Variant
from spillway.tasks.store import Memory, Store

if TYPE_CHECKING:
    from spillway.experiment.frame import Frame
    from spillway.show.notebook import Shown

RESULTS, TABLE, PLUGINS = "results", "runs.parquet", "plugins"
_MOST_SHOWN = 4
"""The most variants named when an experiment is described in one line."""


def scenario_of(entry: Entry, folder: Path) -> Scenario:
    """The scenario of a variant, from what its folder holds."""
    plugins = unpacked(folder / PLUGINS / entry.pack) if entry.plugins else ()
    return Scenario(entry.text, folder, plugins=plugins)


class Results(Sequence[Result]):
    """The runs of a variant that are there, in the order of their seeds, read when they are used.

    Only whole runs are kept, so none of them was interrupted.
    """

    def __init__(self, experiment: Experiment, entry: Entry) -> None:
        self._experiment = experiment
        self._entry = entry
        store = experiment.store
        self._there = [(seed, key) for seed, key in entry.run_keys().items() if store.has(key)]

    @property
    def seeds(self) -> list[int]:
        """The seeds of the runs that are there."""
        return [seed for seed, _ in self._there]

    def __len__(self) -> int:
        return len(self._there)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> list[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | list[Result]:
        """The result of one run, or of several."""
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        return self._experiment.result(self._entry, *self._there[place])

    def folders(self) -> dict[str, list[str]]:
        """The folders of the runs' tables, if these are kept."""
        if self._experiment.folder is None or not self._experiment.has_tables:
            return {}
        tables_of = self._experiment.tables_of
        return {"folders": [str(tables_of(self._entry, seed)) for seed, _ in self._there]}

    def summaries(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The summaries, by seed, one after the other."""
        for seed, key in self._there:
            yield seed, self._experiment.numbers(key)


class _Variants(list[dict[str, Any]]):
    """A list for JSON, whose items are made one after the other."""

    def __init__(self, experiment: Experiment) -> None:
        super().__init__([{}] * len(experiment.variants))
        self._experiment = experiment

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for variant, runs in self._experiment.results:
            yield {
                "label": variant.label,
                "set": list(variant.assignments),
                **across_seeds([summary for _, summary in runs.summaries()]),
                **runs.folders(),
            }


class Experiment:
    """Variants of a scenario, each with several seeds, and their results.

    `spillway.experiment` and `spillway.load` make one.
    """

    def __init__(
        self,
        asked: Asked,
        store: Store | Memory,
        *,
        folder: Path | None = None,
        scenarios: Mapping[str, Scenario] | None = None,
        version: str = core.__version__,
        results: Mapping[str, int] | None = None,
        only: Collection[str] | None = None,
        keeps_tables: bool = False,
    ) -> None:
        self.folder = folder
        """The folder in which it is kept, if it is."""
        self.store = store
        self.version = version
        """Spillway's version when the experiment was last asked for."""
        self.asked = asked
        """The set of runs that it was asked for."""
        self._results = results
        self._only = only
        self._glanced: Glance | None = None
        self._measured: tuple[int, list[Measured], list[int | None]] | None = None
        """What table, pairs and JSON show, behind the number of runs that it was computed from."""
        self._lock = threading.Lock()
        self.computed = 0
        """The runs that this process has computed."""
        self._scenarios = dict(scenarios or {})
        self._tables: dict[str, Result] | None = {} if folder is None and keeps_tables else None
        self.variants = [
            Variant(label, each.assignments)
            for label, each in zip(asked.labels(), asked.entries, strict=True)
        ]
        """Its variants, in order."""

    # Running -------------------------------------------------------------------------------------

    def run(
        self,
        *,
        jobs: int | None = None,
        threads: int = 1,
        follow: Follow | None = None,
        on: str = "local",
        workers: int = start.WORKERS,
        options: Sequence[str] = (),
        told: Told = untold,
    ) -> Experiment:
        """Runs what is missing, and returns itself.

        Args:
            jobs: Runs at a time; by default as many as the processors have threads for. With Slurm
                or Ray: runs at a time on each worker, by default one; it asks for cores for all
                their threads.
            threads: How many threads share each run, at most. Results do not depend on it.
            follow: Called when a run begins, with its label and its share of what is missing, from
                0 to 1. It returns a function to call during the run with its `Progress`, and one
                to call at its end.
            on: "local" for this process; "slurm" for job arrays, or "ray" for tasks of the cluster
                that this machine belongs to, or of that at "ray://HOST:PORT": their workers are
                `spillway work`, and need the folder `out`.
            workers: The most workers that Slurm or Ray starts.
            options: Options of sbatch, such as "--time=2:00:00".
            told: Called with a line for people when something happens to the workers of Slurm or
                Ray.

        Raises:
            ScenarioError: There is no such engine here, or no folder; or it was asked for by a
                Spillway with other results.
            SpillwayError: Workers elsewhere have ended without doing anything.
            Interrupted: Ctrl-C, or SIGTERM in a program; its `result` is the experiment. What is
                complete is kept, and is not run again.
            PluginError: A plug-in has failed.
            OSError: The folder cannot be written to.
        """
        if jobs is not None:
            whole("jobs", jobs, 1, MOST_JOBS)
        whole("threads", threads, 1, MOST_THREADS)
        whole("workers", workers, 1)
        callback("follow", follow)
        start.check(on, self.folder)
        self.check_same()
        try:
            if self.folder is None or on == "local":
                keeps = self.folder is not None and self.asked.has_tables
                is_whole = work(
                    self.missing(),
                    self.store,
                    folder=self._runs if keeps else None,
                    tables=self._tables,
                    computed=self._count,
                    jobs=jobs or max(1, processors() // threads),
                    threads=threads,
                    follow=follow,
                )
            else:
                is_whole = start.compute(
                    on,
                    self.folder,
                    self.left,
                    workers=workers,
                    jobs=jobs or 1,
                    threads=threads,
                    options=options,
                    told=told,
                )
        except KeyboardInterrupt:
            is_whole = False
        self._derive(is_whole)
        if not is_whole:
            raise Interrupted(self)
        return self

    def check_same(self) -> None:
        """Refuses an experiment whose keys would stand for other results here.

        Raises:
            ScenarioError: It was asked for by a Spillway with other results.
        """
        own, results = core.results(), self._results
        if results is None or (results == own and self.version == core.__version__):
            return
        different = [
            f"{name} {results.get(name, 'unknown')} there, {own.get(name, 'unknown')} here"
            for name in {**results, **own}
            if results.get(name) != own.get(name)
        ]
        if self.version != core.__version__:
            different.insert(0, f"version {self.version} there, {core.__version__} here")
        more = f", and {len(different) - 3} more" if len(different) > 3 else ""
        raise ScenarioError(
            f"{self.folder} was asked for by another Spillway: {', '.join(different[:3])}{more}",
            "install the same version everywhere, or ask again with this one",
        )

    def left(self) -> list[str]:
        """The keys of the runs that are not there yet."""
        self.store.refresh()
        return [
            key
            for entry in self.asked.entries
            for seed, key in entry.run_keys().items()
            if not self._is_there(entry, seed, key) and (self._only is None or key in self._only)
        ]

    def _count(self) -> None:
        with self._lock:
            self.computed += 1

    def missing(self) -> list[Run]:
        """The runs that are not there yet."""
        left = frozenset(self.left())
        found = []
        has_several = len(self.variants) > 1
        has_seeds = len(self.seeds) > 1 or not has_several
        for variant, entry in zip(self.variants, self.asked.entries, strict=True):
            scenario: Scenario | None = None
            for seed, key in entry.run_keys().items():
                if key not in left:
                    continue
                scenario = scenario or self.scenario(entry)
                parts = [*[variant.label] * has_several, *[f"seed-{seed}"] * has_seeds]
                folder = entry.folder(seed)
                found.append(Run(key, " ".join(parts), entry.cost, scenario, seed, folder))
        # Seed by seed, so that variants can be compared after an interruption.
        return sorted(found, key=lambda run: run.seed)

    def _is_there(self, entry: Entry, seed: int, key: str) -> bool:
        if not self.store.has(key):
            return False
        if isinstance(self.store, Memory) or not self.asked.has_tables:
            return True
        if not is_whole(self.tables_of(entry, seed)):
            # Its numbers are known, but it was run when tables were not asked for.
            self.store.forget(key)
            return False
        return True

    def tables_of(self, entry: Entry, seed: int) -> Path:
        """Where the tables of a run are, if they are kept."""
        return self._runs / entry.folder(seed)

    @property
    def _runs(self) -> Path:
        assert self.folder is not None
        return self.folder / RUNS

    def _derive(self, is_whole: bool) -> None:
        """Writes the table of all runs, and removes what killed workers have left."""
        if self.folder is None:
            return
        from spillway.experiment.frame import frame, keys_in, keys_there

        sets = Manifest.load(self.folder).sets
        if keys_in(self.folder / TABLE) != keys_there(sets, self.store):
            frame(sets, self.store, self.numbers).write(self.folder / TABLE)
        if is_whole and isinstance(self.store, Store):
            self.store.tidy()
        if is_whole and self.asked.has_tables:
            every = self.asked.entries
            complete = {entry.folder(seed) for entry in every for seed in entry.seeds}
            tidy(self._runs, complete)

    # What is there -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.asked.scenario

    @property
    def metrics(self) -> list[str]:
        """The metrics that are shown; the usual ones if empty."""
        return list(self.asked.metrics)

    @property
    def has_tables(self) -> bool:
        """Whether the tables of its runs are kept."""
        return self.asked.has_tables

    @property
    def seeds(self) -> list[int]:
        """All seeds, in order."""
        return sorted({seed for each in self.asked.entries for seed in each.seeds})

    @property
    def total(self) -> int:
        """The number of runs that it has when it is whole."""
        return sum(len(each.seeds) for each in self.asked.entries)

    @property
    def done(self) -> int:
        """The number of runs that are there."""
        return sum(len(runs) for _, runs in self.results)

    @property
    def results(self) -> list[tuple[Variant, Results]]:
        """For every variant the runs that are there, in the order of their seeds."""
        runs = (Results(self, entry) for entry in self.asked.entries)
        return list(zip(self.variants, runs, strict=True))

    @property
    def status(self) -> str:
        """The worst status of all runs; "interrupted" also if some are missing."""
        if self.done < self.total:
            return "interrupted"
        return max(self._glance().statuses, key=STATUSES.index)

    @property
    def identical(self) -> list[bool]:
        """By variant: whether all its seeds gave the same results, so that nothing was random."""
        return self._glance().identical

    def _glance(self) -> Glance:
        """What reading every summary once tells; they are read again when there are more."""
        if self._glanced is None or self._glanced.done != self.done:
            self._glanced = glance(runs.summaries() for _, runs in self.results)
        return self._glanced

    def numbers(self, key: str) -> dict[str, Any]:
        """The summary of a run that is there, by its key."""
        found: str | None = self.store.get(key)
        if found is None:
            raise SpillwayError(
                f"{self.folder}: a run that was there is damaged, or gone",
                "run the same again: what is missing is computed",
            )
        return summary_of(found)

    def result(self, entry: Entry, seed: int, key: str) -> Result:
        """The result of a run that is there."""
        if self._tables is not None:
            return self._tables[key]
        if self.folder is not None and self.tables_of(entry, seed).is_dir():
            return Result.load(self.tables_of(entry, seed))
        return Result(
            self.numbers(key), self.scenario(entry).set(f"seed={seed}").checked().resolved
        )

    def witnesses(self) -> list[Summary]:
        """Summaries that together have every metric of all runs, and every class that has flows."""
        return self._glance().witnesses

    def scenario(self, entry: Entry) -> Scenario:
        """The scenario of a variant."""
        known = self._scenarios.get(entry.key)
        if known is None:
            assert self.folder is not None
            known = scenario_of(entry, self.folder)
            self._scenarios[entry.key] = known
        return known

    # What it says --------------------------------------------------------------------------------

    @property
    def summary(self) -> dict[str, Any]:
        """Every run's summary and, for every variant, the statistics over its seeds."""
        document = self.document()
        return {**document, "variants": list(document["variants"])}

    def document(self) -> dict[str, Any]:
        """The same, except that each variant is read only when it is reached."""
        return {
            "status": self.status,
            "scenario": self.name,
            "version": self.version,
            "metrics": self.metrics,
            "done": self.done,
            "asked": self.total,
            "table": self._table(),
            "variants": _Variants(self),
        }

    def measured(self) -> tuple[list[Measured], list[int | None]]:
        """The metrics that are shown and, for each, the index of the variant marked as best.

        None if no run is there.
        """
        if not self.done:
            return [], []
        if self._measured is None or self._measured[0] != self.done:
            metrics = of_table(self.metrics, self.witnesses())
            columns = measured(metrics, [runs.summaries() for _, runs in self.results])
            self._measured = self.done, columns, best(columns, self.identical)
        return self._measured[1:]

    def _table(self) -> list[dict[str, Any]]:
        rows = []
        for column, place in zip(*self.measured(), strict=True):
            for number, variant in enumerate(self.variants):
                own = mean(column.values[number].values())
                rows.append(
                    {
                        "metric": column.metric.key,
                        "label": variant.label,
                        "n": own.n,
                        "mean": own.mean,
                        "interval": own.interval,
                        "few_samples": column.few[number],
                        "best": place == number,
                    }
                )
        return rows

    def frame(self) -> Frame:
        """A row for every run that is there.

        Returns:
            A table with the columns `key` (a name of the run), the varied keys, `seed`, `status`,
            and every number of the summary by its path, such as `fct_slowdown.short.p99`: all of
            64-bit floats but for whole numbers, which are 64-bit integers; null where a run has no
            such number. Units are those of the summary (docs/results.md).
        """
        from spillway.experiment.frame import frame

        return frame([self.asked], self.store, self.numbers)

    def table(self) -> Shown:
        """The variants side by side, as the command line shows them; `print` shows it, too."""
        from spillway.experiment import tables
        from spillway.show.notebook import Shown

        columns, marked = self.measured()
        shown = tables.experiment(
            name=self.name,
            status=self.status,
            seeds=self.seeds,
            labels=[variant.label or self.name for variant in self.variants],
            counts=[len(runs) for _, runs in self.results],
            total=self.total,
            columns=columns,
            marked=marked,
            identical=self.identical,
            folder=self.folder,
        )
        return Shown(shown)

    def pairs(self, against: Assignments = (), metrics: Chosen = ()) -> Pairs:
        """Every other variant beside a baseline, in pairs: with the same seed, the same traffic.

        Args:
            against: `key=value` assignments, or a mapping, that choose the baseline by varied keys:
                `switch.sharing=dt`. A variant is compared with the one that has these values and
                is otherwise the same. By default it is the first variant.
            metrics: Their names (docs/results.md); by default those of the table.

        Raises:
            ScenarioError: No variant has these values, or several; there is no such metric, or no
                run yet.
        """
        if not self.done:
            raise ScenarioError("no run is there yet", "run it first: experiment.run()")
        columns, _ = (self.showing(metrics) if metrics else self).measured()
        return paired(self.asked, assignments_of(against), columns, self.identical)

    def showing(self, metrics: Chosen) -> Experiment:
        """This experiment with other metrics in table, plot and pairs.

        Raises:
            ScenarioError: There is no such metric.
        """
        other = copy.copy(self)
        other._measured = None
        other.asked = replace(self.asked, metrics=tuple(choose(metrics, self.witnesses())))
        return other

    def __repr__(self) -> str:
        labels = [repr(variant.label) for variant in self.variants if variant.label]
        more = len(labels) - _MOST_SHOWN
        shown = [*labels[:_MOST_SHOWN], *([f"{more} more"] if more > 0 else [])]
        of = f" of {', '.join(shown)}" if shown else ""
        place = "" if self.folder is None else f", in {str(self.folder)!r}"
        done = (
            f"{self.done} of {self.total} runs" if self.done < self.total else f"{self.total} runs"
        )
        return f"<Experiment over {self.name!r}: {done}{of}{place}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
