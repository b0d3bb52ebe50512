"""`spillway.run`: one scenario, in memory and to a folder."""

import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import spillway
from spillway import _core
from spillway.base import arrow
from spillway.base.progress import Progress
from spillway.base.result_schema import SCHEMA, TABLES
from spillway.run.run import Streamed
from support import TINY, names, without_cost

SMALL = ("switch.buffer=40KB", "switch.aqm.threshold=unlimited")


def test_tables_have_the_columns_that_the_schema_promises():
    further = ["record.repairs=true", "record.acknowledged=true", "record.climbing=true"]
    open_ = 'transport.connections="open"'
    result = spillway.run(TINY, set=["record.windows=[0]", *further, open_])
    promised = {name: SCHEMA["tables"][name] for name in result.names()}
    promised["flows"] = sum(SCHEMA["further"].values(), promised["flows"])

    def field(column):
        number = pa.type_for_alias(column["type"])
        type_ = pa.dictionary(number, pa.string()) if column["is_name"] else number
        return column["name"], type_

    assert {*promised} >= {"flows", "queues", "switches", "drops", "windows"}
    for name, columns in promised.items():
        table = result.table(name)
        assert table.schema == pa.schema(map(field, columns)), name
        whole = [column["name"] for column in columns if not column["may_be_null"]]
        assert all(table[name].null_count == 0 for name in whole)


def test_a_run_has_a_row_for_every_flow(tiny):
    assert tiny.status == "complete"
    assert tiny.flows.num_rows == tiny.summary["flows"]["started"]
    assert sorted(tiny.flows["flow_id"].to_pylist()) == list(range(tiny.flows.num_rows))
    tiny.flows.validate(full=True)


def test_flows_without_a_timeout_have_their_own_slowdowns():
    result = spillway.run(TINY, set=["record.without_timeout=true"])
    flows, summary = result.flows, result.summary
    assert 0 < summary["fct_slowdown"]["all"]["with_timeout"] < flows.num_rows
    on_time = flows.filter(pc.equal(flows["timeouts"], 0))
    told = summary["without_timeout"]
    assert told["all"]["count"] == on_time.num_rows
    assert told["all"]["mean"] == pytest.approx(pc.mean(on_time["slowdown"]).as_py(), rel=1e-12)
    queries = on_time.filter(pc.equal(on_time["class"], "queries"))
    assert told["incast"]["max"] == pc.max(queries["slowdown"]).as_py()


def test_the_tables_agree_with_the_summary(tiny):
    flows, summary = tiny.flows, tiny.summary
    assert sum(summary["drops"].values()) == tiny.drops.num_rows > 0
    assert set(tiny.drops["reason"].to_pylist()) == set(summary["drops"])
    assert pc.sum(flows["timeouts"]).as_py() == summary["timeouts"] > 0
    sent_again = pc.sum(flows["retransmitted_packets"]).as_py()
    assert sent_again == summary["retransmitted_packets"]
    times = zip(flows["fct_ps"].to_pylist(), flows["ideal_ps"].to_pylist(), strict=True)
    assert flows["slowdown"].to_pylist() == [fct / ideal for fct, ideal in times]
    classes = zip(flows["slowdown"].to_pylist(), flows["class"].to_pylist(), strict=True)
    slowdowns = sorted(slowdown for slowdown, name in classes if name == "queries")
    row = summary["fct_slowdown"]["queries"]
    assert row["count"] == len(slowdowns)
    # The order statistic: sorted[ceil(n p) - 1].
    assert row["p95"] == slowdowns[int(np.ceil(0.95 * len(slowdowns) - 1e-9)) - 1]
    assert row["max"] == slowdowns[-1] and slowdowns[0] >= 1


def test_what_is_not_there_is_null(tiny):
    flows = tiny.flows
    assert flows["priority"].null_count == flows.num_rows
    has_query = pc.is_valid(flows["query_id"]).to_pylist()
    assert has_query == [name == "queries" for name in flows["class"].to_pylist()]
    unfinished = spillway.run(TINY, set=["stop=4ms"])
    assert unfinished.status == "stopped"
    left = unfinished.summary["flows"]["started"] - unfinished.summary["flows"]["completed"]
    assert unfinished.flows["fct_ps"].null_count == left > 0
    no_slowdown = unfinished.flows["slowdown"].is_null()
    assert no_slowdown.equals(unfinished.flows["fct_ps"].is_null())


