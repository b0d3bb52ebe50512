"""Oracles: traces, training, scores, models, and what Credence makes of them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import RandomForestClassifier

import spillway
from spillway import _core
from spillway.base import parquet
from spillway.learning.models import forest_arrays, forest_content
from spillway.learning.oracle import FEATURES, Model, Scores, evaluate, train
from spillway.learning.oracle import default as recipe
from spillway.learning.oracle.trace import Place, Trace, join, load
from spillway.scenario.fates import COLUMNS_OF
from support import TINY, names

# Much is lost on purpose: hosts are to send and receive more than their lines carry.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*the excess waits, and delays keep growing:spillway.base.errors.ScenarioWarning"
)

TRACED = (
    "switch.sharing=lqd",
    "switch.buffer=25KB",
    "switch.aqm.threshold=unlimited",
    "record.oracle_trace=true",
)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory):
    """A folder with two traces of the tiny scenario, of seeds 1 and 2."""
    folder = tmp_path_factory.mktemp("traces")
    for seed in (1, 2):
        spillway.run(TINY, set=TRACED, seed=seed, out=folder / f"seed-{seed}")
    return folder


def made_up(queue, dropped, weight=None, ports=4) -> Trace:
    """A trace whose packets found this many bytes in their queue, of 1000."""
    count = len(queue)
    lengths = np.array(queue, np.float64)
    return Trace(
        time_ps=np.arange(count, dtype=np.uint64),
        features=dict.fromkeys(COLUMNS_OF, lengths),
        buffer_bytes=np.full(count, 1000.0),
        dropped=np.array(dropped, bool),
        weight=np.array(weight or [1] * count, np.float64),
        switch=np.zeros(count, np.int32),
        places=(Place("leaf0", ports),),
    )


def test_scores_by_hand():
    # Predicted are packets 0 and 1, dropped 0 and 2; the last two stand for ten packets each.
    truth = np.array([1, 0, 1, 0, 0], bool)
    predicted = np.array([1, 1, 0, 0, 0], bool)
    scores = Scores.of(truth, predicted, np.array([1, 1, 1, 10, 10.0]), ports=4)
    cells = (scores.true_positives, scores.false_positives)
    assert (*cells, scores.true_negatives, scores.false_negatives) == (1, 1, 20, 1)
    assert scores.accuracy == pytest.approx(21 / 23)
    assert (scores.precision, scores.recall, scores.f1) == (0.5, 0.5, 0.5)
    # (20 - min(3 * 1, 20)) / (20 + 1).
    assert scores.inverse_eta == pytest.approx(17 / 21)
    none = Scores.of(truth[3:], predicted[3:], np.ones(2), ports=4)
    assert (none.precision, none.recall, none.f1, none.accuracy) == (None, None, None, 1.0)


def test_a_forest_learns_from_what_queue_on_packets_are_dropped():
    queue = list(range(0, 1000, 10)) * 4
    trace = made_up(queue, [length >= 700 for length in queue])
    training = train([trace], features=["queue"], split="none", trees=3)
    assert training.scores is None
    assert training.balance == {"rows": 400, "packets": 400, "drops": 120}
    inputs = np.array([[0.69], [0.70], [0.99]], np.float32)
    assert training.model.predict(inputs).tolist() == [False, True, True]
    scores = evaluate(training.model, trace)
    assert (scores.precision, scores.recall) == (1.0, 1.0)
    told = training.model.training
    assert (told["split"], told["trees"], told["drops"]) == ("none", 3, 120)
    assert told["versions"]["spillway"] == _core.__version__


def test_the_same_seed_gives_the_same_file_and_weights_count():
    queue = [100] * 50 + [900] * 50
    dropped = [n % 5 == 0 for n in range(100)]
    trace = made_up(queue, dropped)
    options = {"split": "none", "features": ["queue"]}
    assert train([trace], **options).model.content == train([trace], **options).model.content
    # One in five was dropped; were each of those twenty times as heavy, most were.
    heavy = made_up(queue, dropped, [20 if drop else 1 for drop in dropped])
    inputs = np.array([[0.9]], np.float32)
    assert not train([trace], **options).model.predict(inputs)[0]
    assert train([heavy], **options).model.predict(inputs)[0]


def test_splits_keep_the_end_or_some_packets_back():
    queue = list(range(1000))
    trace = made_up(queue, [length % 7 == 0 for length in queue])
    by_time = train([trace], split="time", train_share=0.75)
    assert by_time.balance["rows"] == 750
    assert by_time.scores is not None and by_time.scores.document["packets"] == 250
    drawn = train([trace], split="random", train_share=0.75).balance["rows"]
    assert 700 < drawn < 800 and drawn != 750


@pytest.mark.parametrize(
    ("dropped", "problem"),
    [([False] * 10, "no packet was dropped"), ([True] * 10, "every packet was dropped")],
)
def test_nothing_can_be_learnt_from_one_class(dropped, problem):
    with pytest.raises(spillway.ScenarioError, match=problem) as caught:
        train([made_up([100] * 10, dropped)])
    assert "traffic.incast.burst" in caught.value.hint


def grid(forest: RandomForestClassifier, rng: np.random.Generator, rows: int) -> np.ndarray:
    """Random features, a third of them exactly at a threshold of some tree."""
    columns = []
    for feature in range(forest.n_features_in_):
        trees = [estimator.tree_ for estimator in forest.estimators_]
        at = np.concatenate([tree.threshold[tree.feature == feature] for tree in trees])
        drawn = rng.random(rows)
        if len(at):
            ties = rng.random(rows) < 1 / 3
            drawn[ties] = rng.choice(at, rows)[ties]
        columns.append(drawn.astype(np.float32))
    return np.column_stack(columns)


@pytest.mark.parametrize(("trees", "depth"), [(1, 1), (4, 4), (7, 12), (3, None)])
def test_the_native_forest_answers_like_scikit_learn(trees, depth):
    rng = np.random.default_rng(trees)
    inputs = rng.random((3000, 4)).astype(np.float32)
    noisy = inputs[:, 0] * inputs[:, 1] + 0.2 * rng.standard_normal(3000)
    forest = RandomForestClassifier(n_estimators=trees, max_depth=depth, random_state=1, n_jobs=1)
    forest.fit(inputs, (noisy > 0.3).astype(int))
    model = Model.of(forest, list(FEATURES), "fraction", "time", {})
    rows = grid(forest, rng, 100_000)
    expected = forest.predict(rows).astype(bool)
    assert 0.1 < expected.mean() < 0.9
    assert (model.predict(rows) == expected).all()
    # Where both classes have the same share, so do both answers.
    even = grid(forest, rng, 1000)
    equal = forest.predict_proba(even)
    same = equal[:, 0] == equal[:, 1]
    assert not model.predict(even)[same].any()


def test_models_are_saved_whole_and_read_again(tmp_path):
    trace = made_up([100, 900] * 20, [False, True] * 20)
    model = train([trace], split="none").model
    model.save(tmp_path / "model.safetensors")
    again = Model.load(tmp_path / "model.safetensors")
    assert again.content == model.content
    assert names(tmp_path) == ["model.safetensors"]
    assert (again.features, again.units, again.average) == (list(FEATURES), "fraction", "time")
    with pytest.raises(ValueError, match="4 columns are needed"):
        again.predict(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match="not NaN"):
        again.predict(np.full((1, 4), np.nan, np.float32))


@pytest.mark.parametrize("name", ["default", "smartbuf"])
def test_a_model_that_comes_along_says_what_it_was_trained_on(name):
    model = Model.load(name)
    assert (model.trees, model.depth) == (4, 4)
    (trace,) = model.training["traces"]
    own = recipe.find(name)
    assert (trace["scenario"], trace["seed"]) == (own.scenario, recipe.TRAIN_SEED)
    resolved = spillway.Scenario(trace["resolved"]).read().resolved
    scenario = spillway.Scenario.load(own.scenario)
    again = scenario.set(*own.settings, f"seed={recipe.TRAIN_SEED}").read().resolved
    assert resolved == again


def test_the_recipe_of_the_default_model_works():
    queries = "traffic.incast.queries_per_host_per_s=500"
    small = ("duration=4ms", queries, "traffic.incast.burst=200%", "topology.leaves=4")
    training, scores = recipe.find("default").make(settings=small)
    assert training.balance["drops"] > 0
    assert scores.document["packets"] > 0


@pytest.mark.filterwarnings("ignore:.*asked about packets outside")
def test_credence_with_a_forest_asks_it(traces):
    trained = train([load(traces / "seed-1")], split="none").model
    folder = traces.parent
    trained.save(folder / "model.safetensors")
    scenario = spillway.Scenario.load(TINY).set(
        "switch.buffer=25KB", "switch.aqm.threshold=unlimited"
    )
    scenario.folder = folder
    given = '{ kind = "credence", oracle = "forest", model = "model.safetensors" }'
    result = spillway.run(scenario.set(f"switch.sharing={given}"))
    counts = result.summary["sharing_counts"]["leaf"]
    assert counts["oracle_accepts"] > 0 and counts["oracle_drops"] > 0
    assert result.summary["drops"]["predicted"] >= counts["oracle_drops"]
    # The result's folder has the model with it, and runs again.
    result.save(folder / "result")
    assert (folder / "result" / "inputs" / "switch.sharing.model.safetensors").is_file()
    again = spillway.run(folder / "result")
    assert again.summary["sharing_counts"] == result.summary["sharing_counts"]


def test_a_forest_may_look_at_the_level_of_packets(tmp_path):
    # Of two levels, LQD drops the worse one's packets, whatever the lengths are.
    level = np.array([1, 2] * 200)
    trace = made_up([10] * 400, level == 2)
    features = trace.features | {"queue_class": level.astype(float)}
    trace = replace(trace, features=features, buffer_bytes=np.full(400, 25_000.0))
    trained = train([trace], features=["queue_class"], split="none", trees=1).model
    assert (trained.predict(trace.inputs(["queue_class"], "fraction")) == (level == 2)).all()
    trained.save(tmp_path / "model.safetensors")
    scenario = spillway.Scenario.load(TINY).set(
        "switch.buffer=25KB", "switch.queues_per_port=3", "switch.aqm.threshold=unlimited"
    )
    scenario.folder = tmp_path
    given = '{ kind = "credence", model = "model.safetensors", safeguard = false }'
    for priority, is_dropped in ((1, False), (2, True)):
        priorities = [f"traffic[{place}].priority={priority}" for place in (0, 1)]
        run = spillway.run(scenario.set(f"switch.sharing={given}", "stop=4ms", *priorities))
        counts = run.summary["sharing_counts"]["leaf"]
        assert (counts["oracle_accepts"] == 0, counts["oracle_drops"] > 0) == (is_dropped,) * 2


OPEN_LOOP = """
name = "open"
duration = "2ms"
[topology]
kind = "star"
hosts = 9
[switch]
buffer = "45KB"
sharing = "lqd"
[transport]
kind = "udp"
rate = "2Gbps"
[[traffic]]
name = "all"
kind = "poisson"
sizes = "100KB"
load = 0.9
load_of = "host"
destinations = "uniform"
[[traffic]]
name = "queries"
kind = "incast"
interval = "100us"
burst = "60KB"
fan_in = 6
senders = "any"
[record]
oracle_trace = true
"""


def test_with_recorded_fates_and_no_safeguard_credence_drops_what_lqd_drops(tmp_path):
    longest = spillway.run(OPEN_LOOP, out=tmp_path / "lqd")
    assert longest.summary["drops"]["pushed_out"] > 100
    scenario = spillway.Scenario(OPEN_LOOP, tmp_path).set("record.oracle_trace=false")
    trace = 'oracle = "trace", trace = "lqd/oracle_trace.parquet"'
    asked = f'switch.sharing={{ kind = "credence", safeguard = false, {trace} }}'
    credence = spillway.run(scenario.set(asked))

    def lost(result):
        columns = [result.drops[name].to_pylist() for name in ("flow_id", "seq")]
        return sorted(zip(*columns, strict=True))

    assert lost(credence) == lost(longest)
    assert credence.summary["sharing_counts"]["leaf"]["oracle_unknown"] == 0
    saved = credence.save(tmp_path / "saved")
    assert lost(spillway.run(saved)) == lost(longest)


def test_recorded_fates_need_a_whole_trace_and_traffic_that_does_not_react(tmp_path):
    spillway.run(OPEN_LOOP, set=["record.oracle_trace_sample=3"], out=tmp_path / "sampled")
    scenario = spillway.Scenario(OPEN_LOOP, tmp_path).set("record.oracle_trace=false")

    def with_trace(name):
        return f'switch.sharing={{ kind = "credence", oracle = "trace", trace = "{name}" }}'

    with pytest.raises(spillway.ScenarioError, match=r"switch.sharing.trace: .* it is a sample"):
        scenario.set(with_trace("sampled/oracle_trace.parquet")).read()
    with pytest.raises(spillway.ScenarioError, match="there is no trace of fates"):
        scenario.set(with_trace("none.parquet")).read()
    spillway.run(OPEN_LOOP, out=tmp_path / "whole")
    asked = with_trace("whole/oracle_trace.parquet")
    with pytest.raises(spillway.ScenarioError, match='recorded fates need "udp"'):
        scenario.set(asked, "transport.kind=dctcp").read()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda content: content[:-1], "it is not a model file, or it is damaged"),
        (lambda content: content[:-9] + b"\1" + content[-8:], "it is damaged: its checksum is"),
        (lambda content: b"{}", "it is not a model file, or it is damaged"),
    ],
)
def test_a_damaged_model_is_refused(tmp_path, change, problem):
    (tmp_path / "broken").write_bytes(change(_core.models()["default"]))
    with pytest.raises(spillway.ScenarioError, match=f"broken: {problem}"):
        Model.load(tmp_path / "broken")
    scenario = spillway.Scenario.load(TINY)
    scenario.folder = tmp_path
    asked = 'switch.sharing={ kind = "credence", model = "broken" }'
    with pytest.raises(spillway.ScenarioError, match=f"switch.sharing.model: broken: {problem}"):
        scenario.set(asked).read()


@pytest.mark.parametrize("of", ["/dev/zero", "link", "fifo"])
def test_what_has_no_end_is_not_read(command, tmp_path, of):
    """A device, a link to one, a pipe: for a model, a trace, a result's summary."""
    place = Path("/dev/zero") if of == "/dev/zero" else tmp_path / of
    if of == "link":
        place.symlink_to("/dev/zero")
    elif of == "fifo":
        os.mkfifo(place)
    with pytest.raises(spillway.ScenarioError, match="it is no plain file"):
        Model.load(place)
    with pytest.raises(spillway.ScenarioError, match="there is no trace of fates"):
        load(place)
    assert command("oracle", "show", place).status == 2
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "summary.json").symlink_to(place)
    with pytest.raises(spillway.ScenarioError):
        spillway.Result.load(tmp_path / "result")
    outcome = command("report", tmp_path / "result", "--out", "r.html")
    assert (outcome.status, "Traceback" in outcome.err) == (2, False)


