"""Runs on several threads: files, messages, and what the summary says of the run."""

import pytest

import spillway
from spillway import ScenarioError, ScenarioWarning
from spillway.experiment import experiment
from spillway.experiment.work import work
from support import without_cost

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


@pytest.mark.parametrize(("jobs", "lanes"), [(None, 2), (3, 3)])
def test_runs_at_a_time_leave_each_other_their_threads(command, monkeypatch, jobs, lanes):
    asked = []

    def noted(*args, jobs, threads, **rest):
        asked.append((jobs, threads))
        return work(*args, jobs=jobs, threads=threads, **rest)

    monkeypatch.setattr(experiment, "processors", lambda: 5)
    monkeypatch.setattr(experiment, "work", noted)
    options = () if jobs is None else ("--jobs", jobs)
    short = ("--set", "duration=200us", "--set", "stop=400us")
    told = command("run", "leaf-spine-128", "--threads", 2, "--seeds", "1,2", *options, *short)
    assert told.status == 0
    assert asked == [(lanes, 2)]


def test_runs_of_an_experiment_share_threads():
    short = ("duration=200us", "stop=400us")
    alone, shared = (
        spillway.experiment("leaf-spine-128", seeds="1,2", set=short).run(jobs=2, threads=threads)
        for threads in (1, 2)
    )
    one, two = (
        [run.summary for _, runs in each.results for run in runs] for each in (alone, shared)
    )
    assert [without_cost(each) for each in one] == [without_cost(each) for each in two]
    assert [each["run"]["threads"] for each in (*one, *two)] == [1, 1, 2, 2]
    assert all(each["run"]["cpu_s"] > 0 for each in two)
