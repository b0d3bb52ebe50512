"""Runs on several threads: files, messages, and what the summary says of the run."""

import pytest

import spillway
from spillway import ScenarioError, ScenarioWarning
from support import TINY, without_cost

SHORT = (
    "duration=2ms",
    "stop=4ms",
    "record.queue_interval=50us",
    'record.link_interval="100us"',
    "switch.queue_limit=20pkt",
    "switch.aqm=none",
)


def results(folder, threads):
    result = spillway.run("leaf-spine-128", set=SHORT, out=folder, threads=threads)
    files = sorted(folder.glob("*.parquet"))
    return result, {file.name: file.read_bytes() for file in files}


def test_files_do_not_depend_on_threads(tmp_path):
    one, files = results(tmp_path / "one", 1)
    three, of_three = results(tmp_path / "three", 3)
    assert {"flows.parquet", "drops.parquet", "queues.parquet", "links.parquet"} <= {*files}
    assert of_three == files
    assert without_cost(three.summary) == without_cost(one.summary)
    assert one.summary["drops"]["queue_limit"] > 0
    told = [each.summary["run"]["threads"] for each in (one, three)]
    assert told == [1, 3]


def test_a_run_that_cannot_be_divided_says_why():
    with pytest.warns(ScenarioWarning, match="runs on one thread: all hosts are in one rack"):
        result = spillway.run("incast-star", set=["duration=60ms", "stop=60ms"], threads=2)
    assert result.summary["run"]["threads"] == 1


@pytest.mark.parametrize("threads", [0, -1, 1.5, 1_000_000])
def test_a_wrong_number_of_threads_is_refused(threads):
    with pytest.raises(ScenarioError, match="threads"):
        spillway.run("leaf-spine-128", threads=threads)


def test_threads_are_for_one_run(command):
    outcome = command("run", TINY, "--threads", 2, "--seeds", "1,2")
    assert (outcome.status, outcome.out) == (2, "")
    assert "error: --threads is for a single run" in outcome.err
    assert "--jobs" in outcome.err
