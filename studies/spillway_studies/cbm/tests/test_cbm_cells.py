"""CBM's figures: every run is what the label and the page of cbm say."""

import pytest

from cells import ABM_PROGRAM, Told, bundled, resolved, wrong
from spillway.scenario.scenario import Scenario
from spillway_studies.cbm import figures as cbm

# "Half of a rack's hosts Cubic, a quarter DCTCP, a quarter queries over theta-PowerTCP; queues: one
# for each protocol and one for acks."
QUEUES = ("acks", "cubic", "dctcp", "incast")


def by_queue(**values):
    return [values[name] for name in QUEUES]


# "Alpha 0.5, and 64 for packets of a first round trip." CBM's and ABM's 64 is their default.
ACKS = 1
DT = {"switch.sharing": "dt", "switch.sharing.alpha": [ACKS, 0.5]}
ABM = {"switch.sharing": "abm", "switch.sharing.alpha": [ACKS, 0.5]}
CBM = {"switch.sharing": "cbm"}
PER_PORT = {"switch.sharing": "cbm", "switch.sharing.buffer_of": "port"}
THREE = {"DT": DT, "ABM": ABM, "CBM": CBM}
ALL = THREE | {"CBM, B of a port": PER_PORT}

DROPS = {"record.drops": True}
AT_30 = DROPS | {"traffic.cubic.load": 0.3}
LOADS = {f"Cubic at {load}%": {"traffic.cubic.load": load / 100} for load in range(10, 61, 10)}

# "Figure 1 has 3 s of arrivals and five seeds (the scale `page`), `cbm/rates` 300 ms and three."
QUICK = ((1, 2, 3), {"duration": "300ms"})
FULL = ((1, 2, 3, 4, 5), {"duration": "3s"})
EXPERIMENT = {"quick": QUICK, "full": FULL}
HEADLINE = EXPERIMENT | {"page": FULL}

STRICT = {"switch.scheduling": "strict"}
TWO_SPINES = {"topology.fabric_rate": "40Gbps", "topology.spines": 2}
WAYS = {
    "in turns, by packets": {},
    # Queues have priority in the order of `QUEUES`, but for the acks.
    "strict, Cubic first": STRICT,
    "strict, theta-PowerTCP first": STRICT
    | {
        "traffic.incast.priority": QUEUES.index("cubic"),
        "traffic.cubic.priority": QUEUES.index("incast"),
    },
    "DWRR 4:2:1": {
        "switch.scheduling": "dwrr",
        "switch.scheduling.weights": by_queue(acks=1, cubic=4, dctcp=2, incast=1),
    },
    "ports of 10 and of 40 Gbps": TWO_SPINES,
    "the same, spines of 768 KB": TWO_SPINES | {"spine.buffer": "768KB"},
}
SPINES = {
    f"Cubic at {load:.0%}, spines of {buffer}": {
        "traffic.cubic.load": load,
        "spine.buffer": buffer,
    }
    for buffer in ("768KB", "3.84MB")
    for load in (0.3, 0.4)
}

CHOICES = {
    "as in the scenario": {},
    "alpha 0.25": {},
    "alpha 1": {},
    "alpha 1024 for first packets": {},
    "burst 10%": {"traffic.incast.burst": "10%"},
    "burst 60%": {"traffic.incast.burst": "60%"},
    # "32 answers from all other racks"
    "fan-in 32": {"traffic.incast.fan_in": 32, "traffic.incast.senders": "other-racks"},
    "DCTCP at 30%": {"traffic.dctcp.load": 0.3},
    "all hosts send everything": {
        **{f"traffic.{name}.places": "0..31" for name in QUEUES[1:]},
        "traffic.incast.queries_per_host_per_s": 2,
    },
    # "Queues share the line by bytes", all weights being 1.
    "weighted scheduling by bytes": {"switch.scheduling": "dwrr"},
    "strict priorities": STRICT,
    "spines with the leaves' buffer": {"spine.buffer": "3.84MB"},
    "rings of 100 packets below the queues": {"switch.port_fifo_packets": 100},
    "min RTO 1 ms": {"senders.recovery.min_rto": "1ms"},
    "K = 10 packets": {"switch.aqm.threshold": "10pkt"},
    "ABM as in its program": {},
    "acks have a limit too": {},
    "the last packet is spared": {},
}


def alpha(value):
    classes, plain = {"switch.sharing.alpha": [ACKS, value]}, {"switch.sharing.alpha": value}
    return {"DT": classes, "ABM": classes, "CBM": plain, "CBM, B of a port": plain}


def of(*schemes, **settings):
    found = {f"switch.sharing.{key}": value for key, value in settings.items()}
    return dict.fromkeys(schemes, found)


FORMS = ("CBM", "CBM, B of a port")
OF_SCHEME = {
    "alpha 0.25": alpha(0.25),
    "alpha 1": alpha(1.0),
    "alpha 1024 for first packets": of("ABM", *FORMS, alpha_first_rtt=1024.0),
    "ABM as in its program": {"ABM": {"switch.sharing.alpha": [1024, 0.5]} | ABM_PROGRAM},
    "acks have a limit too": of(*FORMS, exempt_acks=False),
    "the last packet is spared": of(*FORMS, spare_last=True),
}

