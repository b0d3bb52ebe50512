"""QCLIMB on synthetic jobs of K-Means, PageRank and SGD, with bounds that forests give.

The slides' jobs are the traces of Flux, which could not be had. So their numbers are not comparable
with ours, and nothing is claimed here.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.reproduce.draw import Lines, Panel
from spillway.reproduce.figure import Figure, Point, Scale, Scheme
from spillway.reproduce.metric import Number
from spillway.reproduce.point import Computed

if TYPE_CHECKING:
    from spillway.bounds import Model
    from spillway.reproduce.point import Report

KINDS = {"kmeans": "K-Means", "pagerank": "PageRank", "sgd": "SGD"}
HOSTS = 16
"""The slides' testbed has 8, but a synthetic job has up to nine machines."""
LOAD = 0.5
"""The load for which thresholds are sought; jobs have none of their own."""
_SEEDS_OF_TRAFFIC = 1_000
"""Jobs that are run have seeds from here on; forests are trained on those of seed 1."""

_METHODS = {"QCLIMB": "least", "face value": "point"}
_TAGGERS = {"PIAS": "pias", "QCLIMB-PS": "qclimb-ps"}


@dataclass(frozen=True)
class Trained:
    """What is known of a kind of jobs before a run."""

    models: dict[str, Model]
    ladder: tuple[int, ...]
    """The best thresholds for its flows' sizes, in bytes."""


_LOCK = threading.Lock()
_TRAINED: dict[str, Trained] = {}


def trained(kind: str) -> Trained:
    """Forests, and thresholds, from the jobs of seed 1; made once."""
    from spillway import bounds, thresholds
    from spillway.bounds import files

    with _LOCK:
        if kind not in _TRAINED:
            with TemporaryDirectory(prefix="spillway-jobs-") as name:
                folder = Path(name)
                files.generate(kind, folder, None, HOSTS, 1)
                jobs = bounds.load([folder])
                grown = bounds.train(jobs)
                sizes = folder / "sizes.txt"
                _write_sizes(jobs, sizes)
                found = thresholds.find(str(sizes), load=LOAD, objective="ml-fcfs")
            _TRAINED[kind] = Trained(grown.models, found.best.thresholds)
        return _TRAINED[kind]


def _write_sizes(jobs: Any, file: Path) -> None:
    """The distribution of jobs' flow sizes, at 200 of its quantiles."""
    import numpy as np

    sizes = np.concatenate([job.size for job in jobs])
    shares = np.linspace(0, 1, 201)
    points = dict(zip(np.quantile(sizes, shares, method="inverted_cdf"), shares, strict=True))
    text = "".join(f"{int(size)} {share:.6f}\n" for size, share in points.items())
    file.write_text(text, encoding="utf-8")


def run(report: Report, *, kind: str, scheme: str, seed: int, jobs: int) -> dict[str, float]:
    """The numbers of jobs under a scheme: completion times by class, and what was sent again."""
    import spillway
    from spillway.bounds import files
    from spillway.scenario import Scenario

    known = trained(kind)
    report(None)
    with TemporaryDirectory(prefix="spillway-jobs-") as name:
        folder = Path(name)
        files.generate(kind, folder, jobs, HOSTS, _SEEDS_OF_TRAFFIC + seed)
        traffic: dict[str, Any] = {
            "name": "jobs",
            "kind": "flows",
            "file": str(folder / files.LIST),
            "bound": "none",
        }
        if scheme in _METHODS:
            known.models[_METHODS[scheme]].save(folder / "model.safetensors")
            traffic["bound"] = {"kind": "model", "model": str(folder / "model.safetensors")}
        ladder = ",".join(f"'{size}B'" for size in known.ladder)
        tagger = _TAGGERS.get(scheme, "qclimb")
        scenario = Scenario.load("qclimb-testbed").set(
            f"topology.hosts={HOSTS}",
            "duration=60s",
            "stop=120s",
            "record.drops=false",
            f"seed={seed}",
            f"transport.tagging={{kind='{tagger}',thresholds=[{ladder}],acks='with-first'}}",
            {"traffic": [traffic]},
        )
        summary = spillway.run(scenario).summary
    report(None)
    numbers = {
        f"{of}.{name}": summary["fct_us"][of][name] or 0.0
        for of in ("short", "medium", "long", "all")
        for name in ("count", "mean", "p99")
    }
    for of in ("short", "medium", "long", "all"):
        for name in ("repairs_by_detection", "repairs_by_timeout", "wrong_detections"):
            numbers[f"{of}.{name}"] = summary["repairs"][of][name]
    return numbers


def _time(of: str, name: str) -> Number:
    words = {"mean": "mean completion time", "p99": "p99 completion time"}
    return Number(f"{of}.{name}", f"{of} flows' {words[name]}", "ms", 1e-3)


FIGURE = Figure(
    name="qclimb/jobs",
    title="Synthetic jobs, with bounds that forests give",
    source="QCLIMB (NSDI 2024), slides",
    about="Synthetic jobs (docs/bounds.md) between 16 hosts of 25 Gbps. Forests of depth 10 are "
    "trained on other jobs; a bound is the least size in any leaf, at face value the predicted "
    "size. Thresholds are the best for the sizes of the jobs in training at 50% load, by the "
    "objective ml-fcfs. The slides' jobs are others: their numbers are not comparable.",
    measure=Computed(f"{__name__}:run"),
    points=tuple(
        Point({"kind": kind}, (), {"kind": words}, {"kind": words}) for kind, words in KINDS.items()
    ),
    schemes=(
        Scheme("PIAS", style=0),
        Scheme("QCLIMB", style=3),
        Scheme("QCLIMB-PS", style=8),
        Scheme("face value", style=5),
    ),
    scales={
        "quick": Scale((1,), (), {"jobs": 5}),
        "page": Scale((1, 2, 3, 4, 5), (), {"jobs": 20}),
        "full": Scale((1, 2, 3, 4, 5), (), {"jobs": 20}),
    },
    plot=Lines(
        (
            Panel(_time("short", "mean"), "(a) short flows, mean"),
            Panel(_time("short", "p99"), "(b) short flows, p99"),
            Panel(_time("long", "mean"), "(c) long flows, mean", is_log=True),
            Panel(_time("all", "mean"), "(d) all flows, mean", is_log=True),
            Panel(
                Number("all.repairs_by_detection", "packets sent again, found lost", "packets"),
                "(e) sent again, found lost",
            ),
            Panel(
                Number("all.repairs_by_timeout", "packets sent again after timeouts", "packets"),
                "(f) sent again after timeouts",
            ),
        ),
        "kind",
        "jobs",
        is_joined=False,
    ),
    told_by="anything",
)
