"""QCLIMB's scenarios and figures: every run is what the label and the page say."""

import pytest

from cells import bundled, changes, flat, resolved, run_of
from spillway import thresholds
from spillway_studies.catalogue import find
from spillway_studies.qclimb import figures as qclimb
from spillway_studies.qclimb.figures import bounds, setup

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
    "traffic.websearch.recovery.min_rto": "2ms",
    "traffic.websearch.recovery": "per-priority",
    "traffic.websearch.recovery.or_worse": False,
    "traffic.websearch.recovery.dupthresh": 3,
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
    ("name", "workload", "gbps", "flows", "loads"),
    [
        ("testbed", "websearch", 200, 5_000, (50, 60, 70, 80, 90)),
        ("testbed-datamining", "datamining", 200, 1_500, (50, 60, 70, 80, 90)),
        ("simulation", "websearch", 3_600, 20_000, (50, 60, 70, 80, 90)),
        ("simulation-datamining", "datamining", 3_600, 20_000, (50, 80)),
    ],
)
def test_schemes_and_loads_are_what_they_are_called(name, workload, gbps, flows, loads):
    (figure,) = find(f"qclimb/{name}")
    sizes, mean = WORKLOADS[workload]
    assert [point.label for point in figure.points] == [f"load {percent}%" for percent in loads]
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
        others = [] if name == "simulation-datamining" else ["pFabric"]
        assert names == [*SCHEMES, *others]
        for scheme in figure.schemes[: len(SCHEMES)]:
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


