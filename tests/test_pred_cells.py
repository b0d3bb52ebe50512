"""PRED's scenarios and figures: every run is what the label and docs/papers/pred.md say."""

import pytest

from cells import bundled

# docs/papers/pred.md, "Setup": what sections 4.3, 6.1, 6.3 and appendix B of the paper say.
PRED = {
    "aqm": "pred",
    "aqm.min": "10pkt",
    "aqm.max": "500KB",
    "aqm.f": "n",
    "aqm.beta": 0.4,
    "aqm.q_left": "15pkt",
    "aqm.delta": 0.025,
    "aqm.lambda_min": 0.05,
    "aqm.min_step": "5pkt",
    "aqm.places": 120,
    "aqm.count_max": 255,
    "aqm.plane": "data",
    # And what is ours.
    "aqm.lambda": 0.1,
    "aqm.lambda_unit": "100KB",
}
LEAF_SPINE = {
    "topology": "leaf-spine",
    "topology.leaves": 8,
    "topology.spines": 8,
    "topology.hosts_per_leaf": 16,
    "routing": "ecmp",
    "traffic.messages.senders": "1..127",
}
SENDERS = {
    "transport": "dctcp",
    "load_of": "receiver",
    "destinations": 0,
    "g": 0.0625,
    "initial_window": "10pkt",
    "min_rto": "10ms",
    "ack_every": 1,
    "handshake": True,
}
SETUP = {
    "pred": {
        **LEAF_SPINE,
        "topology.host_rate": "10Gbps",
        "topology.fabric_rate": "10Gbps",
        "topology.link_delay": "10us",
        "topology.base_rtt": "81.2us",
        "leaf.aqm.t_fcs": "101.5us",
        "leaf.aqm.t_qla": "406us",
        "traffic.messages.sizes": "websearch-dctcp",
        "traffic.messages.load": 0.9,
    },
    "pred-100g": {
        **LEAF_SPINE,
        "topology.host_rate": "100Gbps",
        "topology.fabric_rate": "100Gbps",
        "topology.link_delay": "1us",
        "topology.base_rtt": "8.12us",
        "leaf.aqm.t_fcs": "10.15us",
        "leaf.aqm.t_qla": "40.6us",
        "traffic.messages.sizes": "datamining-vl2",
        "traffic.messages.load": 0.8,
        "traffic.messages.sources": 1000,
    },
    "pred-incast": {
        "topology": "star",
        "topology.hosts": 17,
        "topology.host_rate": "10Gbps",
        "topology.link_delay": "10us",
        "topology.base_rtt": "41.2us",
        "leaf.aqm.t_fcs": "51.5us",
        "leaf.aqm.t_qla": "206us",
        "traffic.messages.senders": "1..16",
        "traffic.messages.sizes": "websearch-dctcp",
    },
}


def tiers(scenario):
    return ("leaf",) if SETUP[scenario]["topology"] == "star" else ("leaf", "spine")


@pytest.mark.parametrize("scenario", SETUP)
def test_the_scenario_is_that_of_the_page(scenario):
    plain = bundled(scenario)
    said = SETUP[scenario] | {f"traffic.messages.{key}": value for key, value in SENDERS.items()}
    for tier in tiers(scenario):
        said |= {f"{tier}.{key}": value for key, value in PRED.items()}
        said |= {f"{tier}.queue_limit": "1000pkt", f"{tier}.queues_per_port": 1}
    assert {key: plain[key] for key in said} == said


@pytest.mark.parametrize("scenario", SETUP)
def test_periods_follow_the_round_trip(scenario):
    plain = bundled(scenario)
    rtt = float(plain["topology.base_rtt"].removesuffix("us"))
    for tier in tiers(scenario):
        # "1.25 RTT" and "5 RTT".
        assert plain[f"{tier}.aqm.t_fcs"] == f"{1.25 * rtt:g}us"
        assert plain[f"{tier}.aqm.t_qla"] == f"{5 * rtt:g}us"