def test_only_a_model_is_replaced_by_a_model(tmp_path):
    (tmp_path / "mine.toml").write_text("years of work")
    with pytest.raises(spillway.ScenarioError, match="is not a model, and is not replaced"):
        Model.load("default").save(tmp_path / "mine.toml")
    Model.load("default").save(tmp_path / "model")
    Model.load("smartbuf").save(tmp_path / "model")
    assert Model.load(tmp_path / "model").content == Model.load("smartbuf").content


def test_a_trace_with_other_columns_is_refused(tmp_path, traces):
    table = pq.read_table(traces / "seed-1" / "oracle_trace.parquet").slice(0, 9)
    for name, column, problem in (
        ("queue_bytes", pa.array(["x"] * 9), "queue_bytes: Failed to parse"),
        ("occupancy_bytes", pa.nulls(9), "occupancy_bytes is not always known"),
        ("average_queue_bytes", pa.array([float("nan")] * 9), "is not always finite"),
        ("weight", pa.array([[1]] * 9), "weight: "),
    ):
        place = table.column_names.index(name)
        parquet.write(table.set_column(place, name, column), tmp_path / "trace.parquet")
        with pytest.raises(spillway.ScenarioError, match=f"not a trace of fates: .*{problem}"):
            load(tmp_path / "trace.parquet")


