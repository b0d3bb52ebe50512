"""Plug-ins decide like the built-in algorithms that they repeat, and see what they are told."""

import json
import re

import pyarrow as pa
import pytest

import plugins
import spillway
from spillway.base import parquet
from spillway.plugins import hooks
from spillway.plugins.base import ROOMS
from support import DATA, TINY, without_cost

SHORT_OF_ROOM = ("switch.buffer=20KB", "switch.aqm.threshold=unlimited")
SMALL = {
    "tiny": (TINY, ["switch.queues_per_port=2", "switch.scheduling=strict"]),
    "credence": ("credence", ["duration=1ms", *SHORT_OF_ROOM]),
    "leaf-spine-128": ("leaf-spine-128", ["duration=500us", *SHORT_OF_ROOM]),
}


def same(source, assignments, built_in, own, *classes, in_events=True):
    """Runs both and compares all that they leave, and whether they do in as many events."""
    runs = [
        spillway.run(source, set=[*assignments, "record.queue_interval=20us", *built_in]),
        spillway.run(
            source, set=[*assignments, "record.queue_interval=20us", *own], plugins=classes
        ),
    ]
    for table in ("flows", "queues", "drops"):
        first, second = (run.table(table) for run in runs)
        assert first.equals(second), table
    assert runs[0].flows.num_rows > 0 and runs[0].queues.num_rows > 0
    first, second = (without_cost(run.summary) for run in runs)
    if not in_events:
        del first["events"], second["events"]
    assert first == second
    return first


@pytest.mark.parametrize("scenario", SMALL)
def test_a_dt_of_ones_own_is_dt(scenario):
    source, assignments = SMALL[scenario]
    alpha = "switch.sharing.alpha=0.25"
    dt = same(
        source,
        assignments,
        ["switch.sharing=dt", alpha],
        ["switch.sharing=my-dt", alpha],
        plugins.MyDt,
    )
    assert dt["drops"]["over_threshold"] > 0


@pytest.mark.parametrize("scenario", SMALL)
def test_a_policy_may_push_out(scenario):
    source, assignments = SMALL[scenario]
    lqd = same(
        source,
        assignments,
        ["switch.sharing=lqd"],
        ["switch.sharing=my-lqd"],
        plugins.MyLqd,
    )
    assert lqd["drops"]["pushed_out"] > 0


@pytest.mark.parametrize("scenario", SMALL)
def test_an_aqm_of_ones_own_is_ecn(scenario):
    source, assignments = SMALL[scenario]
    ecn = same(
        source,
        assignments,
        ["switch.aqm=ecn", "switch.aqm.threshold=5pkt"],
        ["switch.aqm=my-ecn", "switch.aqm.threshold_packets=5"],
        plugins.MyEcn,
    )
    assert ecn["marks"] > 0


@pytest.mark.parametrize("where", ["switch", "nic"])
def test_an_aqm_of_ones_own_may_count_flows(where):
    # With a table of one bit the text's formula is 0 or 1, by N squared.
    built_in = '{ kind = "pred", preset = "paper", qla = false, f = "n-squared", lambda = 2.0, '
    built_in += 'counter = "exact", t_fcs = "50us", table_step = "1B", table_bits = 1 }'
    runs = [
        spillway.run(
            "incast-star",
            set=[
                *("warmup=0ms", "duration=3ms", "stop=3ms", "switch.queue_limit=1000pkt"),
                *("record.aqm_interval=7us", "transport.initial_window=40pkt"),
                # Two flows of each host wait in its NIC.
                "traffic.senders.flows_per_pair=2",
                *("switch.aqm=none", f"{where}.aqm={aqm}"),
            ],
            plugins=classes,
        )
        for aqm, classes in (
            (built_in, ()),
            ('{ kind = "squares", slope = 2.0 }', plugins.Squares),
        )
    ]
    for table in ("flows", "queues", "drops", "aqm"):
        first, second = (run.table(table) for run in runs)
        assert first.equals(second), table
    first, second = (without_cost(run.summary) for run in runs)
    assert first == second and first["marks"] > 0
    assert runs[0].aqm.num_rows > 0 or where == "nic"


def test_an_aqm_hears_of_marks_and_knows_what_packets_are():
    plugins.Hears.heard.clear()
    sets = ["switch.aqm=hears", "duration=3ms", "stop=3ms", "warmup=0ms"]
    result = spillway.run("incast-star", set=sets, plugins=plugins.Hears)
    heard = plugins.Hears.heard
    assert heard["marks"] == result.summary["marks"] > 0
    assert heard["controls"] > 0 and heard["capable"] > 0


