"""What an experiment is asked for: a new one, or more of what a folder holds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from spillway.base import core
from spillway.base.arguments import Assignments, Seeds, Vary, assignments_of, seeds_of
from spillway.base.documents import read_text
from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.base.folder import path_of
from spillway.base.progress import Follow
from spillway.experiment import held, keys
from spillway.experiment.experiment import PLUGINS, RESULTS, Experiment, scenario_of
from spillway.experiment.manifest import (
    FILE,
    LENGTHS,
    Asked,
    Entry,
    Manifest,
    differences,
    document,
    joined,
    with_names,
    without_other_plugins,
)
from spillway.experiment.pairs import baselines
from spillway.experiment.planning import empty_summaries, plan, portable
from spillway.experiment.work import RUNS
from spillway.plugins import Plugins, plugins_of
from spillway.result.metrics import Chosen, choose
from spillway.scenario.scenario import Scenario, Source
from spillway.scenario.variants import Variant, assigned, variants, within
from spillway.tasks.store import Memory, Store


def experiment(
    source: Source,
    *,
    vary: Vary | Sequence[Variant] = (),
    seeds: Seeds | None = None,
    set: Assignments = (),
    plugins: Plugins = (),
    out: str | Path | None = None,
    force: bool = False,
    tables: bool = False,
    metrics: Chosen = (),
    against: Assignments = (),
) -> Experiment:
    """Variants of a scenario with several seeds: checked, and not run yet (`Experiment.run`).

    Args:
        source: A path, the name of a bundled scenario, TOML text, a dict, or a `Scenario`.
        vary: Texts such as `switch.sharing=dt,lqd`, or a mapping of keys to lists of values;
            several of them give all combinations. Keys that are varied together are in one text,
            as in `switch.sharing=dt,abm/switch.aqm=none,ecn`, or form a tuple, mapped to a list of
            tuples. A list of `Variant` is taken as it is.
        seeds: Numbers, or a text such as `1..5`; by default the scenario's own seed.
        set: `key=value` assignments, or a mapping of keys to values, for all variants.
        plugins: Classes that scenarios name by their ids; some variant must name each.
        out: A folder in which it is kept. If it holds an experiment about the same scenario, what
            is there is not run again, and variants and seeds are added to it; with another
            `duration`, `stop` or `warmup` it becomes another set of runs beside the old ones.
        force: Replace what is in `out`, an experiment or a result.
        tables: Keep the tables of every run: in `out`, or without it in memory.
        metrics: What tables, plots and reports show: a text such as `short.p99,drops`, or a list;
            docs/results.md has their names.
        against: The baseline of `Experiment.pairs`, to be checked before anything is run.

    Raises:
        ScenarioError: Something of this is wrong; nothing was changed.
    """
    scenario = Scenario.of(source).plug(*plugins_of(plugins)).set(*assignments_of(set))
    several = None if seeds is None else seeds_of(seeds)
    base = assignments_of(against)
    folder = None if out is None else path_of(out)
    if folder is not None:
        held.check(folder, force)
    sources: dict[str, Path] = {}
    planned = plan(scenario, variants(vary), several, None if folder is None else sources)
    entries, every = zip(*planned, strict=True)
    shown = tuple(choose(metrics, empty_summaries(every)) if metrics else ())
    asked = Asked(every[0].checked().name, entries, shown, tables)
    if folder is not None:
        return _kept(scenario, every, asked, folder, force, base, sources)
    _check_against(asked, base)
    scenarios = {entry.key: each for entry, each in planned}
    return Experiment(asked, Memory(), scenarios=scenarios, keeps_tables=tables)


def sweep(
    source: Source,
    *,
    vary: Vary = (),
    seeds: Seeds | None = None,
    set: Assignments = (),
    plugins: Plugins = (),
    jobs: int | None = None,
    threads: int = 1,
    out: str | Path | None = None,
    force: bool = False,
    keep: bool = True,
    follow: Follow | None = None,
    metrics: Chosen = (),
) -> Experiment:
    """`spillway.experiment(...).run(...)`, with tables unless `keep` is false.

    Args:
        source: The scenario; this and what follows as `spillway.experiment` takes it.
        vary: The keys that are varied, and their values.
        seeds: The seeds of every variant.
        set: Changes of the scenario for all variants.
        plugins: Classes that scenarios name by their ids.
        jobs: Runs at a time; by default as many as the processors have threads for.
        threads: How many threads share each run, at most.
        out: A folder in which the experiment is kept.
        force: Replace what is in `out`.
        keep: Keep the tables of every run: in `out`, or without it in memory.
        follow: Called when a run begins, as by `Experiment.run`.
        metrics: What tables, plots and reports show.

    Raises:
        Interrupted: Ctrl-C; its `result` is the experiment, with the runs that are complete.
        ScenarioError: An argument is wrong; nothing was run.
        PluginError: A plug-in has failed.
        OSError: The folder cannot be written to.
    """
    asked = experiment(
        source,
        vary=vary,
        seeds=seeds,
        set=set,
        plugins=plugins,
        out=out,
        force=force,
        tables=keep,
        metrics=metrics,
    )
    return asked.run(jobs=jobs, threads=threads, follow=follow)


def load(folder: str | Path) -> Experiment:
    """The experiment in a folder, with the runs that are there.

    Raises:
        ScenarioError: The folder has none, its manifest is damaged, or of a newer version.
    """
    place = path_of(folder)
    manifest = Manifest.load(place)
    store = Store(place / RESULTS)
    store.refresh()
    return _found(manifest, manifest.sets[-1], store, place)


def to_do(folder: str | Path, only: Path | None = None) -> Iterator[Experiment]:
    """Sets with missing runs, the newest first, until no run is missing.

    `only` is a file with the keys of runs, a line each; others are left alone.

    Raises:
        ScenarioError: There is no experiment, or its runs would give other results here.
    """
    place = path_of(folder)
    wanted = None if only is None else frozenset(read_text(only).split())
    done: set[object] = set()
    store = Store(place / RESULTS)
    store.check()
    while True:
        manifest = Manifest.load(place)
        left = [asked for asked in reversed(manifest.sets) if asked not in done]
        if not left:
            return
        experiment = _found(manifest, left[0], store, place, only=wanted)
        experiment.check_same()
        if experiment.missing():
            yield experiment
        done.add(left[0])


def _found(
    manifest: Manifest,
    asked: Asked,
    store: Store,
    folder: Path,
    only: Collection[str] | None = None,
) -> Experiment:
    version, results = manifest.version, manifest.results
    return Experiment(asked, store, folder=folder, version=version, results=results, only=only)


def _kept(
    scenario: Scenario,
    every: Sequence[Scenario],
    asked: Asked,
    folder: Path,
    force: bool,
    against: Sequence[str],
    sources: Mapping[str, Path],
) -> Experiment:
    """An experiment in a folder, which goes on with what is there.

    `every` are the scenarios of its variants, `sources` the originals of their files.
    """
    planned = list(zip(asked.entries, every, strict=True))
    if force:
        _check_against(asked, against)
        held.empty(folder)
    store = Store(folder / RESULTS)
    store.check()
    with _alone(store):
        sets = _sets(folder, asked)
        place = _place_of(asked, sets, scenario, folder)
        if place is not None:
            asked = joined(sets.pop(place), asked)
        _check_against(asked, against)
        asked = with_names(asked, sets, lambda name, each: _is_of_another(folder, name, each))
        for name, source in sources.items():
            held.copy(source, folder / name)
        for entry, each in planned:
            if entry.plugins:
                held.pack(each.plugins, folder / PLUGINS / entry.pack)
        Manifest(core.__version__, core.results(), (*sets, asked)).write(folder)
    store.refresh()
    scenarios = {
        entry.key: Scenario(entry.text, folder, plugins=each.plugins) for entry, each in planned
    }
    return Experiment(asked, store, folder=folder, scenarios=scenarios)


def _sets(folder: Path, asked: Asked) -> list[Asked]:
    """The earlier sets of a folder, without variants whose plug-ins have changed since."""
    if not held.is_one(folder):
        return []
    old = Manifest.load(folder)
    found = [without_other_plugins(each, asked) for each in old.sets]
    before, after = (sum(len(each.entries) for each in sets) for sets in (old.sets, found))
    if left_out := before - after:
        text = f"{left_out} variants in {folder} are of plug-ins that were something else then"
        warnings.warn(ScenarioWarning(f"{text}: they are left out"), stacklevel=5)
    return [_of_today(each, old, folder) for each in found if each.entries]


def _check_against(asked: Asked, against: Sequence[str]) -> None:
    """Refuses a baseline that does not exist."""
    if against:
        baselines(asked, against)


@contextmanager
def _alone(store: Store) -> Iterator[None]:
    """A context in which no other process changes what the folder is asked for."""
    while not store.claims.take(FILE):
        time.sleep(0.1)
    try:
        yield
    finally:
        store.claims.close()


def _is_of_another(folder: Path, name: str, entry: Entry) -> bool:
    """Whether folders with this name hold runs that the manifest does not know.

    Folders with the same scenario are the entry's own. With plug-ins that cannot be checked, so all
    folders count as another's.
    """
    place = folder / RUNS / replace(entry, name=name).folder(entry.seeds[0])
    if not place.is_dir() or entry.plugins:
        return place.is_dir()
    return keys.of_scenario(Scenario.load(place).checked(), place) != entry.key


def _of_today(asked: Asked, manifest: Manifest, folder: Path) -> Asked:
    """A set with its runs' present keys: they differ from old ones where results numbers do."""
    if manifest.results == core.results():
        return asked
    entries = []
    for each in asked.entries:
        scenario = scenario_of(each, folder)
        key = keys.of_scenario(scenario.checked(), folder, scenario.plugins)
        # The old folders hold results under the old key, so the entry gets a new name.
        name = each.name if key == each.key else f"{each.name}-{key[:8]}"
        entries.append(replace(each, key=key, name=name))
    return replace(asked, entries=tuple(entries))