def test_deep_json_in_a_model_is_refused():
    forest = RandomForestClassifier(n_estimators=1, random_state=1)
    forest.fit(np.array([[0.0], [1.0]]), [0, 1])
    told = {"format": "spillway-forest", "version": "2", "features": "queue"}
    told |= {"units": "bytes", "average": "time", "training": "[" * 100_000}
    with pytest.raises(spillway.ScenarioError, match="does not say as it should"):
        Model(forest_content(forest_arrays(forest), told))


def test_train_eval_and_show_as_commands(command, traces, tmp_path):
    first, second = traces / "seed-1", traces / "seed-2"
    done = command("oracle", "train", first, "--test", second, "--out", "m", "--json")
    assert done.status == 0
    told = done.json
    assert set(told["scores"]) == {"kept back", str(second)}
    assert told["model"]["features"] == list(FEATURES)
    assert names(tmp_path) == ["m"]
    people = command("oracle", "train", first, "--features", "two", "--split", "none")
    assert people.status == 0 and "were dropped" in people.out
    tested = command("oracle", "eval", "m", traces, "--json").json
    assert len(tested["scores"]) == 2
    again = tested["scores"][str(second / "oracle_trace.parquet")]
    assert again.pop("by_tier") and again == told["scores"][str(second)]
    shown = command("oracle", "show", "m")
    assert shown.status == 0 and "tiny, seed 1" in shown.out
    assert command("oracle", "show", "default", "--json").json["trees"] == 4
    swept = command(
        "oracle", "train", first, "--sweep-trees", "1,2", "--test", second, "--json",
        "--plot", "trees.png",
    )  # fmt: skip
    assert list(swept.json["trees"]) == ["1", "2"]
    assert (tmp_path / "trees.png").stat().st_size > 5000
    leaf = command("oracle", "eval", "m", first, "--tier", "leaf", "--json").json["scores"]
    (scores,) = leaf.values()
    (whole,) = command("oracle", "eval", "m", first, "--json").json["scores"].values()
    assert 0 < scores["packets"] < whole["packets"]


