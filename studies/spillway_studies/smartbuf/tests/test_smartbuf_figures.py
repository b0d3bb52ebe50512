"""Smartbuf's figures: what they make of a run's bursts, by hand."""

import tomllib

import numpy as np
import pyarrow as pa
import pytest

import spillway
from spillway_studies.claims import Outcome, Results, Scale, Tail, samples
from spillway_studies.smartbuf.figures import (
    bursts,
    claim,
    figure1,
    figure4,
    figure8,
    learning,
    setup,
    where,
)

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
    # 100 of 900 too much, 200 of 700 too little, and twice right.
    demand = np.array([900.0, 800, 700, 600, 500])
    errors = bursts.errors(found, demand)
    assert errors["bursts.mean_error"] == pytest.approx((100 / 900 + 200 / 700) / 4)
    assert errors["bursts.largest_error"] == 200 / 700
    assert bursts.errors(found[1:2], demand[1:2])["bursts.mean_error"] is None


def test_queries_collide_that_begin_while_a_burst_goes_on_at_their_port():
    class Run:
        scenario = "[topology]\nhosts_per_leaf = 4"
        bursts = BURSTS
        flows = pa.table(
            {
                "class": ["incast"] * 7 + ["short"],
                "query_id": pa.array([0, 0, 1, 2, 3, 4, 5, None]),
                "dst": [1, 1, 1, 2, 5, 7, 5, 1],
                # Query 0 begins with its first flow, as the burst of leaf0, port 1 is detected;
                # 1 as it is over, 2 before that of port 2. Those of port 1 of leaf1 follow each
                # other; that of its port 3 has no end.
                "start_ps": [MS + 1, MS, 3 * MS, MS, 3 * MS, 9 * MS, 4 * MS, 2 * MS],
            }
        )

    assert bursts.collisions(Run, 0) == 3 / 6
    assert bursts.collisions(Run, 2 * MS) == 2 / 4
    assert bursts.collisions(Run, 99 * MS) is None


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
    numbers = samples.series({"one": [1.0, 2.5], "two": [3.0]}, 10)
    outcome = Outcome(numbers)
    assert outcome.series("one") == [1.0, 2.5]
    assert outcome.series("two") == [3.0]
    assert outcome.series("three") == []
    assert numbers[samples.STEP] == 10


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
    queues = [outcome.series(name) for name in ("first", "second")]
    assert [len(queue) for queue in queues] == [300, 300]
    # Both came to more than a fifth of the buffer, within a millisecond of each other.
    assert all(max(queue) > 800 for queue in queues)
    figure = figure4.FIGURE
    (scheme,) = (each for each in figure.schemes if each.name == "EDT")
    outcome = figure.measure.task(figure.points[0], scheme, 1, figure.scales["quick"]).run(
        lambda _: None
    )
    assert max(outcome.series("incast")) > 3.5
    assert len(outcome.series("gbps")) == 140
    assert outcome.numbers["flows.lost_packets"] > 0


def test_predictions_stand_beside_a_run_with_endless_memory():
    found = figure8.beside_unbounded(
        lambda _: None, load=0.9, scheme="Smartbuf", seed=1, warmup="0us", duration="5ms"
    )
    assert found["bursts.count"] > 20
    assert found["bursts.unmatched"] < found["bursts.count"] / 4
    # Some are cut, none wants nothing.
    assert 0 < found["bursts.mean_error"] < found["bursts.largest_error"] < 3


def test_predictions_rest_once_a_window_is_like_the_one_before():
    # 1000 to 950 is 5%, 950 to 932 is 1.9%.
    assert learning.settled([1000, 950, 932, 800]) == 300
    assert learning.settled([1000, 981]) == 200
    assert learning.settled([1000, 979]) is None
    assert learning.settled([float("nan"), 1000, 1000]) == 300
    assert learning.settled([]) is None


