"""`spillway import rdma`: scenarios of the public RDMA simulator's files, and wrong ones."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import spillway
from rdma_inputs import (
    DCTCP,
    HPCC,
    SETTINGS,
    TIMELY,
    dumbbell,
    fat_tree,
    flow_list,
    leaf_spine,
    settings,
    star,
    topology,
    write_inputs,
)
from spillway.base.errors import ScenarioError
from spillway.formats import rdma
from spillway.scenario.scenario import Scenario
from support import names

LONE = [(0, 2, 1_000_000, "2.000000000")]
FLOWS = flow_list(LONE)


def imported(folder: Path, *args: Any, plain: bool = False, **changes: str | None):
    """The translation of files that are written into a folder."""
    source = rdma.read_source(write_inputs(folder, *args, **changes))
    return rdma.translate(source, plain=plain)


def written(folder: Path, *args: Any, **changes: str | None) -> Path:
    """The scenario of such files, as a file."""
    source = rdma.read_source(write_inputs(folder, *args, **changes))
    rdma.write(rdma.translate(source), source, folder / "scenario.toml", force=True)
    return folder / "scenario.toml"


def test_a_star_becomes_a_scenario_in_three_files(command, tmp_path):
    write_inputs(tmp_path / "star", star(3), LONE)
    done = command("import", "rdma", "star", "--out", "s.toml", "--json")
    assert done.status == 0 and done.err.count("warning") == 0, done.err
    assert names(tmp_path) == ["s-flows.csv", "s-topology.toml", "s.toml", "star"]
    assert (tmp_path / "s-flows.csv").read_text() == (
        "src,dst,size_bytes,start_ns\n0,2,1000000,2000000000\n"
    )
    scenario = tomllib.loads((tmp_path / "s.toml").read_text())
    # A round trip: 2 * 2 us, and 1,000 bytes twice, 80 ns each. The flow alone: 83,840 ns of bits.
    assert scenario["topology"] == {
        "kind": "graph",
        "whole_ns": True,
        "base_rtt": "4160ns",
        "file": "s-topology.toml",
    }
    assert scenario["duration"] == "88us" and scenario["stop"] == "100ms"
    assert scenario["switch"]["buffer"] == "8MiB"
    assert scenario["switch"]["aqm"] == {
        "kind": "red",
        "min": "400KB",
        "max": "1600KB",
        "max_probability": 0.2,
        "marks_at": "departure",
        "not_ect": "pass",
    }
    assert "routing" not in scenario
    graph = tomllib.loads((tmp_path / "s-topology.toml").read_text())
    assert graph["host"][1] == {"name": "n1", "switch": "n3", "rate": "100Gbps", "delay": "1us"}
    assert done.json["hosts"] == 3 and done.json["ignored"] == []


@pytest.mark.parametrize(
    "scheme", [{}, HPCC, TIMELY, DCTCP], ids=["dcqcn", "hpcc", "timely", "dctcp"]
)
def test_no_key_is_passed_over(tmp_path, scheme):
    found = imported(tmp_path, star(3), LONE, **scheme)
    assert sorted([*found.translated, *found.without_effect]) == sorted(SETTINGS)
    assert found.notes == [] and found.ignored == []


@pytest.mark.parametrize(
    ("scheme", "keys"),
    [
        (
            {},
            {
                "kind": "dcqcn",
                "alpha_interval": "1us",
                "decrease_interval": "4us",
                "clamp_target": "after-increase",
                "increase_timer": "300us",
                "fast_recovery": 1,
                "hyper_after": 2,
                "rate_step": "20Mbps",
                "hyper_step": "200Mbps",
                "min_rate": "1Gbps",
                "window": "none",
                "header": "48B",
                "ack_size": "60B",
            },
        ),
        # 4,160 ns at 100 Gbps are 52,000 bytes.
        ({"HAS_WIN": "1", "VAR_WIN": "0"}, {"window": "52KB", "vary_window": False}),
        ({"CLAMP_TARGET_RATE": "1"}, {"clamp_target": "always"}),
        (
            HPCC,
            {
                "kind": "hpcc",
                "eta": 0.95,
                "max_stage": 0,
                "rate_step": "40Mbps",
                "fast_react": True,
                "telemetry_units": 4,
                "telemetry_bytes": "42B",
                "ack_size": "46B",
            },
        ),
        (TIMELY, {"kind": "timely", "rate_step": "100Mbps", "header": "56B", "window": "none"}),
        (
            DCTCP,
            {
                "kind": "dctcp-rdma",
                "g": 0.0625,
                "rate_step": "615Mbps",
                "window": "52KB",
                "vary_window": True,
            },
        ),
    ],
)
def test_schemes_become_transports(tmp_path, scheme, keys):
    transport = imported(tmp_path, star(3), LONE, **scheme).scenario["transport"]
    losses = {"kind": "go-back-n", "ack_timeout": "none", "old_packets": "silent"}
    assert {key: transport[key] for key in keys} == keys
    assert transport["recovery"] == {**losses, "nack_interval": "500us"}


def test_a_leaf_spine_has_tiers_paths_and_thresholds_by_rate(tmp_path):
    found = imported(tmp_path, leaf_spine(), [(0, 2, 5_000, "2"), (3, 1, 5_000, "2.001")])
    switch = found.scenario["switch"]
    assert found.notes == []
    assert [row["tier"] for row in found.topology["switch"]] == ["leaf"] * 2 + ["spine"] * 2
    assert (switch["aqm"]["min"], switch["aqm"]["thresholds_of"]) == ("400KB", "rate")
    assert (switch["pfc"]["alpha"], switch["pfc"]["alpha_of"]) == (0.125, "rate")
    assert (switch["spine"]["aqm"]["min"], switch["spine"]["pfc"]["alpha"]) == ("800KB", 0.25)
    assert found.scenario["routing"] == {
        "kind": "ecmp",
        "hash": "murmur3",
        "next_hops": "descending",
    }
    # 8 us, and 1,000 bytes on four lines: 2 * 80 + 2 * 40 ns.
    assert found.scenario["topology"]["base_rtt"] == "8240ns"
    assert found.flows[1]["start_ns"] == 2_000_999_999


def test_thresholds_that_do_not_go_by_rate_are_told(tmp_path):
    low = "2 100000000000 400 200000000000 400"
    (note,) = imported(tmp_path, leaf_spine(), LONE, KMIN_MAP=low).notes
    assert "ports of 200 Gbps of leaf switches mark by the thresholds of the slowest" in note


def test_a_fat_tree_runs(tmp_path):
    flows = [(host, (host + 5) % 16, 20_000, "2.0") for host in range(16)]
    file = written(tmp_path, fat_tree(), flows)
    tiers = [
        row["tier"]
        for row in tomllib.loads(file.with_stem("scenario-topology").read_text())["switch"]
    ]
    assert tiers == ["leaf"] * 8 + ["aggregation"] * 8 + ["core"] * 4
    scenario = tomllib.loads(file.read_text())
    # Six links of 1 us both ways, 80 ns on two of them and 20 on four.
    assert scenario["topology"]["base_rtt"] == "12240ns"
    # 400 Gbps are two doublings: alpha = 1/8 * 4.
    assert scenario["switch"]["core"]["pfc"]["alpha"] == 0.5
    result = spillway.run(file)
    assert (result.status, result.flows.num_rows) == ("complete", 16)


def test_losses_are_events(tmp_path):
    file = written(tmp_path, dumbbell("0.01"), [(0, 2, 500_000, "2"), (1, 3, 500_000, "2")])
    (event,) = tomllib.loads(file.read_text())["event"]
    assert event == {"kind": "link-loss", "a": "n4", "b": "n5", "at": "0us", "rate": 0.01}
    result = spillway.run(file)
    assert set(result.summary["drops"]) == {"link_loss"}
    assert result.summary["retransmitted_packets"] > 0
    everywhere = imported(tmp_path, dumbbell("0"), LONE, ERROR_RATE_PER_LINK="0.001")
    assert [event["rate"] for event in everywhere.scenario["event"]] == [0.001] * 5


def test_a_link_fails_so_long_after_second_2(tmp_path):
    found = imported(tmp_path, leaf_spine(), [(0, 2, 5_000, "2.001")], LINK_DOWN="5000 4 6")
    # The run begins at 2 s: 2.001 is read as 2.000999999.
    assert found.scenario["traffic"][0]["origin"] == "2s"
    (event,) = found.scenario["event"]
    assert event == {"kind": "link-down", "a": "n4", "b": "n6", "at": "5ms"}


def test_intervals_are_whole_microseconds(tmp_path):
    found = imported(tmp_path, star(3), LONE, RP_TIMER="1234567.5", ALPHA_RESUME_INTERVAL="4000")
    transport = found.scenario["transport"]
    assert (transport["increase_timer"], transport["alpha_interval"]) == ("1234567us", "4ms")
    assert found.notes == ["RP_TIMER: 1234567.5 us are read as 1234567, as there"]


def test_spaces_comments_and_what_follows_change_nothing(tmp_path):
    plain = imported(tmp_path / "a", star(3), LONE)
    folder = write_inputs(tmp_path / "b", star(3), LONE)
    lines = settings().splitlines()
    text = "# settings\r\n\n" + "".join(
        f"\t{line.replace(' ', '   ')} {{as it is}}\n\n" for line in lines
    )
    (folder / "config.txt").write_text(text + "\n")
    network = star(3).replace("\n0 3", " # switches\n\n  0   3")
    explained = (
        "\nFirst line: total node #, switch node #, link #\nsrc0 dst0 rate delay error_rate\n"
    )
    (folder / "topology.txt").write_text(network + explained)
    (folder / "flow.txt").write_text(flow_list(LONE) + "\n\nFirst line: # of flows\nsrc0 dst0 3\n")
    other = rdma.translate(rdma.read_source(folder))
    assert (other.topology, other.flows, other.notes) == (plain.topology, plain.flows, [])
    assert other.scenario | {"name": ""} == plain.scenario | {"name": ""}


def test_more_than_announced_is_left_out_and_told(tmp_path):
    flows = flow_list([*LONE, (1, 2, 5, "2")]).replace("2\n", "1\n", 1)
    network = star(3) + "0 9 25Gbps 1us 0\n"
    found = imported(tmp_path, network, flows)
    assert len(found.flows) == 1
    assert ["it has more" in found.notes[0], "it has 1 more" in found.notes[1]] == [True, True]


def test_switches_may_have_the_first_numbers(tmp_path):
    links = [f"0 {host} 100Gbps 0.001ms 0" for host in (1, 2, 3)]
    found = imported(tmp_path, topology(4, [0], links), [(1, 3, 1_000, "2")])
    assert [row["name"] for row in found.topology["host"]] == ["n1", "n2", "n3"]
    assert (found.flows[0]["src"], found.flows[0]["dst"]) == (0, 2)


def test_groups_and_ports_of_flows_are_kept(tmp_path):
    flows = "3\n0 2 3 100 1000 2\n1 2 3 200 1000 2\n0 1 5 100 1000 2\n"
    found = imported(tmp_path, star(3), flows)
    assert [row["priority"] for row in found.flows] == [3, 3, 5]
    assert [row["class"] for row in found.flows] == ["port100", "port200", "port100"]
    switch = found.scenario["switch"]
    assert (switch["queues_per_port"], switch["data_queue"], switch["ack_queue"]) == (8, 3, 3)
    assert switch["pfc"]["priorities"] == [3, 5] and len(found.notes) == 3
    assert spillway.run(written(tmp_path, star(3), flows)).status == "complete"


def test_pauses_and_marks_may_be_off(tmp_path):
    found = imported(tmp_path, star(3), LONE, PFC_ON="0", ENABLE_QCN="0")
    assert found.scenario["switch"]["pfc"]["obeyed"] is False
    assert found.scenario["switch"]["aqm"] == "none"
    assert (found.scenario["record"], found.notes) == ({}, [])


def test_plain_has_none_of_its_ways(command, tmp_path):
    write_inputs(tmp_path / "in", leaf_spine(), LONE)
    assert command("import", "rdma", "in", "--out", "p.toml", "--plain").status == 0
    scenario = tomllib.loads((tmp_path / "p.toml").read_text())
    assert not {"completion", "routing"} & set(scenario) and "whole_ns" not in scenario["topology"]
    assert scenario["transport"]["recovery"] == "go-back-n"
    assert not {"headroom", "frame"} & set(scenario["switch"]["pfc"])


def test_unknown_keys_are_refused_unless_they_are_to_be_ignored(command, tmp_path):
    folder = write_inputs(tmp_path / "in", star(3), LONE)
    (folder / "config.txt").write_text(settings() + "RP_TIMERS 4\nX\x01Z\nRP_TIMER 400\n")
    done = command("import", "rdma", "in", "--out", "s.toml")
    told = "config.txt: RP_TIMERS (RP_TIMER?), X\\x01Z are no keys of the simulator"
    assert (done.status, names(tmp_path)) == (2, ["in"])
    assert told in done.err and "--ignore KEY" in done.err
    args = ("--ignore", "RP_TIMERS", "--ignore", "X\x01Z")
    done = command("import", "rdma", "in", "--out", "s.toml", "--json", *args)
    assert "RP_TIMER is given twice" in done.err
    assert done.json["ignored"] == ["RP_TIMERS", "X\x01Z"]
    text = (tmp_path / "s.toml").read_text()
    assert 'increase_timer = "400us"' in text and "# Ignored: RP_TIMERS, X\\x01Z." in text
    done = command("import", "rdma", "in", "--out", "t.toml", *args, "--ignore", "NONE")
    assert done.status == 2 and "config.txt: --ignore NONE: it has no such key" in done.err


def fork(folder: Path, **changes: str) -> Path:
    """Files of ConWeave's simulator, without PFC."""
    of_fork = {
        "SIMULATOR_STOP_TIME": None,
        "FLOWGEN_START_TIME": "2.0",
        "FLOWGEN_STOP_TIME": "2.1",
        "ENABLE_PFC": "0",
        "ENABLE_IRN": "1",
        "LB_MODE": "0",
        "CONWEAVE_TX_EXPIRY_TIME": "300",
        "VOQ_MON_FILE": "voq.txt",
        "LOAD": "40",
        "RANDOM_SEED": "1",
    }
    return write_inputs(folder, star(3), LONE, **(of_fork | changes))


