"""A local search for arrivals that are bad for a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spillway.base.errors import ScenarioError
from spillway.theory.slotted.arrivals import Arrivals, check_seed, check_switch
from spillway.theory.slotted.model import measure

_NONE = -1
_MOST = 1 << 24


@dataclass(frozen=True)
class Found:
    """The worst arrivals that a search has found.

    Attributes:
        policy: the policy that they are bad for.
        ratio: OPT / ALG.
        arrivals: these arrivals.
        steps: the number of sequences that were tried.
        improved: the number of steps that led to a higher ratio.
    """

    policy: str
    ratio: float
    arrivals: Arrivals
    steps: int
    improved: int


class Stopped(KeyboardInterrupt):
    """Ctrl-C ended a search. `found` is the best result until then."""

    def __init__(self, found: Found) -> None:
        super().__init__("interrupted")
        self.found = found


def search(
    policy: str,
    *,
    ports: int = 4,
    buffer: int = 8,
    slots: int = 32,
    steps: int = 20_000,
    seed: int = 1,
    start: Arrivals | None = None,
    follow: Callable[[int, float], None] | None = None,
    keys: Mapping[str, Any] | None = None,
) -> Found:
    """Searches for arrivals, at most N per slot, that make OPT / ALG large.

    A local search. A step changes a range of slots (packets for a single port, the same slot
    repeated, a range copied elsewhere, or none) or a few packets. The change is kept if the ratio
    has not become smaller. A slightly smaller ratio is sometimes kept too, less often as time goes
    on (simulated annealing). The best sequence found is returned.

    Args:
        policy: The policy to find bad arrivals for. Credence is given LQD's true labels unless
            `oracle` is among the keys.
        ports: The switch's ports (N).
        buffer: The packets that its buffer holds (B).
        slots: The number of slots in which packets may arrive; with `start` it is that of its
            slots.
        steps: The number of sequences tried.
        seed: The seed of random choices; the same seed gives the same result.
        start: The first sequence, with at most N packets per slot; random arrivals by default.
        follow: Called at intervals with the number of steps done and the best ratio.
        keys: The policy's parameters, such as `{"alpha": 1}`.

    Raises:
        Stopped: Ctrl-C ends the search: a `KeyboardInterrupt`, with the best result in `found`.
        ScenarioError: A number is out of its range, `start` does not fit, or there is no such
            policy or key.
    """
    check_switch(ports, buffer)
    if slots < 1 or steps < 1:
        raise ScenarioError("a search needs a slot and a step at least")
    if start is not None:
        if start.ports != ports or start.most_in_a_slot > ports:
            raise ScenarioError(
                f"{start} are not at most N in a slot for {ports} ports",
                "start from arrivals for as many ports, made with arrivals_per_slot = ports",
            )
        slots = start.slots
    if slots * ports > _MOST:
        raise ScenarioError(f"{slots} slots of {ports} packets are too many to search")
    random = np.random.default_rng([check_seed(seed), 14])

    def ratio(grid: NDArray[np.int64]) -> float:
        arrivals = _arrivals(grid, ports)
        return measure(policy, arrivals, buffer=buffer, seed=seed, keys=keys).ratio

    grid = _random(random, slots, ports) if start is None else _grid(start)
    value = ratio(grid)
    # Assigned in one statement, because Ctrl-C may come between any two.
    best = (grid, value, 0)
    step = 0

    def found(steps: int) -> Found:
        grid, value, improved = best
        return Found(policy, value, _arrivals(grid, ports), steps, improved)

    try:
        for step in range(steps):
            changed = _changed(random, grid, ports)
            new = ratio(changed)
            warmth = 0.02 * (1 - step / steps) ** 2
            if new >= value or random.random() < np.exp((new - value) / max(warmth, 1e-9)):
                grid, value = changed, new
            if value > best[1]:
                best = (grid, value, best[2] + 1)
            if follow is not None and step % 256 == 0:
                follow(step, best[1])
    except KeyboardInterrupt:
        raise Stopped(found(step)) from None
    return found(steps)


def _random(random: np.random.Generator, slots: int, ports: int) -> NDArray[np.int64]:
    """Slots with packets for a single port, slots with packets for any port, and empty slots."""
    grid = random.integers(_NONE, ports, (slots, ports))
    kinds = random.integers(0, 3, slots)
    grid[kinds == 0] = random.integers(0, ports, (slots, 1))[kinds == 0]
    grid[kinds == 1] = _NONE
    return grid


def _changed(random: np.random.Generator, grid: NDArray[np.int64], ports: int) -> NDArray[np.int64]:
    grid = grid.copy()
    slots = len(grid)
    begin = int(random.integers(slots))
    length = 1 + int(random.integers(min(slots - begin, 1 + slots // 4)))
    stretch = grid[begin : begin + length]
    match random.integers(7):
        case 0:
            stretch[:] = random.integers(_NONE, ports)
        case 1:
            stretch[:] = grid[random.integers(slots)]
        case 2:
            source = int(random.integers(slots - length + 1))
            stretch[:] = grid[source : source + length].copy()
        case 3:
            stretch[:] = np.arange(ports)
        case 4:
            stretch[:, int(random.integers(ports)) :] = _NONE
        case 5:
            random.shuffle(grid[begin])
        case _:
            for _ in range(1 + int(random.integers(3))):
                grid[random.integers(slots), random.integers(ports)] = random.integers(_NONE, ports)
    return grid


def _arrivals(grid: NDArray[np.int64], ports: int) -> Arrivals:
    comes = grid != _NONE
    return Arrivals(ports, np.nonzero(comes)[0], grid[comes], len(grid))


def _grid(arrivals: Arrivals) -> NDArray[np.int64]:
    grid = np.full((arrivals.slots, arrivals.ports), _NONE)
    slot = arrivals.slot.astype(np.int64)
    place = np.arange(len(slot)) - np.searchsorted(slot, slot)
    grid[slot, place] = arrivals.port
    return grid
