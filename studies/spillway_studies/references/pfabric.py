"""Comparison with YAPS (NetSys/simulator): pFabric, flow by flow and in small cases."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from spillway.tasks.each import all_of
from spillway_studies.references import pfabric_cases
from spillway_studies.references.bounds import bounds
from spillway_studies.references.pfabric_cases import TIED_WITHIN, Case
from spillway_studies.references.pfabric_files import runs
from spillway_studies.references.pfabric_large import RULE, Compared, compare, tables
from spillway_studies.references.pfabric_runs import of_reference, run
from spillway_studies.references.tables import texts
from spillway_studies.references.validation import Validation

_RULE = (
    f"{RULE}; small cases without ties to the nanosecond, with ties mean ratio, drops and "
    f"timeouts within {100 * TIED_WITHIN:g}%"
)


def pfabric(folder: Path, *, jobs: int = 2) -> Validation[Compared | Case]:
    """YAPS with pFabric: runs with one path for each flow or with sprayed packets, and small cases.

    `folder` holds the flows of runs with their times (`flows_RUN.parquet`), small cases
    (`micro_cases.csv`), or both. Our flows take the paths that they took there; sprayed packets
    take others.

    Raises:
        ScenarioError: there is neither; or a file lacks something.
    """
    reference = runs(folder)
    small = list(reference.small.items())
    with TemporaryDirectory() as place:
        wholes = [
            partial(run, each.flows, Path(place) / f"{each.name}.parquet", sprayed=each.is_sprayed)
            for each in reference.runs
        ]
        parts = [
            partial(run, flows, Path(place) / f"{number}-{first}.parquet", ports_first=first)
            for number, (_, flows) in enumerate(small)
            for first in (False, True)
        ]
        ours = all_of(lambda call, report: call(report=report), [*wholes, *parts], jobs)
    large = [compare(*both) for both in zip(reference.runs, ours[: len(wholes)], strict=True)]
    own = [outcome for outcome, _ in ours[len(wholes) :]]
    cases = [
        pfabric_cases.compare(name, of_reference(flows), *pair)
        for (name, flows), *pair in zip(small, own[::2], own[1::2], strict=True)
    ]
    content = {
        "runs": {found.run: found.document for found in large},
        "cases": [case.document for case in cases],
        "left_out": reference.left_out,
    }
    judged = [one for found in large for one in found.judged] + [case.judged for case in cases]
    shown = [table for found in large for table in tables(found)]
    shown += [pfabric_cases.table(cases)] if cases else []
    lines = texts(reference.left_out)
    return Validation([*large, *cases], content, [*shown, *lines], bounds(judged, _RULE))
