"""The comparison of all AQMs: every run is what the page says."""

import json

import pytest

from cells import SEED, Told, apart, bundled, flat, leaves, resolved, run_of, wrong
from spillway import Scenario, _core, run
from spillway_studies import catalogue
from spillway_studies.aqms import figures as aqms
from support import TINY

# "Keys that they share with DCTCP stay the scenario's": the kind and ECN are all that is set.
TRANSPORTS = {
    "dctcp": {},
    "cubic": {"senders.transport": "cubic", "senders.ecn": True},
    "newreno": {"senders.transport": "newreno", "senders.ecn": True},
}
THETA = {
    "theta-powertcp: none": {"switch.aqm": "none", "senders.transport": "theta-powertcp"},
}


def aqm(kind, **parameters):
    """Of all switches."""
    return {"switch.aqm": kind} | {f"switch.aqm.{key}": value for key, value in parameters.items()}


def every(threshold, ramp, wait, target, interval, steers, averages, gains):
    """The rows of the page's table of parameters, of one network."""
    least, most = ramp
    probability = {"min": least, "max": most, "max_probability": 0.1, "not_ect": "pass"}
    alpha, beta = gains
    parameters = {
        "none": aqm("none"),
        "ecn": aqm("ecn", threshold=threshold),
        "red": aqm("red", **probability),
        "ared": aqm("ared", interval=steers, time_constant=averages, **probability),
        "codel": aqm("codel", target=target, interval=interval, not_ect="pass"),
        "pie": aqm(
            "pie",
            target=wait,
            update_interval=wait,
            alpha=alpha,
            beta=beta,
            derandomize=False,
            not_ect="pass",
        ),
        "tcn": aqm("tcn", threshold=wait),
        "ecn-sharp": aqm("ecn-sharp", instant=wait, target=target, interval=interval),
        "pred": aqm("pred", preset="paper"),
        "pred, min to K": aqm("pred", preset="paper", min_max=threshold),
    }
    found = {
        f"{transport}: {name}": sets | sends
        for transport, sends in TRANSPORTS.items()
        for name, sets in parameters.items()
    }
    return found | THETA


# 65 packets take 78 us; 25.2 us of base RTT. 0.125 and 1.25 times 15 ms / 78 us.
OF_CREDENCE = every(
    threshold="65pkt",
    ramp=("32pkt", "97pkt"),
    wait="78us",
    target="9.75us",
    interval="103.2us",
    steers="126us",
    averages="252us",
    gains=(24.0385, 240.385),
)
# 70 packets take 84 us; 81.2 us of base RTT.
OF_PRED = every(
    threshold="70pkt",
    ramp=("35pkt", "105pkt"),
    wait="84us",
    target="10.5us",
    interval="165.2us",
    steers="406us",
    averages="812us",
    gains=(22.3214, 223.214),
)
NUMBERS = {"record.drops": False}
TWO, THREE = (1, 2), (1, 2, 3)


def lasting(quick, page, full, seeds=THREE, key="duration"):
    return {
        "quick": (TWO, {key: quick}),
        "page": (seeds, {key: page}),
        "full": (THREE, {key: full}),
    }


def loads(section, *percent):
    return {f"load {load}%": {f"traffic.{section}.load": load / 100} for load in percent}


def messages(percent, warmup, duration, stop):
    return {
        "traffic.messages.load": percent / 100,
        "warmup": warmup,
        "duration": duration,
        "stop": stop,
    }


def section(number, load):
    return {
        "name": f"queue{number}",
        "kind": "poisson",
        "sizes": "websearch",
        "load": load,
        "load_of": "host",
        "destinations": "other-rack",
        "priority": number,
    }


LEAF_SPINE = lasting("5ms", "50ms", "365ms")
TOLD = {
    "aqms/credence": Told(
        "credence",
        OF_CREDENCE,
        loads("websearch", 40),
        NUMBERS,
        scales=lasting("20ms", "1s", "1s", seeds=TWO),
    ),
    "aqms/credence-80": Told(
        "credence",
        OF_CREDENCE,
        loads("websearch", 80),
        NUMBERS,
        scales=lasting("10ms", "100ms", "1s"),
    ),
    "aqms/leaf-spine-128": Told(
        "leaf-spine-128", OF_PRED, loads("websearch", 60, 80), NUMBERS, scales=LEAF_SPINE
    ),
    # 2,000 flows of 1,711,250 bytes at 10 Gbps take 2.738 s at full load; a twentieth is not
    # counted, and a minute is left for the last.
    "aqms/pred": Told(
        "pred",
        OF_PRED,
        {
            "load 50%": messages(50, "273ms", "5476ms", "65476ms"),
            "load 90%": messages(90, "152ms", "3042ms", "63042ms"),
        },
        NUMBERS,
        scales=lasting(400, 2_000, 2_000, key="traffic.messages.flows"),
    ),
}

