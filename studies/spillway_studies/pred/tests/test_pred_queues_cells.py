"""PRED's figures of queues: every run is what the label and the page say."""

import pytest

from cells import SEED, apart, changed, flat, resolved, run_of
from spillway.scenario.scenario import Scenario
from spillway_studies.pred import figures as pred
from spillway_studies.pred.figures import figure19, figure21
from spillway_studies.pred.figures import star as stars

THREE, FIVE = (1, 2, 3), (1, 2, 3, 4, 5)


def star(senders, delay="10us", base="41.2us", sample="10us", **more):
    """A receiver and its senders, 10 Gbps, one queue that is looked at this often."""
    return {
        "topology.hosts": senders + 1,
        "topology.link_delay": delay,
        "topology.clocks": "spread",
        # Four links, and a full packet on one of them.
        "topology.base_rtt": base,
        "leaf.queue_limit": "unlimited",
        "record.queue_interval": sample,
        "record.empty_queues": True,
        "record.aqm_interval": sample,
        "record.drops": False,
        **more,
    }


def plain(names):
    """Nothing is set by any of these."""
    return {name: {} for name in names}


def sized(warmup, end):
    return {"warmup": warmup, "duration": end, "stop": end}


def at_once(name, hosts, **more):
    """Endless flows into host 0 that begin within a millisecond, each by a host of its own."""
    return {
        "name": name,
        "kind": "incast",
        "receivers": [0],
        "senders": "any",
        "fan_in": hosts,
        "sizes": "1000GB",
        "interval": "1ms",
        "queries": 1,
        "jitter": "1ms",
    } | more


