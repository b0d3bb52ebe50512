"""Bounds from forests: against scikit-learn and sums by hand, in files, and in lists of flows."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import spillway
from spillway import ScenarioError, oracle
from spillway.base import parquet
from spillway.learning import bounds
from spillway.learning.bounds import files, synthetic
from spillway.learning.bounds.job import Job, features
from spillway.learning.bounds.model import METHODS, Model
from spillway.learning.bounds.training import Errors, Scores, calibrated, grow
from support import TINY


@pytest.fixture(scope="module")
def jobs():
    return [made.job for made in synthetic.make_all("kmeans", 20, 5)]


@pytest.fixture(scope="module")
def grown(jobs):
    """A forest on ten jobs, and the inputs of ten others, a third of them at thresholds."""
    names = features([*jobs[0].features], 3)
    inputs = np.concatenate([job.inputs(names) for job in jobs[:10]])
    size = np.concatenate([job.size for job in jobs[:10]])
    forest = grow(inputs, size, names, 6, 7, 1)
    others = np.concatenate([job.inputs(names) for job in jobs[10:]])
    draws = np.random.default_rng(1)
    for tree in forest.forest.estimators_:
        nodes = np.nonzero(tree.tree_.children_left >= 0)[0]
        for row in draws.integers(0, len(others), len(others) // 20):
            node = draws.choice(nodes)
            column = tree.tree_.feature[node]
            others[row, column] = tree.tree_.threshold[node] * forest.scale[column]
    return forest, others, inputs


def quantile_of(forest, leaves, share):
    """The quantile of the leaves' sizes, size by size."""
    found = []
    for row in leaves:
        own = [forest.size[forest.leaves[:, tree] == leaf] for tree, leaf in enumerate(row)]
        for size in np.unique(np.concatenate(own)):
            held = sum(float((sizes <= size).sum()) / len(sizes) for sizes in own)
            if held >= share * len(own):
                found.append(size)
                break
    return found


def test_predictions_are_those_of_scikit_learn_to_the_bit(grown):
    forest, others, _ = grown
    scaled = (others / forest.scale).astype(np.float32)
    with pytest.raises(ScenarioError, match="method: 'pont' is not known"):
        Model.of(forest, "pont")
    model = Model.of(forest, "point")
    expected = forest.forest.predict(scaled)
    assert (model.log_sizes(others) == expected).all()
    # Exponentials of two libraries differ by an ulp or so.
    np.testing.assert_allclose(model.sizes(others), np.exp(expected), rtol=1e-14)
    assert (model.bounds(others) == np.floor(model.sizes(others))).all()


def test_bounds_are_those_of_the_leaves(grown):
    forest, others, _ = grown
    leaves = forest.forest.apply((others / forest.scale).astype(np.float32))
    least = np.array(
        [
            [forest.size[forest.leaves[:, tree] == leaf].min() for tree, leaf in enumerate(row)]
            for row in leaves
        ]
    )
    assert (Model.of(forest, "least").bounds(others) == least.min(axis=1)).all()
    mean = np.floor(least.sum(axis=1) / 7)
    assert (Model.of(forest, "mean").bounds(others) == mean).all()
    half = Model.of(forest, "mean", factor=0.5).bounds(others)
    assert (half == np.floor(0.5 * (least.sum(axis=1) / 7))).all()
    few = slice(0, 150)
    for share in (0.05, 0.5):
        found = Model.of(forest, "quantile", quantile=share).bounds(others[few])
        assert found.tolist() == quantile_of(forest, leaves[few], share)


def test_no_flow_of_the_training_is_out_bound(grown):
    # It is itself one of the sizes in each of its leaves.
    forest, _, inputs = grown
    for method in ("least", "mean"):
        assert (Model.of(forest, method).bounds(inputs) <= forest.size).all()


def test_features_are_scaled_and_constant_ones_stay():
    inputs = np.array([[0.0, -8.0], [0.0, 4.0], [0.0, 2.0]])
    forest = grow(inputs, np.array([1, 10, 100]), ("a", "b"), 2, 1, 1)
    assert forest.scale.tolist() == [1.0, 8.0]


