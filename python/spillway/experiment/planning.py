"""The runs of an experiment, before anything is run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.experiment import keys
from spillway.plugins.base import Plugin
from spillway.plugins.content import content
from spillway.plugins.description import check_named, describe_all
from spillway.scenario.scenario import Scenario
from spillway.scenario.variants import Variant, check_number


@dataclass(frozen=True)
class Planned:
    """A variant that has been read, and the seeds with which it is run."""

    variant: Variant
    scenario: Scenario
    key: str
    """The key of its scenario with any seed."""
    cost: float
    """A rough estimate of a run's packets, by which durations are compared."""
    seeds: tuple[int, ...]


def plan(
    scenario: Scenario, variants: Sequence[Variant], seeds: Sequence[int] | None, is_kept: bool
) -> list[Planned]:
    """Reads every variant. Without `seeds` each has the seed of its own scenario.

    What is kept needs plug-ins that can be known again, by their files.

    Raises `ScenarioError` for what cannot be run, and for variants that are the same.
    """
    scenario = scenario.may_lack(_differing(variants))
    planned: list[Planned] = []
    number = 0
    seen: dict[str, Variant] = {}
    named: list[type[Plugin]] = []
    for variant in variants:
        varied = scenario.set(*variant.assignments).with_named_plugins()
        read = varied.read()
        _check_seed(variant, seeds)
        known_by = content if is_kept else _in_this_process
        key = keys.of_scenario(read, varied.folder, varied.plugins, known_by)
        chosen = (read.seed,) if seeds is None else tuple(seeds)
        each = Planned(variant, varied, key, read.expected_packets(), chosen)
        number += len(chosen)
        check_number(number)
        for run in (keys.of_run(key, seed) for seed in chosen):
            same = seen.setdefault(run, variant)
            if same is not variant:
                text = f"{same.label} and {variant.label} are the same scenario"
                raise ScenarioError(text, "each variant is run once")
        planned.append(each)
        named += varied.plugins
    check_named(describe_all(scenario.plugins), describe_all(named))
    return planned


def empty_summaries(planned: Iterable[Planned]) -> list[dict[str, Any]]:
    """Summaries of runs that never begin, with the names of their classes."""
    read = (each.scenario.checked() for each in planned)
    return [json.loads(core.Simulation(each).summary()) for each in read]


def _in_this_process(plugin: type[Plugin]) -> str:
    """Tells a class from every other one of this process."""
    return str(id(plugin))


def _differing(planned: Sequence[Variant]) -> frozenset[str]:
    """The assignments that not every variant has.

    One of them that unsets a key stands for the default, so the key may well be missing.
    """
    each = [frozenset(variant.assignments) for variant in planned]
    return frozenset(itertools.chain(*each)) - each[0].intersection(*each)


def _check_seed(variant: Variant, seeds: Sequence[int] | None) -> None:
    """Refuses `seeds` if variants set the seed too: one of the two would be ignored silently."""
    if seeds is not None and any(text.startswith("seed=") for text in variant.assignments):
        raise ScenarioError("seed is varied, and there are seeds besides", "choose one of them")