def test_an_aqm_hears_of_turns():
    plugins.Turns.heard.clear()
    queues = ["switch.queues_per_port=3", "switch.scheduling=dwrr", "switch.aqm=turns"]
    spillway.run(TINY, set=queues, plugins=plugins.Turns)
    assert {True, False} == set(plugins.Turns.heard)


@pytest.mark.parametrize("where", ["switch", "nic"])
def test_an_aqm_may_decide_on_the_way_out_alone(where):
    def run(plugin, *more):
        settings = [f"{where}.aqm={plugin.id}", f"{where}.aqm.limit_us=5", *more]
        return spillway.run(TINY, set=settings, plugins=plugin)

    alone, twice = run(plugins.Sojourn), run(plugins.SojournAskedTwice)
    assert without_cost(alone.summary) == without_cost(twice.summary)
    assert alone.flows.equals(twice.flows) and alone.queues.equals(twice.queues)
    never = run(plugins.Sojourn, f"{where}.aqm.limit_us=1e9")
    assert alone.summary["marks"] > never.summary["marks"]
    assert "aqm" not in alone.summary["drops"]
    assert run(plugins.Sojourn, f"{where}.aqm.drops=true").summary["drops"]["aqm"] > 0


@pytest.mark.parametrize("scenario", SMALL)
def test_hosts_may_have_it_too(scenario):
    source, assignments = SMALL[scenario]
    ecn = same(
        source,
        [*assignments, "nic.queue_limit=4pkt", "switch.aqm=none"],
        ["nic.aqm=ecn", "nic.aqm.threshold=2pkt"],
        ["nic.aqm=my-ecn", "nic.aqm.threshold_packets=2"],
        plugins.MyEcn,
    )
    assert ecn["marks"] > 0 and ecn["drops"]["queue_limit"] > 0


@pytest.mark.parametrize("scenario", SMALL)
@pytest.mark.parametrize("kind", ["dctcp", "newreno"])
def test_a_controller_of_ones_own_is_the_built_in_one(scenario, kind):
    source, assignments = SMALL[scenario]
    own = {"dctcp": plugins.MyDctcp, "newreno": plugins.MyNewReno}[kind]
    summary = same(
        source,
        [*assignments, "switch.aqm=ecn", "switch.aqm.threshold=5pkt"],
        [f"transport.kind={kind}"],
        [f"transport.kind=my-{kind}"],
        own,
    )
    assert summary["retransmitted_packets"] > 0


@pytest.mark.parametrize("scenario", SMALL)
@pytest.mark.parametrize("whose", ["flow", "network"])
def test_a_controller_may_read_telemetry(scenario, whose):
    source, assignments = SMALL[scenario]
    source = "credence-powertcp" if source == "credence" else source
    summary = same(
        source,
        [*assignments, "switch.buffer=60KB", "switch.sharing=dt"],
        ["transport.kind=powertcp", f"transport.base_rtt={whose}"],
        ["transport.kind=my-powertcp", f"transport.base_rtt={whose}"],
        plugins.MyPowerTcp,
    )
    assert summary["packet_hops"] > 1000


def test_three_plug_ins_at_a_time_and_one_in_a_traffic_section():
    built_in = [
        "switch.sharing=lqd",
        "switch.aqm=ecn",
        "switch.aqm.threshold=5pkt",
        "traffic.queries.transport=newreno",
    ]
    own = [
        "switch.sharing=my-lqd",
        "switch.aqm=my-ecn",
        "switch.aqm.threshold_packets=5",
        "traffic.queries.transport=my-newreno",
    ]
    same(TINY, [], built_in, own, plugins.MyLqd, plugins.MyEcn, plugins.MyNewReno)


def test_hooks_see_what_happens():
    cs = spillway.run(
        TINY, set=["switch.buffer=30KB", "switch.aqm.threshold=unlimited", "switch.sharing=cs"]
    )
    own = ["switch.buffer=30KB", "switch.aqm.threshold=unlimited", "switch.sharing=everyone"]
    result = spillway.run(TINY, set=own, plugins=[plugins.Everyone])
    assert result.flows.equals(cs.flows) and result.queues.equals(cs.queues)
    counts = {
        key: sum(tier[key] for tier in result.summary["sharing_counts"].values())
        for key in result.summary["sharing_counts"]["leaf"]
    }
    drops = sum(result.summary["drops"].values())
    assert counts["asked"] == counts["enqueued"] + drops and counts["dropped"] == drops
    assert counts["enqueued"] == counts["dequeued"] == counts["departed"]
    assert counts["woken"] > 3
    assert drops > 0


