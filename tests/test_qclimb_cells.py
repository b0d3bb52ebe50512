"""QCLIMB's scenarios and figures: every run is what the label and docs/papers/qclimb.md say."""

import pytest

from cells import bundled, flat, resolved, run_of
from spillway import thresholds
from spillway.reproduce import qclimb
from spillway.reproduce.catalogue import find
from spillway.reproduce.qclimb import bounds, forests, job_choices, job_runs, jobs, setup

SCENARIOS = {
    "qclimb-testbed": {
        "topology": "star",
        "topology.hosts": 8,
        "topology.host_rate": "25Gbps",
        "topology.base_rtt": "41us",
        "leaf.buffer": "22MB",
        "traffic.websearch.load_of": "host",
    },
    "qclimb": {
        "topology": "leaf-spine",
        "topology.leaves": 9,
        "topology.spines": 4,
        "topology.hosts_per_leaf": 16,
        "topology.host_rate": "40Gbps",
        "topology.fabric_rate": "100Gbps",
        "topology.base_rtt": "8.9us",
        "leaf.buffer": "16MB",
        "spine.buffer": "16MB",
        "traffic.websearch.load_of": "uplink",
    },
}
BOTH = {
    "leaf.queues_per_port": 8,
    "leaf.scheduling": "strict",
    "leaf.sharing": "dt",
    "leaf.sharing.alpha": 1.0,
    "leaf.aqm": "ecn",
    "leaf.aqm.threshold": "65pkt",
    "leaf.aqm.scope": "port",
    "nic.queues": 8,
    "traffic.websearch.transport": "dctcp",
    "traffic.websearch.mss": "1460B",
    "traffic.websearch.min_rto": "2ms",
    "traffic.websearch.loss_detection": "per-priority",
    "traffic.websearch.or_worse": False,
    "traffic.websearch.dupthresh": 3,
    "traffic.websearch.tagging": "qclimb",
    "traffic.websearch.tagging.thresholds": "websearch-0.6",
    "traffic.websearch.tagging.acks": "with-first",
    "traffic.websearch.sizes": "websearch-pfabric",
    "traffic.websearch.bound": "uniform",
    "traffic.websearch.bound.least": 0.8,
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_scenario_is_that_of_the_page(scenario):
    said = BOTH | SCENARIOS[scenario]
    plain = bundled(scenario)
    assert {key: plain[key] for key in said} == said


def test_full_packets_and_acks_give_the_base_rtts():
    # 1,504 and 44 bytes with their numbers; a star has four links, and the network eight.
    star = 4 * 10 + 2 * (1_504 + 44) * 8 / 25e3
    leaf_spine = 8 * 1 + (1_504 + 44) * 8 * (2 / 40e3 + 2 / 100e3)
    assert (round(star, 1), round(leaf_spine, 1)) == (41.0, 8.9)


def cell(figure, scheme, point, scale="quick"):
    """What a run has otherwise than its bundled scenario."""
    runs = flat(resolved(run_of(figure, scheme, point, scale)))
    plain = bundled(figure.measure.scenario)
    return {
        key: runs.get(key) for key in runs.keys() | plain.keys() if runs.get(key) != plain.get(key)
    }


TAGS = "traffic.websearch.tagging"
BOUND = "traffic.websearch.bound"
BOUNDLESS = {BOUND: "none", f"{BOUND}.least": None}
SCHEMES = {
    "PIAS": {TAGS: "pias"},
    "QCLIMB": {},
    "QCLIMB-PS": {TAGS: "qclimb-ps"},
    "face value": {
        BOUND: "miss",
        f"{BOUND}.least": 0.5,
        f"{BOUND}.misses": 0.5,
        f"{BOUND}.excess": 9.0,
    },
}
WORKLOADS = {
    "websearch": ("websearch-pfabric", 1_665_831),
    "datamining": ("datamining-pfabric", 7_470_236),
}
TIMES = ("warmup", "duration", "stop")
OF_RUN = {"seed": 7, "record.drops": False}


def times(ms, warmup):
    return {"warmup": f"{warmup}ms", "duration": f"{ms}ms", "stop": f"{ms + 20_000}ms"}


@pytest.mark.parametrize(
    ("name", "workload", "gbps", "flows"),
    [
        ("testbed", "websearch", 200, 5_000),
        ("testbed-datamining", "datamining", 200, 1_500),
        ("simulation", "websearch", 3_600, 20_000),
    ],
)
def test_schemes_and_loads_are_what_they_are_called(name, workload, gbps, flows):
    (figure,) = find(f"qclimb/{name}")
    sizes, mean = WORKLOADS[workload]
    assert [point.label for point in figure.points] == [f"load {p}%" for p in (50, 60, 70, 80, 90)]
    for point in figure.points:
        load = point.values["load"]
        ms = round(flows * mean * 8 / (load * gbps * 1e6))
        own = {
            "traffic.websearch.sizes": sizes,
            "traffic.websearch.load": load,
            f"{TAGS}.thresholds": f"{workload}-{load:g}",
        }
        plain = bundled(figure.measure.scenario)
        always = {
            key: value
            for key, value in {**own, **times(ms, 3 * ms // 10), **OF_RUN}.items()
            if plain.get(key) != value
        }
        names = [scheme.name for scheme in figure.schemes]
        assert names == [*SCHEMES, "pFabric"]
        for scheme in figure.schemes[:-1]:
            assert cell(figure, scheme, point) == {**always, **SCHEMES[scheme.name]}, scheme.name


@pytest.mark.parametrize(("name", "limit"), [("testbed", "256KB"), ("simulation", "89KB")])
def test_pfabric_has_its_switches_hosts_and_transport(name, limit):
    (figure,) = find(f"qclimb/{name}")
    (scheme,) = (scheme for scheme in figure.schemes if scheme.name == "pFabric")
    runs = flat(resolved(run_of(figure, scheme, figure.points[0])))
    said = {
        "traffic.websearch.transport": "pfabric",
        "traffic.websearch.tagging": "fixed",
        BOUND: None,
        "nic.scheduling": "pfabric",
        "nic.queues": 1,
        "nic.queue_limit": limit,
    }
    for tier in ("leaf", "spine"):
        said |= {
            f"{tier}.sharing": "pfabric",
            f"{tier}.sharing.limit": "2bdp",
            f"{tier}.scheduling": "pfabric",
            f"{tier}.aqm": "none",
            f"{tier}.buffer": "unlimited",
        }
    assert {key: runs.get(key) for key in said} == said
    # Two BDPs: 25 Gbps for 41 us, and 40 Gbps for 8.9 us.
    bdp = {"256KB": 25e9 * 41e-6 / 8, "89KB": 40e9 * 8.9e-6 / 8}[limit]
    assert round(2 * bdp / 1_000) == int(limit.removesuffix("KB"))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_bounds_are_as_tight_and_as_often_too_high_as_is_said(workload):
    (figure,) = find(f"qclimb/bounds-{workload}")
    sizes, mean = WORKLOADS[workload]
    ms = round(50_000 * mean * 8 / (0.8 * 200 * 1e6))
    best = [f"{size}B" for size in bounds.BEST[workload]]
    ladders = {"published": f"{workload}-0.8", "best": best}
    assert len(figure.points) == 6 * 5
    for point in (figure.points[0], figure.points[8], figure.points[-1]):
        least, misses = point.values["least"], point.values["misses"]
        for scheme in figure.schemes:
            kind, ladder = scheme.name.split(", ")
            runs = flat(resolved(run_of(figure, scheme, point, "full")))
            said = {
                "traffic.websearch.sizes": sizes,
                "traffic.websearch.load": 0.8,
                TAGS: kind.lower(),
                f"{TAGS}.thresholds": ladders[ladder],
                **times(ms, 0),
                "warmup": "0us",
            }
            if kind == "PIAS":
                said |= {BOUND: None}
            else:
                said |= {BOUND: "miss", f"{BOUND}.least": least, f"{BOUND}.misses": misses}
                said |= {f"{BOUND}.excess": 1.0}
            assert {key: runs.get(key) for key in said} == said


def test_the_best_thresholds_are_those_of_the_command():
    for workload, (sizes, _) in WORKLOADS.items():
        found = thresholds.find(sizes, load=0.8, levels=8, objective="ml-fcfs")
        assert found.best.thresholds == bounds.BEST[workload]


SENDERS = "traffic.websearch"
RTO = {f"{SENDERS}.{key}": "10ms" for key in ("min_rto", "initial_rto")}
QUEUES = {"nic.queues": 9, "nic.data_queue": 8}
QUEUES |= {
    f"{tier}.{key}": n
    for tier in ("leaf", "spine")
    for key, n in (("queues_per_port", 9), ("data_queue", 8))
}
PUBLISHED = "websearch-0.8"
HALF = [f"{730 * n}B" for n in (909, 1329, 1648, 1960, 2143, 2337, 2484)]
BEST = [f"{n}B" for n in (8_760, 27_740, 77_380, 194_180, 1_946_180, 9_733_820, 29_200_000)]
DOWN_HALF, DOWN_BEST = ({f"{TAGS}.thresholds": down} for down in (HALF, BEST))
AT_FACE_VALUE = SCHEMES["face value"]
FLUX = {TAGS: "srpt", f"{TAGS}.size": "predicted"}
CHOICES = {
    "as in the scenario": {},
    "the packet itself counts": {f"{TAGS}.counts_packet": True},
    "no way back after timeouts": {f"{TAGS}.reset_after": 0},
    "acks in a queue of their own": {f"{TAGS}.acks": "apart", **QUEUES},
    "repairs as the next packet": {f"{TAGS}.repairs": "as-next"},
    "repairs first": {f"{TAGS}.repairs": "as-first"},
    "up by half the thresholds": {f"{TAGS}.up": HALF},
    "up by the best thresholds": {f"{TAGS}.up": BEST},
    "down by half the published, up by the published": DOWN_HALF | {f"{TAGS}.up": PUBLISHED},
    "down by half the published, up by half the published": DOWN_HALF | {f"{TAGS}.up": HALF},
    "down by half the published, up by the best": DOWN_HALF | {f"{TAGS}.up": BEST},
    "down by the best, up by the published": DOWN_BEST | {f"{TAGS}.up": PUBLISHED},
    "down by the best, up by half the published": DOWN_BEST | {f"{TAGS}.up": HALF},
    "down by the best, up by the best": DOWN_BEST | {f"{TAGS}.up": BEST},
    "bounds at face value": AT_FACE_VALUE,
    "bounds at face value, the best thresholds": AT_FACE_VALUE | DOWN_BEST | {f"{TAGS}.up": BEST},
    "predictions as sizes, as in Flux": AT_FACE_VALUE | FLUX,
    "predictions as sizes, as in Flux, the best thresholds": AT_FACE_VALUE | FLUX | DOWN_BEST,
    "worse priorities tell of losses too": {f"{SENDERS}.or_worse": True},
    "losses by selective acks": {f"{SENDERS}.loss_detection": "sack"},
    "losses by duplicate acks": {f"{SENDERS}.loss_detection": "duplicate-acks"},
    "losses by time (RACK)": {f"{SENDERS}.loss_detection": "rack"},
    "losses by timeouts alone": {f"{SENDERS}.loss_detection": "timeout-only"},
    "bounds from 0": {f"{BOUND}.least": 0.0},
    "bounds of 1.6 KB": {BOUND: "constant", f"{BOUND}.size": "1.6KB"},
    "alpha begins at 0": {f"{SENDERS}.alpha0": 0.0},
    "first window 10 packets": {f"{SENDERS}.initial_window": "10pkt"},
    "marks by queue": {"leaf.aqm.scope": "queue", "spine.aqm.scope": "queue"},
    "min RTO 10 ms": RTO,
    "NICs send flows in turn": {"nic.scheduling": "per-flow-rr"},
    "windows grow only with a short NIC queue": {f"{SENDERS}.host_backlog": "1bdp"},
    "links of 1 us": {"topology.link_delay": "1us", "topology.base_rtt": "5us"},
    "marks from 200 packets": {f"{tier}.aqm.threshold": "200pkt" for tier in ("leaf", "spine")},
    "one later packet tells of a loss": {f"{SENDERS}.dupthresh": 1},
    "numbers take no bytes": {f"{SENDERS}.number_bytes": "0B"},
    "PIAS finds losses by timeouts alone": {},
    "four levels": {f"{TAGS}.thresholds": [f"{1460 * n}B" for n in (909, 1648, 2143)]},
    "DT with a quarter of the free buffer": {
        f"{tier}.sharing.alpha": 0.25 for tier in ("leaf", "spine")
    },
    "alpha follows marks fast (g 1/4)": {f"{SENDERS}.g": 1 / 4},
    "alpha follows marks slowly (g 1/256)": {f"{SENDERS}.g": 1 / 256},
    "a handshake opens connections": {f"{SENDERS}.handshake": True},
    "connections stay open": {
        f"{SENDERS}.connections": "open",
        f"{SENDERS}.restart_idle": True,
    },
    "connections stay open, each flow begins with the first window": {
        f"{SENDERS}.connections": "open",
        f"{SENDERS}.restart_each": True,
    },
    "cuts take effect ack by ack": {f"{SENDERS}.reduction": "proportional"},
    "a mark's cut counts for a loss, too": {f"{SENDERS}.cut_once": True},
}
"""Those that are one key, or the same key of two tiers; the others have a test of their own."""
OTHERS = (
    "240 packets for each port",
    "NICs mark at 65 packets and hold 240",
    "NewReno with ECN",
)
OF_LOSSES = {
    f"{SENDERS}.{key}"
    for key in (*("or_worse", "number_bytes", "dupthresh", "partial_acks_tell", "tail_loss_probe"),)
}


def test_each_choice_is_one_change():
    (figure,) = find("qclimb/choices")
    qclimb_scheme = figure.schemes[1]
    assert qclimb_scheme.name == "QCLIMB"
    plain = cell(figure, qclimb_scheme, figure.points[0])
    for point in figure.points:
        choice = point.values["choice"]
        found = cell(figure, qclimb_scheme, point)
        own = {key: value for key, value in found.items() if plain.get(key) != value}
        if choice == "NICs mark at 65 packets and hold 240":
            assert own["nic.queue_limit"] == "240pkt"
            assert (own["nic.aqm"], own["nic.aqm.threshold"]) == ("ecn", "65pkt")
            assert all(key.startswith("nic.aqm") for key in own.keys() - {"nic.queue_limit"})
            continue
        if choice == "NewReno with ECN":
            assert own[f"{SENDERS}.transport"] == "newreno"
            runs = flat(resolved(run_of(figure, qclimb_scheme, point)))
            assert runs[f"{SENDERS}.ecn"] is True
            assert runs[f"{SENDERS}.loss_detection"] == "per-priority"
            continue
        if choice == "240 packets for each port":
            buffers = {f"{tier}.buffer": "2880KB" for tier in ("leaf", "spine")}
            assert {key: own[key] for key in buffers} == buffers
            assert own["leaf.sharing"] == "sp"
            assert all("sharing" in key for key in own.keys() - buffers.keys())
            continue
        if choice.startswith("losses by"):
            # The keys of the way that is left, and of the one that comes.
            own = {key: value for key, value in own.items() if key not in OF_LOSSES}
        assert own == CHOICES[choice], choice
    assert [
        point.values["choice"] for point in figure.points if point.values["choice"] not in OTHERS
    ] == list(CHOICES)


def test_pias_sinks_by_the_thresholds_of_the_choice():
    (figure,) = find("qclimb/choices")
    pias = figure.schemes[0]
    assert pias.name == "PIAS"
    for point in figure.points:
        sinks = flat(resolved(run_of(figure, pias, point)))[f"{TAGS}.thresholds"]
        choice = point.values["choice"]
        own = CHOICES.get(choice, {}).get(f"{TAGS}.thresholds", PUBLISHED)
        assert sinks == own, choice


def test_pias_alone_finds_losses_by_timeouts_where_it_is_said():
    (figure,) = find("qclimb/choices")
    (point,) = (p for p in figure.points if p.values["choice"].startswith("PIAS finds"))
    ways = [
        flat(resolved(run_of(figure, scheme, point)))[f"{SENDERS}.loss_detection"]
        for scheme in figure.schemes
    ]
    assert ways == ["timeout-only", "per-priority", "per-priority"]


def test_packets_are_sprayed_in_the_network_with_spines():
    (figure,) = find("qclimb/spraying")
    found = [
        (runs["routing"], runs[f"{SENDERS}.loss_detection"], runs["topology.spines"])
        for runs in (
            flat(resolved(run_of(figure, figure.schemes[1], point))) for point in figure.points
        )
    ]
    assert found == [
        ("ecmp", "per-priority", 4),
        ("spray", "per-priority", 4),
        ("spray", "timeout-only", 4),
    ]
    *_, pfabric = figure.schemes
    assert pfabric.name == "pFabric"
    runs = [flat(resolved(run_of(figure, pfabric, point))) for point in figure.points]
    assert [each["routing"] for each in runs] == ["ecmp", "spray", "spray"]
    assert runs[1] == runs[2], "pFabric has timeouts alone in any case"
    assert {each["nic.queue_limit"] for each in runs} == {"89KB"}


def own(figure, scheme, point, plain):
    """What a cell has otherwise than another one, but for how long it is."""
    found = {key: value for key, value in cell(figure, scheme, point).items() if key not in TIMES}
    plain = {key: value for key, value in plain.items() if key not in TIMES}
    return {key: found.get(key) for key in found.keys() | plain if found.get(key) != plain.get(key)}


QUERIES = "traffic.queries"
SMALL_PORTS = {
    "leaf.sharing": "sp",
    "leaf.buffer": f"{20 * 360}KB",
    "spine.sharing": "sp",
    "spine.buffer": f"{9 * 360}KB",
}


@pytest.mark.parametrize(("name", "ports"), [("fan-in", {}), ("fan-in-small-buffers", SMALL_PORTS)])
def test_queries_come_to_web_search_with_so_many_answers(name, ports):
    (figure,) = find(f"qclimb/{name}")
    (websearch,) = find("qclimb/simulation")
    beside = websearch.points[1]
    assert beside.values == {"load": 0.6}
    assert [point.ticks["fan_in"] for point in figure.points] == ["8", "16", "32", "64", "128"]
    assert [scheme.name for scheme in figure.schemes] == ["PIAS", "QCLIMB", "QCLIMB-PS", "pFabric"]
    for scheme in figure.schemes:
        plain = cell(websearch, scheme, beside)
        for point in figure.points:
            found = own(figure, scheme, point, plain)
            queries = {key: found.pop(key) for key in list(found) if key.startswith(QUERIES)}
            said = {
                QUERIES: "incast",
                f"{QUERIES}.burst": "1MB",
                f"{QUERIES}.fan_in": point.values["fan_in"],
                f"{QUERIES}.load": 0.02,
                f"{QUERIES}.senders": "any",
            }
            if scheme.name == "pFabric":
                assert found == {}
                said |= {f"{QUERIES}.transport": "pfabric", f"{QUERIES}.bound": None}
            else:
                found = {key: value for key, value in found.items() if ".sharing." not in key}
                assert found == ports
                said |= {f"{QUERIES}.bound": "uniform", f"{QUERIES}.bound.least": 0.8}
                said |= {f"{QUERIES}.tagging.thresholds": "websearch-0.6"}
            assert {key: queries.get(key) for key in said} == said


def test_each_port_has_so_many_packets():
    (figure,) = find("qclimb/small-buffers")
    (testbed,) = find("qclimb/testbed")
    beside = testbed.points[3]
    assert beside.values == {"load": 0.8}
    assert [point.values["packets"] for point in figure.points] == [80, 120, 240, 480, 960]
    for scheme in figure.schemes:
        plain = cell(testbed, scheme, beside)
        for point in figure.points:
            packets = point.values["packets"]
            found = own(figure, scheme, point, plain)
            if scheme.name == "pFabric":
                assert found == {
                    f"{tier}.sharing.limit": f"{1_500 * packets}B" for tier in ("leaf", "spine")
                }
                continue
            found = {key: value for key, value in found.items() if ".sharing." not in key}
            assert found == {
                f"{tier}.{key}": value
                for tier in ("leaf", "spine")
                for key, value in (("sharing", "sp"), ("buffer", f"{12_000 * packets}B"))
            }


WAYS = {
    "three later packets of the priority": {},
    "one later packet": {f"{SENDERS}.dupthresh": 1},
    "worse priorities tell, too": {f"{SENDERS}.or_worse": True},
    "one later packet, worse ones too": {f"{SENDERS}.dupthresh": 1, f"{SENDERS}.or_worse": True},
    "selective acks": {f"{SENDERS}.loss_detection": "sack"},
    "duplicate acks": {f"{SENDERS}.loss_detection": "duplicate-acks"},
    "timeouts alone": {f"{SENDERS}.loss_detection": "timeout-only"},
    "repairs first": {f"{TAGS}.repairs": "as-first"},
    "first window 10 packets": {f"{SENDERS}.initial_window": "10pkt"},
    "least timeout 200 us": {f"{SENDERS}.{key}": "200us" for key in ("min_rto", "initial_rto")},
}


def test_each_way_to_find_losses_is_one_change_for_both():
    (figure,) = find("qclimb/finding-losses")
    (buffers,) = find("qclimb/small-buffers")
    beside = buffers.points[2]
    assert beside.values["packets"] == 240
    assert [point.values["choice"] for point in figure.points] == list(WAYS)
    for scheme in figure.schemes:
        plain = cell(buffers, scheme, beside)
        for point in figure.points:
            said = WAYS[point.values["choice"]]
            found = own(figure, scheme, point, plain)
            if f"{SENDERS}.loss_detection" in said:
                found = {key: value for key, value in found.items() if key not in OF_LOSSES}
            assert found == said, point.label


def test_headlines_have_five_seeds():
    for figure in qclimb.FIGURES:
        seeds = {name: scale.seeds for name, scale in figure.scales.items()}
        whole = (1, 2, 3) if "bounds" in figure.name else (1, 2, 3, 4, 5)
        assert seeds == {"quick": (1,), "page": whole, "full": whole}
    assert setup.LOADS == (0.5, 0.6, 0.7, 0.8, 0.9)


FEW = "kmeans"
LADDER = (1_000, 20_000, 100_000, 200_000, 400_000, 800_000, 1_600_000)


@pytest.fixture
def few_jobs(monkeypatch):
    """Forests of two small trees from three jobs of K-Means, and round thresholds."""
    from spillway import bounds as learned
    from spillway.bounds import synthetic

    made = [each.job for each in synthetic.make_all(FEW, 3)]
    grown = {
        depth: learned.train(made, trees=2, depth=depth).models for depth in (3, job_runs.FLAT)
    }

    def model(kind, way):
        assert kind == FEW
        return grown[3 if way.depth == 10 else way.depth][way.method]

    monkeypatch.setattr(forests, "model", model)
    monkeypatch.setattr(forests, "ladder", lambda _kind, _way: LADDER)
    return model


SMALL_PLACE = job_runs.Place(
    "qclimb-testbed", 16, ("topology.hosts=16",), gap_ms={FEW: 5.0}, unmeasured_ms=10
)


def test_jobs_run_with_the_bounds_of_their_scheme(few_jobs):
    way = forests.Way()
    found = {
        scheme.name: job_runs.run(lambda _: None, SMALL_PLACE, way, FEW, scheme.name, 1, 40)
        for scheme in jobs.SCHEMES
    }
    counts = {name: numbers["all.count"] for name, numbers in found.items()}
    assert len({*counts.values()}) == 1 and counts["PIAS"] > 100
    means = {numbers["all.mean"] for numbers in found.values()}
    assert len(means) == len(jobs.SCHEMES), "every scheme has bounds, or a network, of its own"
    assert all(numbers["all.wrong_detections"] == 0 for numbers in found.values())
    assert all(0.01 < numbers["on_wire"] < 1 for numbers in found.values())
    # pFabric's senders know of losses by timeouts alone.
    assert found["pFabric"]["all.repairs_by_detection"] == 0


def test_flows_are_measured_from_the_place_s_time_until_the_end(few_jobs):
    import numpy as np

    from spillway.bounds import synthetic

    way = forests.Way()
    numbers = job_runs.run(lambda _: None, SMALL_PLACE, way, FEW, "PIAS", 1, 40)
    begin, starts = 0.0, []
    for number, made in enumerate(synthetic.make_all(FEW, SMALL_PLACE.jobs(FEW, 40), 1_001)):
        starts += (begin + made.job.features["time"]).tolist()
        draws = np.random.default_rng([1_001, 0, number, 16])
        draws.permutation(16)
        begin += draws.exponential(5.0)
    assert begin > 40, "jobs start until the end"
    assert numbers["all.count"] == sum(10 <= start < 40 for start in starts)


def test_so_many_jobs_are_made_that_their_starts_last_long_enough():
    # 9 in 45 ms on average; with 25 the start is 4 of 25's standard deviations later, 4 * 5 = 20.
    place = job_runs.Place("qclimb-testbed", 16, gap_ms={FEW: 5.0})
    assert place.jobs(FEW, 25) == 25
    assert place.jobs(FEW, 60) == 36


def test_the_network_of_jobs_is_what_the_figure_says(monkeypatch):
    import spillway

    seen = []

    def stop(scenario):
        seen.append(flat(resolved(scenario)))
        raise KeyboardInterrupt

    monkeypatch.setattr(forests, "ladder", lambda _kind, _way: LADDER)
    monkeypatch.setattr(spillway, "run", stop)
    for function in (job_runs.on_testbed, job_runs.in_simulation):
        for scheme in ("PIAS", "pFabric"):
            with pytest.raises(KeyboardInterrupt):
                function(lambda _: None, kind="pagerank", scheme=scheme, seed=1, until_ms=51)
    testbed, testbed_pfabric, simulation, simulation_pfabric = seen
    assert (testbed["topology"], testbed["topology.hosts"]) == ("star", 16)
    assert (simulation["topology"], simulation["topology.leaves"]) == ("leaf-spine", 9)
    assert testbed_pfabric["nic.queue_limit"] == "256KB"
    assert simulation_pfabric["nic.queue_limit"] == "89KB"
    said = {"warmup": "50ms", "duration": "51ms"}
    assert all({key: runs[key] for key in said} == said for runs in seen)
    for runs in (testbed, simulation):
        assert runs["traffic.jobs.tagging.thresholds"] == [f"{size}B" for size in LADDER]


def test_bounds_are_tested_on_the_jobs_that_are_run(few_jobs):
    from spillway.bounds import synthetic

    made = list(synthetic.make_all(FEW, 2, 1_001))
    way = forests.Way("mean")
    told = job_runs.bounded(FEW, made, way)
    sizes = [size for each in made for size in each.job.size]
    closeness = []
    for name, other in (
        ("forest.out_bound", way),
        ("forest.out_bound_5", forests.Way(depth=5)),
    ):
        model = few_jobs(FEW, other)
        bounds_of = [n for each in made for n in model.bounds(each.job.inputs(model.features))]
        pairs = list(zip(bounds_of, sizes, strict=True))
        assert told[name] == sum(bound > size for bound, size in pairs) / len(sizes)
        own = [bound / size for bound, size in pairs if bound <= size]
        closeness.append(sum(own) / len(own))
    assert told["forest.closeness"] == pytest.approx(closeness[0])
    assert told["forest.out_bound"] != told["forest.out_bound_5"]
    assert 0 < told["forest.far_off"] < 1


def test_every_number_of_the_slides_stands_unjudged_beside_that_of_jobs():
    by_name = {figure.short_name: figure.claims for figure in jobs.FIGURES}
    rules = {type(claim.rule).__name__ for claims in by_name.values() for claim in claims}
    assert rules == {"Beside"}
    papers = {
        name: {claim.rule.paper for claim in claims} - {None} for name, claims in by_name.items()
    }
    assert {0.88, 0.97, 0.03, 23, 34, 0.0945} <= papers["jobs"]
    assert not papers["jobs"] & {0.465, 0.62, 124, 414}, "those are the simulated network's"
    assert {0.465, 0.62, 124, 83, 10, 25, 414, 0.09} <= papers["jobs-simulation"]
    assert not papers["jobs-simulation"] & {0.88, 0.97, 34}, "those are the testbed's"


def test_sizes_of_jobs_are_told_by_their_quantiles(tmp_path):
    from types import SimpleNamespace

    import numpy as np

    file = tmp_path / "sizes.txt"
    forests.write_sizes(
        [SimpleNamespace(size=np.array([100] * 3)), SimpleNamespace(size=np.array([900]))], file
    )
    points = [tuple(map(float, line.split())) for line in file.read_text().splitlines()]
    # Three quarters of the flows have 100 bytes.
    assert points == [(100.0, 0.75), (900.0, 1.0)]
    assert thresholds.find(str(file), load=0.5, levels=2).best.thresholds


def test_points_of_jobs_are_the_kinds():
    for figure, whole_ms in zip(jobs.FIGURES, (150, 80), strict=True):
        assert [point.values["kind"] for point in figure.points] == ["kmeans", "pagerank", "sgd"]
        parameters = {name: dict(scale.parameters) for name, scale in figure.scales.items()}
        whole = {"until_ms": whole_ms}
        assert parameters == {"quick": {"until_ms": 60}, "page": whole, "full": whole}


def test_each_choice_of_jobs_is_one_change():
    plain = vars(forests.Way())
    changed = {
        name: {key: value for key, value in vars(way).items() if plain[key] != value}
        for name, way in job_choices.WAYS.items()
    }
    assert changed == {
        "as in the figure": {},
        "mean of the trees' least sizes": {"method": "mean"},
        "5% quantile of the leaves": {"method": "quantile"},
        "least size, calibrated": {"miss_rate": 0.001},
        "mean, calibrated": {"method": "mean", "miss_rate": 0.001},
        "5% quantile, calibrated": {"method": "quantile", "miss_rate": 0.001},
        "forests of depth 5": {"depth": 5},
        "thresholds for 20% load": {"load": 0.2},
        "thresholds for 80% load": {"load": 0.8},
        "thresholds by product": {"objective": "product"},
        "thresholds by left-over": {"objective": "left-over"},
        "thresholds by unweighted": {"objective": "unweighted"},
        "thresholds by flow-count": {"objective": "flow-count"},
    }
    names = [point.values["choice"] for point in job_choices.FIGURE.points]
    assert names == 3 * [*job_choices.WAYS, job_choices.FEW]


def test_a_choice_of_jobs_runs_in_its_way(monkeypatch):
    runs = []
    monkeypatch.setattr(job_runs, "run", lambda _report, *what: runs.append(what))
    for choice in ("forests of depth 5", job_choices.FEW):
        of = {"kind": "sgd", "choice": choice, "scheme": "QCLIMB", "seed": 3, "until_ms": 60}
        job_choices.run(lambda _: None, **of)
    assert runs == [
        (job_runs.TESTBED, forests.Way(depth=5), "sgd", "QCLIMB", 3, 60),
        (job_runs.SPARSE, forests.Way(), "sgd", "QCLIMB", 3, 60),
    ]


def test_few_jobs_are_as_sparse_as_the_generator_makes_them(few_jobs):
    found = job_runs.run(lambda _: None, job_runs.SPARSE, forests.Way(), FEW, "PIAS", 1, 60)
    from spillway.bounds import synthetic

    assert found["all.count"] == sum(len(job.job) for job in synthetic.make_all(FEW, 20, 1_001))


def test_forests_and_thresholds_come_from_jobs_that_are_not_run(monkeypatch):
    from spillway.bounds import synthetic

    asked = []

    def make_all(kind, jobs, seed):
        asked.append((kind, jobs, seed))
        return [synthetic.make(FEW, number, seed) for number in range(3)]

    monkeypatch.setattr(synthetic, "make_all", make_all)
    forests._jobs.cache_clear()
    try:
        assert len(forests._jobs(FEW)) == 3
        ways = [forests.Way(load=0.2), forests.Way(load=0.2, objective="product")]
        assert len({forests.ladder(FEW, way) for way in ways}) == 2
    finally:
        for cached in (forests._jobs, forests._models, forests._ladder):
            cached.cache_clear()
    assert asked == [(FEW, None, 1)]
