"""Models and the packet simulator, side by side, at several settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spillway.base.arguments import Seeds, seeds_of
from spillway.base.errors import ScenarioError
from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.dcqcn import Dcqcn
from spillway.theory.fluid.packets import Packets, measure, scenario
from spillway.theory.fluid.solution import (
    FixedPoint,
    Sender,
    Trajectory,
    fixed_point,
    sender,
    trajectory,
)

MOST_POINTS = 1000


@dataclass(frozen=True)
class Solved:
    """One model at one setting."""

    model: Sender
    point: FixedPoint
    trajectory: Trajectory


@dataclass(frozen=True)
class Point:
    """All models, and all runs, at one setting."""

    bottleneck: Bottleneck
    solved: list[Solved]
    packets: list[Packets]
    """A run for every seed; none without the packet simulator."""

    @property
    def measured(self) -> float | None:
        """The mean queue over time and seeds in the packet simulator."""
        return sum(run.mean for run in self.packets) / len(self.packets) if self.packets else None


def compare(
    bottlenecks: Iterable[Bottleneck],
    *,
    kind: str = "dctcp",
    cuts: Sequence[str] = ("paper",),
    g: float = 0.0625,
    whole_packets: bool = False,
    packets: bool = True,
    seeds: Seeds = (1, 2, 3),
    follow: Callable[[int, int], object] | None = None,
) -> list[Point]:
    """Solves and follows models at every setting, and runs the packet simulator there.

    Args:
        bottlenecks: The settings, up to 1,000.
        kind: Whose equations the models are, as `sender` takes it.
        cuts: The ways in which marks cut windows, as `sender` takes one; there is a model for each.
        g: The weight of a new sample in DCTCP's alpha, above 0, at most 1.
        whole_packets: Whether flows send whole packets, as `sender` takes it.
        packets: Whether the packet simulator runs, too.
        seeds: The seeds of its runs: numbers, or a text such as `1..3`.
        follow: Called with the number of settings that are done, and of all.

    Returns:
        A point for each setting, in order.

    Raises:
        ScenarioError: An argument is wrong, a setting is not possible in the packet simulator, or
            the equations have no solution that can be computed there.
        Interrupted: Ctrl-C during a run of the packet simulator.
    """
    models = [sender(kind, each, g=g, whole_packets=whole_packets) for each in dict.fromkeys(cuts)]
    places, runs = list(bottlenecks), seeds_of(seeds)
    if not models or not places:
        raise ScenarioError("there is nothing to compare", "give a setting, and cuts, at least")
    if len(places) > MOST_POINTS:
        raise ScenarioError(
            f"{len(places):,} settings are too many", f"{MOST_POINTS:,} are the most"
        )
    if packets:
        for at in places:
            # Refuses what cannot be before any work is done.
            scenario(at)
    points = []
    for done, at in enumerate(places):
        if follow is not None:
            follow(done, len(places))
        try:
            points.append(_at(at, models, runs if packets else [], g))
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            raise ScenarioError(
                f"the equations have no solution that can be computed there: {error}",
                f"the setting is {at}",
            ) from error
    return points


def _at(at: Bottleneck, models: Sequence[Sender], seeds: Sequence[int], g: float) -> Point:
    found = [(model, fixed_point(model, at)) for model in models]
    solved = [Solved(model, point, trajectory(model, at, point)) for model, point in found]
    like: dict[str, Any] = {"transport": models[0].transport, "g": g, **_length(models[0], at)}
    return Point(at, solved, [measure(at, seed=seed, **like) for seed in seeds])


def _length(model: Sender, at: Bottleneck) -> dict[str, float]:
    """How many round trips a run lasts, and their length."""
    if isinstance(model, Dcqcn):
        rtt_us = fixed_point(model, at).rtt_us
        return {"rtt_us": rtt_us, "rtts": max(_LEAST_RTTS, model.duration_s * 1e6 / rtt_us)}
    # As DCTCP really cuts, which tells best how long a round trip will be.
    told = fixed_point(sender(model.kind, "held", whole_packets=True), at)
    return {"rtt_us": told.rtt_us, "rtts": max(_LEAST_RTTS, min(10 * told.window, _MOST_RTTS))}


_LEAST_RTTS, _MOST_RTTS = 400.0, 4000.0
"""How many round trips a run of windows lasts: ten for every packet, within these."""
