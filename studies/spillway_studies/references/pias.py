"""Comparison with PIAS's own program for ns-2: short flows on connections that were used before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table
from rich.text import Text

from spillway_studies.references.bounds import bounds
from spillway_studies.references.percentiles import PERCENTILES
from spillway_studies.references.pias_compared import Comparison, compare, measured
from spillway_studies.references.pias_files import runs
from spillway_studies.references.pias_runs import DIFFERENCES, scenario
from spillway_studies.references.scenarios import run_each
from spillway_studies.references.tables import changes, percentiles, shown_table, texts
from spillway_studies.references.validation import Validation

_NAMES = [f"{100 * p:g}" for p in PERCENTILES]
_WORDS = {"slowdown": "slowdown", "time": "time in us"}


def pias(
    folder: Path, *, paths: int = 0, jobs: int = 2, differences: bool = False
) -> Validation[Comparison]:
    """PIAS's program (HKUST-SING/PIAS-NS2): 24 hosts, strict priorities, DCTCP, sprayed packets.

    `folder` holds the flows of runs with their times, `flows_WORKLOAD_pias_LOAD_ID.parquet`.
    Compared are the completion times of flows under 100 KB on connections that were used before.
    `paths` is the number of further runs with other random paths; `differences` adds one run for
    each setting that is changed.
    """
    references, left_out = runs(folder)
    comparisons = []
    with TemporaryDirectory() as place:
        for reference in references:
            given = scenario(reference, Path(place))
            drawn = [given.set({"seed": seed}) for seed in range(2, paths + 2)]
            ways = DIFFERENCES if differences else {}
            changes = {name: given.set(change) for name, change in ways.items()}
            tried = run_each(measured, given, drawn, changes, jobs)
            comparisons.append(compare(reference, tried))
    return Validation(
        comparisons,
        {found.run: found.document for found in comparisons} | {"left_out": left_out},
        _tables(comparisons, left_out),
        bounds(judged for found in comparisons for judged in found.judged),
    )


def _tables(comparisons: Sequence[Comparison], left_out: Sequence[str]) -> list[Table | Text]:
    """What agrees and what does not; then other flows, changed settings, and what is left out."""
    parts: list[Table | Text] = []
    for found in comparisons:
        parts += [_compared(found), _others(found)]
        if found.differences:
            parts += _differences(found)
    return [*parts, *texts(left_out)]


def _compared(found: Comparison) -> Table:
    counts = ", ".join(f"{number:,} {name}" for name, number in found.counts.items())
    return percentiles(
        f"{found.run}: {found.count:,} flows under 100 KB on used connections",
        ["class"],
        (([_WORDS[row.flows]], row) for row in found.rows),
        ",.2f",
        f"ours: {counts}",
    )


def _others(found: Comparison) -> Table:
    lines = []
    for each in found.others:
        pairs = zip(each.reference, each.ours, strict=True)
        values = (f"{value:.2f}" for pair in pairs for value in pair)
        lines.append([each.flows, f"{each.count:,}", *values])
    return shown_table(
        f"{found.run}: slowdowns of other flows, which are not compared",
        ["class", "n", *(f"{name}{of}" for name in _NAMES for of in ("", ", ours"))],
        lines,
    )


def _differences(found: Comparison) -> list[Table]:
    lines = {
        "reference": [row.reference for row in found.rows],
        "none": [row.ours for row in found.rows],
    }
    names = [f"{row.flows} {100 * row.percentile:g}" for row in found.rows]
    return changes(found.run, names, lines | found.differences, lambda value: f"{value:,.2f}")
