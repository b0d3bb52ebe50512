"""The common parts of the comparisons: the policies, and runs of which only numbers are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spillway.tasks.run import Report
from spillway_studies.claims import lost
from spillway_studies.claims.axes import Point, Scale, Scheme, Value
from spillway_studies.claims.point import Outcome, Run, Task
from spillway_studies.credence.figures import models
from spillway_studies.references import abm_program
from spillway_studies.smartbuf.figures.setup import LEARN_DEMANDS

SWITCH = "switch.sharing"
"""The key of the policy if all switches have the same."""

DEFAULTS = (
    *("cs", "sp", "dt", "harmonic", "lqd", "followlqd", "credence", "blind-trust"),
    *("edt", "fab", "abm", "smartbuf", "cbm"),
)
"""Policies with their default parameters."""

ABM_PROGRAM = "abm, as in its program"
SMARTBUF_DEMANDS = "smartbuf, demands"
TIERS = Scheme("credence, a model for each tier", (f"{SWITCH}=credence",), style=15)
"""Leaves use a forest trained on leaves' drops, and spines another."""
TRAINED: dict[str, Value] = {"duration": "250ms", "one_in": 50}
"""The training data of these forests (`credence/models`)."""


def schemes(key: str = SWITCH, ack_queues: bool = True) -> tuple[Scheme, ...]:
    """All policies, set by this key; `ack_queues` says whether acks have queues of their own."""
    found = [Scheme(policy, (f"{key}={policy}",)) for policy in DEFAULTS]
    # In the program acks have the alpha of first packets.
    acks = (f"{key}.alpha=[1024, 0.5]",) if ack_queues else ()
    program = (sets.replace(SWITCH, key) for sets in abm_program.ALL)
    found.insert(DEFAULTS.index("abm") + 1, Scheme(ABM_PROGRAM, (f"{key}=abm", *acks, *program)))
    demands = (f"{key}.{parameter}" for parameter in LEARN_DEMANDS)
    found.insert(-1, Scheme(SMARTBUF_DEMANDS, (f"{key}=smartbuf", *demands)))
    return tuple(replace(scheme, style=place) for place, scheme in enumerate(found))


def run_of(scenario: str) -> Run:
    """A run that also counts the losses in the window of measurement."""
    tiers = f"{models.__name__}:{models.tiers.__name__}"
    return Run(
        scenario,
        ("record.drops=true",),
        also=f"{lost.__name__}:{lost.numbers.__name__}",
        prepare={TIERS.name: tiers},
    )


@dataclass(frozen=True)
class Numbers:
    """A run of a scenario of which the summary's numbers are kept, but not the flows.

    Some runs have half a million flows, and there are dozens of runs.
    """

    run: Run

    def task(self, point: Point, scheme: Scheme, seed: int, scale: Scale) -> Task:
        """The run of the point."""
        task = self.run.task(point, scheme, seed, scale)

        def run(report: Report) -> Outcome | None:
            outcome = task.run(report)
            return None if outcome is None else replace(outcome, samples=None)

        return replace(task, key=f"{task.key}-numbers", run=run)


ABOUT = (
    "Policies have their defaults. What is sent or lost before the warm-up is over is not counted: "
    "until then Smartbuf learns. Of Smartbuf there are two readings, and ABM is also there as in "
    "its authors' program."
)

TOLD = ("fct_slowdown.", "query_us.", "goodput_gbps.all", "lost.")
"""How the numbers begin that the page tells of single runs."""