def test_a_calibration_is_a_place_among_ratios():
    # Ratios of size to bound, sorted: 0.5, 0.8, 1.0, 1.2, 2.0 and without end for the bound of 0.
    bound = np.array([100, 100, 0, 100, 100, 100])
    size = np.array([120, 80, 7, 200, 50, 100])
    # k = 0.15 x 7 = 1, 0.3 x 7 = 2, 0.5 x 7 = 3, and a factor is at most 1.
    for rate, factor in ((0.15, 0.5), (0.3, 0.8), (0.5, 1.0), (0.6, 1.0), (1 / 7, 0.5)):
        assert calibrated(bound, size, rate) == factor
    with pytest.raises(ScenarioError, match=r"6 flows are too few .* of 0\.1: it takes 9"):
        calibrated(bound, size, 0.1)


def test_scores_by_hand():
    scores = Scores.of(np.array([50, 150, 400_000, 10]), np.array([100, 100, 500_000, 10]))
    assert (scores.flows, scores.bounded, scores.out_bound) == (4, 3, 1)
    assert scores.closeness == pytest.approx((0.5 + 0.8 + 1.0) / 3)
    assert scores.closeness_small == pytest.approx(0.75)
    assert scores.excess == pytest.approx(0.5)
    assert scores.document["bounded_share"] == 0.75
    size = np.array([100, 200_000, 300_000, 10])
    errors = Errors.of(np.array([100_101.0, 100_000.0, 450_000.0, 10.0]), size)
    # 100,001 and 150,000 are more than 100,000 apart, and 100,000 is not.
    assert (errors.far_off, errors.too_high) == (2, 2)
    # A bound is cut to whole bytes, so a part of a byte is not too high.
    assert Errors.of(np.array([100.999]), np.array([100])).too_high == 0
    assert errors.median == pytest.approx(0.5)
    none = Scores.of(np.array([], np.int64), np.array([], np.int64))
    assert none.closeness is None and none.document["bounded_share"] is None


def test_training_keeps_jobs_back(jobs):
    training = bounds.train(jobs, depth=4, trees=3)
    counts = training.flows
    assert counts["calibration"] == 0
    assert counts["training"] + counts["test"] == sum(map(len, jobs))
    # 4 of 20 jobs: their sizes add up to the test.
    assert training.models["least"].training["jobs"] == 20
    assert set(training.models) == set(training.scores) == set(METHODS)
    least, mean = (training.scores[name] for name in ("least", "mean"))
    assert least.bounded >= mean.bounded
    assert least.flows == training.errors.flows == counts["test"]
    again = bounds.train(jobs, depth=4, trees=3)
    assert all(again.models[name].content == training.models[name].content for name in METHODS)
    other = bounds.train(jobs, depth=4, trees=3, seed=2)
    assert other.models["least"].content != training.models["least"].content
    of_flows = bounds.train(jobs, depth=4, trees=3, split="flows").flows
    assert of_flows["training"] == round(0.8 * sum(map(len, jobs)))


def test_a_calibrated_bound_misses_as_rarely_as_asked(jobs):
    training = bounds.train(jobs, depth=6, trees=3, miss_rate=0.02, split="flows")
    plain = bounds.train(jobs, depth=6, trees=3, split="flows")
    point = training.scores["point"]
    # Half of all predictions are too high. Of some 680 flows, 2% are 14, with a deviation of 4;
    # the factor comes from 540 others, which is as uncertain.
    assert plain.scores["point"].out_bound > 0.3 * point.flows
    assert point.out_bound < 0.05 * point.flows
    model = training.models["point"]
    assert model.factor < 1 and model.miss_rate == 0.02
    assert plain.models["point"].miss_rate is None and plain.models["point"].factor == 1.0
    assert training.flows["calibration"] == pytest.approx(0.16 * sum(map(len, jobs)), abs=2)


