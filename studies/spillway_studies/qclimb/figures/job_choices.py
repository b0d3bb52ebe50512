"""What the slides leave open about jobs: bounds, thresholds and density, each another way, once."""

from spillway.tasks.run import Report
from spillway_studies.claims import (
    Beside,
    Claim,
    Computed,
    Figure,
    Number,
    Over,
    Plain,
    Variants,
    basis,
    choice,
    product,
)
from spillway_studies.qclimb.figures import gains, job_runs, jobs
from spillway_studies.qclimb.figures.job_runs import SPARSE, TESTBED, Way
from spillway_studies.qclimb.figures.setup import PIAS, QCLIMB

_CALIBRATED = 0.001
"""The share of flows that may be out-bound where bounds are calibrated."""
WAYS = {
    "as in the figure": Way(),
    "mean of the trees' least sizes": Way("mean"),
    "5% quantile of the leaves": Way("quantile"),
    "least size, calibrated": Way(miss_rate=_CALIBRATED),
    "mean, calibrated": Way("mean", miss_rate=_CALIBRATED),
    "5% quantile, calibrated": Way("quantile", miss_rate=_CALIBRATED),
    "forests of depth 5": Way(depth=5),
    "thresholds for 20% load": Way(load=0.2),
    "thresholds for 80% load": Way(load=0.8),
    "thresholds by product": Way(objective="product"),
    "thresholds by left-over": Way(objective="left-over"),
    "thresholds by unweighted": Way(objective="unweighted"),
    "thresholds by flow-count": Way(objective="flow-count"),
}
FEW = "20 jobs, one every 20 ms"
"""The generator's own density."""


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def run(
    report: Report, *, kind: str, choice: str, scheme: str, seed: int, until_ms: int
) -> dict[str, float]:
    """The numbers of jobs on the testbed with one of the choices."""
    place, way = (SPARSE, Way()) if choice == FEW else (TESTBED, WAYS[choice])
    return job_runs.run(report, place, way, kind, scheme, seed, until_ms)


_OUT_BOUND = Number("forest.out_bound", "flows bounded too high", "%", 100)
_CLOSENESS = Number("forest.closeness", "bounds over sizes, of flows that are bounded", "%", 100)
_SOURCE = "not in the paper"
CHOICES = tuple(choice(name) for name in (*WAYS, FEW))
_POINTS = product(jobs.POINTS, CHOICES)


def _claims() -> tuple[Claim, ...]:
    """For each kind and choice: what flows gain over PIAS, and how good the bounds are."""
    places = [point.values for point in _POINTS]
    gain = {"Small flows' mean": jobs.SMALL, "All flows' mean": jobs.ALL}
    return (
        *gains.below_at_each(gain, _SOURCE, places),
        *(
            Claim(says, _SOURCE, Plain(metric, QCLIMB.name), Beside(), Over(place))
            for says, metric in (
                ("Flows whose bound is too high, in percent", _OUT_BOUND),
                ("How close bounds are, in percent", _CLOSENESS),
            )
            for place in places
        ),
    )


FIGURE = Figure(
    name="qclimb/jobs-choices",
    title="Synthetic jobs on the testbed: bounds and thresholds made in other ways",
    source=_SOURCE,
    about="The jobs of qclimb/jobs, for 80 ms of them; a row for each choice that is made "
    f"another way. Calibrated: to {_CALIBRATED:.1%} of flows bounded too high. {jobs.ABOUT}",
    measure=Computed(f"{__name__}:run"),
    points=_POINTS,
    schemes=tuple(scheme for scheme in jobs.SCHEMES if scheme.name in (PIAS.name, QCLIMB.name)),
    scales=jobs.scales(60, 80),
    plot=Variants((jobs.SMALL, jobs.TAIL, jobs.ALL), "choice"),
    claims=_claims(),
    is_of_paper=False,
    told_by="anything",
)