def test_empty_queues_have_rows_where_that_is_asked_for(tiny):
    asked = spillway.run(TINY, set=["record.empty_queues=true"])
    queues = asked.queues
    instants = len(pc.unique(queues["time_ps"]))
    # Three switches; 5 + 5 ports of leaves, 2 of the spine, one queue each.
    assert queues.num_rows == instants * 12
    full = pc.greater(queues["bytes"], 0)
    assert queues.filter(full).to_pylist() == tiny.queues.to_pylist()
    assert without_cost(asked.summary) == without_cost(tiny.summary)


def test_switches_and_reasons_go_by_their_names(tiny):
    assert set(tiny.queues["switch"].to_pylist()) <= {"leaf0", "leaf1", "spine0"}
    assert set(tiny.drops["switch"].to_pylist()) <= {"leaf0", "leaf1", "spine0"}
    whole = tiny.switches
    assert set(whole["switch"].to_pylist()) == {"leaf0", "leaf1", "spine0"}
    assert whole.num_rows == 3 * len(set(whole["time_ps"].to_pylist()))


def test_a_switch_holds_what_its_queues_hold(tiny):
    def held(table):
        keys = table.group_by(["time_ps", "switch"]).aggregate([("bytes", "sum")])
        return {
            (row["time_ps"], row["switch"]): row["bytes_sum"]
            for row in keys.to_pylist()
            if row["bytes_sum"] > 0
        }

    assert held(tiny.queues) == held(tiny.switches) != {}
    assert tiny.queues["port"].null_count == tiny.queues["queue"].null_count == 0


def test_switches_as_a_whole_are_recorded_with_queues(tiny):
    without = spillway.run(TINY, set=["record.queue_interval=100s"])
    assert without.queues.num_rows == 0
    assert set(without.switches["time_ps"].to_pylist()) == {0}


def test_a_loss_on_a_host_s_own_line_goes_by_the_host_s_name():
    result = spillway.run(
        {
            "duration": "1ms",
            "topology": {"kind": "star", "hosts": 3, "link_delay": "10us"},
            "transport": {"kind": "udp", "rate": "10Gbps"},
            "traffic": [{"name": "all", "kind": "permutation", "size": "100KB"}],
            "event": [{"kind": "link-loss", "a": "host2", "b": "leaf0", "at": "0us", "rate": 0.5}],
        }
    )
    lost = zip(
        *(result.drops[name].to_pylist() for name in ("switch", "port", "queue")), strict=True
    )
    # Its link loses in both directions; port 2 of the switch leads to it.
    assert set(lost) == {("host2", 0, None), ("leaf0", None, None)}


def test_a_loss_in_a_host_s_card_has_the_host_and_the_queue():
    drops = spillway.run(TINY, set=["nic.queue_limit=2pkt"]).drops
    lost = drops.filter(pc.equal(drops["reason"], "queue_limit"))
    assert all(name.startswith("host") for name in lost["switch"].to_pylist())
    assert set(lost["port"].to_pylist()) == set(lost["queue"].to_pylist()) == {0}
    assert max(lost["queue_bytes"].to_pylist()) == 2 * 1500


def test_tables_are_not_copied():
    simulation = _core.Simulation(spillway.Scenario.load(TINY).read())
    simulation.run()
    for name in TABLES:
        for column in simulation.take(name).values():
            view = memoryview(column)
            assert view.readonly and view.contiguous
            address = np.asarray(view).ctypes.data
            values = arrow.array(column)
            values = values.indices if pa.types.is_dictionary(values.type) else values
            validity, data = values.buffers()
            assert data.address == address or len(column) == 0
            if column.validity is not None:
                assert validity.address == np.asarray(memoryview(column.validity)).ctypes.data


def test_a_column_outlives_its_run(tiny):
    kept = spillway.run(TINY).flows["start_ps"]
    assert kept.to_pylist() == tiny.flows["start_ps"].to_pylist()


