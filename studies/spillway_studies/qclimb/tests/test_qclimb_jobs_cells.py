"""QCLIMB on synthetic jobs: every run is what the label and the page say."""

import pytest

from cells import flat, resolved
from spillway import thresholds
from spillway_studies.qclimb.figures import job_choices, job_runs, jobs

FEW = "kmeans"
LADDER = (1_000, 20_000, 100_000, 200_000, 400_000, 800_000, 1_600_000)


@pytest.fixture
def few_jobs(monkeypatch):
    """Forests of two small trees from three jobs of K-Means, and round thresholds."""
    from spillway.learning import bounds as learned
    from spillway.learning.bounds import synthetic

    made = [each.job for each in synthetic.make_all(FEW, 3)]
    grown = {
        depth: learned.train(made, trees=2, depth=depth).models for depth in (3, job_runs.FLAT)
    }

    def model(kind, way):
        assert kind == FEW
        return grown[3 if way.depth == 10 else way.depth][way.method]

    monkeypatch.setattr(job_runs, "model", model)
    monkeypatch.setattr(job_runs, "ladder", lambda _kind, _way: LADDER)
    return model


SMALL_PLACE = job_runs.Place(
    "qclimb-testbed", 16, ("topology.hosts=16",), gap_ms={FEW: 5.0}, unmeasured_ms=10
)


def test_jobs_run_with_the_bounds_of_their_scheme(few_jobs):
    way = job_runs.Way()
    found = {
        scheme.name: job_runs.run(lambda _: None, SMALL_PLACE, way, FEW, scheme.name, 1, 40)
        for scheme in jobs.SCHEMES
    }
    counts = {name: numbers["all.count"] for name, numbers in found.items()}
    assert len({*counts.values()}) == 1 and counts["PIAS"] > 100
    means = {numbers["all.mean"] for numbers in found.values()}
    assert len(means) == len(jobs.SCHEMES), "every scheme has bounds, or a network, of its own"
    # pFabric's packets are not numbered, so it is not known what it takes for lost wrongly.
    wrong = {name: numbers.get("all.wrong_detections") for name, numbers in found.items()}
    assert wrong == {**dict.fromkeys(found, 0), "pFabric": None}
    # Climbing is told of QCLIMB alone. Its small flows climb for part of their time.
    climbing = {name: numbers.get("short.climbing") for name, numbers in found.items()}
    assert {name for name, share in climbing.items() if share is not None} == {"QCLIMB"}
    assert 0 < climbing["QCLIMB"] <= 1
    # What is lost is repaired, and pFabric repairs what had arrived, too.
    for name, numbers in found.items():
        repairs = numbers["all.repairs_by_detection"] + numbers["all.repairs_by_timeout"]
        assert 0 <= numbers["all.lost_packets"] <= repairs, name
    assert all(0.01 < numbers["on_wire"] < 1 for numbers in found.values())
    # pFabric's senders know of losses by timeouts alone.
    assert found["pFabric"]["all.repairs_by_detection"] == 0


def test_flows_are_measured_from_the_place_s_time_until_the_end(few_jobs):
    import numpy as np

    from spillway.learning.bounds import synthetic

    way = job_runs.Way()
    numbers = job_runs.run(lambda _: None, SMALL_PLACE, way, FEW, "PIAS", 1, 40)
    begin, starts = 0.0, []
    for number, made in enumerate(synthetic.make_all(FEW, SMALL_PLACE.jobs(FEW, 40), 1_001)):
        starts += (begin + made.job.features["time"]).tolist()
        draws = np.random.default_rng([1_001, 0, number, 16])
        draws.permutation(16)
        begin += draws.exponential(5.0)
    assert begin > 40, "jobs start until the end"
    assert numbers["all.count"] == sum(10 <= start < 40 for start in starts)


def test_so_many_jobs_are_made_that_their_starts_last_long_enough():
    # 9 in 45 ms on average; with 25 the start is 4 of 25's standard deviations later, 4 * 5 = 20.
    place = job_runs.Place("qclimb-testbed", 16, gap_ms={FEW: 5.0})
    assert place.jobs(FEW, 25) == 25
    assert place.jobs(FEW, 60) == 36


def test_the_network_of_jobs_is_what_the_figure_says(monkeypatch):
    import spillway

    seen = []

    def stop(scenario):
        seen.append(flat(resolved(scenario)))
        raise KeyboardInterrupt

    monkeypatch.setattr(job_runs, "ladder", lambda _kind, _way: LADDER)
    monkeypatch.setattr(spillway, "run", stop)
    for function in (job_runs.on_testbed, job_runs.in_simulation):
        for scheme in ("PIAS", "pFabric"):
            with pytest.raises(KeyboardInterrupt):
                function(lambda _: None, kind="pagerank", scheme=scheme, seed=1, until_ms=51)
    testbed, testbed_pfabric, simulation, simulation_pfabric = seen
    assert (testbed["topology"], testbed["topology.hosts"]) == ("star", 16)
    assert (simulation["topology"], simulation["topology.leaves"]) == ("leaf-spine", 9)
    assert testbed_pfabric["nic.queue_limit"] == "256KB"
    assert simulation_pfabric["nic.queue_limit"] == "89KB"
    said = {"warmup": "50ms", "duration": "51ms"}
    assert all({key: runs[key] for key in said} == said for runs in seen)
    for runs in (testbed, simulation):
        assert runs["traffic.jobs.tagging.thresholds"] == [f"{size}B" for size in LADDER]