def test_what_is_wrong_with_a_command_is_said_before_anything_is_trained(command, traces, tmp_path):
    first = traces / "seed-1"
    (tmp_path / "there").write_text("")
    flows = first / "flows.parquet"
    for arguments, problem in (
        (["train", "nowhere"], "there is no trace of fates nowhere"),
        (["train", tmp_path], "there is no trace of fates"),
        (["train", first, "--out", "there"], "there is there already"),
        (["train", first, "--out", "no/where"], "there is no folder no"),
        (["train", first, "--sweep-trees", "1", "--out", "x"], "--sweep-trees writes no model"),
        (["train", first, "--sweep-trees", "1,x"], "is not a list of numbers of trees"),
        (["train", first, "--sweep-trees", "1,2,1"], "--sweep-trees: the number 1 is there twice"),
        (["train", first, "--plot", "x.png"], "--plot draws a sweep"),
        (["train", first, "--tier", "laef"], "there is no tier 'laef'"),
        (["train", flows], "is not a trace of fates: it has no "),
        (["train", tmp_path / "there"], "cannot be read as Parquet"),
        (["train", first, "--sweep-trees", "1", "--split", "none"], "nothing is left to test on"),
        (["eval", "nothing", first], "nothing cannot be read"),
        (["eval", "there", first], "there: it is not a model file"),
        (["default", "--out", "there"], "there is there already"),
        (["default", "cbm"], "the bundled ones are default and smartbuf"),
    ):
        done = command("oracle", *arguments)
        assert done.status == 2, (arguments, done.err)
        assert problem in done.err, (arguments, done.err)
        assert names(tmp_path) == ["there"]