def test_the_same_seed_gives_the_same_results():
    runs = [
        spillway.run(TINY, set=["switch.sharing=my-dt"], plugins=[plugins.MyDt]) for _ in range(2)
    ]
    assert runs[0].flows.equals(runs[1].flows)
    assert without_cost(runs[0].summary) == without_cost(runs[1].summary)


def test_parameters_are_keys_of_the_scenario():
    given = {"kind": "everyone", "style": "quiet", "weights": [0.5, 3]}
    text = json.loads(json.dumps(spillway.Scenario.load(TINY).resolved))
    text["switch"]["sharing"] = given
    scenario = spillway.Scenario(text, plugins=[plugins.Everyone])
    assert scenario.resolved["switch"]["sharing"] == {**given, "weights": [0.5, 3.0]}
    own = spillway.Scenario.load(TINY).plug(plugins.MyDt).set("switch.sharing=my-dt")
    assert own.resolved["switch"]["sharing"] == {"kind": "my-dt", "alpha": 0.5}
    again = spillway.Scenario(own.read().resolved, DATA, plugins=[plugins.MyDt])
    assert again.resolved == own.resolved


def test_keys_of_another_transport_go_and_common_ones_stay():
    scenario = spillway.Scenario.load(TINY).plug(plugins.MyDctcp)
    drops = r"transport\.alpha0 is set, but transport\.kind=my-dctcp after it drops it"
    with pytest.warns(spillway.ScenarioWarning, match=drops):
        resolved = scenario.set("transport.alpha0=0.5", "transport.kind=my-dctcp").resolved
    assert resolved["transport"]["recovery"]["min_rto"] == "1ms"
    assert resolved["transport"]["ecn"] is True
    assert resolved["transport"]["g"] == 0.0625
    assert "alpha0" not in resolved["transport"]


def test_a_section_of_traffic_may_change_its_transport():
    scenario = spillway.Scenario.load("cbm")
    incast = scenario.resolved["traffic"][2]
    assert incast["transport"] == "theta-powertcp" and incast["measure"] == "every-ack"
    for kind in ("powertcp", "hpcc", "timely", "cubic", "dctcp", "newreno"):
        changed = scenario.set(f"traffic.incast.transport={kind}").resolved["traffic"][2]
        assert changed["transport"] == kind and "measure" not in changed
        assert changed["burst"] == incast["burst"] and changed["places"] == incast["places"]
        assert changed.get("gamma") == (0.9 if kind == "powertcp" else None)
    own = scenario.plug(plugins.MyDctcp).set("traffic.2.transport=my-dctcp").resolved
    assert own["traffic"][2]["g"] == 0.0625
    # Of what it had given itself, common keys stay.
    given = ("traffic.dctcp.recovery.min_rto=3ms", "traffic.dctcp.transport=cubic")
    section = scenario.set(*given).resolved["traffic"][1]
    assert section["recovery"]["min_rto"] == "3ms" and "alpha0" not in section


def test_decisions_show_the_threshold():
    assignments = ["switch.sharing=my-dt", "record.decisions=100"]
    own = spillway.run(TINY, set=assignments, plugins=[plugins.MyDt])
    dt = spillway.run(TINY, set=["switch.sharing=dt", "record.decisions=100"])
    assert own.decisions.equals(dt.decisions)


def test_a_sweep_runs_plug_ins_beside_built_in_policies():
    vary = ["switch.sharing=dt,my-dt"]
    sweep = spillway.sweep(TINY, vary=vary, seeds=[1, 2], jobs=2, plugins=[plugins.MyDt])
    (_, dt), (_, own) = sweep.results
    for first, second in zip(dt, own, strict=True):
        assert first.flows.equals(second.flows)


def test_what_a_hook_keeps_shows_no_later_than_its_last_call():
    kept = []

    class Keeps(plugins.MyDt):
        """Keeps what it is given."""

        id = "keeps"

        def admit(self, arrival, buffer):
            kept.append((arrival, buffer, arrival.now_ps, buffer.occupancy))
            return super().admit(arrival, buffer)

    spillway.run(TINY, set=["switch.sharing=keeps"], plugins=[Keeps])
    assert all(arrival.now_ps == now for arrival, _, now, _ in kept)
    last = {id(buffer): (buffer, occupancy) for _, buffer, _, occupancy in kept}
    assert all(buffer.occupancy == occupancy for buffer, occupancy in last.values())


