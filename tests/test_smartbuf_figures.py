"""Smartbuf's figures: what they make of a run's bursts, by hand."""

import numpy as np
import pyarrow as pa
import pytest

import spillway
from spillway.reproduce import samples, series
from spillway.reproduce.figure import Scale
from spillway.reproduce.metric import Tail
from spillway.reproduce.point import Outcome
from spillway.reproduce.smartbuf import bursts, figure1, figure4, figure8, setup

MS = 10**9


def table(*rows):
    """Bursts: switch, port, detected, end, demand, last threshold."""
    names = ("switch", "port", "start_ps", "detected_ps", "end_ps", "demand_bytes")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    columns["last_threshold_bytes"] = [row[6] for row in rows]
    return pa.table(columns)


BURSTS = table(
    ("leaf0", 1, 0, 1 * MS, 3 * MS, 900, 1000),
    ("leaf0", 2, 0, 2 * MS, 4 * MS, 800, None),
    ("leaf0", 1, 4 * MS, 5 * MS, 6 * MS, 700, 500),
    ("leaf1", 1, 0, 2 * MS, 3 * MS, 600, 600),
    ("leaf1", 1, 3 * MS, 3 * MS, 4 * MS, 500, 500),
    ("spine0", 1, 0, 2 * MS, 3 * MS, 400, 400),
    ("leaf1", 3, 0, 2 * MS, None, 300, 300),
)


def test_bursts_at_leaves_that_were_over_count_from_the_warmup_on():
    assert bursts.at_leaves(BURSTS, 0).num_rows == 5
    late = bursts.at_leaves(BURSTS, 2 * MS)
    assert late["demand_bytes"].to_pylist() == [800, 700, 600, 500]


def test_bursts_are_close_at_another_port_of_the_same_leaf():
    # The first two of leaf0 are; its third comes 3 ms later. At leaf1 both are at one port.
    assert bursts.close(bursts.at_leaves(BURSTS, 0)) == 2 / 5
    assert bursts.close(BURSTS.slice(0, 0)) is None


def test_no_threshold_is_endless():
    found = bursts.threshold(bursts.at_leaves(BURSTS, 0), "last")
    assert found.tolist() == [1000, np.inf, 500, 600, 500]


def test_a_burst_is_compared_with_the_one_that_it_overlaps_for_the_longest_time():
    first = table(
        ("leaf0", 1, 0, 1, 10, 5, 5),
        ("leaf0", 1, 20, 21, 30, 5, 5),
        ("leaf0", 2, 0, 1, 10, 5, 5),
    )
    second = table(
        ("leaf0", 1, 0, 1, 4, 100, None),
        ("leaf0", 1, 4, 5, 15, 200, None),
        ("leaf0", 1, 30, 31, 40, 300, None),
        ("leaf1", 2, 0, 1, 10, 400, None),
    )
    found = figure8._matched(first, second)
    assert found[0] == 200
    assert np.isnan(found[1:]).all()


def test_series_are_numbers_of_an_outcome_and_back():
    numbers = series.numbers({"one": [1.0, 2.5], "two": [3.0]}, 10)
    outcome = Outcome(numbers)
    assert series.values(outcome, "one") == [1.0, 2.5]
    assert series.values(outcome, "two") == [3.0]
    assert series.values(outcome, "three") == []
    assert numbers[series.STEP] == 10


def test_a_tail_may_be_over_two_classes():
    def of(name, *slowdowns):
        size = {"short": 1_000, "incast": 2_000}[name]
        return [(name, size, slowdown) for slowdown in slowdowns]

    rows = of("short", 1, 2, 3) + of("incast", 10, 20)
    flows = pa.table(
        {
            "start_ps": [0] * 5,
            "ideal_ps": [100] * 5,
            "size_bytes": [size for _, size, _ in rows],
            "fct_ps": [100 * slowdown for *_, slowdown in rows],
            "query_id": [None, None, None, 0, 0],
            "flow_id": range(5),
            "timeouts": [0, 0, 0, 0, 1],
            "class": pa.array([name for name, *_ in rows]).dictionary_encode(),
        }
    )
    scenario = {
        "warmup": "0us",
        "stop": "1ms",
        "record": {"short": "2KB", "long": "1MB"},
        "traffic": [{"name": "short", "kind": "poisson"}, {"name": "incast", "kind": "incast"}],
    }
    kept = samples.of(flows, scenario, {"simulated_s": 0.001})
    assert sorted(samples.select(kept, "short+incast")) == [1, 2, 3, 10, 20]
    # Three flows that are units of their own, and a query of two.
    units = samples.select(kept, "short+incast", "unit")
    assert len(set(units[:3])) == 3 and units[3] == units[4] not in units[:3]
    outcomes = {1: Outcome({}, kept)}
    assert Tail("short+incast", 0.8).measured(outcomes, 0).value == 10
    assert Tail("short+incast", 0.8).name == "short and incast flows' p80 slowdown"


def test_a_run_s_bursts_become_numbers():
    small = ("topology.leaves=4", "topology.hosts_per_leaf=8", "topology.spines=4")
    result = spillway.run(
        setup.SCENARIO,
        set=[
            *small,
            *setup.SMARTBUF.assignments,
            "switch.leaf.buffer=400KB",
            "traffic.incast.fan_in=10..20",
            "traffic.incast.load=0.1",
            "warmup=1ms",
            "duration=8ms",
            "record.bursts=20%",
        ],
    )
    found = bursts.numbers(result)
    rows = [
        row
        for row in result.bursts.to_pylist()
        if row["switch"].startswith("leaf") and row["end_ps"] and row["detected_ps"] >= MS
    ]
    assert found["bursts.count"] == len(rows) > 10
    errors = [abs(row["last_threshold_bytes"] / row["demand_bytes"] - 1) for row in rows]
    assert found["bursts.mean_error"] == pytest.approx(np.mean(errors))
    assert found["bursts.largest_error"] == pytest.approx(max(errors))
    assert found["bursts.most_peak"] == max(row["peak_bytes"] for row in rows) / 400_000
    known = result.history["switch"].to_pylist()
    most = result.summary["sharing_counts"]["leaf"]["most_entries"]
    assert most == max(known.count(name) for name in set(known))


def test_figures_1_and_4_have_series():
    scale = Scale((1,), ("record.drops=false", "duration=12ms", "stop=14ms"))
    figure = figure1.FIGURE
    task = figure.measure.task(figure.points[0], figure.schemes[0], 1, scale)
    outcome = task.run(lambda _: None)
    queues = [series.values(outcome, name) for name in ("first", "second")]
    assert [len(queue) for queue in queues] == [300, 300]
    # Both came to more than a fifth of the buffer, within a millisecond of each other.
    assert all(max(queue) > 800 for queue in queues)
    figure = figure4.FIGURE
    (scheme,) = (each for each in figure.schemes if each.name == "EDT")
    outcome = figure.measure.task(figure.points[0], scheme, 1, figure.scales["quick"]).run(
        lambda _: None
    )
    assert max(series.values(outcome, "incast")) > 3.5
    assert len(series.values(outcome, "gbps")) == 140
    assert outcome.numbers["flows.lost_packets"] > 0


def test_predictions_stand_beside_a_run_with_endless_memory():
    found = figure8.beside_unbounded(
        lambda _: None, load=0.9, scheme="Smartbuf", seed=1, warmup="0us", duration="5ms"
    )
    assert found["bursts.count"] > 20
    assert found["bursts.unmatched"] < found["bursts.count"] / 4
    # Some are cut, none wants nothing.
    assert 0 < found["bursts.mean_error"] < found["bursts.largest_error"] < 3
