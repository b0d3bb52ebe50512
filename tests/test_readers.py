"""What Python reads, changed at random: it is refused as `spillway.Error`, or read.

The readers in Rust have fuzz targets of their own. `make fuzz` runs these, too, each for
FUZZ_SECONDS; the seed is printed, and FUZZ_SEED has one again. Without it a few examples are tried,
always the same.
"""

import os
import random
import time
import warnings

import hypothesis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import spillway
from spillway import _core
from spillway.base import checksums, parquet
from spillway.learning import acc, bounds
from spillway.learning.bounds import files, synthetic
from spillway.learning.bounds.training import grow
from spillway.learning.oracle import Model
from spillway.learning.oracle.trace import load
from spillway.scenario import fates as of_fates
from spillway.scenario import flow_list
from spillway.show import report
from support import TINY, with_right_checksum

SWITCHES = ["leaf0", "leaf1", "spine0"]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "put", "cut", "twice", "end"]),
        st.floats(0, 1),
        st.one_of(
            st.binary(min_size=1, max_size=8),
            st.sampled_from([b"0", b"-1", b"1e999", b"null", b"[" * 3000, b"\xff", b"\0", b'"']),
        ),
    ),
    max_size=4,
)
TYPES = ["uint8", "int64", "uint64", "float64", "string", "bool", "null", "list", "dictionary"]
"""Of columns, whatever belongs there."""


def edited(content, edits):
    """Bytes, a few of which are others."""
    content = bytearray(content)
    for kind, where, new in edits:
        place = int(where * len(content))
        if kind == "flip" and content:
            content[min(place, len(content) - 1)] ^= 1 << new[0] % 8
        elif kind == "put":
            content[place:place] = new
        elif kind == "cut":
            del content[place : place + 1 + new[0]]
        elif kind == "twice":
            content[place:place] = content[place : place + 1 + new[0]]
        elif kind == "end":
            del content[place:]
    return bytes(content)


def column(data, rows):
    """A column of a table, of any type and any content."""
    kind = data.draw(st.sampled_from(TYPES))
    if kind == "null":
        return pa.nulls(rows)
    numbers = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**32, 2**64 - 1])
    of = {
        "uint8": st.integers(0, 255),
        "int64": st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-1, 0, 5]),
        "uint64": numbers,
        "float64": st.floats(),
        "string": st.sampled_from([*SWITCHES, "", "x"]) | st.text(max_size=3),
        "bool": st.booleans(),
        "list": st.lists(st.integers(0, 3), max_size=2),
        "dictionary": st.sampled_from(SWITCHES),
    }[kind]
    has_nulls = data.draw(st.booleans())
    values = data.draw(st.lists(st.none() | of if has_nulls else of, min_size=rows, max_size=rows))
    if kind == "dictionary":
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, pa.list_(pa.int64()) if kind == "list" else pa.type_for_alias(kind))


def changed(data, table):
    """A table with columns of other types or other content, without some, with others."""
    columns = {name: table[name] for name in table.column_names}
    for name in data.draw(st.lists(st.sampled_from(table.column_names), max_size=3)):
        if data.draw(st.booleans()):
            columns.pop(name, None)
        else:
            columns[name] = column(data, table.num_rows)
    if data.draw(st.booleans()):
        columns["more"] = column(data, table.num_rows)
    return pa.table(columns) if columns else table


def read_tables(name, table, read):
    """Files that are whole, and hold something else."""

    def target(data, folder):
        file = folder / f"{name}.parquet"
        parquet.write(changed(data, table(folder)), file)
        read(file)

    return target


def flows(_):
    rows = {"src": [0, 1], "dst": [1, 2], "size_bytes": [5, 6], "start_ns": [7, 8]}
    more = {"class": ["a", "b"], "priority": [0, 1], "path": [0, 1], "query_id": [0, 0]}
    return pa.table(rows | more)


def bursts(_):
    return pa.table({"switch": SWITCHES, "gradient_bps": [1.0, 2.0, 3.0], "bytes": [1, 2, 3]})


def fates(folder):
    return pq.read_table(folder / "result" / "oracle_trace.parquet").slice(0, 12)


def read_trace(file):
    load(file)
    of_fates.fates(file, SWITCHES)


def read_models(data, folder):
    """Models whose checksum is right again, half of the time."""
    content = edited(_core.models()["default"], data.draw(EDITS))
    if data.draw(st.booleans()):
        content = with_right_checksum(content)
    (folder / "model").write_bytes(content)
    model = Model.load(folder / "model")
    model.predict(np.zeros((2, len(model.features)), np.float32))
    assert repr(model) and model.training is not None and model.seen is not None


def read_agents(data, folder):
    """Agents of ACC, whose checksums are right again, half of the time."""
    layers = [(np.ones((3, 6), np.float32), np.ones(3, np.float32))]
    settings = [(1, 2, 0.5), (3, 4, 0.25), (5, 6, 1.0)]
    shape = {"actions": settings, "ranges": [1.0] * 6, "interval_ps": 7, "history": 1}
    content = acc.Model.of(layers, provenance={"variant": "pred"}, **shape).content
    content = edited(content, data.draw(EDITS))
    if data.draw(st.booleans()):
        content = with_right_checksum(content)
    (folder / "agent").write_bytes(content)
    model = acc.Model.load(folder / "agent")
    state = np.ones(6 * model.history, np.float32)
    least, most, probability = model.setting(model.choose(state))
    assert 1 <= least <= most and 0 <= probability <= 1
    assert repr(model) and model.provenance is not None