def test_a_fork_without_pauses_repairs_by_irn(tmp_path):
    source = rdma.read_source(fork(tmp_path))
    found = rdma.translate(source)
    scenario = found.scenario
    assert scenario["switch"]["pfc"]["obeyed"] is False and scenario["record"] == {}
    transport = scenario["transport"]
    assert transport["recovery"] == "selective"
    # As much as the network carries in a round trip: 52,000 bytes.
    assert transport["window"] == "52KB"
    # Ten seconds after the last flow may begin; the run begins at second 2.
    assert scenario["stop"] in ("10100ms", "10099999999ns")
    assert {"ENABLE_PFC", "ENABLE_IRN", "LB_MODE", "FLOWGEN_STOP_TIME"} <= set(found.translated)
    assert {"CONWEAVE_TX_EXPIRY_TIME", "VOQ_MON_FILE", "LOAD"} <= set(found.without_effect)
    assert len(found.notes) == 1 and "not of ConWeave's" in found.notes[0]
    rdma.write(found, source, tmp_path / "scenario.toml")
    assert spillway.run(tmp_path / "scenario.toml").summary["flows"]["completed"] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"LB_MODE": "9"}, "LB_MODE: 9 is not known here (ConWeave), only 0"),
        ({"LB_MODE": "4"}, "LB_MODE: 4 is not known here, only 0"),
        ({"PFC_ON": "1"}, "ENABLE_PFC: 0 is not what PFC_ON says"),
        ({"NIC_TOTAL_PAUSE_TIME": "5"}, "NIC_TOTAL_PAUSE_TIME: 5 is not known here, only 0"),
    ],
)
def test_what_forks_do_and_is_not_known_is_refused(tmp_path, changes, said):
    with pytest.raises(ScenarioError) as error:
        rdma.translate(rdma.read_source(fork(tmp_path, **changes)))
    assert str(tmp_path / "config.txt") in str(error.value) and said in str(error.value)


