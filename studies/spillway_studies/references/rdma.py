"""Comparison with the public RDMA simulator: queues, rates, pauses and completion times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from rich.table import Table
from rich.text import Text

from spillway.base.errors import ScenarioError
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.files import Booleans, Floats
from spillway_studies.references.numbers import (
    MEDIAN_WITHIN,
    PERCENTILES,
    TAIL_WITHIN,
    Json,
    Verdict,
    agreements,
    compared,
    judged,
    nearest_rank,
    percentile_name,
    within,
)
from spillway_studies.references.rdma_files import Reference, runs
from spillway_studies.references.rdma_runs import (
    Outcome,
    cannot,
    changes,
    moved,
    of_reference,
    plan,
    run,
)
from spillway_studies.references.tables import changes_tables, flow_by_flow, shown_table, texts
from spillway_studies.references.validation import Validation, run_each, validation

_MOVED = 10
"""Runs in which every start is moved by less than a microsecond, and marks are drawn anew."""
_LEAST_PAUSES = 100
"""With fewer pauses in the reference their number and time are shown, but not judged."""
_PAUSES_WITHIN = 0.15
_RULE = (
    f"medians, means and goodput within {100 * MEDIAN_WITHIN:g}%, tails and deviations within "
    f"{100 * TAIL_WITHIN:g}%, or in the range of {_MOVED} runs with moved starts; pauses within "
    f"{100 * _PAUSES_WITHIN:g}% where there are {_LEAST_PAUSES}"
)
_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000


def rdma(folder: Path, *, jobs: int = 2, differences: bool = False) -> Validation:
    """The public simulator of HPCC's authors: DCQCN, lossless priorities, its hosts' NICs.

    `folder` has folders of runs (`A`, `B`, ...), each run with its settings `RUN.config.txt` and
    what it left: `RUN.q`, `.rate`, `.fct`, `.pfc` (Parquet or CSV); and `inputs`, with topologies,
    flows and routes. What is missing is left out, and so are runs that cannot be repeated.
    `differences` adds one run for each setting that is changed.
    """
    references, left_out, wrong = runs(folder)
    comparisons = []
    with TemporaryDirectory() as place:
        for reference in references:
            try:
                if reason := cannot(reference):
                    left_out.append(f"{reference.name}: {reason}")
                    continue
                there = of_reference(reference)
                if not any(measures(reference, there)):
                    lacks = "; ".join(reference.lacks)
                    left_out.append(f"{reference.name}: there is nothing to compare: {lacks}")
                    continue
                comparisons.append(_compare(reference, there, Path(place), jobs, differences))
            except ScenarioError as error:
                wrong.append(f"{reference.name}: {error}")
    if not comparisons:
        raise ScenarioError(
            f"{folder}: there is nothing to compare: {'; '.join([*wrong, *left_out])}",
            "see studies/spillway_studies/references/validation.md for what such a folder holds",
        )
    return validation(
        {
            # The times of incomplete flows are None.
            each["run"]: each | {name: _finite(each[name]) for name in ("numbers", "differences")}
            for each in comparisons
        }
        | {"left_out": left_out, "wrong": wrong},
        [
            *(part for each in comparisons for part in _tables(each)),
            *texts(left_out),
            *texts(wrong, "wrong, and left out: "),
        ],
        (one for each in comparisons for one in judged(each["run"], each["numbers"], "what")),
        _RULE,
        "only in the range of our runs",
        [each.split(":", 1)[0] for each in wrong],
    )


def _compare(
    reference: Reference, there: Outcome, place: Path, jobs: int, differences: bool
) -> Json:
    """Runs what is needed, and puts the numbers of all runs beside each other.

    A number's `moved` are the least and the greatest of our runs, those with moved starts included.
    For numbers other than those of pauses, lying in that range also counts as agreement.
    """
    scenario, lacks = plan(reference, place)
    drawn = [(moved(reference, scenario, seed, place), seed) for seed in range(1, _MOVED + 1)]
    changed = changes(scenario) if differences else {}

    def work(
        each: tuple[Scenario, int | None], report: Report
    ) -> tuple[dict[str, float], Floats | None]:
        """The values of a run by what they are, and its completion times."""
        outcome = run(reference, *each, report)
        return {what: value for what, _, value, _ in measures(reference, outcome)}, outcome.fct_ns

    given: tuple[Scenario, int | None] = (scenario, None)
    ways = {name: (own, None) for name, own in changed.items()}
    (ours, fct_ns), others, differing = run_each(work, given, drawn, ways, jobs)
    numbers = []
    for what, unit, value, bound in measures(reference, there):
        own = [each.get(what, 0.0) for each in (ours, *(told for told, _ in others))]
        ends, range_counts = (min(own), max(own)), not what.startswith("pauses")
        # A run in which some flows are not complete makes no range.
        is_range = range_counts and math.isfinite(ends[1])
        numbers.append(
            compared(
                {
                    "what": what,
                    "unit": unit,
                    "reference": value,
                    "ours": own[0],
                    "within": bound,
                    "moved": ends,
                    "range_counts": range_counts,
                },
                bound,
                (Verdict.in_range, value, ends if is_range else None),
            )
        )
    by_flow = []
    if there.fct_ns is not None and fct_ns is not None:
        by_flow = agreements(classes(reference), there.fct_ns, fct_ns)
    return {
        "run": reference.name,
        "numbers": numbers,
        "flow_by_flow": by_flow,
        "differences": {
            change: [told.get(each["what"], 0.0) for each in numbers]
            for change, (told, _) in differing.items()
        },
        "notes": [*reference.lacks, *lacks],
    }


def _finite(value: Any) -> Any:
    """A value with None for what is not finite."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# The numbers of a run ----------------------------------------------------------------------------


