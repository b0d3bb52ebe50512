"""QCLIMB on synthetic jobs of K-Means, PageRank and SGD, with bounds that forests give.

The slides' jobs are the traces of Flux, which could not be had. So their numbers stand beside those
of synthetic jobs, and nothing is judged.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.reproduce.claim import Claim, Excess, Over, Plain, Times
from spillway.reproduce.draw import Lines, Panel
from spillway.reproduce.figure import Figure, Point, Scale, Scheme
from spillway.reproduce.metric import Number
from spillway.reproduce.point import Computed
from spillway.reproduce.qclimb import events, gains, setup
from spillway.reproduce.qclimb.setup import FACE_VALUE, PERFECT, PFABRIC, PIAS, QCLIMB
from spillway.reproduce.verdict import Beside

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

_METHODS = {QCLIMB.name: "least", FACE_VALUE.name: "point"}
_TAGGERS = {PIAS.name: "pias", PERFECT.name: "qclimb-ps"}
_DEPTH, _FLAT = 10, 5
"""Of the forests that bound the flows of runs, and of those that the slides have beside them."""


@dataclass(frozen=True)
class Trained:
    """What is known of a kind of jobs before a run."""

    models: dict[str, Model]
    flat: Model
    """Bounds of a forest of less depth."""
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
                grown = bounds.train(jobs, depth=_DEPTH)
                flat = bounds.train(jobs, depth=_FLAT).models["least"]
                sizes = folder / "sizes.txt"
                _write_sizes(jobs, sizes)
                found = thresholds.find(str(sizes), load=LOAD, objective="ml-fcfs")
            _TRAINED[kind] = Trained(grown.models, flat, found.best.thresholds)
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
        scenario = Scenario.load("qclimb-testbed").set(
            f"topology.hosts={HOSTS}",
            "duration=60s",
            "stop=120s",
            "record.drops=false",
            f"seed={seed}",
            *_network(scheme, known),
            {"traffic": [traffic]},
        )
        summary = spillway.run(scenario).summary
        tested = bounded(known, folder) if scheme == QCLIMB.name else {}
    report(None)
    numbers = {
        f"{of}.{name}": summary["fct_us"][of][name] or 0.0
        for of in ("short", "medium", "long", "all")
        for name in ("count", "mean", "p99")
    }
    for of in ("short", "medium", "long", "all"):
        for name in ("repairs_by_detection", "repairs_by_timeout", "wrong_detections"):
            numbers[f"{of}.{name}"] = summary["repairs"][of][name]
    return numbers | tested


def _network(scheme: str, known: Trained) -> tuple[str, ...]:
    """What a scheme sets in the network and at its hosts."""
    if scheme == PFABRIC.name:
        return setup.PFABRIC_NETWORK
    return (setup.tagger(_TAGGERS.get(scheme, "qclimb"), known.ladder),)


def bounded(known: Trained, folder: Path) -> dict[str, float]:
    """Of the jobs that are run: the shares of flows whose bound, or prediction, is wrong."""
    from spillway import bounds

    jobs = bounds.load([folder])
    scores, errors = bounds.evaluate(known.models["least"], jobs)
    flat, _ = bounds.evaluate(known.flat, jobs)
    return {
        f"forest.out_bound_{_DEPTH}": scores.out_bound / scores.flows,
        f"forest.out_bound_{_FLAT}": flat.out_bound / flat.flows,
        "forest.far_off": errors.far_off / errors.flows,
    }


def _time(of: str, name: str) -> Number:
    words = {"mean": "mean completion time", "p99": "p99 completion time"}
    return Number(f"{of}.{name}", f"{of} flows' {words[name]}", "ms", 1e-3)


SMALL, TAIL, ALL = _time("short", "mean"), _time("short", "p99"), _time("all", "mean")
FAR_OFF = Number("forest.far_off", "flows more than 100 KB from their prediction", "%", 100)
_OUT_BOUND = {
    depth: Number(f"forest.out_bound_{depth}", f"flows bounded too high at depth {depth}", "%", 100)
    for depth in (_FLAT, _DEPTH)
}
_SLIDES_OUT_BOUND = {
    "kmeans": {_FLAT: 0.0064, _DEPTH: 0.0699},
    "pagerank": {_FLAT: 0.0, _DEPTH: 0.0945},
    "sgd": {_FLAT: 0.0, _DEPTH: 0.0123},
}
"""In percent."""


def _less(words: str, source: str, metric: Number, paper: float) -> Claim:
    says = f"Small flows' {words} is below PIAS's, up to"
    return gains.below(says, source, metric, Beside(paper), Over(take="largest"))


CLAIMS = (
    _less("mean", "slide 23, testbed", SMALL, 0.88),
    _less("tail", "slide 23, testbed", TAIL, 0.97),
    _less("mean (slides: simulated network)", "slide 26, simulation", SMALL, 0.465),
    _less("tail (slides: simulated network)", "slide 26, simulation", TAIL, 0.62),
    Claim(
        "Small flows' mean is near that of perfect bounds",
        "slide 23, testbed",
        Excess(SMALL, QCLIMB.name, PERFECT.name),
        Beside(0.03),
    ),
    Claim(
        "Predictions at face value make small flows slower, in times, up to",
        "slide on Flux",
        Times(SMALL, FACE_VALUE.name, QCLIMB.name),
        Beside(23),
        Over(take="largest"),
    ),
    Claim(
        "All flows' mean is near pFabric's",
        "abstract",
        Excess(ALL, QCLIMB.name, PFABRIC.name),
        Beside(0.09),
    ),
    events.lower_tail(TAIL),
    *events.claims(""),
    *(
        Claim(
            "Share of flows with a bound that is too high, in percent",
            "slide on lower bounds",
            Plain(_OUT_BOUND[depth], QCLIMB.name),
            Beside(share),
            Over({"kind": kind}),
        )
        for kind, row in _SLIDES_OUT_BOUND.items()
        for depth, share in row.items()
    ),
    *(
        Claim(
            "Share of flows that a prediction misjudges by over 100 KB, in percent, at least",
            "slide on imprecise information",
            Plain(FAR_OFF, QCLIMB.name),
            Beside(34),
            Over({"kind": kind}),
        )
        for kind in KINDS
    ),
)

FIGURE = Figure(
    name="qclimb/jobs",
    title="Synthetic jobs, with bounds that forests give",
    source="QCLIMB (NSDI 2024), slides",
    about="Synthetic jobs (docs/bounds.md) between 16 hosts of 25 Gbps. Forests of depth 10 are "
    "trained on other jobs; a bound is the least size in any leaf, at face value the predicted "
    "size. Thresholds are the best for the sizes of the jobs in training at 50% load, by the "
    "objective ml-fcfs. The slides' jobs are others: their numbers stand beside, unjudged.",
    measure=Computed(f"{__name__}:run"),
    points=tuple(
        Point({"kind": kind}, (), {"kind": words}, {"kind": words}) for kind, words in KINDS.items()
    ),
    schemes=tuple(
        Scheme(scheme.name, style=scheme.style)
        for scheme in (PIAS, QCLIMB, PERFECT, FACE_VALUE, PFABRIC)
    ),
    scales={
        "quick": Scale((1,), (), {"jobs": 5}),
        "page": Scale((1, 2, 3, 4, 5), (), {"jobs": 20}),
        "full": Scale((1, 2, 3, 4, 5), (), {"jobs": 20}),
    },
    plot=Lines(
        (
            Panel(SMALL, "(a) short flows, mean"),
            Panel(TAIL, "(b) short flows, p99"),
            Panel(_time("long", "mean"), "(c) long flows, mean", is_log=True),
            Panel(ALL, "(d) all flows, mean", is_log=True),
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
    claims=CLAIMS,
    told_by="anything",
)