def read_bounds(data, folder):
    """Models that bound sizes, whose checksums are right again, half of the time."""
    inputs = np.arange(40.0).reshape(20, 2)
    forest = grow(inputs, np.arange(1, 21), ("cpu", "flow_size.1"), 3, 2, 1)
    method = data.draw(st.sampled_from(bounds.METHODS))
    content = edited(bounds.Model.of(forest, method).content, data.draw(EDITS))
    if data.draw(st.booleans()):
        content = with_right_checksum(content)
    (folder / "bounds").write_bytes(content)
    model = bounds.Model.load(folder / "bounds")
    rows = np.zeros((2, len(model.features)))
    assert (model.bounds(rows) >= 0).all() and len(model.sizes(rows)) == 2
    assert repr(model) and model.document


def read_jobs(data, folder):
    """Jobs as CSV."""
    file = folder / "d_0.csv"
    job = synthetic.make("sgd", 0).job
    names = list(job.features)
    short = bounds.Job("sgd", "x", {name: job.features[name][:9] for name in names}, job.size[:9])
    files.write_job(short, file)
    file.write_bytes(edited(file.read_bytes(), data.draw(EDITS)))
    (read,) = bounds.load([file])
    assert len(read) and (read.size >= 1).all()


def jobs(_):
    return flows(_).append_column("job", pa.array([1, 2])).append_column("cpu", pa.array([0.5, 1]))


def read_list(file):
    assert len(flow_list.numbers(file.parent, file.name, ["job", "cpu"])) == 2
    bounds.FlowList(file, ["cpu"])


def read_sealed(data, folder):
    """Bytes of a sealed file: what is read is what was written."""
    whole = folder / "whole.parquet"
    if not whole.exists():
        parquet.write(flows(folder), whole)
    content = whole.read_bytes()
    damaged = edited(content, data.draw(EDITS))
    (folder / "damaged.parquet").write_bytes(damaged)
    table = parquet.read(folder / "damaged.parquet", only_sealed=True)
    assert damaged == content and table.equals(flows(folder))


def read_unsealed(data, folder):
    """Bytes of somebody else's file."""
    pq.write_table(flows(folder), folder / "other.parquet", compression="none")
    content = edited((folder / "other.parquet").read_bytes(), data.draw(EDITS))
    (folder / "other.parquet").write_bytes(content)
    flow_list.load(folder, "other.parquet")


def read_results(data, folder):
    """Documents of a result whose checksums are right again, or are themselves what is changed."""
    result = folder / "result"
    name = data.draw(st.sampled_from(["summary.json", "scenario.toml", checksums.FILE]))
    before = {each: (result / each).read_bytes() for each in (name, checksums.FILE)}
    try:
        (result / name).write_bytes(edited(before[name], data.draw(EDITS)))
        if name != checksums.FILE:
            checksums.write(result, but=checksums.FILE)
        spillway.Result.load(result)
        report.write(result, folder / "report.html", force=True)
    finally:
        for each, content in before.items():
            (result / each).write_bytes(content)


READERS = {
    "lists of flows": read_tables("flows", flows, lambda f: flow_list.load(f.parent, f.name)),
    "histories": read_tables("history", bursts, lambda f: of_fates.learned(f, SWITCHES)),
    "traces": read_tables("trace", fates, read_trace),
    "models": read_models,
    "agents": read_agents,
    "bounds": read_bounds,
    "jobs": read_jobs,
    "lists with jobs": read_tables("jobs", jobs, read_list),
    "sealed files": read_sealed,
    "files of others": read_unsealed,
    "results": read_results,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a result that has a trace of fates."""
    folder = tmp_path_factory.mktemp("readers")
    sets = {"switch.sharing": "lqd", "record.oracle_trace": True}
    spillway.run(TINY, set=sets, out=folder / "result")
    return folder


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_is_refused_or_valid(folder, name):
    seconds = float(os.environ.get("FUZZ_SECONDS", 0))
    seeds = os.environ.get("FUZZ_SEED")
    valid = [0, 0]

    def case(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                READERS[name](data, folder)
            except spillway.Error:
                valid[0] += 1
            else:
                valid[1] += 1

    examples = 200 if seconds else 40
    made = settings(
        max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )(given(st.data())(case))
    end = time.monotonic() + seconds
    while True:
        seed = int(seeds) if seeds else random.randrange(2**32) if seconds else 1
        print(f"{name}: FUZZ_SEED={seed}")
        hypothesis.seed(seed)(made)()
        if seeds or time.monotonic() >= end:
            break
    print(f"{name}: {valid[0]} refused, {valid[1]} read")
    assert valid[0] and (valid[1] or name == "sealed files")
