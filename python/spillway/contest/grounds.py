"""The scenarios of an arena: shortened to about the same number of packets, read, and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from spillway.base import core
from spillway.base.arguments import check_once
from spillway.base.errors import ScenarioError
from spillway.base.quantities import quantity
from spillway.contest.factors import NO_PRESET
from spillway.experiment import keys
from spillway.plugins.base import Plugin
from spillway.plugins.content import content
from spillway.scenario.bundled import bundled
from spillway.scenario.scenario import Scenario, Source
from spillway.scenario.sections import at, sections

AFTER_PS = 2 * 10**11
"""Flows of a shortened scenario have at most so long to end after the last one has started. Senders
that repair losses badly could go on for ever.
"""
RECORD = "record.without_timeout=true"
"""What is ranked and explained beside percentiles, which jump where timeouts begin."""
_LENGTHS = ("duration=", "stop=", "warmup=")


@dataclass(frozen=True)
class Read:
    """A combination that a scenario can have."""

    assignments: tuple[str, ...]
    key: str
    """The key of the scenario with any seed: equal ones are the same scenario."""
    packets: float
    warnings: tuple[str, ...]
    plugins: tuple[type[Plugin], ...]
    """The plug-ins that it names."""


@dataclass(frozen=True)
class Ground:
    """A scenario in which schemes meet."""

    name: str
    base: Scenario
    plugins: tuple[type[Plugin], ...]
    """Those that it may name."""
    is_kept: bool
    """Whether plug-ins are known by what is in their files, since runs are kept."""
    tiers: dict[str, frozenset[str]]
    """The tiers of switches with keys of their own, and these keys."""
    has_preset: bool
    """Whether its transport has a preset, which other transports do not know."""
    _errors: dict[tuple[str, ...], ScenarioError | None] = field(
        default_factory=dict, compare=False
    )

    def assigned(self, assignments: Iterable[str]) -> tuple[str, ...]:
        """Assignments, and the same for tiers that have the key themselves."""
        found = []
        for text in assignments:
            if text == NO_PRESET and not self.has_preset:
                continue
            found.append(text)
            path = text.partition("=")[0].strip()
            key = re.split(r"[.\[]", path.removeprefix("switch."))[0]
            if path.startswith("switch."):
                own = (tier for tier, names in self.tiers.items() if key in names)
                found += [f"switch.{tier}.{text.strip().removeprefix('switch.')}" for tier in own]
        return tuple(found)

    def refusal(self, assignments: tuple[str, ...]) -> ScenarioError | None:
        """Why the scenario cannot have these assignments; None if it can."""
        if assignments not in self._errors:
            try:
                self.varied(assignments).checked()
                self._errors[assignments] = None
            except ScenarioError as error:
                self._errors[assignments] = error
        return self._errors[assignments]

    def read(self, assignments: tuple[str, ...]) -> Read:
        """The scenario with these assignments. Raises `ScenarioError`."""
        varied = self.varied(assignments)
        read = varied.checked()
        named = tuple(self.plugins[place] for place in read.named_plugins)
        known_by = content if self.is_kept else lambda plugin: str(id(plugin))
        key = keys.of_scenario(read, varied.folder, named, known_by)
        return Read(assignments, key, read.expected_packets(), tuple(read.warnings), named)

    def varied(self, assignments: tuple[str, ...]) -> Scenario:
        """The scenario with these; some of them may unset what it does not have."""
        return self.base.plug(*self.plugins).may_lack(assignments).set(*assignments)


def grounds(
    sources: Sequence[Source],
    assignments: Sequence[str],
    plugins: Sequence[type[Plugin]],
    *,
    packets: int,
    is_kept: bool,
) -> list[Ground]:
    """The scenarios, by default all that are bundled, each with about so many packets at most.

    Raises:
        ScenarioError: One of them cannot be read, or two have one name.
    """
    chosen = [Scenario.of(source).set(*assignments) for source in sources or list(bundled())]
    if any(text.startswith(_LENGTHS) for text in assignments):
        packets = 0
    found = [_ground(each, tuple(plugins), packets, is_kept) for each in chosen]
    hint = "give each a name of its own, by its key `name`"
    check_once([each.name for each in found], "the scenario", hint)
    return found


def _ground(
    scenario: Scenario, plugins: tuple[type[Plugin], ...], packets: int, is_kept: bool
) -> Ground:
    try:
        read = scenario.plug(*plugins).checked()
        base = (_shortened(scenario, read, packets) if packets else scenario).set(RECORD)
        base.plug(*plugins).checked()
    except ScenarioError as error:
        problem = f"{scenario.described()}: {error}"
        raise ScenarioError(problem, error.hint, error.path, error.kind) from error
    (switch,) = at(sections(), "switch")
    resolved = tomllib.loads(read.resolved)
    tiers = {
        name: frozenset(value)
        for name, value in resolved["switch"].items()
        if isinstance(value, dict) and name not in switch.keys
    }
    return Ground(read.name, base, plugins, is_kept, tiers, "preset" in resolved["transport"])


def _shortened(scenario: Scenario, read: core.Scenario, packets: int) -> Scenario:
    """The scenario with a shorter duration, if it would send more packets."""
    part = packets / max(read.expected_packets(), 1.0)
    if part >= 1.0:
        return scenario
    resolved = tomllib.loads(read.resolved)
    duration = _ns(read.duration_ps * part)
    lengths = [f"duration={duration}ns"]
    if warmup := quantity(resolved["warmup"]):
        lengths.append(f"warmup={_ns(warmup * part)}ns")
    if "stop" in resolved:
        after = min(read.stop_ps - read.duration_ps, AFTER_PS)
        lengths.append(f"stop={duration + after // 1000}ns")
    return scenario.set(*lengths)


def _ns(ps: float) -> int:
    """Whole nanoseconds with two significant digits."""
    return max(1, round(float(f"{ps / 1000:.2g}")))