def test_traces_of_other_averages_do_not_mix(traces):
    first = load(traces / "seed-1")
    assert json.loads(json.dumps(first.origin))["average"] == "time"
    other = made_up([1, 2], [True, False])
    other.origin["average"] = "code"
    with pytest.raises(spillway.ScenarioError, match="averages differ: code, time"):
        train([first, other])
    assert len(join([first, other])) == len(first) + 2


@pytest.mark.parametrize(
    ("features", "units", "average", "training", "problem"),
    [
        (["colour"], "fraction", "time", {}, "it looks at 'colour'; known are queue, "),
        (["queue"], "furlongs", "time", {}, "'furlongs' is none of fraction, bytes"),
        (["queue"], "bytes", "never", {}, "'never' is none of time, code"),
        (["queue"], "bytes", "code", {"trees": 4}, "does not say as it should"),
    ],
)
def test_a_model_says_what_it_is_or_is_none(features, units, average, training, problem):
    forest = RandomForestClassifier(n_estimators=1, random_state=1)
    forest.fit(np.array([[0.0], [1.0]]), [0, 1])
    with pytest.raises(spillway.ScenarioError, match=problem):
        Model.of(forest, features, units, average, training)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"features": "colour"}, 'it looks at "colour"; known are queue, '),
        ({"units": "furlongs"}, 'its units are "furlongs"'),
        ({"average": "never"}, 'its average is "never"'),
    ],
)
def test_a_switch_refuses_what_it_cannot_measure(tmp_path, change, problem):
    forest = RandomForestClassifier(n_estimators=1, random_state=1)
    forest.fit(np.array([[0.0], [1.0]]), [0, 1])
    told = {"format": "spillway-forest", "version": "2", "features": "queue"}
    told |= {"units": "bytes", "average": "time"}
    arrays = forest_arrays(forest)
    scenario = spillway.Scenario.load(TINY)
    scenario.folder = tmp_path
    asked = 'switch.sharing={ kind = "credence", model = "odd" }'
    (tmp_path / "odd").write_bytes(forest_content(arrays, told))
    scenario.set(asked).read()
    (tmp_path / "odd").write_bytes(forest_content(arrays, told | change))
    with pytest.raises(spillway.ScenarioError) as caught:
        scenario.set(asked).read()
    assert f"switch.sharing.model: odd: {problem}" in str(caught.value)


