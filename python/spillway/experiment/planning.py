"""The runs of an experiment, before anything is run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spillway.base import core
from spillway.base.checksums import digest
from spillway.base.errors import ScenarioError
from spillway.base.folder import INPUTS
from spillway.experiment import keys
from spillway.experiment.manifest import Entry
from spillway.plugins.base import Plugin
from spillway.plugins.content import content
from spillway.plugins.description import check_named, describe_all
from spillway.scenario.inputs import copy_name
from spillway.scenario.scenario import Scenario
from spillway.scenario.variants import Variant, check_number


def plan(
    scenario: Scenario,
    variants: Sequence[Variant],
    seeds: Sequence[int] | None,
    sources: dict[str, Path] | None,
) -> list[tuple[Entry, Scenario]]:
    """Reads every variant. Without `seeds` each has the seed of its own scenario.

    `sources` is None for an experiment that is not kept. The scenarios of one that is kept name
    copies of files, whose originals are added to `sources`; and its plug-ins must be in files, by
    which they can be recognised.

    Raises `ScenarioError` for what cannot be run, and for variants that are the same.
    """
    scenario = scenario.may_lack(_differing(variants))
    planned: list[tuple[Entry, Scenario]] = []
    number = 0
    seen: dict[str, Variant] = {}
    named: list[type[Plugin]] = []
    known_by = (lambda plugin: str(id(plugin))) if sources is None else content
    for variant in variants:
        varied = scenario.set(*variant.assignments).with_named_plugins()
        read = varied.read()
        if seeds is not None and any(text.startswith("seed=") for text in variant.assignments):
            # One of the two would be ignored silently.
            raise ScenarioError("seed is varied, and there are seeds besides", "choose one of them")
        key = keys.of_scenario(read, varied.folder, varied.plugins, known_by)
        chosen = (read.seed,) if seeds is None else tuple(seeds)
        number += len(chosen)
        check_number(number)
        for run in (keys.of_run(key, seed) for seed in chosen):
            same = seen.setdefault(run, variant)
            if same is not variant:
                raise ScenarioError(
                    f"{same.label} and {variant.label} are the same scenario",
                    "each variant is run once",
                )
        entry = Entry(variant.assignments, read.resolved, key, read.expected_packets(), chosen)
        if sources is not None:
            plugins = sorted(f"{plugin.id}={content(plugin)}" for plugin in varied.plugins)
            entry = replace(entry, text=portable(varied, sources), plugins=tuple(plugins))
        planned.append((entry, varied))
        named += varied.plugins
    check_named(describe_all(scenario.plugins), describe_all(named))
    return planned


def portable(scenario: Scenario, sources: dict[str, Path]) -> str:
    """A scenario with all values that names copies of files; adds the originals to `sources`."""
    read = scenario.checked()
    copies = []
    for key, file in read.files:
        source = scenario.folder / file
        name = f"{INPUTS}/{digest(source)[:16]}-{copy_name(key, file)}"
        sources[name] = source
        copies.append(name)
    return read.resolved_with(copies) if copies else read.resolved


def empty_summaries(scenarios: Iterable[Scenario]) -> list[dict[str, Any]]:
    """Summaries of runs that never begin, with the names of their classes."""
    read = (each.checked() for each in scenarios)
    return [json.loads(core.Simulation(each).summary()) for each in read]


def _differing(planned: Sequence[Variant]) -> frozenset[str]:
    """The assignments that not every variant has.

    Such an assignment may unset a key that only other variants have, so the key may be missing.
    """
    each = [frozenset(variant.assignments) for variant in planned]
    return frozenset(itertools.chain(*each)) - each[0].intersection(*each)