@pytest.mark.parametrize("which", ["published", "best"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_bounds_are_as_tight_and_as_often_too_high_as_is_said(workload, which):
    (figure,) = find(f"qclimb/bounds-{workload}" + ("-best" if which == "best" else ""))
    sizes, mean = WORKLOADS[workload]
    ms = round(50_000 * mean * 8 / (0.8 * 200 * 1e6))
    best = [f"{size}B" for size in bounds.BEST[workload]]
    ladder = {"published": f"{workload}-0.8", "best": best}[which]
    assert len(figure.points) == 6 * 5
    assert [scheme.name for scheme in figure.schemes] == ["PIAS", "QCLIMB"]
    assert all(f"with the {which} thresholds" in claim.says for claim in figure.claims)
    for point in (figure.points[0], figure.points[8], figure.points[-1]):
        least, misses = point.values["least"], point.values["misses"]
        for scheme in figure.schemes:
            runs = flat(resolved(run_of(figure, scheme, point, "full")))
            said = {
                "traffic.websearch.sizes": sizes,
                "traffic.websearch.load": 0.8,
                TAGS: scheme.name.lower(),
                f"{TAGS}.thresholds": ladder,
                **times(ms, 0),
                "warmup": "0us",
            }
            if scheme.name == "PIAS":
                said |= {BOUND: None}
            else:
                said |= {BOUND: "miss", f"{BOUND}.least": least, f"{BOUND}.misses": misses}
                said |= {f"{BOUND}.excess": 1.0}
            assert {key: runs.get(key) for key in said} == said


def test_bounds_are_as_far_too_high_as_is_said():
    """In too-high: p in rows, and in columns how many times the size a bound is."""
    (figure,) = find("qclimb/too-high")
    assert len(figure.points) == len(bounds.FACTORS) * len(bounds.SHARES_TOO_HIGH) == 25
    places = [(point.values["misses"], point.values["factor"]) for point in figure.points]
    assert places[:2] == [(0.001, 2), (0.001, 10)]
    assert places[-1] == (0.5, 1000)
    for point in (figure.points[0], figure.points[8], figure.points[-1]):
        for scheme in figure.schemes:
            runs = flat(resolved(run_of(figure, scheme, point, "full")))
            said = {
                "traffic.websearch.sizes": "websearch-pfabric",
                "traffic.websearch.load": 0.8,
                f"{TAGS}.thresholds": "websearch-0.8",
                TAGS: "pias" if scheme.name == "PIAS" else "qclimb",
                BOUND: "miss" if scheme.name == "QCLIMB" else "uniform",
                f"{BOUND}.least": 0.8,
            }
            if scheme.name == "QCLIMB":
                said[f"{BOUND}.misses"] = point.values["misses"]
                said[f"{BOUND}.excess"] = point.values["factor"] - 1
            assert {key: runs.get(key) for key in said} == said
    # Each claim is about the point that its words end with.
    for claim in figure.claims:
        *_, times, misses = claim.says.split(", ")
        over = {
            "factor": int(times.partition(" = ")[2]),
            "misses": float(misses.partition(" = ")[2]),
        }
        assert dict(claim.over.where) == over


def test_the_best_thresholds_are_those_of_the_command():
    for workload, (sizes, _) in WORKLOADS.items():
        found = thresholds.find(sizes, load=0.8, levels=8, objective="ml-fcfs")
        assert found.best.thresholds == bounds.BEST[workload]


SENDERS = "traffic.websearch"
RTO = {f"{SENDERS}.recovery.{key}": "10ms" for key in ("min_rto", "initial_rto")}
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
    "worse priorities tell of losses too": {f"{SENDERS}.recovery.or_worse": True},
    "losses by selective acks": {f"{SENDERS}.recovery": "sack"},
    "losses by duplicate acks": {f"{SENDERS}.recovery": "duplicate-acks"},
    "losses by time (RACK)": {f"{SENDERS}.recovery": "rack"},
    "losses by timeouts alone": {f"{SENDERS}.recovery": "timeout-only"},
    "bounds from 0": {f"{BOUND}.least": 0.0},
    "bounds of 1.6 KB": {BOUND: "constant", f"{BOUND}.size": "1.6KB"},
    "alpha begins at 0": {f"{SENDERS}.alpha0": 0.0},
    "first window 10 packets": {f"{SENDERS}.initial_window": "10pkt"},
    "marks by queue": {"leaf.aqm.scope": "queue", "spine.aqm.scope": "queue"},
    "min RTO 10 ms": RTO,
    "max RTO 10 ms": {f"{SENDERS}.recovery.max_rto": "10ms"},
    "least window two packets": {f"{SENDERS}.min_window": "2pkt"},
    "a loss cuts as much as a mark": {f"{SENDERS}.loss_cut": "alpha"},
    "small flows have at most 10 KB": {"record.short": "10KB"},
    "NICs send flows in turn": {"nic.scheduling": "per-flow-rr"},
    "windows grow only with a short NIC queue": {f"{SENDERS}.host_backlog": "1bdp"},
    "links of 1 us": {"topology.link_delay": "1us", "topology.base_rtt": "5us"},
    "marks from 200 packets": {f"{tier}.aqm.threshold": "200pkt" for tier in ("leaf", "spine")},
    "one later packet tells of a loss": {f"{SENDERS}.recovery.dupthresh": 1},
    "numbers take no bytes": {f"{SENDERS}.recovery.number_bytes": "0B"},
    "PIAS finds losses by timeouts alone": {},
    "four levels": {f"{TAGS}.thresholds": [f"{1460 * n}B" for n in (909, 1648, 2143)]},
    "DT with a quarter of the free buffer": {
        f"{tier}.sharing.alpha": 0.25 for tier in ("leaf", "spine")
    },
    "alpha follows marks fast (g 1/4)": {f"{SENDERS}.g": 1 / 4},
    "alpha follows marks slowly (g 1/256)": {f"{SENDERS}.g": 1 / 256},
    "marks count where packets arrive, as in Linux": {f"{SENDERS}.share_of": "delivered"},
    "a handshake opens connections": {f"{SENDERS}.handshake": True},
    "connections stay open": {
        f"{SENDERS}.connections": "open",
        f"{SENDERS}.restart_idle": True,
    },
    "connections stay open, each flow begins with the first window": {
        f"{SENDERS}.connections": "open",
        f"{SENDERS}.restart_each": True,
    },
    "cuts take effect ack by ack": {f"{SENDERS}.recovery.reduction": "proportional"},
    "a mark's cut counts for a loss, too": {f"{SENDERS}.recovery.cut_once": True},
}
"""Those that are one key, or the same key of two tiers; the others have a test of their own."""
OTHERS = (
    "240 packets for each port",
    "NICs mark at 65 packets and hold 240",
    "NewReno with ECN",
)
OF_LOSSES = {
    f"{SENDERS}.recovery.{key}"
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
            assert runs[f"{SENDERS}.recovery"] == "per-priority"
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
        flat(resolved(run_of(figure, scheme, point)))[f"{SENDERS}.recovery"]
        for scheme in figure.schemes
    ]
    assert ways == ["timeout-only", "per-priority", "per-priority"]


def test_packets_are_sprayed_in_the_network_with_spines():
    (figure,) = find("qclimb/spraying")
    found = [
        (runs["routing"], runs[f"{SENDERS}.recovery"], runs["topology.spines"])
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
    return changes(plain, found)


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
    "one later packet": {f"{SENDERS}.recovery.dupthresh": 1},
    "worse priorities tell, too": {f"{SENDERS}.recovery.or_worse": True},
    "one later packet, worse ones too": {
        f"{SENDERS}.recovery.dupthresh": 1,
        f"{SENDERS}.recovery.or_worse": True,
    },
    "selective acks": {f"{SENDERS}.recovery": "sack"},
    "duplicate acks": {f"{SENDERS}.recovery": "duplicate-acks"},
    "timeouts alone": {f"{SENDERS}.recovery": "timeout-only"},
    "repairs first": {f"{TAGS}.repairs": "as-first"},
    "first window 10 packets": {f"{SENDERS}.initial_window": "10pkt"},
    "least timeout 200 us": {
        f"{SENDERS}.recovery.{key}": "200us" for key in ("min_rto", "initial_rto")
    },
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
            if f"{SENDERS}.recovery" in said:
                found = {key: value for key, value in found.items() if key not in OF_LOSSES}
            assert found == said, point.label


@pytest.mark.parametrize("which", ["", "-best"])
@pytest.mark.parametrize(("workload", "quick"), [("websearch", 3_000), ("datamining", 1_500)])
def test_bounds_have_as_many_flows_as_is_said(workload, which, quick):
    """Without a number flows end with the run's duration, which is that of 50,000."""
    (figure,) = find(f"qclimb/bounds-{workload}{which}")
    flows = {"quick": quick, "page": None, "full": None}
    runs = {
        scale: flat(resolved(run_of(figure, figure.schemes[0], figure.points[0], scale)))
        for scale in flows
    }
    assert {scale: run.get("traffic.websearch.flows") for scale, run in runs.items()} == flows
    assert len({run["duration"] for run in runs.values()}) == 1


def test_headlines_have_five_seeds():
    for figure in qclimb.FIGURES:
        seeds = {name: scale.seeds for name, scale in figure.scales.items()}
        whole = (1, 2, 3) if "bounds" in figure.name else (1, 2, 3, 4, 5)
        assert seeds == {"quick": (1,), "page": whole, "full": whole}
    assert setup.LOADS == (0.5, 0.6, 0.7, 0.8, 0.9)