def test_what_lies_beside_a_trace_is_its_run(command, traces, tmp_path):
    for name in ("oracle_trace.parquet", "scenario.toml", "summary.json"):
        (tmp_path / name).write_bytes((traces / "seed-1" / name).read_bytes())
    (tmp_path / "summary.json").write_text("{")
    done = command("oracle", "train", tmp_path)
    assert done.status == 2 and "is no run's" in done.err
    (tmp_path / "summary.json").unlink()
    assert load(tmp_path).origin == {"file": "oracle_trace.parquet"}


def test_a_model_is_written_to_a_plain_file_only(command, traces):
    done = command("oracle", "train", traces / "seed-1", "--out", "/dev/full", "--force")
    assert done.status == 2 and "/dev/full is no plain file" in done.err


def test_a_test_without_drops_says_nothing(command, traces, tmp_path):
    import pyarrow.compute as pc

    table = parquet.read(traces / "seed-2" / "oracle_trace.parquet")
    parquet.write(table.filter(pc.equal(table["dropped"], 0)), tmp_path / "quiet.parquet")
    done = command("oracle", "eval", "default", "quiet.parquet")
    assert done.status == 0 and "nothing was dropped: such scores say nothing" in done.out


QUIET = "kept back to test on was dropped: scores on them mean nothing"


@pytest.mark.parametrize("split", ["time", "random"])
def test_what_is_kept_back_without_drops_is_warned_of(split):
    trace = made_up(range(0, 1000, 10), [place == 0 for place in range(100)])
    with pytest.warns(spillway.ScenarioWarning, match=QUIET):
        found = train([trace], split=split, train_share=0.8, seed=2)
    assert found.scores is not None and found.scores.document["drops"] == 0


def test_what_is_kept_back_with_drops_is_not_warned_of():
    trace = made_up(range(0, 1000, 10), [place in (0, 99) for place in range(100)])
    assert train([trace], train_share=0.8).scores is not None
    quiet = made_up(range(0, 1000, 10), [place == 0 for place in range(100)])
    assert train([quiet], split="none").scores is None


@pytest.mark.parametrize(
    ("more", "head"),
    [((), ""), (("--sweep-trees", "1,2"), ""), (("--each-switch", "--out", "m"), "leaf0, ")],
)
def test_commands_warn_once_of_what_is_kept_back_without_drops(command, traces, more, head):
    # In the tiny trace all drops are early.
    done = command("oracle", "train", traces / "seed-1", *more)
    assert done.status == 0 and done.err.count(QUIET) == 1
    assert done.err.startswith(f"warning: {head or 'none of the packets that were kept back'}")
    others = command("oracle", "train", traces / "seed-1", "--split", "random", *more, "--force")
    assert others.status == 0 and QUIET not in others.err


def test_a_sweep_on_other_traces_does_not_ask_what_is_kept_back(command, traces):
    given = ("--test", traces / "seed-2", "--sweep-trees", "1,2")
    done = command("oracle", "train", traces / "seed-1", *given)
    assert done.status == 0 and QUIET not in done.err


def test_ports_are_the_switchs_whoever_sends(tmp_path):
    one = OPEN_LOOP.replace('destinations = "uniform"', "destinations = 0")
    spillway.run(one.replace("load = 0.9", "load = 0.1"), out=tmp_path / "run")
    assert load(tmp_path / "run").ports == 9
