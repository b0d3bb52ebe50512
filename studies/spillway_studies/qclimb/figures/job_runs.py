"""Runs of synthetic jobs: where they run, how densely they start, what their hosts know."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

import spillway
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway.theory import thresholds
from spillway_studies.claims import basis
from spillway_studies.qclimb.figures import setup
from spillway_studies.qclimb.figures.setup import FACE_VALUE, FLUX, PERFECT, PFABRIC, PIAS, QCLIMB

if TYPE_CHECKING:
    from spillway.learning.bounds import Job, Model
    from spillway.learning.bounds.synthetic import SyntheticJob

# What is known before a run: forests that bound sizes, and thresholds -----------------------------
#
# Both are made from jobs of their own, which are never run.


_SEED = 1
"""The seed of the jobs that forests and thresholds are made from."""
_LOCK = threading.RLock()
"""Points run in threads; under this lock, what they all need is made once."""


@dataclass(frozen=True)
class Way:
    """How bounds and thresholds are made; the slides tell of the depth alone."""

    method: str = "least"
    """How the leaves that a flow reaches make its bound: a name of
    `spillway.learning.bounds.METHODS`.
    """
    depth: int = 10
    miss_rate: float | None = None
    """The share of bounds that may be too high, if bounds are calibrated (conformal prediction)."""
    load: float = 0.5
    """The load for which thresholds are sought; jobs have none of their own."""
    objective: str = "ml-fcfs"
    """The objective of the search for thresholds: one of `spillway.thresholds.OBJECTIVES`."""


def model(kind: str, way: Way) -> Model:
    """The forest that bounds sizes in this way."""
    with _LOCK:
        return _models(kind, way.depth, way.miss_rate)[way.method]


def ladder(kind: str, way: Way) -> tuple[int, ...]:
    """The best thresholds for the sizes of a kind of jobs, in bytes."""
    with _LOCK:
        return _ladder(kind, way.load, way.objective)


@functools.cache
def _jobs(kind: str) -> list[Job]:
    from spillway.learning.bounds import synthetic

    return [made.job for made in synthetic.make_all(kind, None, _SEED)]


@functools.cache
def _models(kind: str, depth: int, miss_rate: float | None) -> Mapping[str, Model]:
    from spillway.learning import bounds

    return bounds.train(_jobs(kind), depth=depth, miss_rate=miss_rate).models


@functools.cache
def _ladder(kind: str, load: float, objective: str) -> tuple[int, ...]:
    with TemporaryDirectory(prefix="spillway-jobs-") as name:
        sizes = Path(name) / "sizes.txt"
        write_sizes(_jobs(kind), sizes)
        return thresholds.find(str(sizes), load=load, objective=objective).best.thresholds


def write_sizes(jobs: Any, file: Path) -> None:
    """The distribution of jobs' flow sizes, at 200 of its quantiles."""
    sizes = np.concatenate([job.size for job in jobs])
    shares = np.linspace(0, 1, 201)
    points = dict(zip(np.quantile(sizes, shares, method="inverted_cdf"), shares, strict=True))
    text = "".join(f"{int(size)} {share:.6f}\n" for size, share in points.items())
    file.write_text(text, encoding="utf-8")


# Runs ---------------------------------------------------------------------------------------------


KINDS = {"kmeans": "K-Means", "pagerank": "PageRank", "sgd": "SGD"}
CLASSES = ("short", "medium", "long", "all")
_SEEDS_OF_TRAFFIC = 1_000
"""Jobs that are run have seeds from here on; forests are trained on those of seed 1."""

FLAT = 5
"""The depth of the other forests that the slides tell of."""
_TAGGERS = {PIAS.name: "pias", QCLIMB.name: "qclimb", PERFECT.name: "qclimb-ps"}
_TAGGERS |= {FACE_VALUE.name: "qclimb", FLUX.name: "srpt"}
_BOUNDED = (QCLIMB.name, FACE_VALUE.name, FLUX.name)
"""The schemes whose hosts know what a forest says: a bound, or the predicted size."""


@dataclass(frozen=True)
class Place:
    """A network, and how densely jobs start in it."""

    scenario: str
    hosts: int
    assignments: tuple[str, ...] = ()
    of_pfabric: tuple[str, ...] = ()
    """Assignments for pFabric alone."""
    gap_ms: Mapping[str, float] = field(default_factory=dict)
    """By kind, the mean time between the starts of two jobs; by default the generator's."""
    unmeasured_ms: int = 0
    """The time at a run's beginning, when few jobs are there, whose flows are not measured."""

    def jobs(self, kind: str, until_ms: int) -> int:
        """The number of jobs whose starts last until then, with four standard deviations on top."""
        expected = until_ms / self.gap_ms[kind]
        return math.ceil((2 + math.sqrt(4 + expected)) ** 2)


