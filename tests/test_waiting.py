"""Flows that wait for others: in lists of both formats, what is refused, and replays."""

import pyarrow as pa
import pyarrow.csv
import pytest

import spillway
from spillway import ScenarioError
from spillway.base import parquet
from support import TINY

FLOWS = {
    "src": pa.array([0, 1, 2], pa.int64()),
    "dst": pa.array([1, 2, 0], pa.int64()),
    "size_bytes": pa.array([50_000, 2000, 7000], pa.int64()),
    "start_ns": pa.array([0, 0, 0], pa.int64()),
    "delay_ns": pa.array([None, None, 500], pa.int64()),
    "job": pa.array([4, 4, 4], pa.int64()),
}
AFTER = [[], [0], [0, 1]]


def scenario(traffic: str) -> str:
    text = TINY.read_text()
    return text[: text.index("[[traffic]]")] + traffic + text[text.index("[record]") :]


def of_list(file: str) -> str:
    return scenario(f'[[traffic]]\nname = "list"\nkind = "flows"\nfile = "{file}"\n\n')


def run(folder, after, **columns):
    parquet.write(pa.table({**FLOWS, "after": after, **columns}), folder / "list.parquet")
    return spillway.run(spillway.Scenario(of_list("list.parquet"), folder))


@pytest.mark.parametrize(
    "after",
    [
        pa.array(AFTER, pa.list_(pa.int64())),
        pa.array([None, [0], [1, 0]], pa.large_list(pa.uint8())),
        pa.array(["", "0", " 0  1 "]),
        pa.array([None, "0", "1 0 1"], pa.large_string()),
    ],
)
def test_a_flow_starts_when_all_before_it_are_complete(tmp_path, after):
    result = run(tmp_path, after)
    rows = result.flows.sort_by("flow_id").to_pylist()
    assert [row["src"] for row in rows] == [0, 1, 2]
    ends = [row["start_ps"] + row["fct_ps"] for row in rows]
    assert [row["start_ps"] for row in rows] == [0, ends[0], ends[1] + 500_000]
    (job,) = result.jobs.to_pylist()
    assert job == {"class": "list", "job": 4, "iteration": 0, "start_ps": 0, "end_ps": ends[2]}
    assert result.summary["job_us"]["list"]["max"] == pytest.approx(ends[2] * 1e-6)
    assert result.summary["flows"] == {"started": 3, "completed": 3, "waiting": 0}


def test_a_column_of_numbers_names_one_flow_each(tmp_path):
    rows = run(tmp_path, pa.array([None, 0, 1], pa.float64())).flows.sort_by("flow_id").to_pylist()
    assert rows[2]["start_ps"] == rows[1]["start_ps"] + rows[1]["fct_ps"] + 500_000


def test_a_csv_has_numbers_with_spaces_and_says_the_same(tmp_path):
    result = run(tmp_path, pa.array(AFTER, pa.list_(pa.int64())))
    names = [" ".join(map(str, others)) for others in AFTER]
    table = pa.table({**FLOWS, "after": pa.array(names)})
    pyarrow.csv.write_csv(table, tmp_path / "list.csv")
    other = spillway.run(spillway.Scenario(of_list("list.csv"), tmp_path))
    assert other.flows.equals(result.flows) and other.jobs.equals(result.jobs)


@pytest.mark.parametrize(
    ("after", "error"),
    [
        (pa.array(["x", "", ""]), "list.parquet: column after: "),
        (pa.array([[], [None], []], pa.list_(pa.int64())), "a list of numbers has an empty place"),
        (pa.array([None, -1, None]), "column after: -1 is below 0"),
        (pa.array([True, False, None]), "column after: values of type bool"),
        (
            pa.array([None, 3, None]),
            "row 2, column after: 3 is not a flow; there are 3, from 0 to 2",
        ),
        (pa.array([None, 1, None]), "row 2, column after: 1 is the flow itself"),
        (pa.array([2, 0, 1]), "flows that wait for each other: 0 after 2 after 1 after 0"),
    ],
)
def test_what_can_never_start_is_refused(tmp_path, after, error):
    with pytest.raises(ScenarioError, match=error):
        run(tmp_path, after, delay_ns=pa.nulls(3, pa.int64()))


RING = """
[[traffic]]
name = "training"
kind = "all-reduce"
size = "90KB"
hosts = "0..3"
iterations = 3
compute = "20us"

"""


def test_a_ring_is_repeated_by_the_flows_that_came_out(command, tmp_path):
    (tmp_path / "ring.toml").write_text(scenario(RING))
    told = command("run", "ring.toml", "--out", "ring", "--json").json
    assert told["iteration_us"]["training"]["count"] == 3
    assert told["job_us"]["all"]["count"] == 1
    told = command("run", "ring.toml", "--out", "told").out
    assert "jobs" in told and "3 of 3 complete, ms: " in told
    told = command(
        *("compare", "ring.toml", "--vary", "traffic.training.compute=0us,1ms"),
        *("--metrics", "jobs.mean,iterations.p50"),
    ).out.splitlines()
    at_once, later = (
        line.split() for line in told if line.split()[:1] == ["compute=1ms"] or "0us" in line
    )
    # Two pauses of a millisecond make a job longer, and no iteration.
    assert float(later[1].rstrip("~")) > 2 > float(at_once[1].rstrip("~"))
    assert at_once[2] == later[2]
    once = parquet.read(tmp_path / "ring" / "flows.parquet")
    assert once.num_rows == 3 * 6 * 4
    # Connections of a collective stay open by default; those of a list do not.
    (tmp_path / "again.toml").write_text(of_list("ring/flows.parquet"))
    command("run", "again.toml", "--out", "again", "--set", "traffic.list.connections=open")
    assert (
        parquet.read(tmp_path / "again" / "flows.parquet")
        .sort_by("flow_id")
        .equals(once.sort_by("flow_id"))
    )


def test_starts_that_only_a_run_tells_are_not_written_before(command, tmp_path):
    (tmp_path / "ring.toml").write_text(scenario(RING))
    error = command("flows", "ring.toml", "--out", "list.csv").err
    assert "flows of training wait for others: only a run tells when they start" in error
    assert "its table flows is a list of the starts that came out" in error
    assert not (tmp_path / "list.csv").exists()
    # One phase of all-to-all starts at once.
    at_once = 'name = "shuffle"\nkind = "all-to-all"\nsize = "9KB"\nphases = 1\n\n'
    (tmp_path / "at-once.toml").write_text(scenario(f"[[traffic]]\n{at_once}"))
    assert command("flows", "at-once.toml", "--out", "list.csv", "--json").json["flows"] > 10