@pytest.mark.parametrize("extra", [[], ["record.drops=false"], ["switch.sharing=lqd"]])
def test_the_same_run_twice_is_the_same_to_the_bit(extra, tmp_path):
    first = spillway.run(TINY, set=extra, out=tmp_path / "a")
    second = spillway.run(TINY, set=extra, out=tmp_path / "b")
    assert without_cost(first.summary) == without_cost(second.summary)
    for name in ("flows.parquet", "queues.parquet", "drops.parquet", "scenario.toml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_tables_that_are_streamed_are_those_that_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(Streamed, "rows", 16)
    longer = ["duration=50ms"]
    kept = spillway.run(TINY, set=longer)
    streamed = spillway.run(TINY, set=longer, out=tmp_path / "out")
    assert pq.ParquetFile(tmp_path / "out" / "flows.parquet").num_row_groups > 1
    for name in ("flows", "queues", "drops"):
        assert streamed.table(name).to_pylist() == kept.table(name).to_pylist()
    assert without_cost(streamed.summary) == without_cost(kept.summary)


def test_another_seed_is_another_run(tiny):
    other = spillway.run(TINY, seed=8)
    assert other.summary["seed"] == 8
    assert other.flows["start_ps"].to_pylist() != tiny.flows["start_ps"].to_pylist()


def test_progress_is_reported_and_ends_with_all_flows():
    seen: list[Progress] = []
    result = spillway.run(TINY, set=["duration=50ms"], progress=seen.append)
    assert seen[-1].flows_completed == result.summary["flows"]["completed"]
    assert seen[-1].events == result.summary["events"]
    assert seen[-1].packet_hops == result.summary["packet_hops"]
    assert [p.simulated_ps for p in seen] == sorted(p.simulated_ps for p in seen)
    assert seen[-1].fraction == 1.0 and seen[0].duration_ps == 50 * 10**9


def test_other_threads_go_on_during_a_run():
    done = threading.Event()
    late: list[float] = []

    def other() -> None:
        while not done.is_set():
            before = time.monotonic()
            time.sleep(0.001)
            late.append(time.monotonic() - before)

    thread = threading.Thread(target=other)
    thread.start()
    spillway.run(TINY, set=["duration=100ms"])
    done.set()
    thread.join()
    # Were the interpreter held for the run, there would be next to no turns.
    assert len(late) > 10


def test_an_error_in_the_report_ends_the_run():
    def report(progress: Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        spillway.run(TINY, progress=report)


def test_an_interruption_carries_what_there_is():
    def report(progress: Progress) -> None:
        if progress.flows_started:
            raise KeyboardInterrupt

    with pytest.raises(spillway.Interrupted) as caught:
        spillway.run(TINY, set=["duration=10s", "stop=20s"], progress=report)
    result = caught.value.result
    assert result.status == "interrupted"
    assert result.flows.num_rows == result.summary["flows"]["started"] > 0


def test_a_run_that_takes_too_much_memory_ends_with_an_error(command, tmp_path):
    # Without a folder the tables are kept too: a row of the samples has 32 bytes.
    asked = ["record.queue_interval=10ns", "limits.memory=20MB"]
    told = r"take 0\.02 GB: more than limits\.memory"
    with pytest.raises(spillway.SpillwayError, match=told) as raised:
        spillway.run(TINY, set=asked)
    assert (raised.value.kind, raised.value.path) == ("limit", "limits.memory")
    options = [part for each in asked for part in ("--set", each)]
    assert command("run", TINY, *options, "--out", "there").status == 0
    little = command("run", TINY, "--set", "limits.memory=2KB", "--out", "here")
    assert little.status == 1 and "raise limits.memory" in little.err
    assert names(tmp_path) == ["there"]


def test_a_simulation_uses_its_scenario_up():
    read = spillway.Scenario.load(TINY).read()
    _core.Simulation(read)
    with pytest.raises(spillway.SpillwayError, match="used up"):
        _core.Simulation(read)


def test_what_is_recorded_on_demand():
    asked = ["record.decisions=100", "record.windows=[0,1]", "record.link_interval=100us"]
    result = spillway.run(TINY, set=asked)
    assert result.decisions.num_rows == 100
    rows = result.decisions.select(["verdict", "reason"]).to_pylist()
    assert {row["verdict"] for row in rows} <= {"admitted", "marked", "lost"}
    reasons = {row["reason"] for row in rows if row["verdict"] == "lost"}
    assert reasons <= {"over_threshold"}
    assert all(row["reason"] is None for row in rows if row["verdict"] != "lost")
    assert set(result.windows["flow_id"].to_pylist()) <= {0, 1}
    links = set(result.links["link"].to_pylist())
    assert "host0-leaf0" in links and "leaf0-spine0" in links
    times = result.decisions["time_ps"].to_pylist()
    assert times == sorted(times)


def test_a_trace_of_fates_agrees_with_the_drops_and_samples_the_rest():
    asked = ["switch.sharing=lqd", *SMALL, "record.oracle_trace=true"]
    result = spillway.run(TINY, set=asked)
    trace = result.oracle_trace
    rows = trace.select(["switch", "arrival", "dropped", "weight"]).to_pylist()
    dropped = [row for row in rows if row["dropped"] == 1]
    assert len(dropped) == result.summary["drops"]["pushed_out"] > 50
    assert {row["weight"] for row in rows} == {1}
    for name in {row["switch"] for row in rows}:
        numbers = sorted(row["arrival"] for row in rows if row["switch"] == name)
        assert numbers == list(range(len(numbers)))
    sampled = spillway.run(TINY, set=[*asked, "record.oracle_trace_sample=10"]).oracle_trace
    kept = sampled.select(["dropped", "weight"]).to_pylist()
    assert sum(row["dropped"] == 1 for row in kept) == len(dropped)
    assert {row["weight"] for row in kept if row["dropped"] == 0} == {10}
    assert sum(row["weight"] for row in kept) == pytest.approx(len(rows), rel=0.1)
    averages = spillway.run(TINY, set=[*asked, "record.oracle_trace_average=code"]).oracle_trace
    assert all(value.is_integer() for value in averages["average_queue_bytes"].to_pylist())
    assert not all(value.is_integer() for value in trace["average_queue_bytes"].to_pylist())


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ([], r"there is no switch with sharing = \"lqd\""),
        (["switch.sharing=lqd", "topology.base_rtt=0us"], "base_rtt: .* expected a time above 0"),
    ],
)
def test_a_trace_of_fates_needs_a_switch_that_can_have_one(more, problem):
    with pytest.raises(spillway.ScenarioError, match=problem):
        spillway.Scenario.load(TINY).set("record.oracle_trace=true", *more).read()


