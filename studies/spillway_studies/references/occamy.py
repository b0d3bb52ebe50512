"""Comparison with Occamy's simulation: the fate and the time of every packet at one switch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table

from spillway.base.threads import all_of
from spillway_studies.references.files import Whole
from spillway_studies.references.numbers import Json, Verdict
from spillway_studies.references.occamy_files import TIED, Found, found_cases, found_runs
from spillway_studies.references.occamy_replay import EXPELLED, Outcome, Run, replay
from spillway_studies.references.tables import shown_table, texts
from spillway_studies.references.validation import Validation, validation

_DIFFERENCES = {"fates": "other fate", "times": "other time", "marks": "other mark"}
_LENGTHS = {
    "queue_bytes": "other queue",
    "occupancy_bytes": "other occupancy",
    "threshold_bytes": "other threshold",
}
_RULE = (
    "every packet has the reference's fate, at its nanosecond, and its mark; runs in which the "
    "order of tied events matters are only shown"
)


def occamy(folder: Path, *, jobs: int = 2) -> Validation:
    """Occamy's simulation: one switch with eight ports, under DT, Occamy and push-out.

    `folder` holds the runs (`runs.csv`), the packets that arrive (`arrivals.parquet`), and what
    becomes of each (`fates.parquet`). Every run is repeated here with the same packets. Small cases
    (`micro.csv`), if there are any, also tell what each packet finds.

    Raises:
        ScenarioError: a file is missing, or lacks something.
    """
    found = found_runs(folder)
    small = found_cases(folder)
    with TemporaryDirectory() as place:
        runs = [*found.runs, *small.runs]
        ours = all_of(lambda run, report: replay(run, Path(place), report), runs, jobs)
    groups: dict[tuple[str, str, int, str], Json] = {}
    for run, own in zip(found.runs, ours, strict=False):
        key = (run.scheme, run.kind, run.queues, run.scheduler)
        names = dict(zip(("scheme", "list", "queues", "scheduler"), key, strict=True))
        counts = ("runs", "packets", "expelled", *_DIFFERENCES)
        group = groups.setdefault(key, names | dict.fromkeys(counts, 0))
        for name, count in _compared(run, own).items():
            group[name] += count
    rows = [groups[key] for key in sorted(groups)]
    of_cases = zip(small.runs, ours[len(found.runs) :], strict=True)
    cases = [{"case": run.kind} | _compared(run, own) | _seen(run, own) for run, own in of_cases]
    left_out = [*found.left_out, *small.left_out]
    counted = f"compared: {_counted('runs', found, ours)}"
    if small.count:
        counted += f", and {_counted('small cases', small, ours[len(found.runs) :])}"
    return validation(
        {"groups": rows, "cases": cases, "left_out": left_out},
        [_shown(rows), *([_shown_cases(cases)] if cases else []), *texts(left_out)],
        [
            *(_judged(_name(row), row) for row in rows),
            *(_judged(f"{row['case']}:", row) for row in cases),
        ],
        f"{counted}; {_RULE}",
    )


def _counted(what: str, found: Found, ours: Iterable[Outcome]) -> str:
    """How many runs or small cases were compared, and agree."""
    pairs = zip(found.runs, ours, strict=False)
    agree = sum(not _different(_compared(run, own) | _seen(run, own)) for run, own in pairs)
    return f"{len(found.runs)} of {found.count} {what}, of which {agree} agree in every packet"


def _name(row: Json) -> str:
    return f"{row['scheme']} {row['list']}, queues {row['queues']} ({row['scheduler']}):"


def _different(row: Json) -> int:
    return sum(row.get(name) or 0 for name in _DIFFERENCES | _LENGTHS)


def _judged(name: str, row: Json) -> tuple[str, str, Verdict]:
    different = _different(row)
    verdict = Verdict.outside if different else Verdict.near
    if TIED in row.get("list", ""):
        verdict = Verdict.told
    return name, f"{different} of {row['packets']} packets", verdict


def _shown(rows: Sequence[Json]) -> Table:
    columns = {
        "sharing": "scheme",
        "list": "list",
        "queues": "queues",
        "scheduler": "scheduler",
        "runs": "runs",
        "packets": "packets",
        "expelled": "expelled",
        **{head: name for name, head in _DIFFERENCES.items()},
    }
    return shown_table("Packets that differ", list(columns), _lines(rows, columns.values()))


def _shown_cases(rows: Sequence[Json]) -> Table:
    columns = {
        "case": "case",
        "packets": "packets",
        "expelled": "expelled",
        **{head: name for name, head in (_DIFFERENCES | _LENGTHS).items()},
    }
    return shown_table(
        "Packets that differ in small cases", list(columns), _lines(rows, columns.values())
    )


def _lines(rows: Iterable[Json], names: Iterable[str]) -> list[list[str]]:
    return [[_cell(row[name]) for name in names] for row in rows]


def _cell(value: str | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else value


def _compared(run: Run, ours: Outcome) -> Json:
    """How many packets have another fate, and of the others another time, or another mark.

    What the reference marks and then refuses or expels counts, too.
    """
    there = run.found
    is_other = ours.fate != there.fate
    is_late = (ours.wait_ns != there.wait_ns) & (there.fate >= EXPELLED)
    return {
        "runs": 1,
        "packets": len(there.fate),
        "expelled": int((there.fate == EXPELLED).sum()),
        "fates": int(is_other.sum()),
        "times": int((is_late & ~is_other).sum()),
        "marks": int((ours.is_marked != there.is_marked).sum()),
    }


def _seen(run: Run, ours: Outcome) -> Json:
    """How many packets find other lengths than the reference tells; `None` if it tells none."""
    found: Json = {}
    for name in _LENGTHS:
        there: Whole | None = getattr(run.found, name)
        found[name] = None if there is None else int(np.sum(getattr(ours, name) != there))
    return found
