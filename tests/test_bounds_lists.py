"""Lists of flows that a scenario bounds with a model: windows by hand, and what does not fit."""

import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier

import spillway
from spillway import ScenarioError, oracle
from spillway.base import parquet
from spillway.learning import bounds
from spillway.learning.bounds import files
from spillway.learning.bounds.job import features
from spillway.learning.bounds.model import Model
from spillway.learning.bounds.training import grow
from spillway.scenario import flow_export
from support import TINY, with_right_checksum


def plain_model(columns=("cpu",), window=2) -> Model:
    """A forest over a few flows, of which the last was large."""
    names = features(columns, window)
    draws = np.random.default_rng(1)
    inputs = draws.random((200, len(names))) * 100
    size = (inputs[:, 0] * 50 + inputs[:, -1] * 20 + 1).astype(np.int64)
    return Model.of(grow(inputs, size, names, 6, 4, 1), "mean")


ROWS = {
    "src": [0, 5, 2, 1, 3],
    "dst": [4, 1, 6, 0, 2],
    "size_bytes": [60, 20, 90, 40, 70],
    "start_ns": [30, 10, 20, 20, 5],
    "job": [7, 7, 7, 8, 8],
    "cpu": [10.5, 20.0, 30.0, 40.0, 50.0],
}
# Of job 7 in the order of starts: rows 1, 2, 0; of job 8 rows 4 and 3. Each has its own cpu, that
# of the one before, and the size of that one.
WINDOWS = [[10.5, 30.0, 90], [20.0, 0, 0], [30.0, 20.0, 20], [40.0, 50.0, 70], [50.0, 0, 0]]


def listed(folder, text):
    given = TINY.read_text()
    section = f'[[traffic]]\nname = "list"\nkind = "flows"\n{text}\n'
    given = given[: given.index("[[traffic]]")] + section + given[given.index("[record]") :]
    return spillway.Scenario(given, folder)


@pytest.mark.parametrize("name", ["list.csv", "list.parquet"])
def test_a_list_gets_the_bounds_of_a_model(tmp_path, name):
    model = plain_model()
    model.save(tmp_path / "model.safetensors")
    files.write_list(pa.table(ROWS), tmp_path / name, (tmp_path / name).suffix)
    bound = 'bound = { kind = "model", model = "model.safetensors" }'
    scenario = listed(tmp_path, f'file = "{name}"\n{bound}')
    expected = model.bounds(np.array(WINDOWS)).tolist()
    assert len({*expected}) == 5
    flow_export.write(scenario.read(), tmp_path / "flows.parquet")
    told = parquet.read(tmp_path / "flows.parquet")
    found = dict(zip(told["src"].to_pylist(), told["bound_bytes"].to_pylist(), strict=True))
    assert found == dict(zip(ROWS["src"], expected, strict=True))
    read = bounds.FlowList(tmp_path / name, model.columns)
    own = [model.bounds(job.inputs(model.features)) for job in read.jobs]
    assert read.with_bounds(own)["bound_bytes"].to_pylist() == expected
    # A result keeps a copy of the model, and runs again without it.
    result = spillway.run(scenario, out=tmp_path / "out")
    (tmp_path / "model.safetensors").unlink()
    assert spillway.run(tmp_path / "out").flows.equals(result.flows)


def test_a_bound_of_the_list_counts_before_the_models(tmp_path):
    model = plain_model()
    model.save(tmp_path / "model.safetensors")
    own = {**ROWS, "bound_bytes": pa.array([None, 11, None, None, None], pa.int64())}
    files.write_list(pa.table(own), tmp_path / "list.csv", ".csv")
    bound = 'bound = { kind = "model", model = "model.safetensors" }'
    scenario = listed(tmp_path, f'file = "list.csv"\n{bound}')
    flow_export.write(scenario.read(), tmp_path / "flows.parquet")
    told = parquet.read(tmp_path / "flows.parquet").sort_by("src")
    expected = model.bounds(np.array(WINDOWS)).tolist()
    by_src = sorted(zip(ROWS["src"], expected, strict=True))
    assert told["bound_bytes"].to_pylist() == [11 if s == 5 else b for s, b in by_src]


@pytest.mark.parametrize("name", ["list.csv", "list.parquet"])
def test_a_model_that_does_not_fit_is_refused(tmp_path, name):
    bound = 'bound = { kind = "model", model = "model.safetensors" }'
    text = f'file = "{name}"\n{bound}'
    files.write_list(pa.table(ROWS), tmp_path / name, (tmp_path / name).suffix)
    with pytest.raises(ScenarioError, match=r"bound.model: model.safetensors: it cannot be read"):
        listed(tmp_path, text).read()
    plain_model(("ram",)).save(tmp_path / "model.safetensors")
    with pytest.raises(ScenarioError, match=r"file: .*no column .?ram.?, which the model looks at"):
        listed(tmp_path, text).read()
    drops = RandomForestClassifier(n_estimators=1, random_state=1).fit([[0], [1]], [0, 1])
    (tmp_path / "model.safetensors").unlink()
    oracle.Model.of(drops, ["queue"], "bytes", "time", {}).save(tmp_path / "model.safetensors")
    with pytest.raises(ScenarioError, match="it is a forest for classification"):
        listed(tmp_path, text).read()
    with pytest.raises(ScenarioError, match=r"bound.model: missing"):
        listed(tmp_path, f'file = "{name}"\nbound = "model"').read()