def test_what_cannot_be_trained_is_refused(jobs):
    sgd = synthetic.make("sgd", 0).job
    for given, options, problem in [
        ([], {}, "there are no jobs"),
        ([3], {}, "3 is no job"),
        ([*jobs, sgd], {}, "jobs of several kinds: kmeans, sgd"),
        (jobs, {"depth": 0}, "depth: 0"),
        (jobs, {"trees": 10_001}, "trees: 10001"),
        (jobs, {"window": 0}, "window: 0"),
        (jobs, {"quantile": 1.0}, "quantile: 1.0"),
        (jobs, {"miss_rate": 0}, "miss_rate: 0"),
        (jobs, {"split": "time"}, "split: 'time' is not known"),
        (jobs[:1], {}, "1 jobs are too few to train and to test on"),
        (jobs[:3], {"miss_rate": 0.1, "train_share": 0.4}, "3 jobs are too few"),
    ]:
        with pytest.raises(ScenarioError) as raised:
            bounds.train(given, **options)
        assert problem in str(raised.value)


# Files -------------------------------------------------------------------------------------------


def test_a_model_is_what_its_file_says(grown, tmp_path):
    forest, others, _ = grown
    model = Model.of(forest, "quantile", quantile=0.1, factor=0.75, miss_rate=0.01)
    model.save(tmp_path / "model.safetensors")
    read = Model.load(tmp_path / "model.safetensors")
    assert (read.bounds(others) == model.bounds(others)).all()
    assert (read.method, read.quantile, read.factor, read.miss_rate) == (
        ("quantile", 0.1, 0.75, 0.01)
    )
    assert (read.window, read.trees, read.depth) == (3, 7, 6)
    assert read.columns == list(synthetic.FEATURES["kmeans"])
    (tmp_path / "other").write_text("something")
    with pytest.raises(ScenarioError, match="is not a model that bounds sizes"):
        model.save(tmp_path / "other")


def test_models_of_the_two_kinds_are_told_apart(grown, tmp_path):
    Model.of(grown[0], "least").save(tmp_path / "bounds")
    told = "it is a forest for regression, as `spillway bounds train` writes; expected one for"
    with pytest.raises(ScenarioError, match=f"bounds: {told} classification"):
        oracle.Model.load(tmp_path / "bounds")
    drops = RandomForestClassifier(n_estimators=1, random_state=1).fit([[0], [1]], [0, 1])
    oracle.Model.of(drops, ["queue"], "bytes", "time", {}).save(tmp_path / "drops")
    told = "it is a forest for classification, as `spillway oracle train` writes; expected one for"
    with pytest.raises(ScenarioError, match=f"drops: {told} regression"):
        Model.load(tmp_path / "drops")
    setting = f'switch.sharing={{ kind = "credence", model = "{tmp_path / "bounds"}" }}'
    with pytest.raises(ScenarioError, match="it is a forest for regression"):
        spillway.Scenario.load(TINY).set(setting).read()


def test_a_job_is_read_as_it_was_written(tmp_path):
    for kind in synthetic.FEATURES:
        job = synthetic.make(kind, 2).job
        files.write_job(job, tmp_path / "d_2.csv")
        (read,) = bounds.load([tmp_path])
        assert read.kind == kind and not read.is_synthetic
        assert (read.size == job.size).all()
        assert all((read.features[name] == job.features[name]).all() for name in job.features)