def of_two(flows):
    return [at_once("flows", 2, queries=flows // 2, interval="10us")]


def aqm(kind, **keys):
    return {"leaf.aqm": kind} | {f"leaf.aqm.{key}": value for key, value in keys.items()}


def red(slope):
    """ "RED has PRED's min and max: 10 packets, 500 KB. Lambda is per 100 KB, the key per MB." """
    keys = {"form": "point-slope", "min": "15KB", "max": "500KB", "not_ect": "pass"}
    return aqm("red", **keys, slope=10 * slope, max_probability=None)


ECN = {"ECN": aqm("ecn", threshold="70pkt")}
ECN_SHARP = {"ECN#": aqm("ecn-sharp", instant="80us", target="10us", interval="150us")}
CODEL = {"CoDel": aqm("codel", target="10us", interval="150us", not_ect="pass")}


def of_pred(**keys):
    """PRED with the text's numbers; its periods are 1.25 and 5 base RTTs by default."""
    told = {"preset": "paper", "min": "10pkt", "max": "500KB", "lambda": 0.1}
    told |= {"lambda_unit": "100KB", "delta": 0.025, "lambda_min": 0.05, "min_step": "5pkt"}
    told |= {"beta": 0.4, "q_left": "15pkt", "places": 120, "f": "n"}
    told |= {"trials": "period", "tolerance": 0.0, "decides": "trials", "idle": "counts"}
    # What only other trials have.
    told |= dict.fromkeys(("trial_rtts", "settle_rtts", "busy"))
    return aqm("pred", **told | keys)


WITHOUT_QLA = {"qla": False}
GONE = ("t_qla", "delta", "lambda_min", "min_step", "beta", "q_left", "lambda_max", "min_max")
GONE += ("min_trials", "phi", "mean", "qla_scope", "idle", "plane", "trials", "tolerance")
GONE += ("decides",)


def fcs(**keys):
    return of_pred(qla=False, **dict.fromkeys(GONE) | keys)


PRED = {"PRED": of_pred()}
PRED_80 = {"PRED (80 us)": of_pred(t_fcs="100us", t_qla="400us")}
FCS = {"FCS alone": fcs()}
WITHOUT_FCS = dict.fromkeys(("t_fcs", "f", "counter", "places", "count_max", "count_acks"))
QLA = {"QLA alone": of_pred(fcs=False, **WITHOUT_FCS)}

# "4 endless flows, and every 5 ms 2 to 12 of 100 KB to 1 MB."
CHANGING = [
    at_once("long", 4),
    at_once("burst", "2..12", sizes="100KB..1MB", interval="5ms", start="2ms", queries=100_000),
]
LASTING = [at_once("long", 16)]
SMALL, LARGE = "3KB..6KB", "30KB..600KB"


def rounds(name, sizes, load=0.6, **more):
    return {
        "name": name,
        "kind": "incast",
        "receivers": [0],
        "senders": "any",
        "fan_in": 18,
        "sizes": sizes,
        "load": load,
        "load_of": "receiver",
        "jitter": "0us",
    } | more


def regular(name, sizes, interval, **more):
    return at_once(
        name, 18, sizes=sizes, interval=interval, queries=1_000_000, jitter="0us", **more
    )


def web_search(load):
    keys = {"name": "web", "kind": "poisson", "sizes": "websearch-dctcp", "load": load}
    return [keys | {"load_of": "receiver", "destinations": 0}]


def leaves(keys):
    """What is not of spines: a star has none."""
    return {key: value for key, value in keys.items() if not key.startswith("spine.")}


def settings(keys, sections):
    """All settings with this traffic; `senders` is the transport of all its senders."""
    own = {key: value for key, value in keys.items() if key.split(".")[0] != "senders"}
    found = leaves(changed("incast-star", {"seed": SEED, **own}))
    found = {key: value for key, value in found.items() if not key.startswith("traffic.")}
    senders = {
        key.replace("senders", "transport"): value
        for key, value in keys.items()
        if key.split(".")[0] == "senders"
    }
    hosts = {"topology.hosts": keys["topology.hosts"]}
    traffic = Scenario.load("incast-star").set({**hosts, **senders, "traffic": sections})
    flows = flat(resolved(traffic))
    return found | {key: value for key, value in flows.items() if key.startswith("traffic.")}


def check(figure, always, schemes, traffics, scales, points=None):
    """Whether every cell is as told.

    `traffics` has the sections by the point's label or, with `points`, by label and scheme.
    """
    assert [scheme.name for scheme in figure.schemes] == list(schemes)
    labels = points if points is not None else traffics
    assert [point.label for point in figure.points] == list(labels)
    assert {name: scale.seeds for name, scale in figure.scales.items()} == {
        name: seeds for name, (seeds, _) in scales.items()
    }
    differ = {}
    for scale in scales:
        for point in figure.points:
            for scheme in figure.schemes:
                sections = traffics[point.label]
                if isinstance(sections, dict):
                    sections = sections[scheme.name]
                keys = {
                    **always,
                    **scales[scale][1],
                    **schemes[scheme.name],
                    **(points or {}).get(point.label, {}),
                }
                said = settings(keys, sections)
                runs = leaves(flat(resolved(run_of(figure, scheme, point, scale))))
                differ[scale, scheme.name, point.label] = apart(said, runs)
    assert {cell: what for cell, what in differ.items() if what} == {}


STEADY = {"quick": (THREE, sized("50ms", "150ms")), "full": (FIVE, sized("200ms", "1200ms"))}


def by_number(*numbers):
    return {f"N = {n}": of_two(n) for n in numbers}


def test_figure_3():
    schemes = ECN | {"RED (0.65)": red(0.65), "RED (1.65)": red(1.65)}
    traffics = by_number(2, 4, 8, 12, 16, 20, 24, 32)
    check(pred.figure3.FIGURE, star(2), schemes, traffics, STEADY)


def test_the_queues_of_figure_3():
    names = {"ECN": ECN["ECN"], "RED (0.65)": red(0.65), "RED (1.65)": red(1.65)}
    pairs = {f"{name}, N = {n}": (keys, n) for n in (2, 20) for name, keys in names.items()}
    check(
        pred.figure3.QUEUES,
        star(20),
        {name: keys for name, (keys, _) in pairs.items()},
        {"20 senders": {name: [at_once("flows", n)] for name, (_, n) in pairs.items()}},
        {"quick": (THREE, sized("20ms", "120ms")), "full": (FIVE, sized("20ms", "520ms"))},
    )


WORKLOADS = ("workload 1 (3-6 KB)", "workload 2 (30-600 KB)")
MESSAGES = {"quick": (THREE, sized("20ms", "420ms")), "full": (FIVE, sized("100ms", "5100ms"))}


def both(make):
    return {name: [make(sizes)] for name, sizes in zip(WORKLOADS, (SMALL, LARGE), strict=True)}


def test_figure_4():
    schemes = plain(WORKLOADS)
    points = {f"lambda {slope:g}": red(slope) for slope in (0.1, 0.2, 0.65, 1, 1.65, 5)}
    traffics = dict.fromkeys(points, both(lambda sizes: rounds("messages", sizes)))
    check(pred.figure4.FIGURE, star(18, sample="1ms"), schemes, traffics, MESSAGES, points)


def test_the_queues_of_figure_4():
    points = {"lambda 0.65": red(0.65)}
    traffics = dict.fromkeys(points, both(lambda sizes: rounds("messages", sizes)))
    schemes = plain(WORKLOADS)
    check(pred.figure4.QUEUES, star(18), schemes, traffics, CHANGES, points)


def test_what_figure_4_leaves_open():
    def poisson(sizes):
        keys = {"name": "messages", "kind": "poisson", "destinations": 0, "sizes": sizes}
        return keys | {"load": 0.6, "load_of": "receiver"}

    intervals = {SMALL: "80us", LARGE: "5ms"}
    usual = both(lambda sizes: rounds("messages", sizes))
    one = {"senders.initial_window": "1pkt", "senders.min_window": "1pkt"}
    full = {"leaf.queue_limit": "100pkt"}
    choices = {
        "as in Figure 4": ({}, usual),
        "initial window of 2 packets": ({"senders.initial_window": "2pkt"}, usual),
        "windows from 1 packet on": (one, usual),
        "30% of the line": ({}, both(lambda sizes: rounds("messages", sizes, 0.3))),
        "90% of the line": ({}, both(lambda sizes: rounds("messages", sizes, 0.9))),
        "rounds at regular times": (
            {},
            both(lambda sizes: regular("messages", sizes, intervals[sizes])),
        ),
        "each sender by itself": ({}, both(poisson)),
        "queues of 100 packets": (full, usual),
        "the same, min RTO 200 ms": (full | {"senders.recovery.min_rto": "200ms"}, usual),
        "windows from 1 packet on, queues of 100 packets": (one | full, usual),
        "acks for two packets each": ({"senders.ack_every": 2}, usual),
        "min of 1 packet": ({"leaf.aqm.min": "1500B"}, usual),
    }
    points, traffics = {}, {}
    for name, (keys, sections) in choices.items():
        for slope in (0.1, 1.65):
            label = f"lambda {slope:g}, {name}"
            points[label] = red(slope) | keys
            traffics[label] = sections
    network = star(18, sample="1ms")
    check(pred.figure4.CHOICES, network, plain(WORKLOADS), traffics, MESSAGES, points)


def of_control(**keys):
    """On the control plane a trial takes 400 ms by default."""
    return of_pred(plane="control", **keys)


FORMS = {
    "RED (0.2)": red(0.2),
    "FCS(sqrt N)": fcs(f="sqrt-n", **{"lambda": 0.2}),
    "FCS(N)": fcs(),
    "FCS(N^2)": fcs(f="n-squared", **{"lambda": 0.05}),
    "PRED": of_control(),
}
TESTBED = {
    "quick": (THREE, sized("8000ms", "10000ms")),
    "full": (FIVE, sized("40000ms", "50000ms")),
}
NUMBERS = by_number(2, 4, 8, 12, 16, 20, 24, 32)


def test_figure_11():
    check(pred.figure11.FIGURE, star(2, sample="100us"), FORMS, NUMBERS, TESTBED)


def test_figure_11_with_a_round_trip_of_80_us():
    network = star(2, "20us", "81.2us", "100us")
    check(pred.figure11.FARTHER, network, FORMS, NUMBERS, TESTBED)


def test_figure_11_on_the_data_plane():
    schemes = {"FCS(N)": fcs()} | PRED | PRED_80
    scales = {"quick": (THREE, sized("200ms", "300ms")), "full": (FIVE, sized("1000ms", "2000ms"))}
    check(pred.figure11.DATA_PLANE, star(2), schemes, NUMBERS, scales)


CHANGES = {"quick": (THREE, sized("20ms", "220ms")), "full": (FIVE, sized("100ms", "1100ms"))}


def test_figure_15():
    schemes = ECN | ECN_SHARP | CODEL | FCS | QLA | PRED | PRED_80
    check(pred.figure15.FIGURE, star(16), schemes, {"16 senders": CHANGING}, CHANGES)


def test_figure_15_with_web_search():
    schemes = ECN | ECN_SHARP | CODEL | FCS | QLA | PRED | PRED_80
    scales = {**CHANGES, "full": (FIVE, sized("100ms", "5100ms"))}
    check(pred.figure15.POISSON, star(16), schemes, {"16 senders": web_search(0.9)}, scales)


def test_figure_19():
    """PRED's half; HPCC is another transport, with nothing that marks."""
    figure = figure19.FIGURE
    assert [scheme.name for scheme in figure.schemes] == ["HPCC", "PRED", "PRED (80 us)"]
    network = star(20, "1us", "4.12us") | {
        "topology.host_rate": "100Gbps",
        "record.link_interval": "20us",
    }
    sections = [
        at_once("first", 2, jitter="10us"),
        at_once("second", 6, jitter="10us", start="20ms"),
    ]
    scales = {"quick": (THREE, sized("0ms", "40ms")), "full": (FIVE, sized("0ms", "40ms"))}
    marking = pred.figure15.replace(figure, schemes=figure.schemes[1:])
    check(marking, network, PRED | PRED_80, {"20 senders": sections}, scales)
    runs = flat(resolved(run_of(figure, figure.schemes[0], figure.points[0])))
    assert runs["leaf.aqm"] == "none" and runs["seed"] == SEED
    for name in ("first", "second"):
        assert runs[f"traffic.{name}.transport"] == "hpcc"
        assert runs[f"traffic.{name}.eta"] == 0.95


WITH_DCQCN = star(20, "2us", "8.3us") | {
    "topology.host_rate": "40Gbps",
    "senders": {"kind": "dcqcn"},
}
PAUSES = {"leaf.pfc": "dynamic", "nic.queue_pairs": True}
PAUSES |= {"leaf.pfc.priorities": [0], "leaf.pfc.alpha": 0.125, "leaf.pfc.alpha_of": "all"}
PAUSES |= {"leaf.pfc.resume_offset": "3KB", "leaf.pfc.reserve": "4KB", "leaf.pfc.mtu": "1500B"}
PAUSES |= {"leaf.pfc.headroom": "auto", "leaf.pfc.crosses_into": "shared", "leaf.pfc.sees": "lossy"}
PAUSES |= {"leaf.pfc.frame": "64B", "leaf.pfc.response_time": "0us", "leaf.pfc.ends": "resume"}
PAUSES |= {"leaf.pfc.obeyed": True}
PAUSES |= {"leaf.pfc.on_deadlock": "stop"}
LOSSLESS = {"leaf.buffer": "12MB", **PAUSES}
REDS = {"RED (0.2)": red(0.2), "RED (2)": red(2)}


def with_senders(*numbers):
    return {f"N = {n}": [at_once("flows", n)] for n in numbers}


def test_figure_21():
    scales = {"quick": (THREE, sized("100ms", "200ms")), "full": (FIVE, sized("100ms", "500ms"))}
    traffics, schemes = with_senders(2, 4, 8, 12, 16, 20), REDS | PRED | PRED_80
    check(figure21.FIGURE, WITH_DCQCN, schemes, traffics, scales)
    check(figure21.PFC, WITH_DCQCN | LOSSLESS, schemes, traffics, scales)
    dcqcn = flat(resolved(run_of(figure21.FIGURE, figure21.GENTLE, figure21.FIGURE.points[0])))
    keys = {"preset": "paper", "rate_step": "40Mbps", "increase_timer": "55us", "g": 1 / 256}
    assert {key: dcqcn[f"traffic.flows.{key}"] for key in keys} == keys


def test_figure_21_over_time():
    scales = {"quick": (THREE, sized("100ms", "120ms")), "full": (FIVE, sized("100ms", "500ms"))}
    schemes = {
        f"{name}, N = {n}": keys for n in (2, 20) for name, keys in (REDS | PRED | PRED_80).items()
    }
    sections = {
        f"{name}, N = {n}": [at_once("flows", n)] for n in (2, 20) for name in REDS | PRED | PRED_80
    }
    check(figure21.QUEUES, WITH_DCQCN, schemes, {"20 senders": sections}, scales)


def test_choices_of_figure_21():
    """What each choice changes, of the senders, the switch, or one scheme's AQM."""
    program = {
        "senders.fast_recovery": 4,
        "senders.hyper_after": 4,
        "senders.alpha_first": True,
        "senders.clamp_target": "after-byte-counter",
        "senders.shrink_target": True,
        "senders.hyper_halves": True,
    }
    constants = {
        "senders.g": 0.0625,
        "senders.increase_timer": "1500us",
        "senders.byte_counter": "150KB",
        "senders.rate_step": "5Mbps",
        "senders.hyper_step": "50Mbps",
    }
    departure = {"leaf.aqm.marks_at": "departure"}
    # A full packet of these has 1,048 bytes.
    small = {"topology.base_rtt": "8.2096us"}
    choices = {
        "as in Figure 21": {},
        "slopes per MB": {},
        "marked on their way out": departure,
        "the same, slopes per MB": departure,
        "RED from 5 KB on": {},
        "DCQCN as its authors' program": program,
        "the same, its class's constants": program | constants,
        "DCQCN as HPCC's simulator": small | {"senders.preset": "simulator"},
        "the same, with the paper's times": small | {"senders.preset": "simulator-paper"},
        "acks tell of marks": {"senders.cnp": "ack-flag"},
        "pause frames": LOSSLESS,
        "pause frames, a buffer of 2 MB": PAUSES | {"leaf.buffer": "2MB"},
    }
    per_mb = {
        "RED (0.2)": {"leaf.aqm.slope": 0.2},
        "RED (2)": {"leaf.aqm.slope": 2.0},
        "PRED": {"leaf.aqm.lambda_unit": "1MB"},
        "PRED (80 us)": {"leaf.aqm.lambda_unit": "1MB"},
    }
    of_scheme = {
        "slopes per MB": per_mb,
        "the same, slopes per MB": per_mb,
        "RED from 5 KB on": {name: {"leaf.aqm.min": "5KB"} for name in REDS},
    }
    figure, schemes = figure21.CHOICES, REDS | PRED | PRED_80
    length = sized("100ms", "500ms")
    differ, seen = {}, []
    for point in figure.points:
        name, flows = point.values["choice"], point.values["flows"]
        seen.append((name, flows))
        for scheme in figure.schemes:
            own = of_scheme.get(name, {}).get(scheme.name, {})
            keys = WITH_DCQCN | length | schemes[scheme.name] | choices[name] | own
            said = settings(keys, [at_once("flows", flows)])
            runs = leaves(flat(resolved(run_of(figure, scheme, point, "full"))))
            differ[name, flows, scheme.name] = apart(said, runs)
    assert {cell: what for cell, what in differ.items() if what} == {}
    assert seen == [(name, flows) for name in choices for flows in (2, 20)]


def test_figure_24():
    def active(count):
        long = [
            {"name": f"long{n}", "kind": "persistent", "pairs": [[n, 0]], "priority": n}
            for n in range(1, count + 1)
        ]
        probes = [
            {
                "name": f"probes{n}",
                "kind": "poisson",
                "destinations": 0,
                "senders": "4..16",
                "sizes": "3KB..60KB",
                "load": 0.001,
                "load_of": "receiver",
                "priority": n,
            }
            for n in (1, 2, 3)
        ]
        return long + probes

    network = star(16, sample="1ms") | {
        "leaf.scheduling": "dwrr",
        "leaf.queues_per_port": 4,
        "leaf.scheduling.weights": [1.0, 2.0, 1.0, 1.0],
        "leaf.data_queue": 1,
    }
    schemes = {"TCN": aqm("tcn", threshold="150us")} | ECN_SHARP | FCS | PRED | PRED_80
    traffics = {
        "1 active queue": active(1),
        "2 active queues": active(2),
        "3 active queues": active(3),
    }
    check(pred.figure24.FIGURE, network, schemes, traffics, MESSAGES)


def test_figure_25():
    periods = {"0.25": "20us", "0.5": "40us", "1": "80us", "1.25": "100us", "2": "160us"}
    periods["5"] = "400us"
    schemes = {f"T = {times} RTT": of_pred(t_fcs=period) for times, period in periods.items()}
    sections = [
        at_once("long", 18),
        at_once("burst", 18, sizes="300KB", start="10ms", jitter="10us"),
    ]
    scales = {"quick": (THREE, sized("5ms", "20ms")), "full": (FIVE, sized("5ms", "20ms"))}
    network = star(36, "20us", "81.2us")
    label = "18 flows, and as many more"
    check(pred.figure25.FIGURE, network, schemes, {label: sections}, scales)


def test_figure_26():
    lengths = {2: "160us", 5: "400us", 20: "1600us", 100: "8000us"}
    schemes = {f"{n} RTT": of_pred(t_qla=t) for n, t in lengths.items()}
    traffics = {
        "60% of the line, at random times": [
            rounds("small", SMALL, stop="1s"),
            rounds("large", LARGE, start="1s", stop="2s"),
            rounds("again", SMALL, start="2s"),
        ],
        "a round for each round trip": [
            regular("small", SMALL, "80us", stop="1s"),
            regular("large", LARGE, "5ms", start="1s", stop="2s"),
            regular("again", SMALL, "80us", start="2s"),
        ],
    }
    scales = {"quick": (THREE, sized("0ms", "3000ms")), "full": (FIVE, sized("0ms", "3000ms"))}
    network = star(18, "20us", "81.2us", "1ms")
    check(pred.figure26.FIGURE, network, schemes, traffics, scales)


def test_figure_27():
    schemes = {
        "least lambda": fcs(**{"lambda": 0.05}),
        "largest lambda": fcs(**{"lambda": 1.65}),
        "every packet": aqm("ecn", threshold="0pkt", at_threshold="mark"),
    }
    traffics = by_number(2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
    check(pred.figure11.RANGE, star(2), schemes, traffics, STEADY)


SETTLING = {"quick": (FIVE, sized("0ms", "500ms")), "full": (FIVE, sized("0ms", "2000ms"))}


def test_figure_27_with_a_round_trip_of_80_us():
    schemes = {
        "least lambda": fcs(**{"lambda": 0.05}),
        "largest lambda": fcs(**{"lambda": 1.65}),
        "every packet": aqm("ecn", threshold="0pkt", at_threshold="mark"),
    }
    traffics = by_number(2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
    network = star(2, "20us", "81.2us")
    check(pred.figure11.RANGE_FARTHER, network, schemes, traffics, STEADY)


def test_whether_lambda_settles():
    lengths = {"400 us": "400us", "1 ms": "1ms", "4 ms": "4ms"}
    schemes = {"5 base RTTs": of_pred()}
    schemes |= {name: of_pred(t_qla=length) for name, length in lengths.items()}
    network = star(16, sample="100us")
    check(pred.queue_choices.CONVERGENCE, network, schemes, {"16 flows": LASTING}, SETTLING)


def test_shapes_of_the_utility():
    schemes = {phi: of_pred(t_qla="400us", phi=phi) for phi in ("linear", "square", "reciprocal")}
    network = star(16, sample="100us")
    check(pred.queue_choices.PHI, network, schemes, {"16 flows": LASTING}, SETTLING)


def test_a_wrong_number_of_flows():
    schemes = ECN | CODEL | {"RED (0.1)": red(0.1)} | FCS
    schemes |= {
        "N of a period of RTT / 4": fcs(t_fcs="10us"),
        "N of 4 places": fcs(places=4),
        "N of the last 10 ms": fcs(t_fcs="10ms"),
    }
    check(pred.queue_choices.WRONG, star(16), schemes, {"16 senders": CHANGING}, CHANGES)


def trial(round_trips):
    """Trials of so many base RTTs of 41.2 us, and two samples in each."""
    us = round_trips * 41.2
    return {"leaf.aqm.t_qla": f"{us:g}us", "record.aqm_interval": f"{us / 2:g}us"}


TRIALS = {f"trials of {n:g} base RTTs": trial(n) for n in (2.5, 5, 10, 20, 40, 80)}


def test_what_trials_tell_by_their_length():
    schemes = {f"{n} endless flows": of_pred() for n in (2, 8, 24)}
    traffics = {f"{n} endless flows": [at_once("flows", n)] for n in (2, 8, 24)}
    # Four trials of 80 base RTTs for a decision, of which there are 16.
    size = sized("0ms", f"{4 * 16 * 80 * 41.2 / 1000:g}ms")
    scales = {"quick": (FIVE, size), "full": (tuple(range(1, 21)), size)}
    points = dict.fromkeys(TRIALS, traffics)
    check(pred.trials.FIGURE, star(24), schemes, points, scales, TRIALS)


def test_what_trials_tell_while_flows_come_and_go():
    deaf = {"senders.kind": "newreno", "senders.ecn": False, "leaf.queue_limit": "100pkt"}
    deaf |= dict.fromkeys(("senders.g", "senders.alpha0"))
    schemes = {
        "web search, 30%": of_pred(),
        "web search, 90%": of_pred(),
        "web search, 30%, without ECN": of_pred() | deaf,
    }
    loads = {"web search, 30%": 0.3, "web search, 90%": 0.9, "web search, 30%, without ECN": 0.3}
    scales = {
        "quick": (FIVE, sized("0ms", "3000ms")),
        "full": (tuple(range(1, 21)), sized("0ms", "6000ms")),
    }
    traffics = {name: web_search(load) for name, load in loads.items()}
    points = dict.fromkeys(TRIALS, traffics)
    check(pred.trials.LOADED, star(16), schemes, points, scales, TRIALS)


@pytest.mark.parametrize("figure", pred.QUEUES, ids=lambda figure: figure.name)
def test_every_figure_is_of_queues_that_are_marked(figure):
    assert figure.told_by == "anything"
    assert figure.measure.scenario == stars.SCENARIO
    for scheme in figure.schemes:
        runs = flat(resolved(run_of(figure, scheme, figure.points[0])))
        assert runs["seed"] == SEED
        assert not runs["record.drops"]
