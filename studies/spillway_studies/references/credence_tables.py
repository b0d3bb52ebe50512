"""The tables that `spillway validate credence` shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from spillway_studies.references import replayed
from spillway_studies.references.agreement import WITHIN
from spillway_studies.references.classes import LEAST_TIMEOUT_MS
from spillway_studies.references.credence_flows import CLASSES, PLACES, Run
from spillway_studies.references.replayed import flow_table, percentile_table
from spillway_studies.references.tables import shown_table

Comparison = replayed.Comparison[Run]


def tables(found: Sequence[Comparison]) -> list[Table]:
    """What agrees and what does not: percentiles, flows one by one, counts, single changes."""
    changed = [_differences(comparison) for comparison in found if comparison.differences]
    parts = [percentile_table("sharing", found), flow_table("sharing", found), _counts(found)]
    return [*parts, *changed]


def _counts(comparisons: Sequence[Comparison]) -> Table:
    has_drawn = any(comparison.drawn for comparison in comparisons)
    columns = ["sharing", "count", "reference", "ours"]
    return shown_table(
        "Counts",
        [*columns, *(["over drawn paths"] if has_drawn else [])],
        (line for comparison in comparisons for line in _counted(comparison)),
        f"over {LEAST_TIMEOUT_MS} ms: longer than the least timeout, or unfinished; long flows "
        "may take that without one. * the folder has no such counts of the reference.",
    )


def _counted(comparison: Comparison) -> Iterable[list[str]]:
    """The lines of one way of sharing."""

    def line(name: str, there: str, ours: int, drawn: Sequence[int]) -> list[str]:
        seen = [f"{min(drawn):,} .. {max(drawn):,}"] if drawn else []
        return [comparison.name, name, there, f"{ours:,}", *seen]

    ours, drawn = comparison.ours, comparison.drawn
    for kind in CLASSES:
        there = f"{comparison.flows_over_least_timeout[kind]:,}"
        late, *others = (run.flows_over_least_timeout[kind] for run in (ours, *drawn))
        yield line(f"{kind} flows over {LEAST_TIMEOUT_MS} ms", there, late, others)
    yield line("drops", "*", ours.drops, [run.drops for run in drawn])
    yield line("marks", "*", ours.marks, [run.marks for run in drawn])


def _differences(comparison: Comparison) -> Table:
    places = [("short", 0.95), ("long", 0.5), ("long", 0.95)]
    columns = ["change", "marks", "drops", "correlation", "mean ratio", "within 5%"]

    def line(change: str, run: Run) -> list[str]:
        background = run.flow_by_flow[0]
        return [
            change,
            f"{run.marks:,}",
            f"{run.drops:,}",
            f"{background.correlation:.3f}",
            f"{background.mean_ratio:.4f}",
            f"{100 * background.within[WITHIN.index(0.05)]:.0f}%",
            *(f"{run.percentiles[PLACES.index(place)]:.2f}" for place in places),
        ]

    return shown_table(
        f"{comparison.name} with one change: counts, background flow by flow, slowdowns",
        [*columns, *(f"{kind} {100 * p:g}" for kind, p in places)],
        [line("none", comparison.ours), *(line(*each) for each in comparison.differences.items())],
    )
