"""Small cases of pFabric, which may be the same to the nanosecond in YAPS and here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from spillway_studies.references.bounds import Judged, Verdict
from spillway_studies.references.pfabric_runs import Outcome
from spillway_studies.references.tables import shown_table

TIED_WITHIN = 0.05
"""How far the mean ratio of times, drops and timeouts may be off in a small case with ties."""


@dataclass(frozen=True)
class Case:
    """One small case."""

    name: str
    flows: int
    same: int
    """Flows that complete in the same nanosecond."""
    mean_ratio: float
    """The mean of our completion time over the reference's."""
    timeouts: tuple[int, int]
    """The reference's and ours."""
    drops: tuple[int, int]
    must_agree: bool
    """Whether every flow has to complete in the same nanosecond: it does so, too, if ports choose
    before what arrives at that moment is queued, so this case hangs on no such tie."""

    @property
    def agrees(self) -> bool:
        """Whether everything is the same, or near where ties decide."""
        if self.must_agree:
            counts = self.timeouts[0] == self.timeouts[1] and self.drops[0] == self.drops[1]
            return self.same == self.flows and counts
        near = abs(self.mean_ratio - 1) <= TIED_WITHIN
        return near and all(
            abs(ours - there) <= TIED_WITHIN * there for there, ours in (self.timeouts, self.drops)
        )

    @property
    def judged(self) -> Judged:
        """The case as bounds count it."""
        same = f"{self.same} of {self.flows} flows the same"
        verdict = Verdict.near if self.agrees else Verdict.outside
        return f"{self.name}:", f"{same}, mean ratio {self.mean_ratio:.4f}", verdict

    @property
    def document(self) -> dict[str, Any]:
        """The case as JSON."""
        return vars(self) | {"agrees": self.agrees}


def compare(name: str, there: Outcome, here: Outcome, ports_first: Outcome) -> Case:
    """Compares a case, of which we have two runs: the second with ports that choose first."""
    hangs_on_no_tie = bool((here.fct_ns == ports_first.fct_ns).all())
    return Case(
        name,
        len(there.fct_ns),
        int((there.fct_ns == here.fct_ns).sum()),
        float((here.fct_ns / there.fct_ns).mean()),
        (there.timeouts, here.timeouts),
        (there.drops, here.drops),
        hangs_on_no_tie and here.drops == ports_first.drops,
    )


def table(found: Sequence[Case]) -> Table:
    """All cases."""
    lines = (
        [
            case.name,
            f"{case.same} of {case.flows}",
            f"{case.mean_ratio:.4f}",
            *(f"{count:,}" for count in (*case.timeouts, *case.drops)),
            "near, has ties" if case.agrees and case.same < case.flows else case.judged[2],
        ]
        for case in found
    )
    return shown_table(
        "Small cases",
        ["count", "flows the same", "mean ratio", "timeouts", "ours", "drops", "ours", ""],
        lines,
    )
