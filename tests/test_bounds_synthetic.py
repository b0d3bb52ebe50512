"""Synthetic jobs: one without noise against numbers worked out by hand, and what all must be."""

import dataclasses

import numpy as np
import pytest

from spillway import ScenarioError
from spillway.learning.bounds import synthetic
from spillway.learning.bounds.job import FEATURES, features, nearest, parted
from spillway.learning.bounds.parameters import JOBS, JobParameters, Observation, Phase

QUIET = Observation(
    network_noise=0.0,
    disk_noise=0.0,
    memory_noise=0.0,
    ram_noise=0.0,
    cpu_noise=0.0,
    ram_base_bytes=1e9,
    ram_per_partition=1.5,
    header_share=0.0,
)
PLAIN = JobParameters(
    jobs=1,
    workers=(2, 2),
    iterations=(1, 1),
    fan_out=(1, 1),
    state_bytes=(1e6, 1e6),
    partition_bytes=(2e6, 2e6),
    skew=0.0,
    phases=(
        Phase("broadcast", "state", share=1.0, sigma=0.0),
        Phase("shuffle", "state", share=0.5, sigma=0.0, compute_ms=0.5),
        Phase("gather", "fixed", share=1_800.0, sigma=0.0),
    ),
    bytes_per_ms=1e6,
    compute_noise=0.0,
    pause_ms=1.0,
    seen=QUIET,
)


def test_a_job_without_noise_is_as_worked_out_by_hand():
    # The driver starts two flows of 1 MB at 1 ms; its line sends a megabyte in a millisecond, so
    # the phase ends at 3 ms. After a pause of 1 ms, each worker computes 0.5 ms for each of its
    # 2 MB, and sends 0.5 MB to the other at 5 ms, until 5.5 ms. At 6.5 ms both report.
    made = synthetic.make("kmeans", 0, 1, PLAIN)
    seen, job = made.job.features, made.job
    assert made.sender.tolist() == [0, 0, 1, 2, 1, 2]
    assert made.receiver.tolist() == [1, 2, 2, 1, 0, 0]
    assert job.size.tolist() == [1_000_000, 1_000_000, 500_000, 500_000, 1_800, 1_800]
    assert seen["time"].tolist() == [1.0, 1.0, 5.0, 5.0, 6.5, 6.5]
    assert seen["previous_flow_time"].tolist() == [0.0, 0.0, 4.0, 0.0, 1.5, 0.0]
    assert seen["agg_net_out"].tolist() == [0, 1e6, 2e6, 2.5e6, 3e6, 3_001_800]
    # Flows are received at 2, 3, 5.5 and 5.5 ms.
    assert seen["agg_net_in"].tolist() == [0, 0, 2e6, 2e6, 3e6, 3e6]
    assert seen["agg_net_out_per_machine"].tolist() == [0, 1e6, 0, 0, 5e5, 5e5]
    assert seen["agg_net_in_per_machine"].tolist() == [0, 0, 1e6, 1e6, 1.5e6, 1.5e6]
    assert seen["tcp_queue"].tolist() == [0, 1e6, 0, 0, 0, 0]
    # A worker computes for 1 ms of the 2 ms since the phase before.
    assert seen["cpu"].tolist() == [0, 0, 0.5, 0.5, 0, 0]
    assert seen["ram"].tolist() == [1e9, 1e9, *[1.003e9] * 4]
    assert seen["disk_write"].tolist() == [0, 0, 5e5, 5e5, 0, 0]
    assert seen["memory_read"].tolist() == [2e6, 2e6, 2e6, 2e6, 1_800, 1_800]
    assert seen["memory_write"].tolist() == [2e6, 2e6, 5e5, 5e5, 1_800, 1_800]
    assert seen["first_call"].tolist() == [65_536] * 4 + [1_800] * 2


def test_only_the_time_just_before_counts():
    # With a window of 2 ms the driver's flows of 1 ms are forgotten at 5 ms, and what was received
    # at exactly 3 ms too: a window does not hold its beginning.
    narrow = dataclasses.replace(QUIET, network_window_ms=2.0)
    made = synthetic.make("kmeans", 0, 1, dataclasses.replace(PLAIN, seen=narrow))
    assert made.job.features["agg_net_out"].tolist() == [0, 1e6, 0, 5e5, 1e6, 1_001_800]
    assert made.job.features["agg_net_in"].tolist() == [0, 0, 0, 0, 1e6, 1e6]
    made = synthetic.make("sgd", 0, 1, dataclasses.replace(PLAIN, seen=narrow))
    # Flows in the window, in flows per second: 1 in 2 ms is 500.
    assert made.job.features["flow_frequency"].tolist() == [0, 500, 0, 500, 1000, 1500]


