"""QCLIMB on synthetic jobs of K-Means, PageRank and SGD, with bounds that forests give.

The slides' jobs are the traces of Flux, which could not be had. So their numbers stand beside those
of synthetic jobs, and nothing is judged.
"""

from spillway_studies.claims import (
    Beside,
    Claim,
    Computed,
    Excess,
    Figure,
    Lines,
    Number,
    Over,
    Panel,
    Plain,
    Point,
    Scale,
    Scheme,
    Times,
)
from spillway_studies.qclimb.figures import comparison, gains, job_runs
from spillway_studies.qclimb.figures.job_runs import FLAT, KINDS
from spillway_studies.qclimb.figures.setup import FACE_VALUE, FLUX, PERFECT, PFABRIC, PIAS, QCLIMB


def time_of(of: str, name: str) -> Number:
    """The mean or the p99 of the completion times of a class."""
    words = {"mean": "mean completion time", "p99": "p99 completion time"}
    return Number(f"{of}.{name}", f"{of} flows' {words[name]}", "ms", 1e-3)


SMALL, TAIL, ALL = time_of("short", "mean"), time_of("short", "p99"), time_of("all", "mean")
ON_WIRE = Number("on_wire", "load on the wire", "%", 100)
FAR_OFF = Number("forest.far_off", "flows more than 100 KB from their prediction", "%", 100)
_DEEP = 10
_OUT_BOUND = {
    FLAT: Number(f"forest.out_bound_{FLAT}", f"flows bounded too high at depth {FLAT}", "%", 100),
    _DEEP: Number("forest.out_bound", f"flows bounded too high at depth {_DEEP}", "%", 100),
}
_SLIDES_OUT_BOUND = {
    "kmeans": {FLAT: 0.0064, _DEEP: 0.0699},
    "pagerank": {FLAT: 0.0, _DEEP: 0.0945},
    "sgd": {FLAT: 0.0, _DEEP: 0.0123},
}
"""In percent."""

_TESTBED, _SIMULATION = "slide 23, testbed", "slide 26, simulation"
_MOST = Over(take="largest")


def _less(words: str, source: str, metric: Number, paper: float) -> Claim:
    says = f"Small flows' {words} is below PIAS's, up to"
    return gains.below(says, source, metric, Beside(paper), _MOST)


_CLIMBS = Number("short.climbing", "share of short flows' time spent climbing", "%", 100)
_CLIMBING = tuple(comparison.of_small(_CLIMBS, Over({"kind": kind})) for kind in KINDS)
_ESTIMATES = tuple(
    Claim(
        f"Predictions {words} make small flows slower, in times, up to",
        "slide on Flux",
        Times(SMALL, scheme.name, QCLIMB.name),
        Beside(23),
        _MOST,
    )
    for words, scheme in (("at face value", FACE_VALUE), ("as sizes, as in Flux,", FLUX))
)
_NEAR_PFABRIC = gains.near_pfabric(ALL, SMALL, Beside(0.09))
_LOADS = tuple(
    Claim(
        "Load on the wire, in percent",
        "not in the paper",
        Plain(ON_WIRE, QCLIMB.name),
        Beside(),
        Over({"kind": kind}),
    )
    for kind in KINDS
)
_FORESTS = (
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

CLAIMS = (
    _less("mean", _TESTBED, SMALL, 0.88),
    _less("tail", _TESTBED, TAIL, 0.97),
    Claim(
        "Small flows' mean is near that of perfect bounds",
        _TESTBED,
        Excess(SMALL, QCLIMB.name, PERFECT.name),
        Beside(0.03),
    ),
    *_ESTIMATES,
    *_NEAR_PFABRIC,
    *_CLIMBING,
    *_LOADS,
    *_FORESTS,
)
"""What the slides tell of their testbed and of their forests."""
SIMULATED = (
    _less("mean", _SIMULATION, SMALL, 0.465),
    _less("tail", _SIMULATION, TAIL, 0.62),
    Claim(
        "Small flows' mean is near that of perfect bounds",
        "not in the paper",
        Excess(SMALL, QCLIMB.name, PERFECT.name),
        Beside(),
    ),
    *_ESTIMATES,
    *_NEAR_PFABRIC,
    gains.lower_tail(TAIL, Beside()),
    *gains.lost(""),
    *gains.repaired(""),
    *_CLIMBING,
    *_LOADS,
)
"""What they tell of their simulated network."""

SCHEMES = tuple(
    Scheme(scheme.name, style=scheme.style)
    for scheme in (PIAS, QCLIMB, PERFECT, FACE_VALUE, FLUX, PFABRIC)
)
POINTS = tuple(
    Point({"kind": kind}, (), {"kind": words}, {"kind": words}) for kind, words in KINDS.items()
)
SEEDS = (1, 2, 3, 4, 5)


def scales(quick_ms: int, whole_ms: int) -> dict[str, Scale]:
    """Runs whose last flows start then."""
    whole = Scale(SEEDS, (), {"until_ms": whole_ms})
    return {"quick": Scale((1,), (), {"until_ms": quick_ms}), "page": whole, "full": whole}


_PLOT = Lines(
    (
        Panel(SMALL, "(a) short flows, mean", is_log=True),
        Panel(TAIL, "(b) short flows, p99", is_log=True),
        Panel(time_of("long", "mean"), "(c) long flows, mean", is_log=True),
        Panel(ALL, "(d) all flows, mean", is_log=True),
        Panel(
            Number("all.repairs_by_detection", "packets sent again, found lost", "packets"),
            "(e) sent again, found lost",
        ),
        Panel(
            Number("all.repairs_by_timeout", "packets sent again after timeouts", "packets"),
            "(f) sent again after timeouts",
        ),
        Panel(ON_WIRE, "(g) load on the wire"),
    ),
    "kind",
    "jobs",
    is_joined=False,
)
ABOUT = (
    "Forests of depth 10 are trained on other jobs; a bound is the least size in any leaf, at face "
    "value the predicted size, which Flux in levels takes for the size. Thresholds are the best "
    "for the sizes of the jobs in training at 50% load, by the objective ml-fcfs. The slides' jobs "
    "are others: their numbers stand beside, unjudged."
)


def _figure(
    name: str, title: str, where: str, function: str, claims: tuple[Claim, ...], whole_ms: int
) -> Figure:
    return Figure(
        name=f"qclimb/{name}",
        title=title,
        source="QCLIMB (NSDI 2024), slides",
        about=f"Synthetic jobs (docs/bounds.md) between {where}. They start so densely that they "
        f"fill about half of that; the first 50 ms are not measured. {ABOUT}",
        measure=Computed(f"{job_runs.__name__}:{function}"),
        points=POINTS,
        schemes=SCHEMES,
        scales=scales(60, whole_ms),
        plot=_PLOT,
        claims=claims,
        told_by="anything",
    )


FIGURES = (
    _figure(
        "jobs",
        "Synthetic jobs on the testbed, with bounds that forests give",
        "16 hosts of 25 Gbps",
        "on_testbed",
        CLAIMS,
        150,
    ),
    _figure(
        "jobs-simulation",
        "Synthetic jobs in the simulated network, with bounds that forests give",
        "144 hosts, leaf-spine, 40 and 100 Gbps",
        "in_simulation",
        SIMULATED,
        80,
    ),
)