def test_files_of_a_folder_are_read_in_order(tmp_path):
    job = synthetic.make("sgd", 0).job
    for name in ("training/d_10", "training/d_9", "test/d_1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        files.write_job(job, tmp_path / f"{name}.csv")
    found = [str(file.relative_to(tmp_path)) for file in files.find([tmp_path])]
    assert found == ["test/d_1.csv", "training/d_9.csv", "training/d_10.csv"]


POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
SGD = ",".join((*synthetic.FEATURES["sgd"], "flow_size"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (POINTER, "d_0.csv: it is a pointer of Git LFS, which stands for the data, not the data"),
        ("", "it is empty; its first line must name its columns"),
        (f"{SGD}\n", "it has no flows"),
        (f"{SGD}\n0,1,2,3,4,5,6,7,0\n", "line 2, column flow_size: 0 is no size"),
        (f"{SGD}\n0,1,2,3,4,5,6,7,1.5\n", "line 2, column flow_size: 1.5 is no size"),
        (
            f"{SGD}\n5,1,2,3,4,5,6,7,9\n4,1,2,3,4,5,6,7,9\n",
            "line 3, column time: 4 is before the 5",
        ),
        (f"{SGD}\n0,,2,3,4,5,6,7,9\n1,1,2,3,4,5,6,7,9\n", "line 2, column first_call: there is no"),
        (f"{SGD}\n0,inf,2,3,4,5,6,7,9\n", "line 2, column first_call: inf is no finite number"),
        (f"{SGD}\n0,x,2,3,4,5,6,7,9\n", "column first_call: string values are not numbers"),
        (f"{SGD},time\n0,1,2,3,4,5,6,7,9,0\n", "the column 'time' is there twice"),
        (f"{SGD}\n0,1\n", "CSV parse error"),
        (
            "index,time,first_call,size\n0,1,2,3\n",
            "its columns are those of no kind of job; of sgd: agg_net_in, ",
        ),
        (
            f"{SGD},flowtime\n0,1,2,3,4,5,6,7,9,0\n",
            "its columns are those of no kind of job; of sgd: flowtime not expected",
        ),
    ],
)
def test_what_is_no_job_is_refused(tmp_path, text, problem):
    (tmp_path / "d_0.csv").write_text(text)
    with pytest.raises(ScenarioError) as raised:
        bounds.load([tmp_path / "d_0.csv"])
    assert problem in str(raised.value)
    if text == POINTER:
        assert "git lfs pull" in raised.value.hint and "bounds generate" in raised.value.hint


def test_numbers_and_names_that_no_file_can_have_are_refused(tmp_path):
    file = tmp_path / "d_0.csv"
    file.write_text(f"{SGD}\n0,1,2,3,4,5,6,7,9007199254740993\n")
    with pytest.raises(ScenarioError, match="column flow_size: Integer value 9007199254740993 not"):
        bounds.load([file])
    file.write_bytes(b"\x80" + SGD.encode() + b"\n0,1,2,3,4,5,6,7,9\n")
    with pytest.raises(ScenarioError, match="the names of its columns are not UTF-8"):
        bounds.load([file])


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match=r"d_0\.csv cannot be read: No such file"):
        bounds.load([tmp_path / "d_0.csv"])
    with pytest.raises(ScenarioError, match=r"no file of a job d_N.csv is in it"):
        bounds.load([tmp_path])


# The command line --------------------------------------------------------------------------------


def test_from_jobs_to_bounds(command, tmp_path):
    dense = ("--jobs", 12, "--gap-ms", 2.5)
    made = command("bounds", "generate", "pagerank", *dense, "--out", "jobs", "--json")
    told = json.loads(made.out)
    assert told["parameters"]["gap_ms"] == 2.5
    assert (told["kind"], told["jobs"], told["hosts"], told["synthetic"]) == (
        ("pagerank", 12, 16, True)
    )
    assert len([*(tmp_path / "jobs").glob("d_*.csv")]) == 12
    assert json.loads((tmp_path / "jobs/synthetic.json").read_text()) == told
    options = ("--trees", 3, "--depth", 5, "--method", "mean")
    trained = command("bounds", "train", "jobs", *options, "--out", "model.safetensors")
    assert trained.status == 0 and "All numbers are synthetic" in trained.out
    shown = command("bounds", "show", "model.safetensors")
    assert "synthetic jobs of kind pagerank" in shown.out
    assert "mean: the mean over the trees" in shown.out
    other = command("bounds", "generate", "pagerank", "--jobs", 3, "--seed", 2, "--out", "other")
    assert "3 synthetic jobs of kind pagerank" in other.out
    by_job = json.loads(command("bounds", "eval", "model.safetensors", "other", "--json").out)
    listed = json.loads(
        command(
            "bounds",
            "eval",
            "model.safetensors",
            "other/flows.csv",
            "--out",
            "bounded.parquet",
            "--json",
        ).out
    )
    # The list has the same jobs, in the same order.
    assert listed["scores"] == by_job["scores"] and listed["errors"] == by_job["errors"]
    assert by_job["synthetic"] is listed["synthetic"] is True
    table = parquet.read(tmp_path / "bounded.parquet")
    assert (
        sum(table["bound_bytes"].to_numpy() > table["size_bytes"].to_numpy())
        == (listed["scores"]["out_bound"])
    )
    again = command("bounds", "generate", "pagerank", "--jobs", 3, "--out", "other")
    assert again.status == 2 and "is there already" in again.err
    assert command("bounds", "eval", "model.safetensors", "other").status == 0