@pytest.mark.parametrize(
    "told",
    list(dict.fromkeys(name for room in ROOMS.values() for name in hooks.told(room.base))),
)
def test_whatever_a_hook_is_told_explains_itself(told):
    kind = getattr(spillway.plugins, told)
    names = [name for name in dir(kind) if not name.startswith("_")]
    assert names and [name for name in names if not getattr(kind, name).__doc__] == []


def test_the_tutorial_shows_the_example():
    text = (plugins.EXAMPLES.parent / "docs/plugins.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"cat > my_dt.py <<'END'\n(.*?)END\n", text, re.DOTALL)
    assert shown == (plugins.EXAMPLES / "my_dt.py").read_text(encoding="utf-8")
    assert shown.count("\n") < 25


def test_a_result_has_the_plug_in_with_it(command, tmp_path):
    options = ["--set", "switch.sharing=my-dt", "--out", "first"]
    first = command("run", TINY, "--plugin", f"{plugins.EXAMPLES}/my_dt.py:MyDt", *options)
    assert first.status == 0
    without = command("run", "first")
    assert without.status == 2 and '"my-dt" is not known' in without.err
    assert without.err.endswith("a copy: --plugin first/inputs/my-dt.py:CLASS\n")
    plugin = "first/inputs/my-dt.py:MyDt"
    again = command("run", "first", "--plugin", plugin, "--out", "second")
    assert again.status == 0
    results = [spillway.Result.load(tmp_path / name) for name in ("first", "second")]
    assert results[0].flows.equals(results[1].flows)
    assert results[0].scenario == results[1].scenario


def test_a_policy_sees_packets_leave_in_order_of_time_among_all_switches():
    plugins.Chronicle.times.clear()
    spillway.run(
        "leaf-spine-128",
        set=["duration=500us", "switch.sharing=chronicle"],
        plugins=[plugins.Chronicle],
    )
    times = plugins.Chronicle.times
    assert len(times) > 10_000
    assert times == sorted(times)


QUEUES = (
    *("switch.queues_per_port=9", "switch.scheduling=strict", "nic.queues=9"),
    *SHORT_OF_ROOM,
)


@pytest.mark.parametrize("place", ["transport", "traffic.0"])
def test_a_pias_of_ones_own_is_pias(place):
    sizes = "thresholds=[5000,20000,100000]"
    built_in = f"{place}.tagging={{kind='pias',thresholds=['5KB','20KB','100KB']}}"
    own = f"{place}.tagging={{kind='my-pias',{sizes}}}"
    both = ["duration=1ms", *QUEUES]
    pias = same("leaf-spine-128", both, [built_in], [own], plugins.MyPias)
    assert pias["retransmitted_packets"] > 0
    fixed = spillway.run("leaf-spine-128", set=both).summary
    assert pias["fct_us"] != fixed["fct_us"]


def test_a_tagger_is_told_sizes_and_bounds_only_if_it_asks():
    sets = ["duration=1ms", *QUEUES, "traffic.websearch.bound=exact"]
    knows = spillway.run(
        "leaf-spine-128", set=[*sets, "transport.tagging=knows"], plugins=[plugins.Knows]
    )
    # All bounds are the sizes, so all packets have the first level, as with one level.
    first = "transport.tagging={kind='las',levels=1}"
    assert knows.flows.equals(spillway.run("leaf-spine-128", set=[*sets, first]).flows)
    nothing = spillway.run(
        "leaf-spine-128",
        set=[*sets, "transport.tagging=knows-nothing"],
        plugins=[plugins.KnowsNothing],
    )
    assert not nothing.flows.equals(knows.flows)


@pytest.mark.parametrize(
    ("resets_after", "later"),
    [
        (None, [(960, False)] * 3 + [(1_920, False), (2_880, False)]),
        (3, [(960, False)] * 2 + [(0, True)] * 3),
        (2, [(960, False)] + [(0, True)] * 4),
    ],
)
def test_a_tagger_sees_a_flow_that_timeouts_have_taken_back(
    monkeypatch, tmp_path, resets_after, later
):
    """A packet takes 2 * (1 + 10) us, and the first ack, at 42.1 us, lets two go, at bytes 960 and
    1,920. The receiver's link is down from 40 us to 5 ms. The timer expires 1, 3 and 7 ms later;
    what is sent then is byte 960 each time, the last time with success. Its ack lets two more go.

    So three packets go before any timeout, one after each of three, and two after the third: byte
    1,920 again, and 2,880, the first that had never been sent when the flow was taken back.
    """
    monkeypatch.setattr(plugins.TakenBack, "resets_after", resets_after)
    monkeypatch.setattr(plugins.TakenBack, "told", [])
    monkeypatch.setattr(plugins.TakenBack, "timeouts", [])
    flow = {"src": [0], "dst": [1], "size_bytes": [4 * 960], "start_ns": [0]}
    parquet.write(pa.table(flow), tmp_path / "list.parquet")
    scenario = {
        "duration": "20ms",
        "topology": {"kind": "star", "hosts": 2, "host_rate": "8Gbps", "link_delay": "10us"},
        "switch": {"queues_per_port": 2},
        "transport": {
            "kind": "newreno",
            **{"mss": "960B", "header": "40B", "ack_size": "50B", "initial_window": "1pkt"},
            "recovery": {"initial_rto": "1ms", "min_rto": "1ms"},
            "tagging": "taken-back",
        },
        "traffic": [{"name": "list", "kind": "flows", "file": "list.parquet"}],
        "event": [
            {"kind": "link-down", "a": "host1", "b": "leaf0", "at": "40us", "until": "5ms"},
        ],
    }
    result = spillway.run(spillway.Scenario(scenario, tmp_path), plugins=[plugins.TakenBack])
    (row,) = result.flows.to_pylist()
    assert (row["timeouts"], row["delivered_bytes"]) == (3, 4 * 960)
    assert plugins.TakenBack.told == [(0, False), (960, False), (1_920, False), *later]
    assert plugins.TakenBack.timeouts == [0, 0, 0, 1, 2, 3, 3, 3]


def test_a_sweep_runs_taggers_of_ones_own_beside_built_in_ones():
    built_in = {"kind": "pias", "thresholds": ["5KB", "20KB"]}
    own = {"kind": "my-pias", "thresholds": [5000, 20_000]}
    sweep = spillway.sweep(
        TINY,
        set=["switch.queues_per_port=4", "switch.scheduling=strict", "nic.queues=4"],
        vary={"transport.tagging": [built_in, own]},
        seeds=[1, 2],
        jobs=2,
        plugins=[plugins.MyPias],
    )
    (_, pias), (_, own_runs) = sweep.results
    for first, second in zip(pias, own_runs, strict=True):
        assert first.flows.equals(second.flows)


def test_a_tagger_that_goes_by_bounds_warns_where_there_are_none():
    queues = ["switch.queues_per_port=3", "switch.scheduling=strict", "nic.queues=3"]
    scenario = spillway.Scenario.load(TINY).plug(plugins.Knows).set(*queues)
    with pytest.warns(spillway.ScenarioWarning, match="goes by the flows' bounds") as told:
        scenario.set("transport.tagging=knows").read()
    sections = [str(each.message).partition(":")[0] for each in told]
    assert sections == ["traffic.background", "traffic.queries"]
    # Any warning is an error in tests: one that does not ask for bounds has none.
    other = spillway.Scenario.load(TINY).plug(plugins.KnowsNothing).set(*queues)
    assert other.set("transport.tagging=knows-nothing").read().warnings == []


def test_a_tagger_that_lets_packets_overtake_warns_where_gaps_are_losses(monkeypatch):
    monkeypatch.setattr(plugins.KnowsNothing, "overtakes", True)
    queues = ["switch.queues_per_port=3", "switch.scheduling=strict", "nic.queues=3"]
    scenario = spillway.Scenario.load(TINY).plug(plugins.KnowsNothing).set(*queues)
    scenario = scenario.set("transport.tagging=knows-nothing")
    with pytest.warns(spillway.ScenarioWarning, match="later packets of a flow overtake earlier"):
        scenario.read()
    # Any warning is an error in tests.
    assert scenario.set("transport.recovery=per-priority").read().warnings == []


def test_the_command_line_takes_taggers(command):
    options = ["--set", "switch.queues_per_port=4", "--set", "nic.queues=4"]
    options += ["--plugin", f"{plugins.EXAMPLES}/my_pias.py:MyPias"]
    outcome = command("run", TINY, *options, "--set", "transport.tagging=my-pias")
    assert outcome.status == 0, outcome.err


def test_taggers_are_listed(command):
    option = ["--plugin", f"{plugins.EXAMPLES}/my_pias.py:MyPias"]
    rows = json.loads(command("list", "tagging", *option, "--json").out)["tagging"]
    (row,) = (row for row in rows if row["id"] == "my-pias")
    assert [key["name"] for key in row["keys"]] == ["thresholds"]
    assert row["summary"].startswith("PIAS")
