"""Comparison with Linux's own TCP and queueing disciplines, in virtual time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from spillway.tasks.each import all_of
from spillway_studies.references.bounds import Compared, Judged, Verdict, bounds
from spillway_studies.references.kinds import Floats
from spillway_studies.references.linux_files import Run, Setting, runs
from spillway_studies.references.linux_runs import measured
from spillway_studies.references.percentiles import bootstrap, percentile
from spillway_studies.references.tables import interval, shown_table, texts
from spillway_studies.references.validation import Validation

WITHIN = {
    "goodput": 0.01,
    "mean queue": 0.05,
    "p99 of the queue": 0.1,
    "drops": 0.15,
    "marks": 0.15,
    "median": 0.05,
    "p99": 0.15,
}
"""How far a number of ours may be from the kernel's, as a share of it."""
_SHARES = ", ".join(f"{name} within {100 * share:g}%" for name, share in WITHIN.items())
_RULE = f"{_SHARES}, or within the kernel's own seeds"
UNITS = {
    "goodput": "Mbit/s",
    "mean queue": "packets",
    "p99 of the queue": "packets",
    "drops": "a second",
    "marks": "a second",
    "median": "ms",
    "p99": "ms",
}
_OF_TRANSFERS = {"median": 0.5, "p99": 0.99}


@dataclass(frozen=True)
class Row(Compared):
    """One number of a setting: the mean over the kernel's seeds, and over ours."""

    name: str
    reference: float
    seeds: tuple[float, float]
    """The least and the greatest of the kernel's seeds."""
    interval: tuple[float, float] | None
    """95% bootstrap interval of a percentile of transfers, all of one run."""
    ours: float

    @property
    def verdict(self) -> Verdict:
        """Near within the bound, or within the kernel's own seeds."""
        low, high = self.seeds
        if abs(self.difference) <= WITHIN[self.name] or low <= self.ours <= high:
            return Verdict.near
        if self.interval and self.interval[0] <= self.ours <= self.interval[1]:
            return Verdict.undecided
        return Verdict.outside


@dataclass(frozen=True)
class Comparison:
    """The runs of one setting."""

    setting: Setting
    count: int
    """The number of seeds."""
    rows: list[Row]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        rows = [row.document for row in self.rows]
        return vars(self.setting) | {"seeds": self.count, "rows": rows}

    @property
    def judged(self) -> list[Judged]:
        """All numbers, as bounds count them."""
        return [row.judged(f"{self.setting.name} {row.name}") for row in self.rows]


def linux(folder: Path, *, jobs: int = 2) -> Validation[Comparison]:
    """Linux's TCP over its own queueing disciplines, one bottleneck, without jitter.

    `folder` holds runs.csv, queue.parquet, tcp.parquet and fct.parquet. Every run is run here, and
    compared are the means over the seeds of a setting.
    """
    found, left_out = runs(folder)
    with TemporaryDirectory() as place:
        ours = all_of(lambda run, report: measured(run, Path(place), report), found, jobs)
    settings = dict.fromkeys(run.setting for run in found)
    comparisons = []
    for setting in settings:
        pairs = [(run, own) for run, own in zip(found, ours, strict=True) if run.setting == setting]
        rows = list(_rows(setting, pairs))
        comparisons.append(Comparison(setting, len(pairs), rows))
    by_name = {each.setting.name: each.document for each in comparisons}
    return Validation(
        comparisons,
        by_name | {"left_out": left_out},
        [*(_table(each) for each in comparisons), *texts(left_out)],
        bounds((judged for each in comparisons for judged in each.judged), _RULE),
    )


def _rows(
    setting: Setting, pairs: list[tuple[Run, tuple[dict[str, float], Floats]]]
) -> Iterator[Row]:
    for name in WITHIN:
        interval = None
        if setting.size:
            if (p := _OF_TRANSFERS.get(name)) is None:
                continue
            there = [percentile(run.recv_ms, p) for run, _ in pairs]
            here = [percentile(times, p) for _, (_, times) in pairs]
            if len(pairs) == 1:
                interval = bootstrap(pairs[0][0].recv_ms, p)
        else:
            if name in _OF_TRANSFERS:
                continue
            there = [run.numbers[name] for run, _ in pairs]
            here = [numbers[name] for _, (numbers, _) in pairs]
        reference, own = sum(there) / len(there), sum(here) / len(here)
        if reference or own:
            yield Row(name, reference, (min(there), max(there)), interval, own)


def _table(found: Comparison) -> Table:
    """What agrees and what does not, of one setting."""
    lines = (
        [
            row.name,
            UNITS[row.name],
            f"{row.reference:,.2f}",
            interval(row.seeds),
            f"{row.ours:,.2f}",
            f"{row.difference:+.1%}",
            row.verdict,
        ]
        for row in found.rows
    )
    return shown_table(
        f"{found.setting.name}: {'1 seed' if found.count == 1 else f'{found.count} seeds'}",
        ["count", "unit", "kernel", "its seeds", "ours", "difference", ""],
        lines,
    )