def test_a_test_says_what_the_model_is_of(command, tmp_path):
    command("bounds", "generate", "pagerank", "--jobs", 12, "--out", "jobs")
    command("bounds", "train", "jobs", "--trees", 2, "--depth", 4, "--out", "model.safetensors")
    command("bounds", "generate", "sgd", "--jobs", 2, "--out", "sgd")
    # Elsewhere nothing is known of a list but its columns and classes.
    (tmp_path / "alone.csv").write_bytes((tmp_path / "sgd/flows.csv").read_bytes())
    (tmp_path / "own.csv").write_bytes((tmp_path / "jobs/flows.csv").read_bytes())

    def tested(file):
        told = command("bounds", "eval", "model.safetensors", file)
        document = json.loads(command("bounds", "eval", "model.safetensors", file, "--json").out)
        return " ".join(told.out.split()), document["synthetic"], document["other_kinds"]

    of_model = "The model is of synthetic jobs"
    of_kinds = "The model was trained on jobs of kind pagerank; there are jobs of sgd."
    text, *known = tested("alone.csv")
    assert known == [True, ["sgd"]] and of_model in text and of_kinds in text
    assert "All numbers are synthetic" not in text
    text, *known = tested("own.csv")
    assert known == [True, []] and of_model in text and "jobs of kind" not in text
    text, *known = tested("sgd")
    assert known == [True, ["sgd"]] and "All numbers are synthetic" in text and of_kinds in text
    # Jobs of a kind that lacks what the model looks at.
    command("bounds", "generate", "kmeans", "--jobs", 2, "--out", "kmeans")
    told = command("bounds", "eval", "model.safetensors", "kmeans")
    lacks = "kmeans/d_0.csv: a job of kind kmeans has no column 'flow_frequency'"
    assert told.status == 2 and lacks in told.err


def test_depths_are_swept(command):
    command("bounds", "generate", "kmeans", "--jobs", 10, "--out", "jobs")
    swept = command("bounds", "train", "jobs", "--trees", 2, "--sweep-depths", "2,4", "--json")
    told = json.loads(swept.out)
    assert set(told["depths"]) == {"2", "4"}
    assert set(told["depths"]["4"]["methods"]) == set(METHODS)


def test_wrong_commands_are_told(command, tmp_path):
    command("bounds", "generate", "kmeans", "--jobs", 6, "--out", "jobs")
    command("bounds", "train", "jobs", "--trees", 2, "--out", "model")
    for arguments, problem in [
        (("generate", "kmeans", "--jobs", 2, "--hosts", 3, "--out", "x"), "3 hosts are too few"),
        (("generate", "kmeans", "--gap-ms", 0, "--out", "x"), "gap_ms: 0.0 is not valid"),
        (("train", "jobs", "--sweep-depths", "5,x"), "is not a list of depths"),
        (("train", "jobs", "--sweep-depths", "5", "--out", "x"), "--sweep-depths writes no model"),
        (("train", "jobs", "--out", "model"), "is there already"),
        (("eval", "model", "jobs", "--out", "x.csv"), "--out takes one list of flows"),
        (("eval", "model", "jobs/flows.csv", "--out", "x.txt"), "neither Parquet nor CSV"),
        (("eval", "model", "jobs/flows.csv", "jobs"), "are tested apart"),
        (("show", "jobs/d_0.csv"), "it is not a model file"),
        (("show", "nothing"), "nothing cannot be read"),
    ]:
        outcome = command("bounds", *arguments)
        assert outcome.status == 2 and problem in outcome.err, outcome
    (tmp_path / "list.csv").write_text("src,dst,size_bytes,start_ns,job\n0,1,5,0,0\n")
    outcome = command("bounds", "eval", "model", "list.csv")
    assert "list.csv: there is no column time" in outcome.err


def test_a_job_may_be_short(jobs):
    # Shorter than the window.
    short = Job(
        "kmeans", "x", {name: v[:2] for name, v in jobs[0].features.items()}, jobs[0].size[:2]
    )
    assert short.inputs(features([*short.features], 5)).shape == (2, 14 * 5 + 4)
