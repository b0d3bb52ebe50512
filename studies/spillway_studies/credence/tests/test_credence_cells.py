"""Credence's packet-level figures: every run is what the label and the page of credence say."""

import pytest

from cells import ABM_PROGRAM, Told, bundled, wrong
from spillway.scenario.scenario import Scenario
from spillway_studies.claims import Run
from spillway_studies.credence import figures as credence

# "Alpha 0.5 for DT and ABM, 64 for packets of ABM's first round trip"; acks have 64.
ACKS = 64
DT = {"switch.sharing": "dt", "switch.sharing.alpha": [ACKS, 0.5]}
ABM = {"switch.sharing": "abm", "switch.sharing.alpha": [ACKS, 0.5]}
LQD = {"switch.sharing": "lqd"}
CREDENCE = {"switch.sharing": "credence"}
ALL = {"DT": DT, "ABM": ABM, "LQD": LQD, "Credence": CREDENCE}
# What the program does with LQD's thresholds leaves no room for these two.
CODE = {
    "switch.sharing.thresholds": "code",
    "switch.sharing.count_arrival": None,
    "switch.sharing.tie": None,
}
OF_PROGRAM = ABM | ABM_PROGRAM

LOADS = {f"load {load}%": {"traffic.websearch.load": load / 100} for load in (20, 40, 60, 80)}
# "Bursts from 10% to 100%; those of the authors' program are taken, in steps of 12.5%."
BURSTS = {
    f"burst {eighths * 12.5:g}%": {"traffic.incast.burst": f"{eighths * 12.5:g}%"}
    for eighths in range(1, 9)
}
K_10 = {"switch.aqm.threshold": "10pkt"}


def flips(*schemes):
    """By label and scheme: how many of the predictions are flipped."""
    return {
        f"flip probability {each}": {
            scheme: {"switch.sharing.flip_probability": each} for scheme in schemes
        }
        for each in (0, 0.001, 0.005, 0.01, 0.05, 0.1)
    }


FLIPS = flips("Credence")
FLIPPED = {label: {} for label in FLIPS}
"""What all schemes have at these points: nothing."""

# Eight links there and back, and a full packet of 1500 bytes at 10 Gbps: 1.2 us.
ROUND_TRIPS = {
    f"RTT {8 * delay} us": {
        **dict.fromkeys(
            (f"topology.{link}_delay" for link in ("link", "host", "fabric")), f"{delay}us"
        ),
        "topology.base_rtt": f"{8 * delay + 1.2:g}us",
    }
    for delay in (1, 2, 3, 4, 8)
}


def sized(duration):
    return {"duration": duration, "record.drops": False}


# "Figures 6, 7, 11 and 12 have the paper's length of 3 s and five seeds; the others 1 s and three
# seeds (the scale `page`)."
QUICK = ((1, 2, 3), sized("170ms"))
FULL = ((1, 2, 3, 4, 5), sized("3s"))
EXPERIMENT = {"quick": QUICK, "full": FULL}
HEADLINE = EXPERIMENT | {"page": FULL}
OTHER = EXPERIMENT | {"page": ((1, 2, 3), sized("1s"))}


def window(section, packets):
    return {f"traffic.{section}.initial_window": packets}


CHOICES = {
    "as in the scenario": {},
    "K = 10 packets": K_10,
    "min RTO 1 ms": {"senders.recovery.min_rto": "1ms"},
    "websearch begins with 22 packets": window("websearch", "22pkt"),
    "incast begins with 10 packets": window("incast", "10pkt"),
    "no slow start": {"senders.slow_start": False},
    # One BDP, 31,500 bytes, less or more two packets of 1,448.
    "first RTT 2 packets shorter": {"senders.first_rtt_bytes": f"{31_500 - 2 * 1448}B"},
    "first RTT 2 packets longer": {"senders.first_rtt_bytes": f"{31_500 + 2 * 1448}B"},
    "incast from one other rack": {"traffic.incast.senders": "one-other-rack"},
    "incast from all other racks": {"traffic.incast.senders": "other-racks"},
    "websearch to the next rack": {"traffic.websearch.destinations": "next-rack"},
    "Credence's thresholds as in its program": {},
    "ABM as in its program": {},
    "of that, congestion by fractions": {},
    "of that, drain rates over intervals": {},
    "of that, first packets scaled, alpha 1024": {},
}