def test_a_key_that_is_refused_may_be_ignored(tmp_path):
    source = rdma.read_source(fork(tmp_path, LB_MODE="9"), ignore=["LB_MODE"])
    found = rdma.translate(source)
    assert found.ignored == ["LB_MODE"] and "LB_MODE" not in found.translated


def test_a_run_that_never_stops_stops_late(tmp_path):
    found = imported(tmp_path, star(3), LONE, SIMULATOR_STOP_TIME="40000000000000.00")
    assert found.scenario["stop"] == "4000000s"
    assert found.notes == ["SIMULATOR_STOP_TIME: no run lasts that long; stop is 4000000s"]
    path = written(tmp_path, star(3), LONE, SIMULATOR_STOP_TIME="40000000000000.00")
    assert spillway.run(path).summary["flows"]["completed"] == 1


def test_the_first_line_of_a_topology_may_count_switches_with_hosts(tmp_path):
    for made in (star(3), dumbbell(), leaf_spine(), fat_tree(4)):
        usual = imported(tmp_path, made, LONE).topology
        (nodes, switches, links), *rest = (line.split() for line in made.splitlines())
        for tors in ("1", switches):
            head = " ".join((nodes, switches, tors, links))
            text = "\n".join((head, *map(" ".join, rest))) + "\n"
            assert imported(tmp_path, text, LONE).topology == usual
        # All on one line is what the simulator can read, too.
        flat = " ".join(made.split()) + "\n"
        assert imported(tmp_path, flat, LONE).topology == usual


