"""What a cell of a figure, one point under one scheme, really runs; and what is said of it."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeAlias
from unittest import mock

from spillway.base.errors import ScenarioWarning
from spillway.scenario.scenario import Scenario
from spillway_studies.claims import Figure, Point, Scheme
from spillway_studies.claims import point as points

Settings: TypeAlias = Mapping[str, Any]
"""Values of a resolved scenario by their keys, as `flat` has them."""

SEED = 7
"""Another than any scenario's own."""
LEARN_DEMANDS: Settings = {
    "leaf.sharing.record": "admitted+dropped",
    "leaf.sharing.key": "at-detection",
    "leaf.sharing.key_quantum": 1.0,
}
ABM_PROGRAM: Settings = {
    # "To add up by how full queues are, up to 20 packets": of 1400 bytes.
    "switch.sharing.congestion": "fractional",
    "switch.sharing.saturation": "28000B",
    "switch.sharing.congested_at": None,
    "switch.sharing.drain": "interval",
    "switch.sharing.first_rtt": "scaled",
    "switch.sharing.alpha_first_rtt": 1024.0,
}
"""ABM as in its program: congestion in fractions, drain rates over whole intervals, first packets
under the whole formula."""

_TIERS = ("leaf", "spine")
_ALGORITHMS = ("sharing", "scheduling", "aqm", "transport")


@dataclass(frozen=True)
class Told:
    """What is said of a figure's runs: in what they differ from a bundled scenario.

    `switch.` is all tiers, and `senders.` all traffic sections. Who names an algorithm, such as
    `switch.sharing`, gets it with its defaults; all else is as in the scenario. None is a key that
    is not there.
    """

    scenario: str
    schemes: Mapping[str, Settings]
    """By name, in order."""
    points: Mapping[str, Settings]
    """By label, in order."""
    always: Settings = field(default_factory=dict)
    """Of every run."""
    of_scheme: Mapping[str, Mapping[str, Settings]] = field(default_factory=dict)
    """By the point's label and the scheme's name."""
    scales: Mapping[str, tuple[tuple[int, ...], Settings]] = field(default_factory=dict)
    """By name: the seeds, and what is set."""
    traffic: Sequence[Settings] = ()
    """All sections, if they are others than the scenario's: without what its senders do."""

    def cell(self, scheme: str, label: str, scale: str) -> dict[str, Any]:
        """What is said of a cell."""
        said = {
            "seed": SEED,
            **self.always,
            **self.scales[scale][1],
            **self.schemes[scheme],
            **self.points[label],
            **self.of_scheme.get(label, {}).get(scheme, {}),
        }
        settings = changed(self.scenario, said)
        if not self.traffic:
            return settings
        own = flat(resolved(Scenario.load(self.scenario).set({"traffic": list(self.traffic)})))
        _replace(settings, "traffic", own)
        return settings


def wrong(figure: Figure, told: Told) -> dict[tuple[str, ...], Any]:
    """Whatever is run otherwise than it is told, by scale, scheme, and the point's label.

    All cells are looked at with the first scale, and with all others the first.
    """
    names = [scheme.name for scheme in figure.schemes], [point.label for point in figure.points]
    assert names == (list(told.schemes), list(told.points))
    seeds = {name: scale.seeds for name, scale in figure.scales.items()}
    assert seeds == {name: seeds for name, (seeds, _) in told.scales.items()}
    first, *others = figure.scales
    every = [(first, scheme, point) for scheme in figure.schemes for point in figure.points]
    every += [(scale, figure.schemes[0], figure.points[0]) for scale in others]
    found = {}
    for scale, scheme, point in every:
        runs = flat(resolved(run_of(figure, scheme, point, scale)))
        said = told.cell(scheme.name, point.label, scale)
        found[scale, scheme.name, point.label] = apart(said, runs)
    return {cell: what for cell, what in found.items() if what}


def apart(said: Settings, runs: Settings) -> dict[str, str]:
    """In what two differ."""
    return {
        key: f"said {said.get(key)!r}, runs {runs.get(key)!r}"
        for key in said.keys() | runs.keys()
        if said.get(key) != runs.get(key)
    }


