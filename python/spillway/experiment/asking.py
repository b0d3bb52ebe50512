"""What an experiment is asked for: a new one, or more of what a folder holds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from spillway.base import core
from spillway.base.arguments import Assignments, Seeds, Vary, assignments_of, seeds_of
from spillway.base.checksums import digest
from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.base.folder import INPUTS, path_of
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
from spillway.experiment.planning import Planned, empty_summaries, plan
from spillway.experiment.work import RUNS
from spillway.plugins import Plugins, plugins_of
from spillway.plugins.content import content
from spillway.result.metrics import Chosen, choose
from spillway.scenario.inputs import copy_name
from spillway.scenario.scenario import Scenario, Source
from spillway.scenario.variants import assigned, variants, within
from spillway.tasks.memory import Memory
from spillway.tasks.store import Store


def experiment(
    source: Source,
    *,
    vary: Vary = (),
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
            tuples.
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
    planned = plan(scenario, variants(vary), several, is_kept=folder is not None)
    shown = tuple(choose(metrics, empty_summaries(planned)) if metrics else ())
    name = planned[0].scenario.checked().name
    if folder is not None:
        asked = Asked(name, (), shown, tables)
        return _kept(scenario, planned, asked, folder, force, base)
    entries = tuple(_entry(each, each.scenario.checked().resolved) for each in planned)
    scenarios = {each.key: each.scenario for each in planned}
    asked = Asked(name, entries, shown, tables)
    _check_against(asked, base)
    return Experiment(asked, Memory(), scenarios=scenarios, keeps_tables=tables)


def _kept(
    scenario: Scenario,
    planned: Sequence[Planned],
    asked: Asked,
    folder: Path,
    force: bool,
    against: Sequence[str],
) -> Experiment:
    """An experiment in a folder, which goes on with what is there."""
    sources: dict[str, Path] = {}
    entries = tuple(_portable_entry(each, sources) for each in planned)
    asked = replace(asked, entries=entries)
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
        for each, entry in zip(planned, entries, strict=True):
            if entry.plugins:
                held.pack(each.scenario.plugins, folder / PLUGINS / entry.pack)
        Manifest(core.__version__, core.results(), (*sets, asked)).write(folder)
    store.refresh()
    scenarios = {
        entry.key: Scenario(entry.text, folder, plugins=each.scenario.plugins)
        for each, entry in zip(planned, entries, strict=True)
    }
    return Experiment(asked, store, folder=folder, scenarios=scenarios)


def _sets(folder: Path, asked: Asked) -> list[Asked]:
    """What a folder was asked for before, without what cannot stand beside the new request."""
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


def _portable_entry(each: Planned, sources: dict[str, Path]) -> Entry:
    """A variant whose files and plug-ins are copies; `sources` learns of the files."""
    plugins = sorted(f"{plugin.id}={content(plugin)}" for plugin in each.scenario.plugins)
    return replace(_entry(each, _portable(each.scenario, sources)), plugins=tuple(plugins))


@contextmanager
def _alone(store: Store) -> Iterator[None]:
    """Within it no other process changes what the folder is asked for."""
    while not store.claims.take(FILE):
        time.sleep(0.1)
    try:
        yield
    finally:
        store.claims.close()


def _entry(each: Planned, text: str) -> Entry:
    return Entry(each.variant.assignments, text, each.key, each.cost, each.seeds)


def _portable(scenario: Scenario, sources: dict[str, Path]) -> str:
    """A scenario with all values, in which copies stand for files; `sources` learns of which."""
    read = scenario.checked()
    copies = []
    for key, file in read.files:
        source = scenario.folder / file
        name = f"{INPUTS}/{digest(source)[:16]}-{copy_name(key, file)}"
        sources[name] = source
        copies.append(name)
    return read.resolved_with(copies) if copies else read.resolved


def _is_of_another(folder: Path, name: str, entry: Entry) -> bool:
    """Whether there are folders with this name of runs that the manifest does not know.

    They are its own if they have the same scenario; of plug-ins that cannot be told.
    """
    place = folder / RUNS / replace(entry, name=name).folder(entry.seeds[0])
    if not place.is_dir() or entry.plugins:
        return place.is_dir()
    return keys.of_scenario(Scenario.load(place).checked(), place) != entry.key


def _of_today(asked: Asked, manifest: Manifest, folder: Path) -> Asked:
    """A set with the keys that its runs have now, which differ where results numbers do."""
    if manifest.results == core.results():
        return asked
    entries = []
    for each in asked.entries:
        scenario = scenario_of(each, folder)
        key = keys.of_scenario(scenario.checked(), folder, scenario.plugins)
        # The folders of its runs hold what they came to before.
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
            now = document(_portable(scenario.set(*first.assignments), {}))
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
        hint = "vary what differs, or choose another place"
        raise ScenarioError(
            f"{problem}{more}", hint, typed="vary what differs with --vary, or choose another --out"
        )
    return None


def _shown(value: object) -> str:
    return "unset" if value is None else str(value)


def load(folder: str | Path) -> Experiment:
    """The experiment in a folder, with the runs that are there.

    Raises:
        ScenarioError: The folder has none, its manifest is damaged, or of a newer version.
    """
    place = path_of(folder)
    manifest = Manifest.load(place)
    store = Store(place / RESULTS)
    store.refresh()
    newest, version, results = manifest.sets[-1], manifest.version, manifest.results
    return Experiment(newest, store, folder=place, version=version, results=results)
