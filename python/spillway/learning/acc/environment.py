"""The environment of an agent: a port of a run, whose RED it sets interval by interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from spillway.base import core
from spillway.base.arguments import Assignments, Seeds, assignments_of
from spillway.base.errors import ScenarioError
from spillway.learning.acc.variant import NUMBERS, Interval, Setting, State, Variant
from spillway.learning.gym import NetworkEnv, Table
from spillway.run.run import prepared
from spillway.run.simulation import Simulation
from spillway.scenario.scenario import Scenario, Source

_KEYS = ("aqm.min", "aqm.max", "aqm.max_probability")
_RTTS = 5
"""Base RTTs between decisions, where the variant says nothing else: as PRED's trials."""


@dataclass(frozen=True)
class Place:
    """A port in a scenario, and how often an agent decides there.

    Attributes:
        scenario: the scenario, as `spillway.run` takes it.
        port: as signals are named: "switch.leaf0.port.0".
        set: changes of the scenario.
        gbps: the rate of the port's line; None: that of the hosts' lines.
        interval: the time between decisions, such as "206us"; None: the variant's.
    """

    scenario: Source
    port: str
    set: Assignments = ()
    gbps: float | None = None
    interval: str | None = None

    def assignments(self, variant: Variant) -> list[str]:
        """Changes of the scenario, first of all RED with the variant's first setting."""
        return [f"switch.aqm={red(variant.actions[0])}", *assignments_of(self.set)]


def red(setting: Setting) -> str:
    """RED with this setting, as a scenario has it.

    >>> red((3000, 30000, 0.05))
    '{ kind = "red", min = "3000B", max = "30000B", max_probability = 0.05, not_ect = "pass" }'
    """
    least, most, probability = setting
    numbers = f'min = "{least}B", max = "{most}B", max_probability = {probability}'
    return f'{{ kind = "red", {numbers}, not_ect = "pass" }}'


class AgentEnv(gymnasium.Env[NDArray[np.float32], int]):
    """A run from its beginning on. An action is a setting of RED at one port, for an interval.

    The observation is the state (`variant.State`), the reward the variant's. Other ports keep the
    variant's first setting. Episodes last as long as the scenario's duration, and are truncated,
    never terminated: the network would go on.

    Attributes:
        interval_ps: the time between decisions.
        steps: decisions of an episode.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, place: Place, variant: Variant, seeds: Seeds = (1,)) -> None:
        """An environment; each episode draws one of the scenario's `seeds`."""
        scenario = prepared(place.scenario, None, place.assignments(variant), ())
        read = scenario.read()
        topology = scenario.resolved["topology"]
        _check_port(place.port, scenario)
        self.variant = variant
        self.interval_ps = _interval(place.interval, variant, topology)
        self.steps = (read.duration_ps - 1) // self.interval_ps
        if self.steps < 1:
            text = (
                f"the run is over before the first decision, {self.interval_ps} ps from its begin"
            )
            raise ScenarioError(f"duration: {text}", "a longer duration, or a shorter interval")
        self._ps_per_byte = _ps_per_byte(place.gbps, scenario.facts["host_gbps"])
        self._network = NetworkEnv(
            scenario,
            actions=Table(
                _KEYS,
                [(f"{least}B", f"{most}B", share) for least, most, share in variant.actions],
            ),
            at=place.port,
            signals={
                name: f"{place.port}.{name}"
                for name in ("mean_queue_bytes", "sent_bytes", "marked_bytes")
            },
            reward="0",
            interval=self.interval_ps,
            steps=self.steps,
            seeds=seeds,
        )
        self.action_space = self._network.action_space
        self.observation_space = spaces.Box(0.0, 1.0, (NUMBERS * variant.history,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode, as the environment `NetworkEnv` does. The first state is of zeros."""
        super().reset(seed=seed)
        _, info = self._network.reset(seed=seed, options=options)
        self._state = State(self.variant.history, self.variant.ranges)
        return self._state.vector, info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Sets RED and lets an interval pass."""
        _, _, is_over, is_truncated, info = self._network.step(action)
        seen = info["signals"]
        interval = Interval(
            queue_bytes=float(seen["mean_queue_bytes"].sum()),
            sent=self._share(seen["sent_bytes"]),
            marked=self._share(seen["marked_bytes"]),
            setting=self.variant.actions[int(action)],
        )
        self._state.end(interval)
        # An interval's end may cut a packet, but no line sends more than it can.
        reward = self.variant.reward(min(interval.sent, 1.0), interval.queue_bytes)
        return self._state.vector, reward, False, is_over or is_truncated, {}

    def close(self) -> None:
        """Lets go of all runs."""
        self._network.close()

    def _share(self, bytes: NDArray[Any]) -> float:
        """The time that bytes take on the line, as a share of the interval."""
        return int(bytes.sum()) * self._ps_per_byte / self.interval_ps


def _check_port(port: str, scenario: Scenario) -> None:
    """Refuses what is not one port of one switch."""
    name = f"{port}.sent_bytes"
    if np.ndim(Simulation(scenario).observe([name])[name]) > 0:
        raise ScenarioError(f"{port} is not one port", 'for one: "switch.leaf0.port.0"')


def _interval(given: str | None, variant: Variant, topology: dict[str, Any]) -> int:
    if given is not None:
        found = core.picoseconds(given)
        if found is None or found < 1:
            raise ScenarioError(f"interval: {given!r} is no time above 0", 'for one: "206us"')
        return found
    if variant.interval_ps is not None:
        return variant.interval_ps
    base_rtt = core.picoseconds(topology["base_rtt"])
    assert base_rtt is not None, "a resolved scenario has times"
    return _RTTS * base_rtt


def _ps_per_byte(given: float | None, of_hosts: float) -> int:
    """The time of a byte on the port's line, rounded up as the simulator rounds it."""
    gbps = of_hosts if given is None else given
    if not 1e-3 <= gbps <= 1e5:
        raise ScenarioError(f"gbps: {given!r} is no rate of a line", "a number of Gbps, such as 10")
    return math.ceil(8_000_000_000_000 / round(gbps * 1e9))