# "Three queues of data with equal weights, and one of acks".
QUEUES = {
    "switch.queues_per_port": 4,
    "switch.ack_queue": 0,
    "switch.data_queue": 1,
    "switch.scheduling": {"kind": "dwrr"},
    "record.drops": False,
}
BOTH = {
    "ecn": {"kind": "ecn", "threshold": "70pkt", "not_ect": "pass"},
    "mq-ecn": {"kind": "mq-ecn", "rtt": "84us", "not_ect": "pass"},
}


KNOWN = {entry["id"] for entry in json.loads(_core.catalogue())["aqm"]}


def test_every_aqm_is_compared():
    """MQ-ECN only where turns are taken, and ACC not at all: it does what its agent has learned."""
    assert {*aqms.PRED.aqms} - {aqms.BOUNDED} == KNOWN - {"acc", "mq-ecn"}


@pytest.mark.parametrize("name", ["aqms/credence", "aqms/leaf-spine-128", "aqms/pred"])
def test_what_transports_share_is_the_scenario_s(name):
    (figure,) = catalogue.find(name)
    own = {scheme.name: scheme for scheme in figure.schemes}
    sends = {
        transport: resolved(run_of(figure, own[f"{transport}: ecn"], figure.points[0]))["transport"]
        for transport in TRANSPORTS
    }
    dctcp = bundled(figure.source.rpartition(" ")[2])
    section = next(key.rpartition(".")[0] for key in dctcp if key.endswith(".handshake"))
    for keys in (dict(leaves(table)) for table in sends.values()):
        shared = [key for key in keys if key != "kind" and f"{section}.{key}" in dctcp]
        losses = {"recovery", "recovery.cut_once", "recovery.min_rto"}
        assert {*losses, "handshake", "initial_window", "min_window"} <= {*shared}
        given = {key: dctcp[f"{section}.{key}"] for key in shared}
        assert {key: keys[key] for key in shared} == given


@pytest.mark.parametrize("name", TOLD)
def test_every_run_is_what_is_told(name):
    (figure,) = catalogue.find(name)
    assert wrong(figure, TOLD[name]) == {}


@pytest.mark.parametrize(("place", "load"), [(0, 0.2), (1, 0.266667)])
@pytest.mark.parametrize("scale", LEAF_SPINE)
def test_three_queues_share_the_load(place, load, scale):
    """A third of 60% and 80% each."""
    (figure,) = catalogue.find("aqms/queues")
    assert [point.label for point in figure.points] == ["load 60%", "load 80%"]
    seeds, sets = LEAF_SPINE[scale]
    assert figure.scales[scale].seeds == seeds
    cells = iter(figure.schemes)
    for transport in TRANSPORTS:
        for name, own in BOTH.items():
            scheme = next(cells)
            assert scheme.name == f"{transport}: {name}"
            said = {"seed": SEED, **sets, **QUEUES, "switch.aqm": own}
            said["traffic"] = [section(number, load) for number in (1, 2, 3)]
            kind = {"transport.kind": transport}
            ecn = {} if transport == "dctcp" else {"transport.ecn": True}
            told = Scenario.load("leaf-spine-128").set(said, kind, ecn)
            runs = run_of(figure, scheme, figure.points[place], scale)
            assert apart(flat(resolved(told)), flat(resolved(runs))) == {}
    assert next(cells, None) is None


def test_every_figure_is_told():
    names = [figure.name for figure in aqms.FIGURES]
    assert names == [*TOLD, "aqms/queues"]


@pytest.mark.parametrize("transport", ["theta-powertcp", "dctcp"])
def test_only_the_contrast_heeds_no_marks(transport):
    """It ignores marks, so its flows are the same under all that only mark."""
    own = ["transport.ecn=true"] if transport == "theta-powertcp" else []
    sets = ["stop=20ms", f"transport.kind={transport}", *own]
    plain, marked = (
        run(Scenario.load(TINY).set(*sets, *aqms_sets))
        for aqms_sets in (["switch.aqm=none"], ["switch.aqm=ecn", "switch.aqm.threshold=0pkt"])
    )
    assert marked.summary["marks"] > 0
    same = plain.flows["fct_ps"].to_pylist() == marked.flows["fct_ps"].to_pylist()
    assert same == (transport == "theta-powertcp")