def test_a_state_is_summed_up_over_a_tree():
    # Of 5 workers 3 are aggregators, which get 4 and 5 (of 1 and 2), and send to the driver.
    phases = (Phase("up", "fixed", 7.0, 0.0), Phase("top", "fixed", 9.0, 0.0))
    parameters = dataclasses.replace(PLAIN, workers=(5, 5), phases=phases)
    made = synthetic.make("sgd", 0, 1, parameters)
    pairs = list(zip(made.sender.tolist(), made.receiver.tolist(), strict=True))
    assert pairs == [(4, 1), (5, 2), (1, 0), (2, 0), (3, 0)]
    assert made.job.size.tolist() == [7, 7, 9, 9, 9]


def test_some_flows_are_partial():
    phases = (Phase("gather", "fixed", 1000.0, 0.0, partial=0.25, partial_least=0.5),)
    parameters = dataclasses.replace(PLAIN, iterations=(2000, 2000), phases=phases)
    size = synthetic.make("kmeans", 0, 1, parameters).job.size
    assert size.min() >= 500 and size.max() == 1000
    # Of 4,000 flows 1,000, with a standard deviation of 27; their mean is 750.
    partial = size[size < 1000]
    assert abs(len(partial) - 1000) < 110
    assert abs(partial.mean() - 750) < 20


@pytest.mark.parametrize("kind", JOBS)
def test_jobs_are_in_order_and_repeat(kind):
    made = synthetic.make(kind, 3, 7)
    job = made.job
    assert tuple(job.features) == FEATURES[kind]
    assert (np.diff(job.features["time"]) >= 0).all()
    assert (job.size >= 1).all() and (made.sender != made.receiver).all()
    assert all(np.isfinite(values).all() for values in job.features.values())
    again, other = synthetic.make(kind, 3, 7), synthetic.make(kind, 4, 7)
    assert (again.job.size == job.size).all()
    assert all((again.job.features[name] == job.features[name]).all() for name in job.features)
    assert len(other.job) != len(job) or (other.job.size != job.size).any()
    least, most = JOBS[kind].workers
    assert least <= made.sender.max() <= most


def test_what_cannot_be_is_refused():
    with pytest.raises(ScenarioError, match="'sort' is no kind of job") as raised:
        synthetic.make("sort", 0)
    assert raised.value.hint == "known are kmeans, pagerank, sgd"
    with pytest.raises(ScenarioError, match="seed: -1"):
        synthetic.make("sgd", 0, -1)
    with pytest.raises(ScenarioError, match="jobs: 0"):
        synthetic.make_all("sgd", 0)


def test_a_kind_is_known_by_its_columns():
    for kind, names in FEATURES.items():
        assert nearest(["Unnamed: 0", "flow_size", *reversed(names)]) == (kind, [], [])
    assert nearest([*FEATURES["sgd"]]) == ("sgd", ["flow_size"], [])
    near = nearest([*FEATURES["kmeans"][1:], "flow_size", "flowtime"])
    assert near == ("kmeans", ["time"], ["flowtime"])


def test_a_window_looks_back():
    job = synthetic.make("kmeans", 0, 1, PLAIN).job
    names = features(["machine", "time"], 3)
    expected = ("machine", "time", "machine.1", "time.1", "machine.2", "time.2")
    assert names == (*expected, "flow_size.1", "flow_size.2")
    rows = job.inputs(names)
    assert rows[0].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert rows[2].tolist() == [1, 5, 0, 1, 0, 1, 1e6, 1e6]
    assert rows[3].tolist() == [2, 5, 1, 5, 0, 1, 5e5, 1e6]
    assert parted("flow_size.12") == ("flow_size", 12)
    # More flows back than there are.
    assert job.inputs(["cpu.9"]).tolist() == [[0.0]] * 6
    with pytest.raises(ScenarioError, match="d_0: a job of kind kmeans has no column 'gpu'"):
        job.inputs(["gpu.1"])
