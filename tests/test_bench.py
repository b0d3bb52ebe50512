"""`spillway bench`: what is measured and how it is told. No test says how fast anything is."""

import json
import shutil

import pytest

import spillway
from spillway.cli.output import console as console_for
from spillway.run import bench, bench_threads
from spillway.scenario.scenario import Scenario, facts
from support import TINY

TINY_CASE = bench.Case("tiny", str(TINY), settings=(), quick=(), counted=("seed=2",))


@pytest.fixture
def no_valgrind(monkeypatch):
    monkeypatch.setattr(bench.shutil, "which", lambda _: None)


def test_a_quick_run_is_told_as_one_json_object(command):
    told = command("bench", "--quick", "--runs", 2, "--scenario", "incast-star", "--json")
    assert told.status == 0
    assert list(told.json["cases"]) == ["incast-star"]
    row = told.json["cases"]["incast-star"]
    assert row["packet_hops"] > 100_000 and row["events"] > row["packet_hops"]
    assert row["events_per_packet_hop"] == round(row["events"] / row["packet_hops"], 4)
    for key in ("user_cpu_s", "packet_hops_per_cpu_s", "peak_rss_mb"):
        assert 0 < row[key]["min"] <= row[key]["median"] <= row[key]["max"]
    assert told.json["runs"] == 2 and told.json["quick"]
    assert "incast-star" in told.err and "first look" in told.err


def test_cases_take_turns(monkeypatch, no_valgrind):
    asked = []

    def run_apart(scenario, settings):
        asked.append(scenario)
        return {
            "status": "complete",
            "events": 12,
            "packet_hops": 10,
            "load_on_wire": 0.5,
            "user_cpu_s": float(len(asked)),
            "peak_rss_mb": 1.0,
        }

    monkeypatch.setattr(bench, "run_apart", run_apart)
    cases = [bench.Case(name, name, (), ()) for name in "ab"]
    found = bench.measure(cases, runs=3)
    assert asked == ["a", "b"] * 3
    # The runs of `a` took 1, 3 and 5 seconds.
    spread = {"median": 3.0, "min": 1.0, "max": 5.0}
    assert found["cases"]["a"]["user_cpu_s"] == spread
    assert found["cases"]["a"]["packet_hops_per_cpu_s"] == {"median": 3, "min": 2, "max": 10}
    # Each has 10 packet-hops.
    per_hop = {"median": 3e8, "min": 1e8, "max": 5e8}
    assert found["cases"]["a"]["ns_per_packet_hop"] == per_hop


def test_equal_runs_that_differ_are_an_error(monkeypatch):
    counts = iter([10, 11])
    base = {
        "status": "complete",
        "events": 12,
        "load_on_wire": None,
        "user_cpu_s": 1.0,
        "peak_rss_mb": 1.0,
    }
    monkeypatch.setattr(bench, "run_apart", lambda *_: {**base, "packet_hops": next(counts)})
    with pytest.raises(spillway.SpillwayError, match="equal runs differ"):
        bench.measure([TINY_CASE], runs=2)


def test_without_valgrind_instructions_are_null_and_it_says_so(no_valgrind):
    found = bench.measure([TINY_CASE], runs=1)
    assert found["cases"]["tiny"]["instructions_per_packet_hop"] is None
    assert found["instructions"] == "valgrind is not installed"
    console = console_for(None)
    with console.capture() as told:
        console.print(bench.table(found))
    assert "valgrind is not installed" in told.get()


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_valgrind_finds_the_loop_over_events():
    found = bench.measure([TINY_CASE], runs=1)
    assert 50 < found["cases"]["tiny"]["instructions_per_packet_hop"] < 50_000


def test_a_run_that_fails_says_why():
    with pytest.raises(spillway.SpillwayError, match=r"topology\.leafs"):
        bench.run_apart("leaf-spine-128", ["topology.leafs=3"])


@pytest.mark.parametrize("case", bench.CASES, ids=lambda case: case.name)
def test_every_case_can_be_read(case):
    for settings in (case.settings, case.quick, case.counted):
        Scenario.load(case.scenario).set(*settings).read()


@pytest.mark.parametrize("case", bench.GROWTH, ids=lambda case: case.name)
def test_growth_is_what_its_name_says(case):
    found = facts(Scenario.load(case.scenario).set(*case.settings).read(), 1)
    name = f"{found['hosts']:,} hosts, {found['host_gbps']:g} Gbps"
    assert case.name.removesuffix(", filled") == name
    assert found["oversubscription"] == 1


