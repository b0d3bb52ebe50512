"""The scenario by which a run of the public RDMA simulator is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdma_reference
from rdma_reference import DELAY, leaf_spine, write_config

from spillway.formats.rdma.switches import tiers_of
from spillway_studies.references.rdma_files import hop_order, network_of, runs
from spillway_studies.references.rdma_runs import changes, own_port, plan

HPCC = {"CC_MODE": "3", "HAS_WIN": "1", "VAR_WIN": "1", "U_TARGET": "0.95", "MI_THRESH": "0"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two senders that begin together; see `rdma_reference`."""
    return rdma_reference.folder(tmp_path / "reference")


def test_settings_are_changed_one_at_a_time(command, folder):
    found = command("validate", "rdma", folder, "--differences", "--json")
    assert found.status == 0, found.err
    differences = found.json["C/incast"]["differences"]
    assert {
        "exact times of packets on lines",
        "complete with the last byte",
        "hosts' acks and data in one queue",
        "the packet that crosses is shared",
    } <= set(differences)
    # There is one path, acks are already spared, and all ports have one rate.
    for name in ("our own hash", "pauses spare hosts' acks", "alpha 1/8 at all ports"):
        assert name not in differences
    places = [each["what"] for each in found.json["C/incast"]["numbers"]]
    last = places.index("slowdown up to 100 KB p95")
    # The ack takes 2 (11 + 1,000) ns; a packet 209.6 ns instead of 209, 201 times.
    assert differences["complete with the last byte"][last] == pytest.approx(44_009 / 25_000)
    exact = (201 * 209.6 + 2 * DELAY + 2 * (12 + DELAY)) / 25_000
    assert differences["exact times of packets on lines"][last] == pytest.approx(exact)
    shown = command("validate", "rdma", folder, "--differences").out
    assert "one change at a time" in shown and "pause frames of 64 bytes" in shown


def test_the_scenario_is_the_reference_s_network(folder):
    leaf_spine(folder)
    reference = next(run for run in runs(folder)[0] if run.name == "C/fabric")
    # 2.000000577 is a little less in binary; the second flow of the pair has the port 10,001.
    assert reference.flows["start_ns"].tolist() == [2_000_000_576, 2_000_999_999]
    assert reference.completed is not None
    assert reference.completed.fct_ns.tolist() == [8_500, 8_300]
    scenario, lacks = plan(reference, folder)
    found = scenario.resolved
    assert found["topology"]["whole_ns"] is True
    assert [host["rate"] for host in found["topology"]["host"]] == ["100Gbps"] * 4
    assert {link["rate"] for link in found["topology"]["link"]} == {"200Gbps"}
    assert (found["routing"]["hash"], found["routing"]["next_hops"]) == ("murmur3", "descending")
    assert found["completion"] == "last-ack"
    leaf, spine = found["switch"], found["switch"]["spine"]
    assert leaf["buffer"] == "2MiB"
    assert leaf["aqm"]["min"] == "400KB" and spine["aqm"]["min"] == "800KB"
    assert leaf["aqm"]["max"] == "1600KB" and spine["aqm"]["max"] == "3200KB"
    # A leaf's ports to spines have twice the thresholds of its others.
    assert leaf["aqm"]["marks_at"] == "departure"
    assert (leaf["aqm"]["thresholds_of"], leaf["pfc"]["alpha_of"]) == ("rate", "rate")
    # An eighth for ports of 100 Gbps, a quarter for those of 200 Gbps.
    assert (leaf["pfc"]["alpha"], spine["pfc"]["alpha"]) == (0.125, 0.25)
    assert leaf["pfc"]["crosses_into"] == "headroom"
    assert (leaf["pfc"]["frame"], leaf["pfc"]["reserve"]) == ("43B", "4096B")
    assert leaf["pfc"]["resume_offset"] == "3072B"
    nic = found["nic"]
    assert (nic["scheduling"], nic["queues"], nic["ack_queue"]) == ("per-flow-rr", 2, 0)
    assert nic["pauses_acks"] is False
    senders = {
        "kind": "dcqcn",
        "mss": "1000B",
        "header": "48B",
        "ack_size": "60B",
        "alpha_interval": "1us",
        "decrease_interval": "4us",
        "increase_timer": "300us",
        "fast_recovery": 1,
        "hyper_after": 2,
        "rate_step": "8Mbps",
        "hyper_step": "80Mbps",
        "min_rate": "100Mbps",
        "clamp_target": "after-increase",
        "timers": "free-running",
        "first_cut": "after-interval",
        "cnp": "ack-flag",
        "window": "none",
    }
    assert {key: found["transport"][key] for key in senders} == senders
    assert lacks == []
    assert {"our own hash", "next hops in ascending order"} <= set(changes(scenario))


