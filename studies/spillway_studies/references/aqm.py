"""Comparison with queue discs of ns-3: marks packet by packet, queues, completion times."""

from __future__ import annotations

from pathlib import Path

from spillway.base.errors import ScenarioError
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references import aqm_queues, aqm_times
from spillway_studies.references.aqm_discs import Disc, disc_of
from spillway_studies.references.aqm_files import Found, Queue, read_folder
from spillway_studies.references.aqm_marks import Marks, replay
from spillway_studies.references.aqm_queues import MEAN_WITHIN, P99_WITHIN, Length
from spillway_studies.references.aqm_runs import TRANSPORTS
from spillway_studies.references.aqm_tables import tables
from spillway_studies.references.aqm_times import Times
from spillway_studies.references.bounds import RULE, bounds
from spillway_studies.references.kinds import Floats
from spillway_studies.references.validation import Validation

_RULE = (
    "marks the same or, where random, as many as in 99% of replays; queues' means within "
    f"{100 * MEAN_WITHIN:g}%, p99 within {100 * P99_WITHIN:g}%; completion times' {RULE}"
)


def aqm(folder: Path, *, jobs: int = 2) -> Validation[Marks | Length | Times]:
    """Queue discs of ns-3 3.37 at one port: which packets they mark, queues, completion times.

    `folder` holds traces of packets (`trace_nN_DISC.parquet`), statistics of queues
    (`summary.csv`), and a list of flows with their times (`F_flows.csv`, `F_fct.parquet`). What it
    lacks is left out, and so are discs and transports that are not known.
    """
    found = read_folder(folder)
    known, left_out = _known(found), found.left_out
    rows = [row for row in found.queues if row.disc in known]
    for name in sorted({row.transport for row in rows} - set(TRANSPORTS)):
        left_out.append(f"{name}: no transport of ours is known by this name")
    rows = [row for row in rows if row.transport in TRANSPORTS]
    timed = [(disc, there) for disc, there in found.times.items() if disc in known]

    def queue(row: Queue, report: Report) -> Length:
        return aqm_queues.measured(known[row.disc], row, report)

    def fcts(each: tuple[str, Floats], report: Report) -> Times:
        assert found.flows is not None
        return aqm_times.measured(known[each[0]], found.flows, *each, report)

    marks = [replay(known[disc], disc, n, file) for disc, n, file in found.traces if disc in known]
    lengths, times = all_of(queue, rows, jobs), all_of(fcts, timed, jobs)
    judged = [each.judged for each in marks]
    judged += [one for length in lengths for one in length.judged]
    judged += [one for time in times for one in time.judged]
    content = {
        "marks": [each.document for each in marks],
        "queues": [each.document for each in lengths],
        "completion_times": [each.document for each in times],
        "left_out": left_out,
    }
    if not judged:
        raise ScenarioError(
            f"{folder}: there is nothing to compare: {'; '.join(left_out)}",
            "see studies/spillway_studies/references/validation.md for what such a folder holds",
        )
    return Validation(
        [*marks, *lengths, *times],
        content,
        tables(marks, lengths, times, left_out),
        bounds(judged, _RULE),
    )


def _known(found: Found) -> dict[str, Disc]:
    """The discs that are known. Tells of the others, and of what is missing of these."""
    parts = {
        "marks": {disc for disc, *_ in found.traces},
        "queues": {row.disc for row in found.queues},
        "completion times": set(found.times),
    }
    known = {}
    for name in sorted(set().union(*parts.values())):
        disc = disc_of(name)
        if disc is None:
            found.left_out.append(f"{name}: no AQM of ours is known by this name")
            continue
        known[name] = disc
        missing = [part for part, discs in parts.items() if discs and name not in discs]
        if missing:
            found.left_out.append(f"{name}: the folder has no {' and no '.join(missing)}")
    return known