@pytest.mark.parametrize(
    ("case", "key"),
    [*((case, "aqm") for case in bench.AQMS), *((case, "sharing") for case in bench.POLICIES)],
    ids=lambda of: getattr(of, "name", of),
)
def test_every_algorithm_is_measured_with_its_own_kind(case, key):
    for settings in (case.settings, case.quick, case.counted):
        written = Scenario.load(case.scenario).set(*settings).resolved["switch"][key]
        kind = written if isinstance(written, str) else written["kind"]
        assert kind == case.name.split(" ")[0]


# What QCLIMB costs is measured without its loss detection, and then with it.
@pytest.mark.filterwarnings("ignore:.*by its tagger later packets of a flow overtake")
def test_all_taggers_are_measured_with_what_they_cost_besides():
    names = [case.name for case in bench.TAGGERS]
    assert names[0] == "fixed" and len({*names}) == len(names) == 9
    for case in bench.TAGGERS:
        scenario = Scenario.load(case.scenario).set(*case.quick).resolved
        queues = scenario["switch"]["queues_per_port"], scenario["nic"]["queues"]
        many = 1 if case.name in names[:3] else 8 if "eight queues" in case.name else 9
        assert queues == (many, many), case.name
        tagger = scenario["transport"]["tagging"]
        assert case.name.startswith(tagger["kind"]), case.name
        # In eight queues acks share that of the first of eight levels.
        assert (tagger.get("acks") == "with-first") == (many == 8 or "one level" in case.name)


@pytest.mark.parametrize(("kind", "cases"), [("aqm", bench.AQMS), ("sharing", bench.POLICIES)])
def test_all_algorithms_are_measured(command, kind, cases):
    listed = json.loads(command("list", kind, "--json").out)[kind]
    measured = {case.name.split(" ")[0] for case in cases}
    assert {row["id"] for row in listed} - {"pfabric"} == measured


def test_a_filled_network_is_filled_and_the_others_are_not():
    (filled, empty) = (case for case in bench.GROWTH if case.name.startswith("128 hosts, 10 Gbps"))
    # Of 25 ms the first tenth of one has nothing to carry yet, and headers and acks add a tenth.
    assert 0.55 < bench.run_apart(filled.scenario, filled.quick)["load_on_wire"] < 0.7
    assert bench.run_apart(empty.scenario, empty.quick)["load_on_wire"] < 0.1


def test_what_cannot_be_measured_is_an_error(command):
    unknown = command("bench", "--scenario", "credense")
    assert unknown.status == 2 and "did you mean `credence`?" in unknown.err
    for other in ("--growth", "--aqms", "--policies", "--tagging"):
        assert command("bench", other, "--scenario", "credence").status == 2
    assert "leave --aqms away" in command("bench", "--growth", "--aqms").err
    assert command("bench", "--runs", 0).status == 2


def test_a_run_too_short_for_the_samples_of_user_time_counts_all_its_time():
    assert bench._user_seconds((1.0, 2.0), (1.5, 3.0)) == 0.5
    assert bench._user_seconds((1.0, 2.0), (1.0, 2.25)) == 0.25


def test_threads_are_measured_where_there_are_cores_and_bounded_beyond(monkeypatch):
    monkeypatch.setattr(bench_threads, "processors", lambda: 2)
    found = bench_threads.measure(bench_threads.NETWORKS[:1], runs=2, quick=True)
    rows = found["cases"]["leaf-spine-128"]
    # 16 racks can be divided no further.
    assert [row["threads"] for row in rows] == [2, 4, 8, 16]
    assert [len(row) for row in rows] == [8, 6, 6, 6]
    assert 0 < rows[0]["times_as_fast"]["min"] <= rows[0]["times_as_fast"]["max"]
    bounds = [row["bound"] for row in rows]
    assert bounds == sorted(bounds) and all(1 < row["bound"] <= row["threads"] for row in rows)
    # Windows do not depend on parts as long as lines of the same delay are cut.
    assert len({(row["windows"], row["events_per_window"]) for row in rows}) == 1
    crossings = [row["crossings_per_window"] for row in rows]
    assert crossings == sorted(crossings) and 0 < crossings[0] < rows[0]["events_per_window"]
    console = console_for(None)
    with console.capture() as capture:
        console.print(bench_threads.table(found))
    told = " ".join(capture.get().split())
    assert "not measured" in told and "leaf-spine-128" in told