def test_predictions_are_told_by_window():
    class Run:
        scenario = "duration = '290ms'"
        bursts = table(
            ("leaf0", 1, 0, 1 * MS, 3 * MS, 900, 1000),
            ("leaf0", 2, 0, 2 * MS, 99 * MS, 900, 3000),
            ("leaf1", 1, 0, 2 * MS, 100 * MS, 900, 2020),
            ("spine1", 1, 0, 2 * MS, 100 * MS, 900, 9000),
            ("leaf1", 1, 0, 2 * MS, 250 * MS, 900, 9000),
        )

    found = Outcome(learning.numbers(Run))
    assert found.series("prediction") == [2.0, 2.02]
    assert found.numbers["learning.ms"] == 200


def test_incasts_of_another_kind_are_a_scenario_of_the_same_load():
    scenario = spillway.Scenario("smartbuf").set(*setup.PLAUSIBLE.assignments)
    sections = {each["name"]: each for each in tomllib.loads(scenario.read().resolved)["traffic"]}
    assert {name: each["load"] for name, each in sections.items()} == {
        "long": 0.64,
        "short": 0.13,
        "incast": 0.03,
    }
    assert (sections["incast"]["fan_in"], sections["incast"]["sizes"]) == (120, "14480B")
    # What the scenario has, said once more, is the same.
    again = spillway.Scenario("smartbuf").set(*setup.AS_IN_SCENARIO.assignments)
    plain = spillway.Scenario("smartbuf").set(*setup.HIGH.assignments)
    assert tomllib.loads(again.read().resolved) == tomllib.loads(plain.read().resolved)


def late_flows(usual, late):
    """100 short flows, of which this many waited for a timeout, and have slowdowns of 200."""
    codes, names = pa.array([0] * 100, pa.int8()), pa.array(samples.CLASSES)
    return pa.table(
        {
            "class": pa.DictionaryArray.from_arrays(codes, names),
            "unit": pa.array(range(100), pa.int32()),
            "slowdown": [usual] * (100 - late) + [200.0] * late,
            "with_timeout": [False] * (100 - late) + [True] * late,
        }
    )


def test_the_map_has_a_panel_for_each_kind_and_one_of_timeouts():
    figure = where.FIGURE
    assert len(figure.points) == len(where.KINDS) * len(where.SHARES) <= 24
    # At each point a slowdown of its number; under each scheme one late flow more.
    outcomes = {
        (place, scheme.name, seed): Outcome({}, late_flows(place + 1.0, late))
        for place in range(len(figure.points))
        for late, scheme in enumerate(figure.schemes)
        for seed in (1, 2)
    }
    results = Results(figure, (1, 2), outcomes)
    assert results.measured(setup.TIMEOUTS, 0, setup.SMARTBUF.name).value == 3
    drawing = figure.plot(results)
    panels = [axes for axes in drawing.axes if axes.axison]
    titles = [axes.get_title() for axes in panels]
    assert titles == [*(name for name, _ in where.KINDS), "all points"]
    assert titles[:2] == ["50 to 200 x web search", "120 x 14480 B"]
    first, *_, last = panels
    tails = [line.get_ydata().tolist() for line in first.get_lines()]
    # Of 100 one may be late and the percentile is still of those that are not: 1%.
    assert tails == [[1, 2, 3]] * 2 + [[200] * 3] * 3
    assert [line.get_xdata()[0] for line in last.get_lines()[:5]] == [0, 1, 2, 3, 4]


def test_leaves_may_begin_with_what_a_run_without_losses_taught_them():
    def begin_with(learned):
        times = {"learned": learned, "warmup": "0us", "duration": "3ms"}
        scheme = setup.DEMANDS.name
        return claim.from_unbounded(lambda _: None, seed=1, scheme=scheme, **times)

    # In a microsecond nothing is learned.
    taught, untaught = begin_with("3ms"), begin_with("1us")
    assert taught["bursts.count"] == untaught["bursts.count"] > 3
    for name in ("bursts.mean_error", "bursts.with_losses", "with_timeout", "p99"):
        assert 0 < taught[name] < untaught[name], name