FIGURE_1 = Told("cbm", ALL, LOADS, DROPS, scales=HEADLINE)
TOLD = {
    "cbm/figure1": FIGURE_1,
    "cbm/figure1-p95": FIGURE_1,
    "cbm/figure1-p999": FIGURE_1,
    # "Here TIMELY does so, whose least rate is that of the line."
    "cbm/figure1-uncontrolled": Told(
        "cbm",
        ALL,
        LOADS,
        DROPS
        | {
            "traffic.incast.transport": "timely",
            "traffic.incast.min_rate": "10Gbps",
            # Its own default; the scenario's incast, of another transport, has that of its flows.
            "traffic.incast.base_rtt": "network",
        },
        scales=EXPERIMENT,
    ),
    "cbm/rates": Told("cbm", THREE, WAYS, AT_30, scales=EXPERIMENT),
    "cbm/spines": Told(
        "cbm",
        THREE,
        SPINES,
        DROPS,
        scales={"quick": ((1, 2, 3), {"duration": "450ms"}), "full": FULL},
    ),
    "cbm/choices": Told("cbm", ALL, CHOICES, AT_30, OF_SCHEME, EXPERIMENT),
}


@pytest.mark.parametrize("figure", cbm.FIGURES, ids=lambda figure: figure.name)
def test_every_run_is_what_is_told(figure):
    assert wrong(figure, TOLD[figure.name]) == {}


# the page of cbm, "What is simulated": section 3 of the paper, and what is ours.
SETUP = {
    "topology.leaves": 8,
    "topology.spines": 8,
    "topology.hosts_per_leaf": 32,
    "topology.host_rate": "10Gbps",
    "topology.fabric_rate": "10Gbps",
    "topology.link_delay": "10us",
    "leaf.buffer": "9.6KB/port/Gbps",
    "spine.buffer": "9.6KB/port/Gbps",
    "traffic.cubic.transport": "cubic",
    "traffic.dctcp.transport": "dctcp",
    "traffic.incast.transport": "theta-powertcp",
    "traffic.cubic.sizes": "websearch",
    "traffic.dctcp.sizes": "websearch",
    "traffic.cubic.load_of": "uplink",
    "traffic.dctcp.load_of": "uplink",
    "traffic.dctcp.load": 0.1,
    # Of a rack's 32 hosts half, a quarter, and a quarter.
    "traffic.cubic.places": "0..15",
    "traffic.dctcp.places": "16..23",
    "traffic.incast.places": "24..31",
    "leaf.scheduling": "rr",
    "leaf.queues_per_port": len(QUEUES),
    "leaf.ack_queue": QUEUES.index("acks"),
    "leaf.data_queue": QUEUES.index("cubic"),
    **{f"traffic.{name}.priority": place for place, name in enumerate(QUEUES) if place},
    "traffic.incast.burst": "30%",
    "traffic.incast.fan_in": 8,
    "traffic.incast.senders": "next-rack",
    "leaf.aqm": "ecn",
    "leaf.aqm.threshold": "65pkt",
    **{f"traffic.{name}.recovery.min_rto": "10ms" for name in QUEUES[1:]},
}


def test_the_scenario_is_that_of_the_page():
    plain = bundled("cbm")
    assert {key: plain[key] for key in SETUP} == SETUP
    for policy in ("abm", "cbm"):
        own = bundled("cbm", f"switch.sharing={policy}")
        assert (own["leaf.sharing.alpha"], own["leaf.sharing.alpha_first_rtt"]) == (0.5, 64)


def facts(*assignments):
    return Scenario.load("cbm").set(*assignments).facts


def label_of(figure, label):
    (found,) = (point for point in figure.points if point.label == label)
    return found.assignments


def test_numbers_of_the_page_follow_from_what_is_set():
    (choices,) = (figure for figure in cbm.FIGURES if figure.name == "cbm/choices")

    def made_another_way(label):
        return facts(*label_of(choices, label))

    def buffers(found):
        return {tier["tier"]: tier["buffer_bytes"] for tier in found["tiers"]}

    def answers(found):
        (incast,) = (each for each in found["traffic"] if each["name"] == "incast")
        return incast["bytes"] / incast["flows"]

    plain = facts()
    assert plain["oversubscription"] == 4
    assert buffers(plain) == {"leaf": 3_840_000, "spine": 768_000}
    same = made_another_way("spines with the leaves' buffer")
    assert buffers(same) == {"leaf": 3_840_000, "spine": 3_840_000}
    # "8 answers of 144 KB from the next rack", "32 answers of 36 KB from all other racks"
    assert answers(plain) == 144_000 and answers(made_another_way("fan-in 32")) == 36_000
    assert answers(made_another_way("burst 10%")) == 48_000
    assert answers(made_another_way("burst 60%")) == 288_000


def test_as_many_queries_come_whoever_sends_them():
    """ "512 queries a second in all": 8 of each of a quarter of 256 hosts, or 2 of each host."""
    (choices,) = (figure for figure in cbm.FIGURES if figure.name == "cbm/choices")
    several = Scenario.load("cbm").set(*label_of(choices, "all hosts send everything"))
    for scenario, hosts in ((Scenario.load("cbm"), 64), (several, 256)):
        (incast,) = (each for each in resolved(scenario)["traffic"] if each["name"] == "incast")
        assert hosts * incast["queries_per_host_per_s"] == 512


def test_a_leaf_has_as_much_upwards_on_faster_ports():
    """ "From ports of 10 and of 40 Gbps": of the same 4:1."""
    (rates,) = (figure for figure in cbm.FIGURES if figure.name == "cbm/rates")
    found = facts(*label_of(rates, "ports of 10 and of 40 Gbps"))
    assert found["oversubscription"] == 4
    (leaf,) = (tier for tier in found["tiers"] if tier["tier"] == "leaf")
    assert leaf["ports_by_gbps"] == {"10": 32, "40": 2}