def of_abm(*keys):
    """This part of ABM's program."""
    return {"ABM": {f"switch.sharing.{key}": ABM_PROGRAM[f"switch.sharing.{key}"] for key in keys}}


FRACTIONS = ("congestion", "saturation", "congested_at")
OF_SCHEME = {
    "Credence's thresholds as in its program": {"Credence": CODE},
    "ABM as in its program": {"ABM": ABM_PROGRAM},
    "of that, congestion by fractions": of_abm(*FRACTIONS),
    "of that, drain rates over intervals": of_abm("drain"),
    "of that, first packets scaled, alpha 1024": of_abm("first_rtt", "alpha_first_rtt"),
}

DIFFERENCES = {
    "as in the scenario": {},
    "K = 10 packets, marking from there on": K_10 | {"switch.aqm.at_threshold": "mark"},
    # TCP with timestamps 32, IP 20, frame 14; the pool counts neither IP nor the frame.
    "segments of 1400 bytes, headers of 66": {
        "senders.mss": "1400B",
        "senders.header": "66B",
        "senders.ack_size": "66B",
        "switch.uncounted_bytes": f"{20 + 14}B",
    },
    "base RTT 24 us": {"topology.base_rtt": "24us"},
    # A leaf has 20 ports of 10 Gbps and 5.12 KB for each of these.
    "spines' buffers as large as leaves'": {"spine.buffer": f"{20 * 10 * 5120}B"},
    "one hash for all switches": {"routing.hash_seeds": "same"},
    "no limit on what hosts queue": {"senders.host_backlog": "unlimited"},
    "windows down to one packet": {"senders.min_window": "1pkt"},
    "reductions spread over a round trip": {"senders.recovery.reduction": "proportional-ns3"},
    "websearch shakes hands": {"traffic.websearch.handshake": True},
}


def at(settings, choices):
    """Every choice at every setting."""
    return {
        f"{where}, {what}": {**there, **so}
        for where, there in settings.items()
        for what, so in choices.items()
    }


PLAIN = {"load 40%, burst 50%": {}}
LARGE = PLAIN | {"load 40%, burst 100%": {"traffic.incast.burst": "100%"}}
LOADED = {"load 80%, burst 50%": {"traffic.websearch.load": 0.8}}


def at_any(settings, choices):
    """What single schemes have, by choice, at every setting."""
    return {f"{where}, {what}": choices.get(what, {}) for where in settings for what in CHOICES}


def credence_figure(points, schemes=ALL, scales=OTHER, base="credence", **more):
    return Told(base, schemes, points, scales=scales, **more)


PROGRAM_POINTS = {
    f"load {load}%, burst {burst}%": {
        "traffic.websearch.load": load / 100,
        "traffic.incast.burst": f"{burst}%",
    }
    for load in (40, 80)
    for burst in (50, 100)
}
TWO = {"LQD": LQD, "Credence": CREDENCE}
# Figure 11 has four of Figure 7's bursts.
FOUR = {name: BURSTS[name] for name in ("burst 12.5%", "burst 25%", "burst 50%", "burst 75%")}