def _place_of(asked: Asked, sets: Sequence[Asked], scenario: Scenario, folder: Path) -> int | None:
    """The index of the set with the same scenario; None if there is none.

    Raises:
        ScenarioError: The folder is about another scenario.
    """
    is_beside = not sets
    others: list[str] = []
    for place, old in reversed(list(enumerate(sets))):
        if old.has_varied_seed() != asked.has_varied_seed():
            is_beside = True
            continue
        first = old.entries[0]
        before = document(first.text)
        try:
            now = document(portable(scenario.set(*first.assignments), {}))
        except ScenarioError as error:
            others = others or [str(error)]
            continue
        varied = [
            key for each in (*old.entries, *asked.entries) for key in assigned(each.assignments)
        ]
        different = differences(before, now, varied)
        if not different:
            return place
        if set(different) <= set(LENGTHS):
            is_beside = True
        elif not others:
            others = [
                f"{key} = {_shown(within(before, key))}, not {_shown(within(now, key))}"
                for key in different
            ]
    if not is_beside:
        problem = f"{folder} is an experiment about another scenario, with {others[0]}"
        more = f", and {len(others) - 1} more differences" if len(others) > 1 else ""
        raise ScenarioError(
            f"{problem}{more}",
            "vary what differs, or choose another place",
            typed="vary what differs with --vary, or choose another --out",
        )
    return None


def _shown(value: object) -> str:
    return "unset" if value is None else str(value)
