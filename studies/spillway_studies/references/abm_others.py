"""Other schemes and transports in ABM's program, of which two or three percentiles are known.

The runs have the same flows, or the same with larger answers. The percentiles are those of the
published output (inet-tub/ns3-datacenter, 40b8430, dump_sigcomm).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from spillway.base.threads import all_of
from spillway.run.run import run_whole
from spillway.tasks.run import Report
from spillway_studies.references import abm_program
from spillway_studies.references.abm_runs import (
    CUBIC,
    DCTCP,
    Experiment,
    Flows,
    in_order,
    read_reference,
    replay,
    with_answers,
)
from spillway_studies.references.numbers import (
    Json,
    Judged,
    Range,
    Verdict,
    compared,
    judged,
    percentile,
    within,
)
from spillway_studies.references.replayed import LATE
from spillway_studies.references.tables import interval, judgement, shown_table

PLACES = (("short", 0.99), ("incast", 0.99), ("incast", 0.5))
"""The percentiles that are known."""

# A sender with a rate has no initial window, no cuts of it, no bursts, and no backlog limit in its
# NIC.
_RATE: Json = dict.fromkeys(
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
        "offload",
        "ack_push",
        "quick_acks",
        "coalesce",
    )
) | {"recovery": {"reduction": None}, "min_rate": "100Mbps"}
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
    "switch.sharing.saturation=28000B",
    "switch.sharing.update_interval=80us",
    *abm_program.ALL,
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


def run_others(folder: Path, *, jobs: int = 2) -> tuple[list[Json], list[Judged]]:
    """The published runs of `OTHERS` beside ours of the same flows; and what is judged of them.

    No bound is on a scheme that is not as in the program.
    """
    lists = {each.load: read_reference(folder, each) for each in (CUBIC, DCTCP)}
    with TemporaryDirectory() as place:

        def run(number: int, report: Report) -> Json:
            other = OTHERS[number]
            listed, flows = lists[other.experiment.load]
            if other.answer_bytes is not None:
                listed, flows = with_answers(listed, flows, other.answer_bytes)
            scenario = replay(other.experiment, listed, Path(place) / f"{number}.parquet")
            result = run_whole(scenario.set(*other.settings), report)
            return _beside(other, in_order(listed, flows, result.flows)[0])

        found = all_of(run, range(len(OTHERS)), jobs)
    own = [each for each in found if each["is_of_program"]]
    runs = [(f"{each['transport']}/{each['scheme']}", each["places"]) for each in own]
    return found, [one for run in runs for one in judged(*run, "flows")]


def _beside(other: Other, ours: Flows) -> Json:
    places = []
    for (kind, p), published in zip(PLACES, other.published, strict=True):
        found = percentile(ours.slowdowns(kind), p)
        places.append(place(kind, p, published, found, ours.interval(kind, p)))
    return {
        "transport": other.experiment.transport,
        "scheme": other.scheme,
        "answer_bytes": int(ours.payload[ours.is_incast].max()),
        "is_of_program": other.is_of_program,
        "places": places,
        LATE: ours.late,
    }


def place(flows: str, p: float, reference: float, ours: float, interval: Range) -> Json:
    """One percentile of one class: the published one, and ours with its 95% bootstrap interval."""
    row = compared(
        {
            "flows": flows,
            "percentile": p,
            "reference": reference,
            "ours": ours,
            "interval": interval,
        },
        within(p),
        (Verdict.undecided, reference, interval),
    )
    verdict = row.pop("verdict")
    return row | {"agrees": verdict is Verdict.near, "verdict": verdict}


def others_table(found: Sequence[Json]) -> Table:
    """All published runs, and ours."""
    return shown_table(
        "Slowdown under other schemes and transports, and the published percentiles",
        [
            "transport",
            "sharing",
            "answer",
            "class",
            "percentile",
            "reference",
            "ours",
            "95% interval",
            "difference",
            "",
        ],
        (
            [
                run["transport"],
                run["scheme"],
                f"{run['answer_bytes']:,}",
                place["flows"],
                f"{100 * place['percentile']:g}",
                f"{place['reference']:.2f}",
                f"{place['ours']:.2f}",
                interval(place["interval"]),
                *judgement(place),
            ]
            for run in found
            for place in run["places"]
        ),
        "answer: bytes of an incast flow. The interval is that of ours.",
    )
