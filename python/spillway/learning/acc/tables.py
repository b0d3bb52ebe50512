"""Agents, their training, and the best settings as tables for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from spillway.experiment.statistics import standard_error
from spillway.learning.acc.model import Model
from spillway.learning.acc.variant import Interval, Setting, State
from spillway.show.tables import open_grid, properties

if TYPE_CHECKING:
    from spillway.learning.acc.evaluation import Search, Tried
    from spillway.learning.acc.training import Look, Training

_MOST_ROWS = 10
"""How many of the best settings are shown."""


def setting(chosen: Setting) -> str:
    """A setting in words.

    >>> setting((3000, 30000, 0.05))
    'min 3,000 B, max 30,000 B, max_probability 0.05'
    """
    least, most, probability = chosen
    return f"min {least:,} B, max {most:,} B, max_probability {probability:g}"


def would_set(model: Model) -> list[tuple[str, Setting]]:
    """What a model would set in a few states: at first, and by the queue of the intervals before.

    There the line was full, an eighth of the packets were marked, and the setting was the first.
    """
    state = State(model.history, model.ranges.tolist())
    first = model.setting(model.choose(state.vector))
    found = [("at first", first)]
    # A state that might have been: the queue, its share of the range.
    for share in (0.0, 0.05, 0.2, 0.5, 1.0):
        queue = share * float(model.ranges[0])
        for _ in range(model.history):
            state.end(Interval(queue, 1.0, 0.125, first))
        found.append((f"queue {queue:,.0f} B", model.setting(model.choose(state.vector))))
    return found


def model(chosen: Model) -> RenderableType:
    """A model's shape, how it was made, and what it would set."""
    table = properties(
        [
            ("network", chosen.shape),
            ("decides every", f"{chosen.interval_ps * 1e-6:g} us"),
            ("observes", "1 interval" if chosen.history == 1 else f"{chosen.history} intervals"),
            ("ranges", ", ".join(f"{each:g}" for each in chosen.ranges.tolist())),
            ("actions", f"{len(chosen.actions)}"),
            *((key.replace("_", " "), text) for key, text in chosen.provenance.items()),
        ]
    )
    states = properties((name, setting(told)) for name, told in would_set(chosen))
    title = Text("\nwhat it would set (line full, an eighth of the packets marked):", "dim")
    return Group(table, title, states)


def look(told: Look) -> str:
    """A line about how a training stands.

    >>> from spillway.learning.acc.training import Look
    >>> look(Look(20_000, 0.05, 0.81254, 0.82806))
    '20,000 decisions: reward 0.8281 without exploration; 0.8125 with 0.05 of it'
    """
    line = f"{told.steps:,} decisions: reward {told.reward:.4f} without exploration"
    if np.isnan(told.training_reward):
        return line
    return f"{line}; {told.training_reward:.4f} with {told.exploration:.3g} of it"


def training(done: Training) -> RenderableType:
    """The learning curve, and which network was kept."""
    heads = ("decisions", "exploration", "reward in training", "without exploration")
    table = open_grid(numbers=heads)
    for each in done.curve:
        table.add_row(
            f"{each.steps:,}",
            f"{each.exploration:.3f}",
            "-" if np.isnan(each.training_reward) else f"{each.training_reward:.4f}",
            f"{each.reward:.4f}",
        )
    kept = f"kept: the network of {done.kept.steps:,} decisions, reward {done.kept.reward:.4f}"
    return Group(table, Text(kept, "dim"))


def search(found: Search) -> RenderableType:
    """The best settings, and models beside them."""
    table = open_grid("", "setting", numbers=("reward", "on the confirming seeds"))
    for each in [*found.models, *found.actions[:_MOST_ROWS]]:
        table.add_row(
            each.name,
            "-" if each.setting is None else setting(each.setting),
            _mean(each.rewards),
            _mean(each.confirmed),
        )
    least = min(found.actions, key=lambda tried: float(tried.rewards.mean()))
    note = f"the least of {len(found.actions)}: {_mean(least.rewards)}, {least.name}"
    return Group(table, Text(note, "dim"))


def document(found: Search) -> dict[str, object]:
    """The same as JSON."""

    def told(tried: Iterable[Tried]) -> list[dict[str, object]]:
        return [
            {
                "name": each.name,
                "setting": each.setting,
                "rewards": each.rewards.tolist(),
                "confirmed": each.confirmed.tolist(),
            }
            for each in tried
        ]

    return {"actions": told(found.actions), "models": told(found.models)}


def _mean(rewards: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """The mean, and its standard error where there are several.

    >>> _mean(np.array([])), _mean(np.array([0.5])), _mean(np.array([0.5, 0.7]))
    ('-', '0.5000', '0.6000 ± 0.1000')
    """
    if not len(rewards):
        return "-"
    if len(rewards) == 1:
        return f"{rewards[0]:.4f}"
    return f"{rewards.mean():.4f} ± {standard_error(rewards.tolist()):.4f}"