TOLD = {
    "credence/figure6": credence_figure(LOADS, scales=HEADLINE),
    "credence/figure7": credence_figure(BURSTS, scales=HEADLINE),
    "credence/figure8": credence_figure(BURSTS, base="credence-powertcp"),
    "credence/figure9": credence_figure(ROUND_TRIPS, {"ABM": ABM, "Credence": CREDENCE}),
    "credence/figure10": credence_figure(FLIPPED, TWO, of_scheme=FLIPS),
    "credence/figure11": credence_figure(FOUR, scales=HEADLINE),
    "credence/figure12": credence_figure(LOADS, scales=HEADLINE),
    "credence/figure13": credence_figure(BURSTS, base="credence-powertcp"),
    "credence/figure10-k10": credence_figure(FLIPPED, TWO, of_scheme=FLIPS, always=K_10),
    "credence/choices": credence_figure(
        at(LARGE, CHOICES),
        scales=EXPERIMENT,
        of_scheme=at_any(LARGE, OF_SCHEME),
    ),
    "credence/choices-load80": credence_figure(
        at(LOADED, CHOICES),
        scales=EXPERIMENT,
        of_scheme=at_any(LOADED, OF_SCHEME),
    ),
    "credence/differences": credence_figure(at(PLAIN, DIFFERENCES), scales=EXPERIMENT),
    # "All at once, with ABM and Credence as the program has them."
    "credence/program": credence_figure(
        PROGRAM_POINTS,
        ALL | {"ABM": OF_PROGRAM, "Credence": CREDENCE | CODE},
        scales=EXPERIMENT,
        base="credence-code",
    ),
    # "Congestion by fractions, drain rates over intervals, first packets with 1024; `eta = 0.95`,
    # `least_current = 0.5`."
    "credence/figure8-program": credence_figure(
        BURSTS,
        ALL | {"ABM": OF_PROGRAM},
        base="credence-powertcp",
        always={"senders.eta": 0.95, "senders.least_current": 0.5},
    ),
}
RUNS = [
    figure
    for figure in credence.FIGURES
    if isinstance(figure.measure, Run) and not figure.measure.prepare
]
"""Those whose models are trained first are in `test_credence_training.py`."""


@pytest.mark.parametrize("figure", RUNS, ids=lambda figure: figure.name)
def test_every_run_is_what_is_told(figure):
    assert wrong(figure, TOLD[figure.name]) == {}


# the page of credence, "What is simulated": section 4.1 of the paper, and what is ours.
SETUP = {
    "topology.leaves": 16,
    "topology.spines": 4,
    "topology.hosts_per_leaf": 16,
    "topology.host_rate": "10Gbps",
    "topology.fabric_rate": "10Gbps",
    "topology.link_delay": "3us",
    "leaf.buffer": "5.12KB/port/Gbps",
    "spine.buffer": "5.12KB/port/Gbps",
    "leaf.aqm.threshold": "65pkt",
    "traffic.websearch.sizes": "websearch",
    "traffic.websearch.load": 0.4,
    "traffic.websearch.load_of": "uplink",
    "traffic.websearch.destinations": "other-rack",
    "traffic.websearch.recovery.min_rto": "10ms",
    "traffic.incast.queries_per_host_per_s": 2,
    "traffic.incast.burst": "50%",
    "traffic.incast.fan_in": 16,
    "traffic.incast.senders": "next-rack",
    "traffic.incast.recovery.min_rto": "10ms",
    "traffic.incast.first_rtt_bytes": "1bdp",
}
SENDERS = {
    "credence": {
        "traffic.websearch.transport": "dctcp",
        "traffic.websearch.initial_window": "10pkt",
        "traffic.incast.transport": "dctcp",
        "traffic.incast.initial_window": "flow",
    },
    "credence-powertcp": {
        "traffic.websearch.transport": "powertcp",
        "traffic.incast.transport": "powertcp",
    },
}


@pytest.mark.parametrize("name", SENDERS)
def test_the_scenario_is_that_of_the_page(name):
    plain, said = bundled(name), SETUP | SENDERS[name]
    assert {key: plain[key] for key in said} == said
    assert bundled(name, "switch.sharing=abm")["leaf.sharing.alpha_first_rtt"] == 64
    asked = bundled(name, "switch.sharing=credence")
    assert (asked["leaf.sharing.oracle"], asked["leaf.sharing.model"]) == ("forest", "default")


def test_one_round_trip_is_31_500_bytes():
    assert Scenario.load("credence").facts["first_rtt_bytes"] == 31_500