def run_of(figure: Figure, scheme: Scheme, point: Point, scale: str = "quick") -> Scenario:
    """The scenario that a cell hands over to the simulator, which is not started."""
    size = figure.scale(scale)
    assert size is not None
    with mock.patch.object(points, "run_to") as simulator, warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        simulator.return_value = SimpleNamespace(status="interrupted")
        task = figure.measure.task(point, scheme, SEED, size)
        assert task.run(lambda _: None) is None
    (scenario,) = (call.args[1] for call in simulator.call_args_list)
    return scenario


def resolved(scenario: Scenario) -> dict[str, Any]:
    """Every value, defaults among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        return scenario.resolved


def tiers(key: str, value: object) -> Settings:
    """The same value of a key of both tiers."""
    return {f"{tier}.{key}": value for tier in _TIERS}


def changes(plain: Settings, runs: Settings) -> Settings:
    """What a run has otherwise than a plain one; None is a key that is not there."""
    keys = plain.keys() | runs.keys()
    return {key: runs.get(key) for key in keys if runs.get(key) != plain.get(key)}


def flat(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved scenario by dotted keys: `traffic.NAME.load`; of switches by tier, `leaf.buffer`.

    Which algorithm it is (`kind`) has the key of its section: `leaf.sharing`. Every traffic section
    has what its senders do, `traffic.NAME.recovery.min_rto`, wherever that is set.
    """
    tree = copy.deepcopy(dict(scenario))
    switch = tree.pop("switch")
    whole = {key: value for key, value in switch.items() if key not in _TIERS}
    tree |= {tier: switch.get(tier, whole) for tier in _TIERS}
    senders = tree.pop("transport")
    senders["transport"] = senders.pop("kind")
    tree["traffic"] = {
        section["name"]: section if "transport" in section else {**senders, **section}
        for section in tree["traffic"]
    }
    return dict(leaves(tree))


def leaves(tree: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """All values of a table by dotted keys. Which algorithm it is (`kind`) has the table's key."""
    for name, value in tree.items():
        path = f"{within}{name}"
        # A table of models is one value.
        if isinstance(value, Mapping) and name != "model":
            yield from leaves(value, f"{path}.")
        else:
            yield path.removesuffix(".kind"), value


@functools.cache
def bundled(scenario: str, *assignments: str) -> dict[str, Any]:
    """A bundled scenario, with every value written out, by dotted keys."""
    return flat(resolved(Scenario.load(scenario).set(*assignments)))


def changed(scenario: str, said: Settings) -> dict[str, Any]:
    """A bundled scenario with what is said in it: see `Told`."""
    settings = dict(bundled(scenario))
    # Algorithms first: they bring their defaults.
    for key in sorted(said, key=lambda key: key.rpartition(".")[2] not in _ALGORITHMS):
        value = said[key]
        name = key.rpartition(".")[2]
        for place in _places(key, settings):
            if name == "transport":
                given = "transport.kind" if key == "senders.transport" else key
                own = bundled(scenario, f"{given}={value}")
                _replace(settings, place.rpartition(".")[0], own)
            elif name in _ALGORITHMS:
                # A star's switch has one tier only, which `flat` shows as both.
                is_own = key.startswith("nic.") or (
                    settings["topology"] == "star" and not key.startswith("leaf.")
                )
                given = key if is_own else f"switch.{place}"
                preset = said.get(f"{key}.preset")
                kind = f'{{ kind = "{value}", preset = "{preset}" }}' if preset else value
                _replace(settings, place, bundled(scenario, f"{given}={kind}"))
            elif value is None:
                _replace(settings, place, {})
            else:
                settings[place] = value
    return settings


def _places(key: str, settings: Settings) -> Iterator[str]:
    """All keys that one stands for."""
    section, _, rest = key.partition(".")
    if section == "switch":
        yield from (f"{tier}.{rest}" for tier in _TIERS)
    elif section == "senders":
        names = dict.fromkeys(each.split(".")[1] for each in settings if each[:8] == "traffic.")
        yield from (f"traffic.{name}.{rest}" for name in names)
    else:
        yield key


def _replace(settings: dict[str, Any], section: str, others: Settings) -> None:
    """Puts the section of other settings in place of its own."""
    for key in [key for key in settings if f"{key}.".startswith(f"{section}.")]:
        del settings[key]
    settings |= {key: others[key] for key in others if f"{key}.".startswith(f"{section}.")}
