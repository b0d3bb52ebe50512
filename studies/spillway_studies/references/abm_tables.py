"""The tables that `spillway validate abm` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spillway_studies.references.abm import PLACES, UNCONTENDED_NS, Comparison, Run, Validation
from spillway_studies.references.abm_others import Beside
from spillway_studies.references.agreement import LEAST_TIMEOUT_MS, WITHIN
from spillway_studies.references.tables import interval, shown_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


def table(validation: Validation) -> Group:
    """What agrees and what does not: percentiles, flows one by one, timeouts, single changes."""
    from rich.console import Group

    found = validation.comparisons
    changed = [_differences(comparison) for comparison in found if comparison.differences]
    parts = [_percentiles(found), _flow_by_flow(found), _counts(found), _uncontended(found)]
    others = [_others(validation.others)] if validation.others else []
    return Group(*parts, *changed, *others)


def _percentiles(comparisons: Sequence[Comparison]) -> Table:
    has_drawn = any(comparison.drawn for comparison in comparisons)
    columns = ["transport", "class", "n", "percentile", "reference", "95% interval", "ours"]
    columns += [*(["over drawn paths"] if has_drawn else []), "difference", ""]
    shown = shown_table("Slowdown: the reference and Spillway", columns)
    for comparison in comparisons:
        for row in comparison.rows:
            shown.add_row(
                comparison.transport,
                row.flows,
                f"{comparison.counts[row.flows]:,}",
                f"{100 * row.percentile:g}",
                f"{row.reference:.2f}",
                interval(row.interval),
                f"{row.ours:.2f}",
                *([interval(row.drawn)] if row.drawn else []),
                f"{100 * row.difference:+.1f}%",
                row.verdict,
            )
    return shown


def _flow_by_flow(comparisons: Sequence[Comparison]) -> Table:
    columns = ["transport", "flows", "matched", "correlation", "median ratio", "mean ratio"]
    shown = shown_table(
        "FCT flow by flow: Spillway's to the reference's",
        [*columns, *(f"within {100 * bound:g}%" for bound in WITHIN)],
    )
    for comparison in comparisons:
        for found in comparison.ours.flow_by_flow:
            shown.add_row(
                comparison.transport,
                found.flows,
                f"{found.matched:,} of {found.count:,}",
                f"{found.correlation:.3f}",
                f"{found.median_ratio:.4f}",
                f"{found.mean_ratio:.4f}",
                *(f"{100 * share:.0f}%" for share in found.within),
            )
    return shown


def _counts(comparisons: Sequence[Comparison]) -> Table:
    bound = f"over {LEAST_TIMEOUT_MS} ms"
    columns = ["transport", "class", f"reference {bound}", f"ours {bound}", "ours with a timeout"]
    shown = shown_table("Flows that a timeout has hit", columns)
    shown.caption = (
        f"{bound}: longer than the least timeout, or unfinished; flows from 1 MB on may take that "
        "without one, and the reference's output does not tell timeouts."
    )
    for comparison in comparisons:
        ours = comparison.ours
        for kind, there in comparison.flows_over_least_timeout.items():
            here = ours.flows_over_least_timeout[kind], ours.flows_with_timeout[kind]
            shown.add_row(comparison.transport, kind, *(f"{each:,}" for each in (there, *here)))
    return shown


def _uncontended(comparisons: Sequence[Comparison]) -> Table:
    columns = ["transport", "flows"]
    columns += [f"{side} within {ns} ns" for ns in UNCONTENDED_NS for side in ("reference", "ours")]
    columns += ["ours exactly", "both", "reference off by", "ours off by"]
    shown = shown_table(
        "Small background flows and the closed form for those that meet none", columns
    )
    for comparison in comparisons:
        found = comparison.ours.uncontended
        counts = [
            number
            for ns in UNCONTENDED_NS
            for number in (found.reference_within_ns[ns], found.ours_within_ns[ns])
        ]
        shown.add_row(
            comparison.transport,
            *(f"{number:,}" for number in (found.flows, *counts, found.ours_exactly, found.both)),
            *("-" if each is None else f"{each:.1f} ns" for each in found.residual_ns),
        )
    return shown


def _differences(comparison: Comparison) -> Table:
    places = [("short", 0.5), ("short", 0.99), ("medium", 0.5), ("medium", 0.99)]
    places += [("large", 0.5), ("large", 0.99), ("incast", 0.5), ("incast", 0.99)]
    shown = shown_table(
        f"{comparison.transport} with one change: background flow by flow, timeouts, slowdowns",
        ["change", "within 5%", "timeouts", *(f"{kind} {100 * p:g}" for kind, p in places)],
    )
    there = {(row.flows, row.percentile): f"{row.reference:.2f}" for row in comparison.rows}
    late = comparison.flows_over_least_timeout["incast"]
    shown.add_row("reference", "", f"{late:,}", *(there.get(place, "-") for place in places))

    def add(change: str, run: Run) -> None:
        background = run.flow_by_flow[0]
        percentiles = [run.percentiles[PLACES.index(place)] for place in places]
        shown.add_row(
            change,
            f"{100 * background.within[WITHIN.index(0.05)]:.0f}%",
            f"{run.flows_over_least_timeout['incast']:,}",
            *("-" if each is None else f"{each:.2f}" for each in percentiles),
        )

    for change, run in {"none": comparison.ours, **comparison.differences}.items():
        add(change, run)
    shown.caption = "timeouts: incast flows over the least timeout."
    return shown


def _others(found: Sequence[Beside]) -> Table:
    columns = ["transport", "sharing", "answer", "class", "percentile", "reference", "ours"]
    shown = shown_table(
        "Slowdown under other schemes and transports, and the published percentiles",
        [*columns, "95% interval", "difference", ""],
    )
    for beside in found:
        for place in beside.places:
            shown.add_row(
                beside.transport,
                beside.scheme,
                f"{beside.answer_bytes:,}",
                place.flows,
                f"{100 * place.percentile:g}",
                f"{place.reference:.2f}",
                f"{place.ours:.2f}",
                interval(place.interval),
                f"{100 * place.difference:+.1f}%",
                place.verdict,
            )
    shown.caption = "answer: bytes of an incast flow. The interval is that of ours."
    return shown
