"""All runs of an arena as one table."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spillway.contest.plan import Plan
from spillway.experiment.experiment import Experiment
from spillway.result.metrics import Metric
from spillway.result.summary_paths import Summary, flat

Values = NDArray[np.float64]
"""A number of all runs: a row for every context and seed, a column for every level; NaN where the
level cannot be, infinite where flows that count did not end.
"""

_OF_CLASS = re.compile(
    r"(?:slowdown\.|fct_slowdown\.|fct_us\.)?(.+)\.(mean|max|p50|p95|p99|p99[._]9)"
)
BEYOND = {"p50": 0.5, "p95": 0.05, "p99": 0.01, "p99.9": 0.001, "p99_9": 0.001}
"""The share of flows above a percentile."""


def table(
    plan: Plan,
    experiments: Sequence[tuple[Experiment, Mapping[int, int]]],
    metrics: Sequence[Metric],
) -> pa.Table:
    """A row for every combination and seed.

    Columns: `scenario`, `context` (a number), each factor's level, `seed`, `status`, `key` (of the
    run), `few` (whether the first metric rests on few flows), `timeouts` (the share of flows with
    one), the metrics of the ranks, in which flows that did not end count as infinitely slow, behind
    `rank.`, and every number of the summary by its path.
    """
    rows: dict[str, list[Any]] = {}
    numbers: dict[str, array[float]] = {}
    count = 0
    for experiment, places in experiments:
        entrants: dict[int, list[int]] = {}
        for number, place in places.items():
            entrants.setdefault(place, []).append(number)
        for place, (_, runs) in enumerate(experiment.results):
            if place not in entrants:
                continue
            keys = experiment.asked.entries[place].run_keys()
            for seed, summary in runs.summaries():
                known = dict(flat(summary))
                ranks = {f"rank.{each.key}": adjusted(each, summary) for each in metrics}
                for number in entrants[place]:
                    entrant = plan.entrants[number]
                    told = {
                        "scenario": plan.grounds[plan.ground(entrant.context)].name,
                        "context": entrant.context,
                        **{
                            factor.name: factor.levels[at].name
                            for factor, at in zip(plan.factors, entrant.levels, strict=True)
                        },
                        "seed": seed,
                        "status": summary["status"],
                        "key": keys[seed],
                        "few": metrics[0].is_few(summary),
                        "timeouts": timeouts(summary),
                    }
                    for name, value in told.items():
                        rows.setdefault(name, []).append(value)
                    for name, value in {**ranks, **known}.items():
                        if name not in told:
                            column = numbers.setdefault(name, array("d"))
                            column.extend([math.nan] * (count - len(column)))
                            column.append(math.nan if value is None else value)
                    count += 1
    for column in numbers.values():
        column.extend([math.nan] * (count - len(column)))
    made = {name: pa.array(values) for name, values in rows.items()}
    for name in sorted(numbers, key=lambda name: (not name.startswith("rank."), name)):
        column = numbers[name]
        made[name] = pa.array(np.frombuffer(column), mask=np.isnan(column))
    return pa.table(made)


def timeouts(summary: Summary) -> float | None:
    """The share of flows with a timeout."""
    row = summary["fct_slowdown"]["all"]
    flows = row["count"] + row["unfinished"]
    return row["with_timeout"] / flows if flows else None


def adjusted(metric: Metric, summary: Summary) -> float | None:
    """A metric in which flows that did not end count as infinitely slow.

    A percentile is infinite if more flows than lie above it did not end, a mean if any did not.
    """
    value = metric.read(summary)
    match = _OF_CLASS.fullmatch(metric.key)
    row = summary["fct_slowdown"].get(match[1]) if match else None
    if match is None or row is None or not row["unfinished"]:
        return value
    share = row["unfinished"] / (row["count"] + row["unfinished"])
    return math.inf if share > BEYOND.get(match[2], 0.0) else value


def values(runs: pa.Table, name: str, ranked: str, levels: Sequence[str]) -> Values:
    """A number of all runs: a row for every context and seed, in order, a column for each level."""
    rows, shape = places(runs)
    found = np.full((shape, len(levels)), math.nan)
    columns = {level: place for place, level in enumerate(levels)}
    at = [columns[level] for level in runs[ranked].to_pylist()]
    found[rows, at] = runs[name].to_numpy(zero_copy_only=False)
    return found


def places(runs: pa.Table) -> tuple[NDArray[np.int64], int]:
    """The place of each run among the pairs of a context and a seed, and how many these are."""
    pairs = list(zip(runs["context"].to_pylist(), runs["seed"].to_pylist(), strict=True))
    order = {pair: place for place, pair in enumerate(sorted(set(pairs)))}
    return np.array([order[pair] for pair in pairs], dtype=np.int64), len(order)


def of_units(runs: pa.Table, name: str) -> list[Any]:
    """What all runs of a context and seed have in common, such as `scenario`, in their order."""
    rows, count = places(runs)
    found: list[Any] = [None] * count
    for row, value in zip(rows, runs[name].to_pylist(), strict=True):
        found[row] = value
    return found