Measure: TypeAlias = tuple[str, str, float, float | None]
"""A number of a run: its name, such as "queue mean", its unit, its value, and the allowed
difference as a fraction; None if the number is shown but not judged.
"""


def measures(reference: Reference, outcome: Outcome) -> Iterator[Measure]:
    """The numbers of a run."""
    if outcome.queue is not None and len(outcome.queue):
        kb = outcome.queue / 1e3
        yield ("queue mean", "KB", float(kb.mean()), MEDIAN_WITHIN)
        yield ("queue deviation", "KB", float(kb.std()), TAIL_WITHIN)
        yield ("queue p99", "KB", nearest_rank(kb, 0.99), TAIL_WITHIN)
    if outcome.delivered is not None and reference.progress is not None:
        begin, end = reference.window_ns
        sent = outcome.delivered
        yield ("goodput", "Gbps", float(8 * sent.sum() / (end - begin)), MEDIAN_WITHIN)
        yield ("fairness", "", _fairness(sent), MEDIAN_WITHIN)
    if outcome.fct_ns is not None:
        yield from _of_times(reference, outcome.fct_ns)
    for name, times in (outcome.pauses or {}).items():
        bound = _PAUSES_WITHIN if len(times) >= _LEAST_PAUSES else None
        yield (f"pauses {name}", "", float(len(times)), bound)
        yield (f"pauses {name} time", "us", float(times.sum() / 1e3), bound)


def _of_times(reference: Reference, fct_ns: Floats) -> Iterator[Measure]:
    """Percentiles of slowdowns, by size, and of times where all flows have one size."""
    assert reference.completed is not None
    known = reference.completed.is_known
    if not np.isfinite(reference.completed.fct_ns[known]).all():
        # Some never are: how many are complete stands for the times of all.
        count = float(np.isfinite(fct_ns[known]).sum())
        yield ("complete flows", "", count, TAIL_WITHIN)
        return
    slowdown = fct_ns / reference.completed.ideal_ns
    for name, members in classes(reference).items():
        count = int(members.sum())
        # Of few flows several percentiles are the same one: the least is told.
        by_place = {math.ceil(p * count): p for p in reversed(PERCENTILES)}
        for p in reversed(by_place.values()):
            value = nearest_rank(slowdown[members], p)
            yield (f"slowdown {percentile_name(name, p)}", "", value, within(p))


def classes(reference: Reference) -> dict[str, Booleans]:
    """Which known flows belong to which class: by size, and all if there are several."""
    assert reference.completed is not None
    size, known = reference.flows["size_bytes"], reference.completed.is_known
    by_size = {
        "up to 100 KB": known & (size <= _SHORT_BYTES),
        "up to 1 MB": known & (size > _SHORT_BYTES) & (size < _LONG_BYTES),
        "from 1 MB": known & (size >= _LONG_BYTES),
    }
    found = {name: members for name, members in by_size.items() if members.any()}
    return found if len(found) == 1 else found | {"all": known}


def _fairness(sent: Floats) -> float:
    """Jain's index."""
    squares = float((sent**2).sum())
    return float(sent.sum()) ** 2 / (len(sent) * squares) if squares else 0.0


# Tables ------------------------------------------------------------------------------------------


def _tables(found: Json) -> list[Table | Text]:
    """What agrees and what does not, of one run, and changed settings."""
    run, numbers = found["run"], found["numbers"]
    parts: list[Table | Text] = [
        shown_table(
            run,
            ["class", "unit", "reference", "ours", "difference", "with moved starts", ""],
            (
                [
                    each["what"],
                    each["unit"],
                    _shown(each["reference"]),
                    _shown(each["ours"]),
                    f"{each['difference']:+.1%}",
                    " .. ".join(_shown(end) for end in each["moved"]),
                    each["verdict"],
                ]
                for each in numbers
            ),
        ),
        *texts(found["notes"], f"{run}: "),
    ]
    if found["flow_by_flow"]:
        title = f"{run}: FCT flow by flow, ours to the reference's"
        parts.append(flow_by_flow(title, [], (([], each) for each in found["flow_by_flow"])))
    if found["differences"]:
        names = [each["what"] for each in numbers]
        parts += changes_tables(run, names, numbers, found["differences"], _shown)
    return parts


def _shown(value: float) -> str:
    """A number with four digits or so."""
    return f"{value:,.1f}" if value >= 1_000 else f"{value:.4g}"