TESTBED = Place(
    "qclimb-testbed",
    # The slides' testbed has 8, but a synthetic job has up to nine machines.
    16,
    ("topology.hosts=16",),
    gap_ms={"kmeans": 0.85, "pagerank": 3.2, "sgd": 3.0},
    unmeasured_ms=50,
)
"""One switch; jobs start so densely that they fill about half of the hosts' lines."""
SIMULATION = Place(
    "qclimb",
    144,
    of_pfabric=setup.OF_SPINES,
    gap_ms={"kmeans": 0.08, "pagerank": 0.3, "sgd": 0.22},
    unmeasured_ms=50,
)
"""The network with spines, whose uplinks they fill to somewhat more than half."""
SPARSE = Place("qclimb-testbed", 16, ("topology.hosts=16",))
"""One switch, and as few jobs at a time as the generator has by itself."""
_SPARSE_JOBS, _SPARSE_MS = 20, 60_000


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def on_testbed(
    report: Report, *, kind: str, scheme: str, seed: int, until_ms: int
) -> dict[str, float]:
    """The numbers of jobs on the testbed; of flows that start before `until_ms`."""
    return run(report, TESTBED, Way(), kind, scheme, seed, until_ms)


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def in_simulation(
    report: Report, *, kind: str, scheme: str, seed: int, until_ms: int
) -> dict[str, float]:
    """The same in the network with spines."""
    return run(report, SIMULATION, Way(), kind, scheme, seed, until_ms)


def run(
    report: Report, place: Place, way: Way, kind: str, scheme: str, seed: int, until_ms: int
) -> dict[str, float]:
    """Completion times by class, losses and repairs, the load, and how good bounds were."""
    from spillway.learning.bounds import files, synthetic

    gap_ms = place.gap_ms.get(kind)
    count = _SPARSE_JOBS if gap_ms is None else place.jobs(kind, until_ms)
    end_ms = _SPARSE_MS if gap_ms is None else until_ms
    own = _SEEDS_OF_TRAFFIC + seed
    made = list(synthetic.make_all(kind, count, own))
    report(None)
    with TemporaryDirectory(prefix="spillway-jobs-") as name:
        folder = Path(name)
        files.write_flows(made, place.hosts, own, folder / files.LIST, gap_ms)
        traffic: dict[str, Any] = {
            "name": "jobs",
            "kind": "flows",
            "file": str(folder / files.LIST),
            "bound": "none",
        }
        if scheme in _BOUNDED:
            method = way if scheme == QCLIMB.name else Way("point", way.depth)
            model(kind, method).save(folder / "model.safetensors")
            traffic["bound"] = {"kind": "model", "model": str(folder / "model.safetensors")}
        report(None)
        scenario = Scenario.load(place.scenario).set(
            *place.assignments,
            f"warmup={place.unmeasured_ms}ms",
            f"duration={end_ms}ms",
            f"stop={end_ms + 60_000}ms",
            "record.drops=false",
            f"record.climbing={'true' if scheme == QCLIMB.name else 'false'}",
            f"seed={seed}",
            *_network(scheme, place, kind, way),
            {"traffic": [traffic]},
        )
        summary = spillway.run(scenario).summary
    report(None)
    tested = bounded(kind, made, way) if scheme == QCLIMB.name else {}
    return {**numbers(summary), **tested}


def numbers(summary: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a run that figures show."""
    times = {
        f"{of}.{name}": summary["fct_us"][of][name] or 0.0
        for of in CLASSES
        for name in ("count", "mean", "p99")
    }
    names = ("lost_packets", "repairs_by_detection", "repairs_by_timeout", "wrong_detections")
    of_losses = {
        f"{of}.{name}": number
        for of in CLASSES
        for name in names
        # pFabric's packets are not numbered, so nothing is known of wrong detections.
        if (number := summary["repairs"][of][name]) is not None
    }
    shares = {of: row["share"] for of, row in summary.get("climbing", {}).items() if of in CLASSES}
    climbing = {f"{of}.climbing": share for of, share in shares.items() if share is not None}
    return {**times, **of_losses, **climbing, "on_wire": summary["load"]["on_wire"]}


def _network(scheme: str, place: Place, kind: str, way: Way) -> tuple[str, ...]:
    """What a scheme sets in the network and at its hosts."""
    if scheme == PFABRIC.name:
        return (*setup.PFABRIC_NETWORK, *place.of_pfabric)
    return (setup.tagger(_TAGGERS[scheme], ladder(kind, way)),)


def bounded(kind: str, made: list[SyntheticJob], way: Way) -> dict[str, float]:
    """The shares of these jobs' flows whose bound, or prediction, is wrong."""
    from spillway.learning import bounds

    jobs = [each.job for each in made]
    scores, errors = bounds.evaluate(model(kind, way), jobs)
    flat, _ = bounds.evaluate(model(kind, Way(depth=FLAT)), jobs)
    return {
        "forest.out_bound": scores.out_bound / scores.flows,
        "forest.closeness": scores.closeness or 0.0,
        f"forest.out_bound_{FLAT}": flat.out_bound / flat.flows,
        "forest.far_off": errors.far_off / errors.flows,
    }
