"""Comparison with Occamy's simulation: the fate and the time of every packet at one switch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from spillway.base.threads import all_of
from spillway_studies.references.numbers import Json, Verdict
from spillway_studies.references.occamy_files import TIED, Found, found_runs
from spillway_studies.references.occamy_replay import EXPELLED, Outcome, Run, replay
from spillway_studies.references.tables import shown_table, texts
from spillway_studies.references.validation import Validation, validation

_DIFFERENCES = {"fates": "other fate", "times": "other time", "marks": "other mark"}
_RULE = (
    "every packet has the reference's fate, at its nanosecond, and its mark; runs in which the "
    "order of tied events matters are only shown"
)


def occamy(folder: Path, *, jobs: int = 2) -> Validation:
    """Occamy's simulation: one switch with eight ports, under DT, Occamy and push-out.

    `folder` holds the runs (`runs.csv`), the packets that arrive (`arrivals.parquet`), and what
    becomes of each (`fates.parquet`). Every run is repeated here with the same packets.

    Raises:
        ScenarioError: a file is missing, or lacks something.
    """
    found = found_runs(folder)
    with TemporaryDirectory() as place:
        ours = all_of(lambda run, report: replay(run, Path(place), report), found.runs, jobs)
    groups: dict[tuple[str, str, int, str], Json] = {}
    for run, own in zip(found.runs, ours, strict=True):
        key = (run.scheme, run.kind, run.queues, run.scheduler)
        names = dict(zip(("scheme", "list", "queues", "scheduler"), key, strict=True))
        counts = ("runs", "packets", "expelled", *_DIFFERENCES)
        group = groups.setdefault(key, names | dict.fromkeys(counts, 0))
        for name, count in _compared(run, own).items():
            group[name] += count
    rows = [groups[key] for key in sorted(groups)]
    counted = f"compared: {_counted('runs', found, ours)}"
    return validation(
        {"groups": rows, "left_out": found.left_out},
        [_shown(rows), *texts(found.left_out)],
        [_judged(_name(row), row) for row in rows],
        f"{counted}; {_RULE}",
    )


def _counted(what: str, found: Found, ours: Iterable[Outcome]) -> str:
    """How many runs were compared, and agree."""
    pairs = zip(found.runs, ours, strict=True)
    agree = sum(not any(_compared(run, own)[each] for each in _DIFFERENCES) for run, own in pairs)
    return f"{len(found.runs)} of {found.count} {what}, of which {agree} agree in every packet"


def _name(row: Json) -> str:
    return f"{row['scheme']} {row['list']}, queues {row['queues']} ({row['scheduler']}):"


def _judged(name: str, row: Json) -> tuple[str, str, Verdict]:
    different = sum(row[number] for number in _DIFFERENCES)
    verdict = Verdict.outside if different else Verdict.near
    if TIED in row["list"]:
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


def _lines(rows: Iterable[Json], names: Iterable[str]) -> list[list[str]]:
    return [[_cell(row[name]) for name in names] for row in rows]


def _cell(value: str | int) -> str:
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
