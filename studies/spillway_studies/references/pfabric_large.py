"""A large run of pFabric: slowdowns, drops and timeouts, and flows one by one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from spillway_studies.references.agreement import Agreement, of_classes
from spillway_studies.references.bounds import Judged, Number, Verdict
from spillway_studies.references.kinds import Booleans, Floats
from spillway_studies.references.percentiles import PERCENTILES, nearest_rank, percentile_name
from spillway_studies.references.pfabric_files import Run
from spillway_studies.references.pfabric_runs import Outcome, of_reference
from spillway_studies.references.tables import shown_table, within_columns

MEDIAN_WITHIN, TAIL_WITHIN, COUNT_WITHIN = 0.02, 0.05, 0.05
"""How far medians, tails, and numbers of drops and timeouts may be from the reference's."""
RULE = (
    f"medians of slowdown within {100 * MEDIAN_WITHIN:g}%, tails within {100 * TAIL_WITHIN:g}%, "
    f"drops and timeouts within {100 * COUNT_WITHIN:g}%"
)


@dataclass(frozen=True)
class Compared:
    """One run of the reference, and ours."""

    run: str
    """Such as websearch_60_ecmp."""
    sprayed: bool
    """Whether packets of one flow take all paths, and not one that is known."""
    numbers: list[Number]
    flow_by_flow: list[Agreement]

    @property
    def judged(self) -> list[Judged]:
        """All numbers, as bounds count them."""
        return [one.judged(f"{self.run} {one.name}") for one in self.numbers]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        numbers = [
            asdict(each) | {"difference": each.difference, "agrees": each.verdict is Verdict.near}
            for each in self.numbers
        ]
        flows = [asdict(each) for each in self.flow_by_flow]
        return {"sprayed": self.sprayed, "numbers": numbers, "flow_by_flow": flows}


def compare(reference: Run, own: tuple[Outcome, Floats]) -> Compared:
    """Compares a run with ours and the times of its flows alone in the network."""
    here, ideal = own
    there = of_reference(reference.flows)
    classes = _classes(reference.flows["size_bytes"].to_numpy())
    classes = {kind: members for kind, members in classes.items() if members.sum() > 1}
    numbers = []
    for kind, members in classes.items():
        for p in PERCENTILES:
            within = MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN
            values = [nearest_rank((each.fct_ns / ideal)[members], p) for each in (there, here)]
            numbers.append(Number(percentile_name(kind, p), values[0], values[1], within))
    numbers.append(Number("drops", there.drops, here.drops, COUNT_WITHIN))
    numbers.append(Number("timeouts", there.timeouts, here.timeouts, COUNT_WITHIN))
    by_flow = of_classes(classes, there.fct_ns, here.fct_ns)
    return Compared(reference.name, reference.is_sprayed, numbers, by_flow)


def _classes(size: npt.NDArray[np.int64]) -> dict[str, Booleans]:
    """Which flows belong to which class."""
    short, long = size < 100_000, size >= 1_000_000
    return {"short": short, "medium": ~short & ~long, "long": long, "all": size > 0}


def tables(run: Compared) -> list[Table]:
    """What agrees and what does not: numbers, flows one by one."""
    numbers = shown_table(
        f"{run.run}, YAPS and Spillway: slowdowns, drops, timeouts",
        ["count", "reference", "ours", "difference", ""],
        (
            [
                one.name,
                f"{one.reference:,.6g}",
                f"{one.ours:,.6g}",
                f"{one.difference:+.1%}",
                one.verdict,
            ]
            for one in run.numbers
        ),
        "packets are sprayed, here otherwise than there" if run.sprayed else "",
    )
    by_flow = shown_table(
        f"{run.run}, FCT flow by flow: Spillway's to the reference's",
        ["flows", "compared", "median ratio", *within_columns()],
        (
            [
                found.flows,
                f"{found.matched:,}",
                f"{found.median_ratio:.4f}",
                *(f"{100 * share:.0f}%" for share in found.within),
            ]
            for found in run.flow_by_flow
        ),
    )
    return [numbers, by_flow]