def test_windows_are_the_largest_product_of_all_pairs(folder):
    leaf_spine(folder)
    write_config(folder / "C", "incast", HAS_WIN="1", VAR_WIN="1")
    by_name = {run.name: run for run in runs(folder)[0]}
    # 2 (1,000 + 1,000) + 2 * 200 ns at 40 Gbps.
    transport = plan(by_name["C/incast"], folder)[0].resolved["transport"]
    assert (transport["window"], transport["vary_window"]) == ("22KB", True)


@pytest.mark.parametrize(
    ("settings", "senders"),
    [
        (HPCC, {"kind": "hpcc", "header": "48B", "telemetry_bytes": "42B", "max_stage": 0}),
        (
            {"CC_MODE": "7"},
            {"kind": "timely", "header": "56B", "ack_size": "60B", "rtt_from": "nic"},
        ),
        (
            {"CC_MODE": "8", "EWMA_GAIN": "0.0625", "DCTCP_RATE_AI": "615Mb/s"},
            {"kind": "dctcp-rdma", "g": 0.0625, "rate_step": "615Mbps", "header": "48B"},
        ),
    ],
)
def test_every_scheme_has_a_transport(folder, settings, senders):
    write_config(folder / "C", "incast", **settings)
    (reference,) = runs(folder)[0]
    scenario, _ = plan(reference, folder)
    found = scenario.resolved
    assert {key: found["transport"][key] for key in senders} == senders
    is_timely = senders["kind"] == "timely"
    assert ("round trips from when a packet goes to the NIC" in changes(scenario)) == is_timely
    # 4 us, and 200 ns for 1,000 bytes on each of two links.
    assert found["topology"]["base_rtt"] == "4400ns"


def test_pause_frames_may_have_no_effect(folder):
    write_config(folder / "C", "incast", PFC_ON="0")
    (reference,) = runs(folder)[0]
    switch = plan(reference, folder)[0].resolved["switch"]
    assert (switch["pfc"]["kind"], switch["pfc"]["obeyed"]) == ("dynamic", False)


def test_lost_packets_are_sent_again_by_go_back_n(folder):
    links = "".join(f"{host} 3 40Gbps 1us {0.001 * (host == 0):g}\n" for host in range(3))
    (folder / "inputs" / "lossy.txt").write_text(f"4 1 3\n3\n{links}")
    write_config(folder / "C", "incast", TOPOLOGY_FILE="lossy.txt")
    (reference,) = runs(folder)[0]
    found = plan(reference, folder)[0].resolved
    (event,) = found["event"]
    assert (event["kind"], event["rate"], {event["a"], event["b"]}) == (
        "link-loss",
        0.001,
        {"n0", "n3"},
    )
    recovery = {"kind": "go-back-n", "nack_interval": "500us", "ack_timeout": "none"}
    assert {key: found["transport"]["recovery"][key] for key in recovery} == recovery


def test_ports_have_our_numbers(folder):
    leaf_spine(folder)
    network = network_of(folder / "inputs" / "fabric.txt")
    assert tiers_of(network) == {4: "leaf", 5: "leaf", 6: "spine", 7: "spine"}
    assert [own_port(network, 4, node) for node in (0, 1, 6, 7)] == [0, 1, 2, 3]
    assert [own_port(network, 7, node) for node in (4, 5)] == [0, 1]
    assert network.has_choices
    assert not network_of(folder / "inputs" / "star.txt").has_choices


@pytest.mark.parametrize(
    ("hops", "order"),
    [("6 7", "ascending"), ("7 6", "descending"), ("7 6\n5,0,2,6 7", "neither")],
)
def test_next_hops_have_an_order(tmp_path, hops, order):
    file = tmp_path / "routes.csv"
    file.write_text(f"switch,dst,n_next,next_hops_in_order\n4,0,1,0\n4,2,2,{hops}\n")
    assert hop_order(file) == order