MANY = "9" * 5_000


@pytest.mark.parametrize(
    ("network", "flows", "changes", "said"),
    [
        (star(3), None, {"FAST_RECOVERY_TIMES": str(2**63)}, "is more than 4294967295"),
        (star(3), f"1\n0 1 3 100 {10**24} 2\n", {}, "in/flow.txt: "),
        (star(3), None, {"FAST_RECOVERY_TIMES": MANY}, "FAST_RECOVERY_TIMES: 999"),
        (star(3), None, {"EWMA_GAIN": "5"}, "config.txt: EWMA_GAIN: 5: "),
        (star(3), None, {"RP_TIMER": "1e30"}, "config.txt: RP_TIMER: 1e30: "),
        (star(3), None, {"RATE_AI": "9999999Gbps"}, "config.txt: RATE_AI: 9999999Gbps: "),
        (star(3), None, {"MIN_RATE": f"{MANY}Gbps"}, "MIN_RATE: 999"),
        (star(3), None, {"KMAX_MAP": f"1 100000000000 {MANY}"}, "is no list of numbers"),
        (star(3), None, {"KMAX_MAP": "1 100000000000 1e200"}, "config.txt: KMAX_MAP: 1 1000"),
        (star(3), None, {"KMAX_MAP": MANY}, "999... is no number"),
        (star(3), None, {"CC_MODE": "\u0661"}, "CC_MODE: \u0661 is no number from 0 on"),
        (star(3), None, {"RP_TIMER": "1_000"}, "RP_TIMER: 1_000 is no number from 0 on"),
        (star(3), None, {"RATE_AI": "\u0661Mb/s"}, "RATE_AI: \u0661Mb/s is no rate"),
        (star(3), None, {"LINK_DOWN": "\u0661 0 3"}, "LINK_DOWN: \u0661 0 3 is not a time"),
        (star(3), None, {"TOPOLOGY_FILE": "t" * 5_000}, "TOPOLOGY_FILE: there is no file ttt"),
        (star(3), None, {"FLOW_FILE": "f\x01"}, "FLOW_FILE: there is no file f\\x01"),
        (star(3), f"{MANY}\n", {}, "its first line is not the number of flows"),
        (star(3), f"1\n0 1 3 100 {MANY} 2\n", {}, "line 2: 0 1 3 100 999"),
        (star(3), "1\n0 1 3 100 1_000 2\n", {}, "line 2: 0 1 3 100 1_000 2 is no flow"),
        (star(3), "1\n0 1 3 100 \u0661 2\n", {}, "is no flow"),
        (star(3), "1\n0 1 3 100 5 2_0\n", {}, "is no flow"),
        (star(3), "1\n0 1 3 100 5 inf\n", {}, "is no flow"),
        (star(3), "\u0661\n0 1 3 100 5 2\n", {}, "its first line is not the number of flows"),
        (f"{MANY} 1 2\n3\n", None, {}, "line 1: 999"),
        ("4 1 \u0663\n3\n", None, {}, "line 1: \u0663 is no number of links"),
        (star(3, rate=f"{MANY}Gbps"), None, {}, "is no rate"),
        (star(3, delay="1_0us"), None, {}, "1_0us is no time"),
        (star(3, loss="\u0660"), None, {}, "\u0660 is no probability"),
        (star(3, delay="1e50s"), None, {}, "topology.txt: "),
        (
            "160 8 20 24 360 H100\n1\n",
            None,
            {},
            "line 1: it has 6 fields, and 3 or 4 are known: 160 8 20 24 360 H100",
        ),
    ],
)
def test_numbers_that_are_none_are_told_by_the_user_s_key_and_file(
    command, tmp_path, network, flows, changes, said
):
    write_inputs(tmp_path / "in", network, flows or FLOWS, **changes)
    done = command("import", "rdma", "in", "--out", "s.toml")
    assert (done.status, names(tmp_path)) == (2, ["in"])
    assert "Traceback" not in done.err and ".s-" not in done.err
    assert said in " ".join(done.err.split()), done.err


