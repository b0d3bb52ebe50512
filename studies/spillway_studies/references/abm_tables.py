"""The tables that `spillway validate abm` shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from spillway_studies.references import replayed
from spillway_studies.references.abm_measured import PLACES, Run
from spillway_studies.references.abm_others import Beside
from spillway_studies.references.agreement import WITHIN
from spillway_studies.references.classes import LEAST_TIMEOUT_MS
from spillway_studies.references.closed_form import UNCONTENDED_NS, Uncontended
from spillway_studies.references.replayed import flow_table, percentile_table
from spillway_studies.references.tables import interval, shown_table

Comparison = replayed.Comparison[Run]
_CHANGED = [(kind, p) for kind in ("short", "medium", "large", "incast") for p in (0.5, 0.99)]
"""The percentiles that are shown where one setting is changed."""


def tables(found: Sequence[Comparison], others: Sequence[Beside]) -> list[Table]:
    """What agrees and what does not: percentiles, flows one by one, timeouts, single changes."""
    parts = [percentile_table("transport", found), flow_table("transport", found)]
    parts += [_counts(found), _uncontended(found)]
    parts += [_differences(comparison) for comparison in found if comparison.differences]
    return [*parts, *([_others(others)] if others else [])]


def _counts(comparisons: Sequence[Comparison]) -> Table:
    bound = f"over {LEAST_TIMEOUT_MS} ms"
    lines = []
    for found in comparisons:
        for kind, there in found.flows_over_least_timeout.items():
            late = found.ours.flows_over_least_timeout[kind]
            counts = (there, late, found.ours.flows_with_timeout[kind])
            lines.append([found.name, kind, *(f"{count:,}" for count in counts)])
    return shown_table(
        "Flows that a timeout has hit",
        ["transport", "class", f"reference {bound}", f"ours {bound}", "ours with a timeout"],
        lines,
        f"{bound}: longer than the least timeout, or unfinished; flows from 1 MB on may take that "
        "without one, and the reference's output does not tell timeouts.",
    )


def _uncontended(comparisons: Sequence[Comparison]) -> Table:
    columns = ["transport", "flows"]
    columns += [f"{side} within {ns} ns" for ns in UNCONTENDED_NS for side in ("reference", "ours")]
    columns += ["ours exactly", "both", "reference off by", "ours off by"]
    return shown_table(
        "Small background flows and the closed form for those that meet none",
        columns,
        ([found.name, *_close(found.ours.uncontended)] for found in comparisons),
    )


def _close(found: Uncontended) -> Iterable[str]:
    """How many flows are close to the closed form, and how far off they are."""
    yield f"{found.flows:,}"
    for ns in UNCONTENDED_NS:
        yield f"{found.reference_within_ns[ns]:,}"
        yield f"{found.ours_within_ns[ns]:,}"
    yield f"{found.ours_exactly:,}"
    yield f"{found.both:,}"
    for residual in found.residual_ns:
        yield "-" if residual is None else f"{residual:.1f} ns"


def _differences(comparison: Comparison) -> Table:
    there = {(row.flows, row.percentile): row.reference for row in comparison.rows}
    late = comparison.flows_over_least_timeout["incast"]
    runs = {"none": comparison.ours, **comparison.differences}
    return shown_table(
        f"{comparison.name} with one change: background flow by flow, timeouts, slowdowns",
        ["change", "within 5%", "timeouts", *(f"{kind} {100 * p:g}" for kind, p in _CHANGED)],
        [
            ["reference", "", f"{late:,}", *(_shown(there.get(place)) for place in _CHANGED)],
            *(_changed(change, run) for change, run in runs.items()),
        ],
        "timeouts: incast flows over the least timeout.",
    )


def _changed(change: str, run: Run) -> list[str]:
    """The line of a change."""
    return [
        change,
        f"{100 * run.flow_by_flow[0].within[WITHIN.index(0.05)]:.0f}%",
        f"{run.flows_over_least_timeout['incast']:,}",
        *(_shown(run.percentiles[PLACES.index(place)]) for place in _CHANGED),
    ]


def _shown(slowdown: float | None) -> str:
    return "-" if slowdown is None else f"{slowdown:.2f}"


def _others(found: Sequence[Beside]) -> Table:
    columns = ["transport", "sharing", "answer", "class", "percentile", "reference", "ours"]
    lines = (
        [
            beside.transport,
            beside.scheme,
            f"{beside.answer_bytes:,}",
            place.flows,
            f"{100 * place.percentile:g}",
            f"{place.reference:.2f}",
            f"{place.ours:.2f}",
            interval(place.interval),
            f"{place.difference:+.1%}",
            place.verdict,
        ]
        for beside in found
        for place in beside.places
    )
    return shown_table(
        "Slowdown under other schemes and transports, and the published percentiles",
        [*columns, "95% interval", "difference", ""],
        lines,
        "answer: bytes of an incast flow. The interval is that of ours.",
    )
