"""What the page has of an arena: its own tables and pictures, and a picture by scenario."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from rich.table import Table

from spillway.contest import plots, tables
from spillway.contest.ranks import Floats, regrets
from spillway.contest.results import of_units, values
from spillway.show.drawing import drawing_of
from spillway.show.tables import one_line
from spillway_studies.arena import run
from spillway_studies.claims import Drawing
from spillway_studies.claims.side_by_side import markdown
from spillway_studies.claims.write import UnpublishedError

Document = Mapping[str, Any]
METRIC = "rank.all.p99"
SHOWN, MUCH = 1.05, 10.0
"""Ratios below the first are not written in the picture, those above the second look alike."""


@functools.cache
def summary(name: str) -> Document:
    """The summary of an arena."""
    file = run.KEPT / f"{name}.json"
    if not file.exists():
        hint = f"python -m spillway_studies.arena.run arena {name}"
        raise UnpublishedError(f"no numbers of the arena {name} are kept", hint)
    found: Document = json.loads(file.read_text(encoding="utf-8"))
    return found


def in_markdown(table: Table) -> str:
    """A table of the terminal in a page."""
    heads = [one_line(str(column.header)) for column in table.columns]
    return markdown(heads, zip(*(map(str, column.cells) for column in table.columns), strict=True))


def of_levels(name: str, options: Mapping[str, str]) -> str:
    """What the levels of a factor do to each number."""
    return in_markdown(dict(tables.levels(summary(name)))[options["factor"]])


def of_size(names: str, _: Mapping[str, str]) -> str:
    """What was run."""
    rows = []
    for name in names.split(", "):
        found = summary(name)
        hours = sum(pq.read_table(run.KEPT / f"{name}.parquet")["run.cpu_s"].to_pylist()) / 3600
        design = found["design"]
        rows.append(
            [
                f"`{name}`",
                f"{design['contexts']:,} of {design['of']:,}",
                str(len(found["levels"])),
                f"{len(found['seeds'])}",
                f"{found['runs']:,}",
                f"{hours:.1f}",
            ]
        )
    heads = ["arena", "contexts", found["ranked"], "seeds", "different runs", "CPU hours"]
    return markdown(heads, rows)


def by_scenario(name: str) -> tuple[list[str], list[str], Floats]:
    """The geometric mean of each level's ratio to the best, in each scenario.

    Returns:
        The levels, the best mean rank first; the scenarios; and the ratios, a row for every level:
        infinite where a run never ended, NaN where the level cannot be.
    """
    found, runs = summary(name), pq.read_table(run.KEPT / f"{name}.parquet")
    levels = [each["level"] for each in tables.ordered(found)]
    logs = np.log1p(regrets(values(runs, METRIC, found["ranked"], levels)))
    of = np.asarray(of_units(runs, "scenario"))
    names = [each for each in found["scenarios"] if each not in found["without"]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        means = [np.exp(np.nanmean(logs[of == each], axis=0)) for each in names]
    return levels, names, np.array(means).T


def heat(name: str) -> Drawing:
    """These ratios as a picture."""
    levels, names, ratios = by_scenario(name)
    logs = np.log(np.minimum(ratios, MUCH))
    with drawing_of(9.6, 0.8 + 0.27 * len(levels)) as drawing:
        axes = drawing.subplots()
        image = axes.imshow(logs, vmin=0.0, vmax=np.log(MUCH), cmap="YlOrRd", aspect="auto")
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
        axes.set_yticks(range(len(levels)), levels)
        axes.grid(visible=False)
        for (row, column), ratio in np.ndenumerate(ratios):
            if ratio >= SHOWN:
                text = f"{ratio:.2g}" if ratio < MUCH - 0.05 else "10+"
                colour = "white" if ratio > MUCH / 2 else "black"
                axes.text(column, row, text, ha="center", va="center", size=6.5, color=colour)
        ticks = [1, 2, 5, 10]
        bar = drawing.colorbar(image, ticks=np.log(ticks), pad=0.01)
        bar.ax.set_yticklabels([*map(str, ticks[:-1]), "10+"])
        bar.set_label("ratio to the best")
    return drawing


TABLES: Mapping[str, Callable[[Document], Table]] = {
    "standings": tables.standings,
    "worst": tables.worst_cases,
    "metrics": tables.other_metrics,
    "front": tables.front,
    "effects": lambda found: tables.effects(found, most=12),
}


def block(name: str, options: Mapping[str, str]) -> str | tuple[str, Drawing]:
    """What the page has of an arena: a table, or a picture."""
    kind = options["table"]
    if kind == "plot":
        of = options["of"]
        drawn = heat(name) if of == "scenarios" else plots.figures(summary(name))[of]
        return f"Arena {name}: {of}", drawn
    if kind == "size":
        return of_size(name, options)
    if kind == "levels":
        return of_levels(name, options)
    return in_markdown(TABLES[kind](summary(name)))
