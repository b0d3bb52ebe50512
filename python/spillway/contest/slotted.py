"""Distance to the exact optimum in the slotted model, where a policy can be had there."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spillway.base.errors import ScenarioError
from spillway.contest.factors import KEYS, Level
from spillway.theory.slotted.arrivals import Arrivals
from spillway.theory.slotted.model import measure, optimum

PORTS, BUFFER, SEEDS = 8, 64, (1, 2, 3)
KINDS = {"bursts": {}, "on-off": {}, "bernoulli": {"load": 1.0}}
"""The generators of arrivals, and their keys."""


@dataclass(frozen=True)
class Distance:
    """How much a policy sends of what the optimum sends."""

    mean: float | None
    least: float | None
    why: str = ""
    """Why it is not known."""


def distances(levels: Iterable[Level]) -> dict[str, Distance]:
    """The distance of every level of the factor `sharing`, all over the same arrivals.

    Policies with an oracle are given the true answers.
    """
    arrivals = [
        Arrivals.generate(kind, ports=PORTS, buffer=BUFFER, seed=seed, keys={"slots": 2000, **keys})
        for kind, keys in KINDS.items()
        for seed in SEEDS
    ]
    best = [optimum(each, buffer=BUFFER) for each in arrivals]
    found = {}
    for level in levels:
        try:
            kind, keys = _policy(level)
            shares = [
                1 / measure(kind, each, buffer=BUFFER, best=most, keys=keys).ratio
                for each, most in zip(arrivals, best, strict=True)
            ]
            found[level.name] = Distance(float(np.mean(shares)), min(shares))
        except ScenarioError as error:
            found[level.name] = Distance(None, None, f"not in the slotted model: {error}")
    return found


def _policy(level: Level) -> tuple[str, dict[str, object]]:
    """The policy of a level, and the keys that the level itself sets."""
    if level.is_plugin:
        raise ScenarioError("it takes no plug-ins")
    if level.kind:
        return level.kind, {}
    chosen: dict[str, object] = {}
    for text in level.assignments:
        key, _, value = text.partition("=")
        path = key.strip().removeprefix(KEYS["sharing"])
        if not key.strip().startswith(KEYS["sharing"]) or path[:1] not in ("", "."):
            raise ScenarioError(f"it has no {key.strip()}")
        try:
            read: object = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            read = value.strip()
        if path:
            chosen[path[1:]] = read
        else:
            chosen = dict(read) if isinstance(read, dict) else {"kind": read}
    kind = chosen.pop("kind", None)
    if not isinstance(kind, str):
        raise ScenarioError("the level names no policy")
    return kind, chosen