def test_acks_that_share_the_data_s_queue_are_tested_like_data():
    one = ["switch.queues_per_port=2", "switch.ack_queue=1", "switch.data_queue=1"]
    asked = ["switch.sharing=lqd", *SMALL, "record.oracle_trace=true"]
    trace = spillway.run(TINY, set=[*asked, *one]).oracle_trace
    assert trace.num_rows > 1000
    assert set(trace["queue"].to_pylist()) == {1}


def test_what_aqms_mark_by_is_sampled_and_kept(tmp_path):
    ared = "{ kind = 'ared', min = '1pkt', max = '4pkt', weight = 0.1, interval = '2us' }"
    asked = [f"switch.aqm={ared}", "record.aqm_interval=10us", "record.aqm_switch=leaf0"]
    result = spillway.run(TINY, set=asked)
    result.save(tmp_path / "run")
    aqm = spillway.Result.load(tmp_path / "run").aqm
    assert aqm.equals(result.aqm) and set(aqm["switch"].to_pylist()) == {"leaf0"}
    steered = aqm["max_probability"].to_pylist()
    # It begins at 0.1, falls while queues are empty, and rises while they are long.
    assert min(steered) < 0.01 and max(steered) > 0.2
    # Three packets of 1,500 bytes are 0.0045 MB.
    slopes = [slope * 0.0045 for slope in aqm["slope_per_mb"].to_pylist()]
    assert slopes == pytest.approx(steered)
    assert aqm["lambda"].null_count == aqm["flows"].null_count == len(aqm)
    assert "aqm" in result.names() and "aqm" not in spillway.run(TINY).names()


def test_flows_that_lose_packets_for_good_leave_a_run_incomplete():
    """Two hosts send 100 KB each at a switch that holds 3 KB, and nobody sends again."""
    burst = {"interval": "1ms", "burst": "200KB", "fan_in": 2, "senders": "any", "receivers": [0]}
    scenario = {
        "duration": "1ms",
        "topology": {"kind": "star", "hosts": 3},
        "switch": {"buffer": "3KB"},
        "transport": {"kind": "udp", "rate": "8Gbps"},
        "traffic": [{"name": "i", "kind": "incast", **burst}],
    }
    result = spillway.run(spillway.Scenario(scenario))
    assert result.status == "stopped"
    assert result.summary["flows"] == {"started": 2, "completed": 0}
    assert result.flows["fct_ps"].null_count == 2


def test_rows_of_flows_keep_the_least_time_whatever_slowdowns_are_relative_to():
    scenario = {
        "duration": "1ms",
        "slowdown_base": "published",
        "topology": {"kind": "star", "hosts": 3},
        "traffic": [{"name": "p", "kind": "permutation", "size": "1449B"}],
    }
    published = spillway.run(spillway.Scenario(scenario))
    ideal = spillway.run(spillway.Scenario(scenario | {"slowdown_base": "ideal"}))
    assert published.flows.equals(ideal.flows)
    assert pc.min(published.flows["slowdown"]).as_py() >= 1
    assert ideal.summary["fct_slowdown"]["all"]["p50"] >= 1
    # 13.1592 us are 12 us of lines and 1,449 B at 10 Gbps.
    times = [fct / 13_159_200 for fct in published.flows["fct_ps"].to_pylist()]
    assert published.summary["fct_slowdown"]["all"]["mean"] == pytest.approx(np.mean(times))
    assert max(times) < 1