@pytest.mark.parametrize(
    ("network", "flows", "changes", "said"),
    [
        (star(3), FLOWS, {"CC_MODE": "10"}, "CC_MODE 10 (HPCC-PINT) is not known here"),
        (star(3), FLOWS, {"CC_MODE": "2"}, "CC_MODE 2 is not known here"),
        (star(3), FLOWS, {"RATE_BOUND": "0"}, "RATE_BOUND: 0 is not known here, only 1"),
        (star(3), FLOWS, {"L2_BACK_TO_ZERO": "1"}, "L2_BACK_TO_ZERO: 1 is not known here"),
        (star(3), FLOWS, HPCC | {"VAR_WIN": "0"}, "VAR_WIN: 0 is not known under HPCC"),
        (star(3), FLOWS, {"RP_TIMER": None}, "it has no RP_TIMER"),
        (star(3), FLOWS, {"RP_TIMER": "x"}, "RP_TIMER: x is no number from 0 on"),
        (star(3), FLOWS, {"RATE_AI": "5"}, "RATE_AI: 5 is no rate"),
        (star(3), FLOWS, {"KMAX_MAP": "1 5 1"}, "has no value for ports of 100000000000 bps"),
        (star(3), FLOWS, {"KMAX_MAP": "2 5 1"}, "KMAX_MAP has 3 of 5 values"),
        (star(3), FLOWS, {"KMAX_MAP": "x"}, "KMAX_MAP: x is no number"),
        (star(3), FLOWS, {"KMAX_MAP": "1 100000000000 3"}, "KMIN_MAP"),
        (star(3), FLOWS, {"KMAX_MAP": "1 100000000000 nan"}, "is no list of numbers from 0 on"),
        (star(3), FLOWS, {"KMIN_MAP": "1 inf 4"}, "is no list of numbers from 0 on"),
        (star(3), FLOWS, {"PMAX_MAP": "1 100000000000 -1"}, "is no list of numbers from 0 on"),
        (star(3), FLOWS, {"PACKET_PAYLOAD_SIZE": "0"}, "0 is no whole number from 1 on"),
        (star(3), FLOWS, {"BUFFER_SIZE": "0"}, "BUFFER_SIZE: 0 is no size"),
        (star(3), FLOWS, {"LINK_DOWN": "5 0 1"}, "LINK_DOWN: 5 0 1 is no link"),
        (star(3), FLOWS, {"LINK_DOWN": "5 0"}, "LINK_DOWN has 2 of 3 values"),
        (star(3), FLOWS, {"SIMULATOR_STOP_TIME": "1.9"}, "is before the first flow begins"),
        (star(3), FLOWS, {"ERROR_RATE_PER_LINK": "2"}, "is no probability"),
        (
            star(3),
            FLOWS,
            {"TOPOLOGY_FILE": "mix/no.txt"},
            "there is no file mix/no.txt; looked for",
        ),
        ("", FLOWS, {}, "it ends where the number of nodes should be"),
        ("4 1 3\n3\n0 3 100Gbps 1us 0\n", FLOWS, {}, "it ends where link 2 of 3 should be"),
        (star(3).replace("4 1", f"{10**20} 1", 1), FLOWS, {}, "hosts are announced, and 3 links"),
        (star(3).replace("3 100Gbps", "3 fast", 1), FLOWS, {}, "line 3: fast is no rate"),
        (star(3, rate="1e999999Gbps"), FLOWS, {}, "line 3: 1e999999Gbps is no rate"),
        (star(3, delay="1h"), FLOWS, {}, "1h is no time"),
        (star(3, loss="2"), FLOWS, {}, "2 is no probability"),
        (star(3).replace("0 3", "0 4", 1), FLOWS, {}, "4 is no node: they are 0 to 3"),
        (
            topology(5, [3, 4], [*star(3).splitlines()[2:], "3 4 1Gbps 1us 0", "0 4 1Gbps 1us 0"]),
            FLOWS,
            {},
            "host 0 must have one link, to a switch; it has links to: 3, 4",
        ),
        (
            topology(5, [3, 4], star(3).splitlines()[2:]),
            FLOWS,
            {},
            "no path leads from host 0 to the switches 4",
        ),
        (dumbbell().replace("4 5 100Gbps 1000ns 0.01", "4 4 1Gbps 1us 0"), FLOWS, {}, "to itself"),
        (topology(4, [3], [*star(3).splitlines()[2:], "3 0 1Gbps 1us 0"]), FLOWS, {}, "two links"),
        (star(3), "2\n" + FLOWS[2:], {}, "it has 1 flows, and 2 are announced"),
        (star(3), "flows\n", {}, "its first line is not the number of flows"),
        (star(3), "0\n", {}, "it announces no flows"),
        (star(3), "1\n0 0 3 100 5 2\n", {}, "line 2: the flow leads from host 0 to itself"),
        (star(3), "1\n0 3 3 100 5 2\n", {}, "3 is no host of the topology"),
        (star(3), "1\n0 1 0 100 5 2\n", {}, "the priority group 0 is not from 1 to 7"),
        (star(3), "1\n0 1 3 100 0 2\n", {}, "at least one byte"),
        (star(3), "1\n0 1 3 100 5\n", {}, "0 1 3 100 5 is no flow"),
        (star(3), "1\n0 1 3 70000 5 2\n", {}, "70000 is no port"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(
    command, tmp_path, network, flows, changes, said
):
    write_inputs(tmp_path / "in", network, flows, **changes)
    done = command("import", "rdma", "in", "--out", "s.toml")
    assert (done.status, names(tmp_path)) == (2, ["in"])
    assert said in done.err


def test_the_settings_are_found_or_asked_for(command, tmp_path):
    assert "there is no here" in command("import", "rdma", "here", "--out", "s.toml").err
    folder = write_inputs(tmp_path / "mix", star(3), LONE, TOPOLOGY_FILE="mix/topology.txt")
    (folder / "config.txt").rename(folder / "config_a.txt")
    assert command("import", "rdma", "mix", "--out", "s.toml").status == 0
    (folder / "config_b.txt").write_text(settings())
    several = command("import", "rdma", "mix", "--out", "t.toml")
    assert "several files of settings: config_a.txt, config_b.txt" in several.err
    (folder / "flow.txt").rename(tmp_path / "other.txt")
    there = command("import", "rdma", "mix/config_a.txt", "--flows", "other.txt", "--out", "t.toml")
    assert there.status == 0
    (folder / "config_a.txt").unlink()
    (folder / "config_b.txt").unlink()
    assert "there is no config.txt" in command("import", "rdma", "mix", "--out", "u.toml").err


def test_files_are_replaced_only_by_force_and_only_their_like(command, tmp_path):
    write_inputs(tmp_path / "in", star(3), LONE)
    assert "it ends in .toml" in command("import", "rdma", "in", "--out", "s.txt").err
    (tmp_path / "s-flows.csv").write_text("diary\n")
    assert "is there already" in command("import", "rdma", "in", "--out", "s.toml").err
    forced = command("import", "rdma", "in", "--out", "s.toml", "--force")
    assert "s-flows.csv is not a list of flows" in forced.err
    assert names(tmp_path) == ["in", "s-flows.csv"]
    (tmp_path / "s-flows.csv").unlink()
    assert command("import", "rdma", "in", "--out", "s.toml").status == 0
    assert command("import", "rdma", "in", "--out", "s.toml").status == 2
    assert command("import", "rdma", "in", "--out", "s.toml", "--force").status == 0


def test_an_interrupted_import_leaves_nothing(tmp_path, monkeypatch):
    source = rdma.read_source(write_inputs(tmp_path / "in", star(3), LONE))
    found = rdma.translate(source)

    def interrupted(self: Scenario) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Scenario, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rdma.write(found, source, tmp_path / "s.toml")
    assert names(tmp_path) == ["in"]


def test_a_scenario_that_is_not_valid_is_not_written(tmp_path):
    # 1 MiB is less than the headroom of 40 ports with 1 ms of delay each.
    folder = write_inputs(tmp_path / "in", star(3, delay="1ms"), LONE, BUFFER_SIZE="1")
    source = rdma.read_source(folder)
    with pytest.raises(ScenarioError):
        rdma.write(rdma.translate(source), source, tmp_path / "s.toml")
    assert names(tmp_path) == ["in"]
