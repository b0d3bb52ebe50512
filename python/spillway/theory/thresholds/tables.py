"""What the command prints, for people and for programs."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway.base import core
from spillway.show.tables import wide_grid
from spillway.theory.thresholds.find import Found, Ladder
from spillway.theory.thresholds.objectives import OBJECTIVES

PACKET = core.PUBLISHED_PACKET
"""Bytes of payload in a packet, as published thresholds count them."""


def document(found: Found) -> dict[str, Any]:
    """All numbers."""
    return {
        "sizes": found.sizes.name,
        "mean_bytes": found.sizes.mean,
        "load": found.load,
        "levels": found.levels,
        "objective": found.objective,
        "version": core.__version__,
        **_ladder(found, found.best),
        "value": found.best.values[found.objective],
        "one_queue": found.one_queue.values[found.objective],
        "setting": found.setting,
        "by_level": _by_level(found),
        "optima": {name: _ladder(found, each) for name, each in found.optima.items()},
        "published": {each.name: _ladder(found, each) for each in found.published},
        "without_levels": _ladder(found, found.one_queue),
    }


def _ladder(found: Found, ladder: Ladder) -> dict[str, Any]:
    return {
        "thresholds_bytes": list(ladder.thresholds),
        "thresholds_packets": [threshold / PACKET for threshold in ladder.thresholds],
        "values": dict(ladder.values),
        "above_optimum": {name: found.above(ladder, name) for name in OBJECTIVES},
    }


def _by_level(found: Found) -> list[dict[str, Any]]:
    cuts = found.cuts()
    return [
        {
            "level": level + 1,
            "up_to_bytes": [*found.best.thresholds, None][level],
            "flows": float(cuts.larger[level]),
            "bytes": float(cuts.share[level + 1] - cuts.share[level]),
        }
        for level in range(found.levels)
    ]


def shown(found: Found) -> RenderableType:
    """The thresholds, and how far every ladder is above the least value of each objective."""
    objective = OBJECTIVES[found.objective]
    head = [
        f"{found.sizes.name} at load {found.load:g}, {found.levels} levels, objective "
        f"{objective.name}",
        f"sum over levels of {objective.formula}",
    ]
    best, one = (ladder.values[found.objective] for ladder in (found.best, found.one_queue))
    value = f"least value {best:.4f}; in one queue {one:.4f}, {_percent(one / best - 1)}"
    parts: list[RenderableType] = [*map(Text, head), _levels(found), Text(value), _gaps(found)]
    return Group(*parts)


def _levels(found: Found) -> Table:
    heads = ("level", "up to bytes", f"packets of {PACKET:,} B", "of flows", "of bytes")
    table = wide_grid(numbers=heads)
    for row in _by_level(found):
        end = row["up_to_bytes"]
        table.add_row(
            str(row["level"]),
            "all" if end is None else f"{end:,}",
            "all" if end is None else f"{end / PACKET:,.1f}",
            f"{row['flows']:.1%}",
            f"{row['bytes']:.1%}",
        )
    return table


def _gaps(found: Found) -> Table:
    table = wide_grid("above the least value of", numbers=OBJECTIVES)
    ours = [
        Ladder(f"best by {name}", each.thresholds, each.values)
        for name, each in found.optima.items()
    ]
    for ladder in (*ours, found.one_queue, *found.published):
        gaps = (found.above(ladder, name) for name in OBJECTIVES)
        table.add_row(ladder.name, *map(_percent, gaps))
    return table


def _percent(gap: float) -> str:
    """A gap with its sign, and none of zero."""
    return f"{round(gap, 3) + 0.0:+.1%}"
