"""Traffic that shifts: what runs in each part, which forest decides, and what is counted."""

import pytest

import spillway
from spillway.learning import oracle
from spillway.learning.oracle import Model, windows
from spillway.learning.oracle.trace import load
from spillway_studies.credence.figures import shifting

MS = 1_000_000_000
SIZE = {"part_ms": 2, "last_ms": 20, "one_in": 3}
SMALL = (
    "topology.leaves=4",
    "switch.buffer=60KB",
    "traffic.incast.queries_per_host_per_s=100",
    "record.window_interval=1ms",
)
# Small buffers, so that a short run loses packets.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(asked about packets outside|it was trained|keep growing|is never marked|larger than)"
)


@pytest.fixture
def small(monkeypatch):
    """Makes the figure small, and returns what was run, with its settings."""
    made = []

    def smaller(*given):
        return (*whole(*given), *SMALL)

    def noted(scenario, *, seed, set, out, progress):
        made.append((seed, spillway.Scenario.load(scenario).set(*set).resolved))
        return run(scenario, seed=seed, set=set, out=out, progress=progress)

    whole, run = shifting.traffic, shifting.run
    monkeypatch.setattr(shifting, "traffic", smaller)
    monkeypatch.setattr(shifting, "run", noted)
    monkeypatch.setattr(shifting, "_FOUND", {})
    monkeypatch.setattr(shifting, "EVERY", {shifting.ONLINE_25.name: "1ms"})
    return made


def numbers(scheme, seed=1):
    return [
        shifting.point(lambda _: None, part=part, scheme=scheme.name, seed=seed, **SIZE)
        for part in (1, 2, 3)
    ]


def test_each_traffic_has_a_third_of_the_run():
    """ "80% of the uplinks for a third of the run, beside bursts of 75% of the buffer"."""
    sets = shifting.traffic(100, 400)
    found = spillway.Scenario.load("credence").set(*sets).resolved
    own = spillway.Scenario.load("credence").resolved
    *parts, incast = found["traffic"]
    assert [part["sizes"] for part in parts] == ["websearch", "datamining", "alibaba-storage"]
    times = [("0ms", "100ms"), ("100ms", "200ms"), ("200ms", "300ms")]
    assert [(part["start"], part["stop"]) for part in parts] == times
    web, queries = own["traffic"]
    for part in parts:
        kept = {**part, "start": web["start"], "load": 0.4, "sizes": "websearch"}
        del kept["stop"]
        assert kept == {**web, "name": part["name"]} and part["load"] == 0.8
    assert incast == {**queries, "burst": "75%"}
    assert (found["duration"], found["stop"]) == ("300ms", "400ms")
    same = {"traffic", "duration", "stop"}
    assert {key: found[key] for key in own.keys() - same} == {
        key: own[key] for key in own.keys() - same
    }


def test_flows_count_where_they_start(small, tmp_path):
    found = numbers(shifting.STATIC)
    sets = (*shifting.traffic(2, 20), "switch.sharing=credence", "record.oracle_trace=true")
    more = ("record.oracle_trace_sample=3", "record.drops=false")
    result = spillway.run("credence", seed=1, set=(*sets, *more), out=tmp_path / "run")
    assert len(small) == 1
    trace, rows = load(tmp_path / "run"), result.flows.to_pylist()
    for part, told in enumerate(found):
        own = [row for row in rows if row["start_ps"] // (2 * MS) == part]
        late = [row for row in own if row["timeouts"]]
        queries = [row["timeouts"] > 0 for row in own if row["class"] == "incast"]
        on_time = [row["slowdown"] for row in own if not row["timeouts"] and row["fct_ps"]]
        assert told["flows"] == len(own) > 50
        assert told["timeouts"] == pytest.approx(len(late) / len(own))
        assert told["incast_timeouts"] == pytest.approx(sum(queries) / len(queries))
        assert told["on_time"] == pytest.approx(sum(on_time) / len(on_time))
        scores = oracle.evaluate(
            Model.load("default"), trace.where(trace.time_ps // (2 * MS) == part)
        )
        assert scores.drops > 0
        assert (told["recall"], told["precision"]) == (scores.recall, scores.precision)


def test_a_forest_of_the_first_traffic_has_seen_no_other(small):
    found = numbers(shifting.OWN, seed=5)
    (first_seed, first), (seed, last) = small
    assert (first_seed, seed) == (1005, 5)
    assert (first["duration"], first["switch"]["sharing"]["kind"]) == ("2ms", "lqd")
    assert [part["name"] for part in first["traffic"]] == ["websearch", "incast"]
    assert last["duration"] == "6ms"
    assert last["switch"]["sharing"]["model"].endswith("own.safetensors")
    assert all(told["recall"] is not None for told in found)


def test_online_forests_follow_one_another(small, monkeypatch):
    made = []

    def online(source, **options):
        made.append(windows.online(source, **options))
        return made[-1]

    monkeypatch.setattr(oracle, "online", online)
    found = numbers(shifting.ONLINE_25)
    (told,) = made
    assert [window.begin_ps // MS for window in told.windows] == [0, 1, 2, 3, 4, 5]
    assert told.windows[0].model == "default"
    for part, own in enumerate(found):
        both = [window.scores for window in told.windows[2 * part : 2 * part + 2]]
        right = sum(scores.true_positives for scores in both)
        assert own["recall"] == pytest.approx(right / sum(scores.drops for scores in both))


def test_what_asks_no_forest_has_no_scores(small):
    for scheme in (shifting.setup.DT, shifting.NONE):
        assert all("recall" not in told for told in numbers(scheme))
    kinds = [resolved["switch"]["sharing"] for _, resolved in small]
    assert kinds[0]["kind"] == "dt" and kinds[1]["oracle"] == "always-accept"
