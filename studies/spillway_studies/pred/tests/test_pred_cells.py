"""PRED's scenarios and figures: every run is what the label and the page of pred say."""

import pytest

from cells import Told, bundled, wrong
from spillway_studies.pred import figures as pred
from spillway_studies.pred.figures import setup

# the page of pred, "What is simulated": sections 4.3, 6.1, 6.3 and appendix B of the paper.
PRED = {
    "aqm": "pred",
    "aqm.preset": "paper",
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
    "recovery.min_rto": "10ms",
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


FCS_KEYS = ("f", "t_fcs", "counter", "places", "count_max", "count_acks")
QLA_KEYS = (
    *("plane", "t_qla", "beta", "phi", "q_left", "mean", "qla_scope"),
    *("delta", "lambda_min", "min_step", "min_trials", "idle", "trials", "tolerance", "decides"),
)


def without(*keys):
    return {f"switch.aqm.{key}": None for key in keys}


TEXT = {"switch.aqm": "pred", "switch.aqm.preset": "paper"}

# "ECN, ECN# and CoDel with the text's numbers."
SCHEMES = {
    "PRED": TEXT,
    "PRED, min to 70": TEXT | {"switch.aqm.min_max": "70pkt"},
    "only FCS": TEXT | {"switch.aqm.qla": False} | without(*QLA_KEYS),
    "only QLA": TEXT | {"switch.aqm.fcs": False} | without(*FCS_KEYS),
    "ECN": {"switch.aqm": "ecn", "switch.aqm.threshold": "70pkt"},
    "ECN#": {
        "switch.aqm": "ecn-sharp",
        "switch.aqm.instant": "80us",
        "switch.aqm.target": "10us",
        "switch.aqm.interval": "150us",
    },
    "CoDel": {
        "switch.aqm": "codel",
        "switch.aqm.target": "10us",
        "switch.aqm.interval": "150us",
        "switch.aqm.not_ect": "pass",
    },
    # "Of RED: lambda is per 100 KB, as PRED's; it begins where PRED begins."
    **{
        f"RED ({name})": {
            "switch.aqm": "red",
            "switch.aqm.form": "point-slope",
            "switch.aqm.slope": per_mb,
            "switch.aqm.max_probability": None,
            "switch.aqm.min": "15KB",
            "switch.aqm.max": "500KB",
            "switch.aqm.not_ect": "pass",
        }
        for name, per_mb in (("0.1", 1.0), ("0.65", 6.5), ("1", 10.0), ("1.65", 16.5))
    },
}
REDS = ("RED (0.1)", "RED (0.65)", "RED (1)", "RED (1.65)")


def only(*names):
    return {name: SCHEMES[name] for name in names}


NO_DROPS = {"record.drops": False}
# Expected flows of a run, and their mean size: the run takes as long as its load needs for them.
WEBSEARCH = ("websearch-dctcp", 1_711_250, 10_000)
DATAMINING = ("datamining-vl2", 12_658_199, 4_000)
SHORTER = ("websearch-dctcp", 1_711_250, 4_000)


def times(warmup_ms, duration_ms, stop_ms):
    return {"warmup": f"{warmup_ms}ms", "duration": f"{duration_ms}ms", "stop": f"{stop_ms}ms"}


def at(load, workload, gbps=10):
    sizes, mean, flows = workload
    ms = round(flows * mean * 8 / (load * gbps * 1e6))
    return {
        "traffic.messages.sizes": sizes,
        "traffic.messages.load": load,
        **times(int(0.05 * ms), ms, ms + 60_000),
    }


def loads(workload, gbps=10, of=(10, 20, 30, 40, 50, 60, 70, 80, 90)):
    return {f"load {load}%": at(load / 100, workload, gbps) for load in of}


# "Five seeds; quick: three, and the first fifth of the flows."
def scales(workload):
    whole = ((1, 2, 3, 4, 5), {})
    few = ((1, 2, 3), {"traffic.messages.flows": workload[2] // 5})
    return {"quick": few, "full": whole, "page": whole}


TEN = tuple(range(1, 11))
CONTROL = SCHEMES["PRED"] | {
    "switch.aqm.plane": "control",
    "switch.aqm.t_qla": "400ms",
}
TWO = ("PRED", "only FCS")


def of_preds(**parameters):
    sets = {f"switch.aqm.{key}": value for key, value in parameters.items()}
    return dict.fromkeys(TWO, sets)


def of_pred(**parameters):
    return {"PRED": of_preds(**parameters)["PRED"]}


def both_rto(time):
    return {"senders.recovery.min_rto": time, "senders.recovery.initial_rto": time}


CHOICES = {
    "as in the scenario": {},
    "lambda per MB": {},
    "lambda begins at 1": {},
    "lambda begins at 0.65": {},
    "RED and PRED from 5 KB on": {},
    "min to 30 packets at most": {},
    "min to 70 packets at most": {},
    "min against none": {},
    "Phi squared": {},
    "Phi reciprocal": {},
    "mean queue over arrivals": {},
    "trials of 20 round trips": {},
    "trials of 100 round trips": {},
    "idle trials begin anew": {},
    "flows counted exactly": {},
    "ECN by time in the queue": {},
    "ECN marks as packets leave": {},
    "RED and PRED mark as packets leave": {},
    "queues of 250 packets": {"switch.queue_limit": "250pkt"},
    "4 MB shared by DT": {
        "switch.queue_limit": "unlimited",
        "switch.buffer": "4MB",
        "switch.sharing": "dt",
        "switch.sharing.alpha": 0.5,
    },
    "min RTO 1 ms": both_rto("1ms"),
    "min RTO 200 ms": both_rto("200ms"),
    "first window 2 packets": {"senders.initial_window": "2pkt"},
    # A BDP: 10 Gbps for 81.2 us are 101,500 bytes.
    "first window 70 packets, a BDP": {"senders.initial_window": f"{101_500 // 1448}pkt"},
    "an ack for two packets": {"senders.ack_every": 2},
    "no handshake": {"senders.handshake": False},
    "messages on open connections": {"senders.connections": "open", "senders.restart_idle": True},
    "windows grow in NICs": {"senders.host_backlog": "unlimited"},
    "NICs send flows in turn": {"nic.scheduling": "per-flow-rr"},
    "senders of ns-3, queues of 250 packets": {
        "senders.recovery": "ns3",
        "senders.recovery.reduction": "proportional-ns3",
        "senders.recovery.partial_acks_tell": None,
        "senders.recovery.cut_once": None,
        "senders.recovery.tail_loss_probe": None,
        "senders.host_backlog": "unlimited",
        **both_rto("5ms"),
        "switch.queue_limit": "250pkt",
    },
    "one rack sends": {"traffic.messages.senders": "16..31"},
    "the receiver's rack sends": {"traffic.messages.senders": "1..15"},
    "sizes as in ABM's program": {"traffic.messages.sizes": "websearch"},
    "sizes in packets of 1460 B": {"traffic.messages.sizes": "websearch-pfabric"},
}
CHOICES_OF = {
    "lambda per MB": of_preds(lambda_unit="1MB") | {"RED (0.65)": {"switch.aqm.slope": 0.65}},
    "lambda begins at 1": of_preds(**{"lambda": 1.0}),
    "lambda begins at 0.65": of_preds(**{"lambda": 0.65}),
    "RED and PRED from 5 KB on": of_preds(min="5KB") | {"RED (0.65)": {"switch.aqm.min": "5KB"}},
    "min to 30 packets at most": of_pred(min_max="30pkt"),
    "min to 70 packets at most": of_pred(min_max="70pkt"),
    "min against none": of_pred(min_trials="one-side"),
    "Phi squared": of_pred(phi="square"),
    "Phi reciprocal": of_pred(phi="reciprocal"),
    "mean queue over arrivals": of_pred(mean="arrivals"),
    # A round trip is 81.2 us.
    "trials of 20 round trips": of_pred(t_qla="1.624ms"),
    "trials of 100 round trips": of_pred(t_qla="8.12ms"),
    "idle trials begin anew": of_pred(idle="begins-anew"),
    "flows counted exactly": of_preds(counter="exact", places=None, count_max=None),
    "ECN by time in the queue": {
        "ECN": {"switch.aqm": "tcn", "switch.aqm.threshold": "84us"},
    },
    "ECN marks as packets leave": {"ECN": {"switch.aqm.marks_at": "departure"}},
    "RED and PRED mark as packets leave": of_preds(marks_at="departure")
    | {"RED (0.65)": {"switch.aqm.marks_at": "departure"}},
}


def labelled(by_choice):
    return {f"load {load}%, {name}": said for load in (30, 90) for name, said in by_choice.items()}


def chosen():
    """All choices at both loads."""
    return {
        f"load {load}%, {name}": at(load / 100, SHORTER) | said
        for load in (30, 90)
        for name, said in CHOICES.items()
    }


TOLD = {
    "pred/figure12": Told(
        "pred-incast",
        {"PRED": CONTROL} | only("ECN", "RED (0.1)", "RED (1)"),
        {
            "flows before 1 s": {"warmup": "0us", "duration": "1s", "stop": "11s"},
            "flows from 10 s to 15 s": {"warmup": "10s", "duration": "15s", "stop": "25s"},
        },
        always=NO_DROPS
        | {
            "topology.hosts": 7,
            "traffic.messages.senders": "1..6",
            "traffic.messages.load": 0.6,
        },
        scales={"quick": ((1, 2, 3), {}), "full": (TEN, {}), "page": (TEN, {})},
    ),
    "pred/figure13": Told(
        "pred",
        only("PRED", "PRED, min to 70", "ECN", "ECN#", "CoDel"),
        loads(WEBSEARCH),
        always=NO_DROPS,
        scales=scales(WEBSEARCH),
    ),
    "pred/figure14": Told(
        "pred",
        only("PRED", "PRED, min to 70", "only FCS", "only QLA", *REDS),
        loads(WEBSEARCH),
        always=NO_DROPS,
        scales=scales(WEBSEARCH),
    ),
    "pred/figure18": Told(
        "pred-100g",
        only("PRED", "PRED, min to 70", "ECN", "CoDel", *REDS),
        loads(DATAMINING, 100, (50, 80)),
        always=NO_DROPS,
        scales=scales(DATAMINING),
    ),
    "pred/figure22": Told(
        "pred",
        only("PRED", "PRED, min to 70", "ECN", "ECN#", "CoDel"),
        loads(DATAMINING),
        always=NO_DROPS,
        scales=scales(DATAMINING),
    ),
    "pred/figure23": Told(
        "pred-100g",
        only("PRED", "PRED, min to 70", "ECN", "CoDel", *REDS),
        loads(WEBSEARCH, 100, (50, 80)),
        always=NO_DROPS,
        scales=scales(WEBSEARCH),
    ),
    "pred/choices": Told(
        "pred",
        only("PRED", "only FCS", "ECN", "ECN#", "CoDel", "RED (0.65)"),
        chosen(),
        always=NO_DROPS,
        of_scheme=labelled(CHOICES_OF),
        # The page's has three seeds.
        scales={**scales(SHORTER), "page": ((1, 2, 3), scales(SHORTER)["page"][1])},
    ),
}


@pytest.mark.parametrize("figure", pred.COMPLETION_TIMES, ids=lambda figure: figure.name)
def test_every_run_is_what_is_told(figure):
    assert wrong(figure, TOLD[figure.name]) == {}


def test_red_is_told_by_the_unit_of_pred():
    assert list(only(*REDS)) == [red.name for red in setup.REDS]
    # lambda q / 100 KB is 10 lambda q / 1 MB.
    unit = int(bundled("pred")["leaf.aqm.lambda_unit"].removesuffix("KB"))
    for red in setup.REDS:
        lambda_ = float(red.name.removeprefix("RED (").removesuffix(")"))
        said = SCHEMES[red.name]["switch.aqm.slope"]
        assert said == pytest.approx(1000 / unit * lambda_)
