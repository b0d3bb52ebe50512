"""The environment: a run that goes on interval by interval, with numbers that an agent sets."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from spillway.base import core
from spillway.base.arguments import (
    LARGEST_SEED,
    Assignments,
    Seeds,
    check_once,
    check_text,
    integer,
    seeds_of,
    shown,
    whole,
)
from spillway.base.errors import ScenarioError
from spillway.learning.gym.actions import Actions, Setter
from spillway.learning.gym.reward import Reward, compiled
from spillway.plugins import Plugins
from spillway.result.result import Result
from spillway.run.simulation import Array, Simulation
from spillway.scenario.scenario import Source

ID = "Spillway-v0"
"""The name by which `gymnasium.make` finds the environment, once
`spillway.learning.gym` is imported."""

Observation: TypeAlias = NDArray[np.float32]
Look: TypeAlias = Mapping[str, Array]

MOST_OBSERVED = 1_000_000
"""The most numbers in an observation."""
MOST_WARM = 64
"""How many warm states are kept, each of its own seed."""


class NetworkEnv(gymnasium.Env[Observation, Any]):
    """A scenario in which an agent sets numbers at fixed intervals.

    A step sets the numbers of the action, lets the run go on for an interval, and looks at the
    signals. An episode begins where a run of the scenario is at `begin`: that run is made once for
    each seed and copied.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Source,
        *,
        actions: Actions,
        signals: Mapping[str, str],
        reward: Reward,
        interval: str | int,
        at: str | Iterable[str] = (),
        observation: Sequence[str] | Mapping[str, float] | None = None,
        history: int = 1,
        begin: str | int = 0,
        steps: int | None = None,
        seeds: Seeds = (1,),
        set: Assignments = (),
        plugins: Plugins = (),
        render_mode: None = None,
    ) -> None:
        """An environment of a scenario.

        Args:
            scenario: The scenario, as `spillway.run` takes it.
            set: Changes of it, likewise.
            plugins: Algorithms of one's own, likewise.
            actions: What an agent may set: a `Table` or `Ranges`.
            signals: What is looked at after every interval: names of one's own, and the signals.
            reward: Arithmetic over these names, or a function that is given the arrays by name.
            interval: The simulated time of a step, such as "206us", or in picoseconds.
            at: Where the keys of the actions are, as in "switch.leaf0.port.0"; one place or
                several, of which each has its own action. Without it, keys are whole paths.
            observation: Which of the names are observed, all without it; a mapping gives each a
                number by which it is divided.
            history: How many intervals are observed, the oldest first.
            begin: When an episode begins: a time, as `interval`.
            steps: After how many steps an episode is truncated; without it, it lasts until the run
                is over.
            seeds: The seeds of the scenario, of which each episode draws one: numbers, or a text
                such as `1..5`. In `reset(options={"seed": 7})` it is given.
            render_mode: There is none.

        Raises:
            ScenarioError: The scenario, an action, a signal or the reward is not valid, here and
                not in some later step.
        """
        if render_mode is not None:
            raise ScenarioError(f"there is no render mode {render_mode!r}")
        self._source, self._settings, self._plugins = scenario, set, plugins
        self._interval, self._begin = _time(interval, 1), _time(begin, 0)
        self._history = whole("history", history, 1)
        self._steps = None if steps is None else whole("steps", steps, 1)
        self._seeds = seeds_of(seeds)
        self._signals = _names(signals)
        self._reward = compiled(reward, self._signals)
        self._setter = Setter(actions, at)
        self._warm: OrderedDict[int, tuple[Simulation, list[Observation]]] = OrderedDict()
        self._simulation: Simulation | None = None
        self._frames: deque[Observation] = deque(maxlen=min(self._history, MOST_OBSERVED))
        self._step = 0

        first = self._new(self._seeds[0])
        look = self._look(first)
        self._fixed = [name for name, array in look.items() if array.shape != (0,)]
        self._scales = _scales(observation, look, self._fixed)
        for numbers in self._setter.extremes():
            first.copy().set(numbers)
        self.action_space = self._setter.space
        size = self._frame(look).size
        if self._history * size > MOST_OBSERVED:
            raise ScenarioError(
                f"history: {shown(self._history)} times {size} numbers would be observed",
                f"{MOST_OBSERVED:,} are the most",
            )
        # No signal is ever below 0.
        shape, most = (self._history * size,), float(np.finfo(np.float32).max)
        self.observation_space = spaces.Box(0.0, most, shape, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode at a copy of a warm state.

        `seed` decides which seeds of the scenario are drawn from now on. `info` has the `seed` and
        `time_ps`.
        """
        if options is not None and not isinstance(options, Mapping):
            raise ScenarioError(f"options: {options!r} is not valid", 'for one: {"seed": 7}')
        for key in options or {}:
            if key != "seed":
                raise ScenarioError(f"options: there is no {key!r}", "seed is the only one")
        super().reset(seed=seed)
        chosen = (options or {}).get("seed")
        if chosen is None:
            chosen = self._seeds[int(self.np_random.integers(len(self._seeds)))]
        seed = whole("seed", chosen, 0, LARGEST_SEED)
        warm, frames = self._warmed(seed)
        self._simulation = warm.copy()
        self._frames.clear()
        self._frames.extend(frames)
        self._step = 0
        return self._observed(), {"seed": seed, "time_ps": self._simulation.now}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the numbers of an action and lets the run go on for an interval.

        It is terminated when the run is over, and truncated after `steps` steps. `info` has
        `time_ps` and `signals`, the arrays by name; numbers of flows are a tuple, since vector
        environments put together arrays of one shape only.
        """
        simulation = self._running()
        simulation.set(self._setter.numbers(action))
        goes_on = simulation.run_until(min(simulation.now + self._interval, 2**63 - 1))
        look = self._look(simulation)
        self._frames.append(self._frame(look))
        self._step += 1
        is_truncated = goes_on and self._steps is not None and self._step >= self._steps
        info = {"time_ps": simulation.now, "signals": self._told(look)}
        return self._observed(), self._reward(look), not goes_on, is_truncated, info

    def result(self) -> Result:
        """Lets the run of the episode go on to its end, and returns its result."""
        simulation = self._running()
        self._simulation = None
        return simulation.finish()

    def close(self) -> None:
        """Lets go of all runs."""
        self._simulation = None
        self._warm.clear()

    def _running(self) -> Simulation:
        if self._simulation is None:
            raise ScenarioError("no episode is under way", "begin one with reset()")
        return self._simulation

    def _new(self, seed: int) -> Simulation:
        return Simulation(self._source, seed=seed, set=self._settings, plugins=self._plugins)

    def _warmed(self, seed: int) -> tuple[Simulation, list[Observation]]:
        """A run that stands where episodes begin, and the frames before it."""
        if seed not in self._warm:
            simulation = self._new(seed)
            frames = []
            # The first look only starts the counts; it covers no interval.
            for place in reversed(range(self._history + 1)):
                time = self._begin - place * self._interval
                if time > 0 and not simulation.run_until(time):
                    text = f"with seed {seed} the run is over before it begins"
                    raise ScenarioError(f"begin: {self._begin} ps: {text}")
                frames.append(self._frame(self._look(simulation)))
            self._warm[seed] = simulation, frames[1:]
            while len(self._warm) > MOST_WARM:
                self._warm.popitem(last=False)
        self._warm.move_to_end(seed)
        return self._warm[seed]

    def _look(self, simulation: Simulation) -> Look:
        seen = simulation.observe(list(self._signals.values()))
        return {name: seen[path] for name, path in self._signals.items()}

    def _told(self, look: Look) -> dict[str, Any]:
        return {
            name: array if name in self._fixed else tuple(array.tolist())
            for name, array in look.items()
        }

    def _frame(self, look: Look) -> Observation:
        """What is observed of an interval."""
        parts = [np.ravel(look[name]) / scale for name, scale in self._scales.items()]
        return np.concatenate(parts).astype(np.float32)

    def _observed(self) -> Observation:
        return np.concatenate(self._frames)


def _names(signals: Mapping[str, str]) -> dict[str, str]:
    hint = 'for one: {"queue": "switch.leaf0.port.0.mean_queue_bytes"}'
    if not isinstance(signals, Mapping) or not signals:
        raise ScenarioError(f"{signals!r} are no signals by name", hint)
    for name in signals:
        if not isinstance(name, str) or not name.isidentifier():
            raise ScenarioError(f"{name!r} is no name of a signal: letters, digits and _", hint)
    return dict(signals)


def _scales(
    observation: Sequence[str] | Mapping[str, float] | None, look: Look, fixed: Sequence[str]
) -> dict[str, float]:
    """What the observed names are divided by. Those of a fixed shape can be observed."""
    if isinstance(observation, Mapping):
        given = dict(observation)
    else:
        chosen = fixed if observation is None else observation
        names = [chosen] if isinstance(chosen, str) else list(chosen)
        check_once(names, "observation: the signal", "name each once")
        given = dict.fromkeys(names, 1.0)
    if not given:
        raise ScenarioError("nothing is observed", f"what can be: {', '.join(fixed)}")
    for name, scale in given.items():
        if name not in look:
            raise ScenarioError(f"observation: there is no signal {name!r}", ", ".join(look))
        if name not in fixed:
            raise ScenarioError(
                f"observation: {name} has as many numbers as flows are complete",
                "the reward may use it; observe a count or a mean",
            )
        if not isinstance(scale, (int, float)) or not 0 < scale < np.inf:
            raise ScenarioError(f"observation: {scale!r} is no scale of {name}: a number above 0")
    return {name: float(scale) for name, scale in given.items()}


def _time(time: str | int, least: int) -> int:
    if isinstance(time, str):
        check_text(time)
    picoseconds = core.picoseconds(time) if isinstance(time, str) else integer(time)
    if picoseconds is None or not least <= picoseconds < 2**63:
        raise ScenarioError(
            f"{time!r} is no time that can be used here",
            'a text such as "206us", or a whole number of picoseconds',
        )
    return picoseconds
