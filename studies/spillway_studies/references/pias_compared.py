"""What is compared of a run of PIAS's own program and ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pyarrow.compute as pc

from spillway.run.run import run_whole
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.bounds import Judged
from spillway_studies.references.flow_lists import fct_ns
from spillway_studies.references.kinds import Floats
from spillway_studies.references.percentiles import PERCENTILES, Row, bootstrap, ends, percentile
from spillway_studies.references.pias_files import Reference
from spillway_studies.references.pias_runs import FIRST_NS
from spillway_studies.references.scenarios import Outcomes

_LONG_BYTES = 1_000_000


@dataclass(frozen=True)
class Class:
    """Flows that are not compared, for information: percentiles of their slowdowns."""

    flows: str
    count: int
    reference: list[float]
    ours: list[float]


@dataclass(frozen=True)
class Run:
    """One run of ours."""

    fct_ns: Floats
    """Completion times at the senders, in the order of the reference's flows; infinite if a flow is
    not complete."""
    drops: int
    marks: int
    timeouts: int


@dataclass(frozen=True)
class Comparison:
    """One run of the reference, and ours."""

    run: str
    count: int
    """The number of flows that are compared."""
    rows: list[Row]
    others: list[Class]
    counts: dict[str, int]
    """Our drops, marks and timeouts."""
    differences: dict[str, list[float]]
    """The compared percentiles with one setting changed, by the change."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return asdict(self) | {"rows": [row.document for row in self.rows]}

    @property
    def judged(self) -> list[Judged]:
        """All compared percentiles, as bounds count them."""
        return [row.judged(f"{self.run} {row.name}") for row in self.rows]


def measured(scenario: Scenario, report: Report) -> Run:
    """Our times of the reference's flows."""
    result = run_whole(scenario, report)
    flows = result.flows
    flows = flows.filter(pc.greater_equal(flows["start_ps"], 1000 * FIRST_NS)).sort_by("flow_id")
    summary = result.summary
    timeouts = int(flows["timeouts"].to_numpy().sum())
    drops = sum(summary["drops"].values())
    return Run(fct_ns(flows, "acked_ps"), drops, summary["marks"], timeouts)


def compare(reference: Reference, runs: Outcomes[Run]) -> Comparison:
    """Compares all runs with the reference's."""
    ours = runs.ours
    there = _measures(reference, reference.fct_ns)
    places = [(name, p) for name in there for p in PERCENTILES]

    def percentiles(run: Run) -> list[float]:
        here = _measures(reference, run.fct_ns)
        return [percentile(here[name], p) for name, p in places]

    drawn = [percentiles(run) for run in runs.drawn]
    rows = [
        Row(
            name,
            p,
            percentile(there[name], p),
            bootstrap(there[name], p),
            value,
            ends([values[place] for values in drawn]),
        )
        for place, ((name, p), value) in enumerate(zip(places, percentiles(ours), strict=True))
    ]
    return Comparison(
        reference.name,
        int(reference.is_compared.sum()),
        rows,
        _others(reference, ours),
        {"drops": ours.drops, "marks": ours.marks, "timeouts": ours.timeouts},
        {change: percentiles(run) for change, run in runs.changed.items()},
    )


def _measures(reference: Reference, fct_ns: Floats) -> dict[str, Floats]:
    """Slowdowns, and completion times in us, of the compared flows."""
    compared = reference.is_compared
    slowdown = fct_ns / reference.ideal_ns
    return {"slowdown": slowdown[compared], "time": fct_ns[compared] / 1e3}


def _others(reference: Reference, ours: Run) -> list[Class]:
    """The flows that are not compared."""
    short, first = reference.is_short, reference.is_first
    long = reference.size_bytes >= _LONG_BYTES
    classes = {
        "under 100 KB, first": short & first,
        "up to 1 MB, first": ~short & ~long & first,
        "up to 1 MB, others": ~short & ~long & ~first,
        "from 1 MB, first": long & first,
        "from 1 MB, others": long & ~first,
    }
    found = []
    for name, members in classes.items():
        if members.any():
            there, here = (
                [percentile((fct / reference.ideal_ns)[members], p) for p in PERCENTILES]
                for fct in (reference.fct_ns, ours.fct_ns)
            )
            found.append(Class(name, int(members.sum()), there, here))
    return found