def test_a_model_does_not_look_at_the_size(tmp_path):
    forest = grow(np.array([[1.0], [2.0]]), np.array([1, 2]), ("flow_size",), 1, 1, 1)
    with pytest.raises(ScenarioError, match="it looks at the size that it is to bound"):
        Model.of(forest, "least")
    # The simulator reads the file itself.
    renamed = grow(np.array([[1.0], [2.0]]), np.array([1, 2]), ("flow-size",), 1, 1, 1)
    content = Model.of(renamed, "least").content.replace(b"flow-size", b"flow_size")
    (tmp_path / "model.safetensors").write_bytes(with_right_checksum(content))
    files.write_list(pa.table(ROWS), tmp_path / "list.csv", ".csv")
    bound = 'bound = { kind = "model", model = "model.safetensors" }'
    with pytest.raises(ScenarioError, match="it looks at the size that it is to bound"):
        listed(tmp_path, f'file = "list.csv"\n{bound}').read()


def test_a_models_columns_hold_numbers(tmp_path):
    plain_model().save(tmp_path / "model.safetensors")
    bound = 'file = "list.parquet"\nbound = { kind = "model", model = "model.safetensors" }'
    for cpu, problem in [
        (["a"] * 5, "column cpu: values of type string are not numbers"),
        ([1.0, 2.0, None, 3.0, 4.0], "row 3, column cpu: there is no number"),
    ]:
        parquet.write(pa.table({**ROWS, "cpu": cpu}), tmp_path / "list.parquet")
        with pytest.raises(ScenarioError, match=problem):
            listed(tmp_path, bound).read()


def test_only_a_list_has_what_a_model_looks_at(tmp_path):
    plain_model().save(tmp_path / "model.safetensors")
    bound = '{ kind = "model", model = "model.safetensors" }'
    scenario = spillway.Scenario.load(TINY)
    scenario.folder = tmp_path
    name = next(iter(json.loads(scenario.read().facts(0))["traffic"]))["name"]
    problem = '"model" looks at columns of a list; expected traffic of kind "flows", not'
    with pytest.raises(ScenarioError, match=problem) as raised:
        scenario.set(f"traffic.{name}.bound={bound}").read()
    assert raised.value.path == f"traffic.{name}.bound"


@pytest.mark.parametrize(
    ("bound", "problem"),
    [
        ('"best"', '"best" is not known; expected one of none, exact, constant, uniform, miss, '),
        ("7", "7 is not valid; expected one of none, exact"),
        ('"constant"', "bound.size: missing; expected a size"),
        ('{ kind = "exact", least = 1 }', "bound.least: unknown key"),
        ('{ kind = "uniform", least = 1.5 }', "bound.least: 1.5 is not valid"),
        ('{ kind = "miss", misses = -0.1 }', "bound.misses: -0.1 is not valid"),
        ('{ kind = "miss", excess = 0 }', "bound.excess: 0 is not valid"),
    ],
)
def test_a_bound_that_says_nothing_is_refused(tmp_path, bound, problem):
    files.write_list(pa.table(ROWS), tmp_path / "list.csv", ".csv")
    with pytest.raises(ScenarioError) as raised:
        listed(tmp_path, f'file = "list.csv"\nbound = {bound}').read()
    assert problem in str(raised.value)
    assert str(raised.value).startswith("traffic.list.bound")


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "99999999999999999999"])
def test_a_bound_in_a_list_is_a_whole_number(tmp_path, value):
    header = "src,dst,size_bytes,start_ns,bound_bytes"
    (tmp_path / "list.csv").write_text(f"{header}\n0,4,60,30,\n5,1,20,10,{value}\n")
    with pytest.raises(ScenarioError) as raised:
        listed(tmp_path, 'file = "list.csv"').read()
    problem = f'line 3, column bound_bytes: "{value}" is not a whole number of bytes'
    assert problem in str(raised.value)


def test_jobs_start_as_densely_as_is_asked(tmp_path):
    lists = {}
    for gap_ms in (None, 20.0, 5.0):
        folder = tmp_path / f"{gap_ms}"
        folder.mkdir()
        told = files.generate("kmeans", folder, 4, 16, 3, gap_ms)
        assert told["parameters"]["gap_ms"] == (20.0 if gap_ms is None else gap_ms)
        lists[gap_ms] = files.read_csv(folder / files.LIST)
    # A mean of 20 ms is the default, and nothing but starts depends on it.
    assert lists[None] == lists[20.0]
    names = [name for name in lists[None].column_names if name != "start_ns"]
    assert lists[5.0].select(names) == lists[20.0].select(names)
    begins = {
        gap_ms: np.array([min(start for start, own in rows if own == job) for job in range(4)])
        for gap_ms, table in lists.items()
        for rows in [
            list(zip(table["start_ns"].to_pylist(), table["job"].to_pylist(), strict=True))
        ]
    }
    first = begins[20.0][0]
    # Times between the starts are a quarter, but for nanoseconds to which starts are rounded.
    assert np.abs(4 * (begins[5.0] - begins[5.0][0]) - (begins[20.0] - first)).max() <= 5
    assert begins[5.0][0] == first


@pytest.mark.parametrize("gap_ms", [0, -1.0, float("nan"), float("inf"), True, "5ms"])
def test_no_other_density_is_taken(tmp_path, gap_ms):
    with pytest.raises(ScenarioError, match=r"gap_ms: .* is not valid; expected a time"):
        files.generate("kmeans", tmp_path, 2, 16, 1, gap_ms)
