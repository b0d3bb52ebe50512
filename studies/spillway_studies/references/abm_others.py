"""Other schemes and transports in ABM's program, of which two or three percentiles are known.

The runs have the same flows, or the same with larger answers. The percentiles are those of the
published output (inet-tub/ns3-datacenter, 40b8430, dump_sigcomm).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from spillway.run.run import run_whole
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references.abm_flows import Flows, in_order, read_reference
from spillway_studies.references.abm_runs import CUBIC, DCTCP, Experiment, replay
from spillway_studies.references.bounds import Compared, Judged, Verdict, verdict
from spillway_studies.references.percentiles import percentile, percentile_name

PLACES = (("short", 0.99), ("incast", 0.99), ("incast", 0.5))
"""The percentiles that are known."""

# A sender with a rate has no initial window, no cuts of it, no bursts, and no backlog limit in its
# NIC.
_RATE: dict[str, Any] = dict.fromkeys(
    (
        "g",
        "alpha0",
        "share_of",
        "loss_cut",
        "slow_start",
        "window_unit",
        "min_window",
        "initial_window",
        "host_backlog",
        "reduction",
        "offload",
        "ack_push",
        "quick_acks",
        "coalesce",
    )
) | {"min_rate": "100Mbps"}
_POWERTCP = _RATE | {
    "kind": "powertcp",
    "expected_flows": 100.0,  # adds 100 Mbps
    "eta": 0.95,
    "least_current": 0.5,
    "base_rtt": "network",
    "telemetry_bytes": "0B",  # it travels beside the packet
}
_TIMELY = _RATE | {"kind": "timely", "preset": "abm", "start_window": "55pkt"}
_POWERTCP_75 = replace(
    DCTCP, transport="powertcp", transport_keys=_POWERTCP, settings=CUBIC.settings
)
_TIMELY_75 = replace(_POWERTCP_75, transport="timely", transport_keys=_TIMELY)

_FAB = ("switch.sharing=fab", "switch.sharing.alpha=[1, 0.5]")
_ABM = (
    "switch.sharing=abm",
    "switch.sharing.alpha=[1024, 0.5]",  # acks and requests count as first packets
    "switch.sharing.alpha_first_rtt=1024",
    "switch.sharing.first_rtt=scaled",
    "switch.sharing.congestion=fractional",
    "switch.sharing.saturation=28000B",
    "switch.sharing.drain=interval",
    "switch.sharing.update_interval=80us",
)
_ABM_BY_PAPER = ("switch.sharing=abm", "switch.sharing.alpha=[1, 0.5]")


@dataclass(frozen=True)
class Other:
    """A published run."""

    scheme: str
    experiment: Experiment
    settings: tuple[str, ...]
    published: tuple[float, float, float]
    """Slowdowns, as in `PLACES`."""
    answer_bytes: int | None = None
    """The size of each incast flow; by default that of the list."""
    is_of_program: bool = True
    """Whether the scheme is as in the program; otherwise it is shown, but not judged."""


def _of_75(experiment: Experiment, **published: tuple[float, float, float]) -> tuple[Other, ...]:
    """Queries of 75% of the buffer with 32 answers each, under DT and ABM."""
    settings = {"DT": (), "ABM": _ABM}
    return tuple(
        Other(scheme, experiment, settings[scheme], slowdowns, 92_160)
        for scheme, slowdowns in published.items()
    )


OTHERS = (
    Other("CS", CUBIC, ("switch.sharing=cs",), (20.07, 94.9, 7.34)),
    Other("FAB", CUBIC, _FAB, (17.01, 108.6, 7.32)),
    Other("ABM", CUBIC, _ABM, (10.36, 10.40, 7.47)),
    Other("ABM by its paper", CUBIC, _ABM_BY_PAPER, (10.36, 10.40, 7.47), is_of_program=False),
    *_of_75(DCTCP, DT=(14.4, 146.0, 18.19), ABM=(13.4, 26.3, 13.63)),
    *_of_75(_POWERTCP_75, DT=(4.7, 76.6, 14.54), ABM=(4.8, 17.8, 13.84)),
    *_of_75(_TIMELY_75, DT=(6.96, 86.14, 21.04), ABM=(6.40, 18.45, 13.77)),
)


@dataclass(frozen=True)
class Place(Compared):
    """One percentile of one class: the published one and ours."""

    flows: str
    percentile: float
    reference: float
    ours: float
    interval: tuple[float, float]
    """95% bootstrap interval of ours, by flow, or for incast by query."""

    @property
    def verdict(self) -> Verdict:
        """Ours compared with the reference or, failing that, the reference with our interval."""
        return verdict(self.difference, self.percentile, self.reference, self.interval)

    @property
    def name(self) -> str:
        """A name such as "incast p99"."""
        return percentile_name(self.flows, self.percentile)

    @property
    def document(self) -> dict[str, Any]:
        """The number as JSON."""
        return vars(self) | {
            "difference": self.difference,
            "agrees": self.verdict is Verdict.near,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Beside:
    """A published run, and ours of the same flows."""

    transport: str
    scheme: str
    answer_bytes: int
    is_of_program: bool
    """Whether the scheme is as in the published program."""
    places: list[Place]
    flows_over_least_timeout: dict[str, int]
    """In our run, by class."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return vars(self) | {"places": [place.document for place in self.places]}

    @property
    def judged(self) -> list[Judged]:
        """The percentiles as bounds count them: none if the scheme is another one."""
        run = f"{self.transport}/{self.scheme}"
        places = self.places if self.is_of_program else []
        return [place.judged(f"{run} {place.name}") for place in places]


def run_others(folder: Path, *, jobs: int = 2) -> list[Beside]:
    """The published runs of `OTHERS`, and ours of the same flows."""
    lists = {each.load: read_reference(folder, each) for each in (CUBIC, DCTCP)}
    with TemporaryDirectory() as place:

        def run(number: int, report: Report) -> Beside:
            other = OTHERS[number]
            listed, flows = _with_answers(*lists[other.experiment.load], other.answer_bytes)
            scenario = replay(other.experiment, listed, Path(place) / f"{number}.parquet")
            result = run_whole(scenario.set(*other.settings), report)
            return _beside(other, in_order(listed, flows, result.flows)[0])

        return all_of(run, range(len(OTHERS)), jobs)


def _with_answers(
    listed: pa.Table, flows: Flows, answer_bytes: int | None
) -> tuple[pa.Table, Flows]:
    """The flows with answers of another size."""
    if answer_bytes is None:
        return listed, flows
    payload = np.where(flows.is_incast, answer_bytes, flows.payload)
    column = listed.column_names.index("size_bytes")
    listed = listed.set_column(column, "size_bytes", pa.array(payload))
    return listed, replace(flows, payload=payload)


def _beside(other: Other, ours: Flows) -> Beside:
    places = []
    for (kind, p), reference in zip(PLACES, other.published, strict=True):
        found = percentile(ours.slowdowns(kind), p)
        places.append(Place(kind, p, reference, found, ours.interval(kind, p)))
    answer = int(ours.payload[ours.is_incast].max())
    return Beside(
        other.experiment.transport,
        other.scheme,
        answer,
        other.is_of_program,
        places,
        ours.late,
    )