def test_bounds_are_tested_on_the_jobs_that_are_run(few_jobs):
    from spillway.learning.bounds import synthetic

    made = list(synthetic.make_all(FEW, 2, 1_001))
    way = job_runs.Way("mean")
    told = job_runs.bounded(FEW, made, way)
    sizes = [size for each in made for size in each.job.size]
    closeness = []
    for name, other in (
        ("forest.out_bound", way),
        ("forest.out_bound_5", job_runs.Way(depth=5)),
    ):
        model = few_jobs(FEW, other)
        bounds_of = [n for each in made for n in model.bounds(each.job.inputs(model.features))]
        pairs = list(zip(bounds_of, sizes, strict=True))
        assert told[name] == sum(bound > size for bound, size in pairs) / len(sizes)
        own = [bound / size for bound, size in pairs if bound <= size]
        closeness.append(sum(own) / len(own))
    assert told["forest.closeness"] == pytest.approx(closeness[0])
    assert told["forest.out_bound"] != told["forest.out_bound_5"]
    assert 0 < told["forest.far_off"] < 1


def test_every_number_of_the_slides_stands_unjudged_beside_that_of_jobs():
    by_name = {figure.short_name: figure.claims for figure in jobs.FIGURES}
    rules = {type(claim.rule).__name__ for claims in by_name.values() for claim in claims}
    assert rules == {"Beside"}
    papers = {
        name: {claim.rule.paper for claim in claims} - {None} for name, claims in by_name.items()
    }
    assert {0.88, 0.97, 0.03, 23, 34, 0.0945} <= papers["jobs"]
    assert not papers["jobs"] & {0.465, 0.62, 124, 414}, "those are the simulated network's"
    assert {0.465, 0.62, 124, 83, 10, 25, 414, 0.09} <= papers["jobs-simulation"]
    assert not papers["jobs-simulation"] & {0.88, 0.97, 34}, "those are the testbed's"


def test_sizes_of_jobs_are_told_by_their_quantiles(tmp_path):
    from types import SimpleNamespace

    import numpy as np

    file = tmp_path / "sizes.txt"
    job_runs.write_sizes(
        [SimpleNamespace(size=np.array([100] * 3)), SimpleNamespace(size=np.array([900]))], file
    )
    points = [tuple(map(float, line.split())) for line in file.read_text().splitlines()]
    # Three quarters of the flows have 100 bytes.
    assert points == [(100.0, 0.75), (900.0, 1.0)]
    assert thresholds.find(str(file), load=0.5, levels=2).best.thresholds


def test_points_of_jobs_are_the_kinds():
    for figure, whole_ms in zip(jobs.FIGURES, (150, 80), strict=True):
        assert [point.values["kind"] for point in figure.points] == ["kmeans", "pagerank", "sgd"]
        parameters = {name: dict(scale.parameters) for name, scale in figure.scales.items()}
        whole = {"until_ms": whole_ms}
        assert parameters == {"quick": {"until_ms": 60}, "page": whole, "full": whole}


def test_each_choice_of_jobs_is_one_change():
    plain = vars(job_runs.Way())
    changed = {
        name: {key: value for key, value in vars(way).items() if plain[key] != value}
        for name, way in job_choices.WAYS.items()
    }
    assert changed == {
        "as in the figure": {},
        "mean of the trees' least sizes": {"method": "mean"},
        "5% quantile of the leaves": {"method": "quantile"},
        "least size, calibrated": {"miss_rate": 0.001},
        "mean, calibrated": {"method": "mean", "miss_rate": 0.001},
        "5% quantile, calibrated": {"method": "quantile", "miss_rate": 0.001},
        "forests of depth 5": {"depth": 5},
        "thresholds for 20% load": {"load": 0.2},
        "thresholds for 80% load": {"load": 0.8},
        "thresholds by product": {"objective": "product"},
        "thresholds by left-over": {"objective": "left-over"},
        "thresholds by unweighted": {"objective": "unweighted"},
        "thresholds by flow-count": {"objective": "flow-count"},
    }
    names = [point.values["choice"] for point in job_choices.FIGURE.points]
    assert names == 3 * [*job_choices.WAYS, job_choices.FEW]


def test_a_choice_of_jobs_runs_in_its_way(monkeypatch):
    runs = []
    monkeypatch.setattr(job_runs, "run", lambda _report, *what: runs.append(what))
    for choice in ("forests of depth 5", job_choices.FEW):
        of = {"kind": "sgd", "choice": choice, "scheme": "QCLIMB", "seed": 3, "until_ms": 60}
        job_choices.run(lambda _: None, **of)
    assert runs == [
        (job_runs.TESTBED, job_runs.Way(depth=5), "sgd", "QCLIMB", 3, 60),
        (job_runs.SPARSE, job_runs.Way(), "sgd", "QCLIMB", 3, 60),
    ]


def test_few_jobs_are_as_sparse_as_the_generator_makes_them(few_jobs):
    found = job_runs.run(lambda _: None, job_runs.SPARSE, job_runs.Way(), FEW, "PIAS", 1, 60)
    from spillway.learning.bounds import synthetic

    assert found["all.count"] == sum(len(job.job) for job in synthetic.make_all(FEW, 20, 1_001))


def test_forests_and_thresholds_come_from_jobs_that_are_not_run(monkeypatch):
    from spillway.learning.bounds import synthetic

    asked = []

    def make_all(kind, jobs, seed):
        asked.append((kind, jobs, seed))
        return [synthetic.make(FEW, number, seed) for number in range(3)]

    monkeypatch.setattr(synthetic, "make_all", make_all)
    job_runs._jobs.cache_clear()
    try:
        assert len(job_runs._jobs(FEW)) == 3
        ways = [job_runs.Way(load=0.2), job_runs.Way(load=0.2, objective="product")]
        assert len({job_runs.ladder(FEW, way) for way in ways}) == 2
    finally:
        for cached in (job_runs._jobs, job_runs._models, job_runs._ladder):
            cached.cache_clear()
    assert asked == [(FEW, None, 1)]
