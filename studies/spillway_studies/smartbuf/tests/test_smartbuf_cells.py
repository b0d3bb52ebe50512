"""Smartbuf's figures: every run is what the label and the page of smartbuf say."""

import pytest

from cells import LEARN_DEMANDS, SEED, Told, apart, bundled, changed, flat, resolved, wrong
from spillway.run.run import run
from spillway_studies.claims import Run
from spillway_studies.smartbuf import figures as smartbuf
from spillway_studies.smartbuf.figures import claim, figure8


def leaf(policy, **settings):
    """A policy of the leaves; the spines keep the scenario's, DT with alpha 0.5."""
    own = {f"leaf.sharing.{key}": value for key, value in settings.items()}
    return {"leaf.sharing": policy} | own


EQUAL = {"equal shares": leaf("sp")}
# "N of RTT C / sqrt(N): 1, the largest part that the rule can give."
RTT = {"RTT C / sqrt(N)": leaf("sp", form="rtt", flows=1, share=None)}
CS = {"complete sharing": leaf("cs")}
# Of DT, EDT, FAB and Smartbuf alpha is 0.5: their default, see below.
DT = {"DT": leaf("dt")}
EDT = {"EDT": leaf("edt")}
FAB = {"FAB": leaf("fab")}
LQD = {"LQD": leaf("lqd")}
# "What is learned of a burst is what the port held, by the gradient of the moment in which it held
# most; gradients are equal within 1% of the port's rate": the default, see below.
SMARTBUF = {"Smartbuf": leaf("smartbuf")}
# "What was lost counts too, by the gradient at detection; gradients are equal within the port's
# rate."
DEMANDS = {"Smartbuf, demands": leaf("smartbuf") | LEARN_DEMANDS}
BOTH = SMARTBUF | DEMANDS
FIVE = CS | DT | EDT | BOTH

# "The long ones 80% of the load; the other 20% half single short flows, half incasts."
SHARES = {"long": 0.8, "short": 0.1, "incast": 0.1}


def at_load(percent):
    return {
        f"traffic.{name}.load": round(share * percent / 100, 6) for name, share in SHARES.items()
    }


LOADS = {f"load {percent}%": at_load(percent) for percent in (20, 40, 60, 80, 90)}
HIGH = {"load 80%": at_load(80)}
BURSTS = {"record.bursts": "20%"}


def sized(warmup, duration):
    return {"warmup": warmup, "duration": duration}


THREE = (1, 2, 3)
FIVE_SEEDS = (1, 2, 3, 4, 5)
# "40 ms after 20 ms"; "100 ms after 600 ms", three seeds.
SCALES = {"quick": (THREE, sized("20ms", "60ms")), "full": (THREE, sized("200ms", "1s"))}
HEADLINES = SCALES | {"page": (THREE, sized("600ms", "700ms"))}
# "30 ms after 20 ms, seeds 1 and 2"
MAP_SCALES = {"quick": ((1, 2), sized("20ms", "50ms")), "full": (THREE, sized("200ms", "500ms"))}
CLAIM_SCALES = {
    "quick": (FIVE_SEEDS, sized("20ms", "50ms")),
    "full": (FIVE_SEEDS, sized("200ms", "500ms")),
}


def fig(schemes, points, scales=SCALES, **more):
    return Told("smartbuf", schemes, points, scales=scales, **more)


# Figures 5 and 6: Smartbuf with each of these values, at 80% load, in two readings.
READINGS = {"the text": {}, "demands": LEARN_DEMANDS}


def each(name, key, values):
    return {f"{name} = {value:g}": leaf("smartbuf", **{key: value}) for value in values}


def with_each(name, key, values):
    return fig(each(name, key, values), READINGS, always=at_load(80) | BURSTS)


# "Each reading": the first column of the page's table, which has the settings.
LOST = {"leaf.sharing.record": "admitted+dropped"}


def reading(key, value):
    return {f"leaf.sharing.{key}": value}


ALL_READINGS = {
    "the text": {},
    "key at detection": reading("key", "at-detection"),
    "key at the peak": reading("key", "peak"),
    "what was lost counts": LOST,
    "that, key at detection": LOST | reading("key", "at-detection"),
    "keys of 10% of the rate": reading("key_quantum", 0.1),
    "keys of the rate": reading("key_quantum", 1.0),
    "no smoothing": reading("smoothing", 0.0),
    "smoothing 15/16": reading("smoothing", 15 / 16),
    "entries for 10 ms": reading("max_age", "10ms"),
    "nothing predicted for 20 ms": reading("learning_period", "20ms"),
    # What the text leaves open of it, the algorithm as printed does not.
    "as printed": reading("variant", "printed")
    | {
        f"leaf.sharing.{key}": None
        for key in ("estimate", "floor", "learn_from", "lookup", "own_quantum")
    },
    "demands": LEARN_DEMANDS,
}

# The map: "64% long flows, 16% incasts and single short flows together"; answers of this many hosts
# of this many bytes.
WEB_SEARCH = {"traffic.incast.fan_in": "50..200"}


def alike(hosts, size):
    return {
        "traffic.incast.fan_in": hosts,
        "traffic.incast.sizes": size,
        "traffic.incast.sizes_within": None,
    }


QUERIES = {
    "50 to 200 x web search": WEB_SEARCH,
    "120 x 14480 B": alike(120, "14480B"),
    "240 x 14480 B": alike(240, "14480B"),
    "120 x 7240 B": alike(120, "7240B"),
}


def mixed(percent, queries):
    """A share of incasts of one kind: 64% long flows, and single short ones up to 16%."""
    loads = {
        "traffic.long.load": 0.64,
        "traffic.short.load": round(0.16 - percent / 100, 6),
        "traffic.incast.load": percent / 100,
    }
    return {f"{percent}% in incasts, {queries}": loads | QUERIES[queries]}


MAP = {}
for kind in QUERIES:
    for percent in (1.5, 3.0, 8.0):
        MAP |= mixed(percent, kind)
AS_IN_SCENARIO = mixed(8.0, "50 to 200 x web search")
PLAUSIBLE = mixed(3.0, "120 x 14480 B")

# "What the text leaves open of a prediction": the first column of the page's table.
OPTIONS = {
    "as in the other figures": {},
    "never below DT": reading("floor", "dt"),
    "the largest of the K": reading("estimate", "quantile") | reading("quantile", 1.0),
    "the median of the K": reading("estimate", "quantile") | reading("quantile", 0.5),
    "its own quantum is among them": reading("own_quantum", True),
    "the first threshold stays": reading("lookup", "detection"),
    "each port has a history": reading("learn_from", "own-port"),
}

CHOICES = {
    "as in the scenario": {},
    "alpha 1": {},
    "alpha 8": {},
    "fan-in 30 to 100": {"traffic.incast.fan_in": "30..100"},
    "fan-in 150 to 300": {"traffic.incast.fan_in": "150..300"},
    "answers within 100 us": {"traffic.incast.jitter": "100us"},
    "answers within 1 ms": {"traffic.incast.jitter": "1ms"},
    # "Short flows of 1 to 32 KB and long ones of 1 to 10 MB."
    "all sizes equally likely": {
        f"traffic.{name}.{key}": sizes
        for name, sizes in (("short", "1KB..32KB"), ("incast", "1KB..32KB"), ("long", "1MB..10MB"))
        for key in ("sizes", "sizes_within")
    },
    # All of the 16% but a hundredth of a percent.
    "no single short flows": {"traffic.short.load": 0.0001, "traffic.incast.load": 0.16},
    # A tenth of 8%, and the rest of 16%.
    "a tenth of the incasts": {"traffic.incast.load": 0.008, "traffic.short.load": 0.152},
    "short flows begin at once": {"traffic.incast.initial_window": "flow"},
    "marks from 20 packets": {"switch.aqm.threshold": "20pkt"},
    "NewReno, no marks": {"senders.transport": "newreno"},
    "handshakes": {"senders.handshake": True},
    "min RTO 1 ms": {"senders.recovery.min_rto": "1ms", "senders.recovery.initial_rto": "1ms"},
    "EDT up to the whole buffer": {},
    "EDT until 100 packets fewer": {},
}


def alpha(value):
    """Of all schemes that have one."""
    return {name: {"leaf.sharing.alpha": value} for name in DT | EDT | BOTH}


OF_SCHEME = {
    "alpha 1": alpha(1.0),
    "alpha 8": alpha(8.0),
    "EDT up to the whole buffer": {"EDT": {"leaf.sharing.limit": "whole"}},
    "EDT until 100 packets fewer": {"EDT": {"leaf.sharing.drain_packets": 100}},
}


def at(settings, choices):
    """Every choice at every setting."""
    return {
        f"{where}, {what}": {**there, **so}
        for where, there in settings.items()
        for what, so in choices.items()
    }


# Figure 4: "Two flows share a line of 10 Gbps; to another port of the leaf come ten packets from
# each of 340 hosts, 4.9 MB", for the sixth time.
MS = 1000
FIGURE_4 = (
    {"name": "flows", "kind": "persistent", "senders": [2, 3], "receiver": 0},
    {
        "name": "incast",
        "kind": "incast",
        "receivers": [1],
        "fan_in": 340,
        "sizes": "14480B",
        "senders": "other-racks",
        "start": f"{10 * MS}us",
        "interval": f"{20 * MS}us",
        "queries": 6,
    },
)

TOLD = {
    "smartbuf/figure1": fig(
        DT,
        HIGH,
        {
            "quick": (THREE, {"duration": "30ms", "record.drops": False}),
            "full": (FIVE_SEEDS, {"duration": "100ms", "record.drops": False}),
        },
        always=BURSTS | {"record.port_interval": "10us", "record.port_switch": 0},
    ),
    "smartbuf/figure2": fig(DT | EDT | BOTH, LOADS, always=BURSTS),
    "smartbuf/figure3": fig(EQUAL | RTT | CS | DT | EDT | FAB | BOTH, LOADS, HEADLINES),
    "smartbuf/figure4": fig(
        DT | EDT | BOTH,
        {"an incast of 4.9 MB": {}},
        {"quick": (THREE, {}), "full": (FIVE_SEEDS, {})},
        always={
            "duration": f"{130 * MS}us",
            "stop": f"{130 * MS}us",
            "record.windows": [0, 1],
            "record.window_interval": "100us",
            "record.port_interval": "100us",
            "record.port_switch": 0,
        },
        traffic=FIGURE_4,
    ),
    "smartbuf/figure5": with_each("K", "k", (1, 2, 3, 5, 10, 30)),
    "smartbuf/figure6": with_each("sigma", "sigma", (1.25, 2.5, 3.75, 5.0, 10.0, 20.0)),
    "smartbuf/beta": with_each("beta", "beta", (0.01, 0.1, 0.19, 0.2, 0.35, 0.5, 0.7, 0.9)),
    "smartbuf/figure7": fig(BOTH, LOADS, always=BURSTS),
    "smartbuf/figure8": fig(BOTH, LOADS, HEADLINES, always=BURSTS),
    "smartbuf/buffers": fig(
        FIVE, at(HIGH, {f"{size} MB": {"leaf.buffer": f"{size}MB"} for size in (1, 2, 4, 8, 16)})
    ),
    # "Credence with two forests: the bundled one, and one that was trained in this."
    "smartbuf/figure3-credence": fig(
        CS
        | DT
        | BOTH
        | LQD
        | {
            "Credence, its model": leaf("credence"),
            "Credence, trained here": leaf("credence", model="smartbuf"),
        },
        LOADS,
        HEADLINES,
    ),
    "smartbuf/readings": fig(SMARTBUF, ALL_READINGS, always=at_load(80) | BURSTS),
    "smartbuf/choices": fig(
        FIVE,
        at(HIGH, CHOICES),
        of_scheme={f"load 80%, {choice}": what for choice, what in OF_SCHEME.items()},
    ),
    "smartbuf/options": fig(
        BOTH, at(AS_IN_SCENARIO | PLAUSIBLE, OPTIONS), MAP_SCALES, always=BURSTS
    ),
    "smartbuf/map": fig(EQUAL | CS | DT | BOTH, MAP, MAP_SCALES, always=BURSTS),
    "smartbuf/claim": fig(EQUAL | CS | DT | LQD | BOTH, PLAUSIBLE, CLAIM_SCALES, always=BURSTS),
    # "after the 600 ms of learning of Figures 3 and 8"
    "smartbuf/claim-learned": fig(
        EQUAL | CS | DT | LQD | BOTH,
        PLAUSIBLE,
        {
            "quick": ((1, 2, 3), {"warmup": "600ms", "duration": "630ms"}),
            "full": ((1, 2, 3, 4, 5), {"warmup": "600ms", "duration": "900ms"}),
        },
        always=BURSTS,
    ),
    "smartbuf/learning": fig(
        BOTH,
        HIGH,
        {
            "quick": ((1,), {"duration": "600ms", "record.drops": False}),
            "full": ((1,), {"duration": "2s", "stop": "3s", "record.drops": False}),
        },
        always=BURSTS,
    ),
}
RUNS = [figure for figure in smartbuf.FIGURES if isinstance(figure.measure, Run)]


@pytest.mark.parametrize("figure", RUNS, ids=lambda figure: figure.name)
def test_every_run_is_what_is_told(figure):
    assert wrong(figure, TOLD[figure.name]) == {}


# the page of smartbuf, "What is simulated": section IV-A of the paper, and what is ours.
SETUP = {
    "topology.leaves": 20,
    "topology.spines": 10,
    "topology.hosts_per_leaf": 20,
    "topology.host_rate": "10Gbps",
    "topology.fabric_rate": "10Gbps",
    "topology.base_rtt": "80us",
    "leaf.buffer": "4MB",
    "leaf.queues_per_port": 1,
    "spine.sharing": "dt",
    "spine.sharing.alpha": 0.5,
    "leaf.aqm.threshold": "65pkt",
    "routing": "ecmp",
    "traffic.long.sizes": "websearch",
    "traffic.long.sizes_within": "1MB..10MB",
    "traffic.short.sizes": "websearch",
    "traffic.short.sizes_within": "1KB..32KB",
    "traffic.incast.sizes": "websearch",
    "traffic.incast.sizes_within": "1KB..32KB",
    "traffic.incast.fan_in": "50..200",
    "traffic.incast.senders": "other-racks",
    "traffic.incast.jitter": "0us",
    **{
        f"traffic.{name}.{key}": value
        for name in SHARES
        for key, value in {
            "load_of": "uplink",
            "transport": "dctcp",
            "initial_window": "10pkt",
            "recovery.initial_rto": "10ms",
            "recovery.min_rto": "10ms",
            "handshake": False,
        }.items()
    },
}
# What schemes have without being told: alpha of all that is built on DT, and the paper's choices
# for Smartbuf: 3 neighbours, a fifth of the buffer, a half of the maximum, an entry for a second.
DEFAULTS = {
    "dt": {"alpha": 0.5},
    "edt": {"alpha": 0.5, "limit": "equal", "drain_packets": 4},
    "fab": {"alpha": 0.5},
    "smartbuf": {
        "alpha": 0.5,
        "k": 3,
        "sigma": 5,
        "beta": 0.5,
        "max_age": "1s",
        "variant": "text",
        "key": "at-max",
        "record": "admitted",
        "key_quantum": 0.01,
        "learning_period": "0s",
        "estimate": "mean",
        "lookup": "each-departure",
        "floor": "none",
        "learn_from": "all-ports",
    },
    "credence": {"model": "default"},
}


def test_the_scenario_is_that_of_the_page():
    plain = bundled("smartbuf")
    assert {key: plain[key] for key in SETUP} == SETUP


@pytest.mark.parametrize("policy", DEFAULTS)
def test_policies_have_what_the_page_says_without_being_told(policy):
    own = bundled("smartbuf", f"switch.leaf.sharing={policy}")
    said = {f"leaf.sharing.{key}": value for key, value in DEFAULTS[policy].items()}
    assert {key: own[key] for key in said} == said


class EnoughError(Exception):
    """The last of a point's runs has been seen."""


def runs_of(monkeypatch, module, figure, point, scheme, scale):
    """A point's two scenarios, of which the first is run for no time; and the folder of that."""
    found, folders = [], []

    def instead(scenario, out=None, progress=None):
        found.append(flat(resolved(scenario)))
        if len(found) == 2:
            raise EnoughError
        if out is not None:
            folders.append(out)
            run(scenario.set("duration=1us", "stop=2us"), out=out)

    monkeypatch.setattr(module, "run", instead)
    with pytest.raises(EnoughError):
        figure.measure.task(point, scheme, SEED, figure.scale(scale)).run(lambda _: None)
    return found, folders


SIZES = {"quick": sized("20ms", "60ms"), "full": sized("200ms", "1s")}


@pytest.mark.parametrize("scale", SIZES)
def test_figure_8_stands_beside_a_run_with_endless_memory(monkeypatch, scale):
    """The same flows; nobody refuses anything, and a burst is still what it is in 4 MB."""
    figure = figure8.SECOND_RUN
    assert figure.scale(scale).seeds == THREE
    assert [point.label for point in figure.points] == list(LOADS)
    assert [scheme.name for scheme in figure.schemes] == list(BOTH)
    burst = {"record.bursts": f"{4_000_000 // 5}B", "record.drops": False, "seed": SEED}
    endless = {
        "leaf.sharing": "cs",
        "spine.sharing": "cs",
        "leaf.buffer": "unlimited",
        "spine.buffer": "unlimited",
    }
    for point in figure.points:
        for scheme in figure.schemes:
            runs, _ = runs_of(monkeypatch, figure8, figure, point, scheme, scale)
            both = LOADS[point.label] | SIZES[scale] | burst
            for made, said in zip(runs, (BOTH[scheme.name], endless), strict=True):
                assert apart(changed("smartbuf", both | said), made) == {}


@pytest.mark.parametrize("scale", CLAIM_SCALES)
def test_leaves_begin_with_the_history_of_a_run_without_losses(monkeypatch, scale):
    """ "Leaves of 1 GB, 50 ms, another seed", in which nothing is predicted."""
    figure = claim.UNBOUNDED
    seeds, times = CLAIM_SCALES[scale]
    assert figure.scale(scale).seeds == seeds
    (point,) = figure.points
    assert point.label in PLAUSIBLE
    assert [scheme.name for scheme in figure.schemes] == list(BOTH)
    for scheme in figure.schemes:
        (first, second), (folder,) = runs_of(monkeypatch, claim, figure, point, scheme, scale)
        both = PLAUSIBLE[point.label] | BOTH[scheme.name] | {"record.drops": False}
        learns = {
            "seed": first["seed"],
            "duration": "50ms",
            "leaf.buffer": "1GB",
            # More than a fifth of 4 MB is a burst.
            "leaf.sharing.sigma": 1e9 / 800e3,
            "leaf.sharing.learning_period": "50ms",
        }
        assert first["seed"] not in range(1, 100)
        assert apart(changed("smartbuf", both | learns), first) == {}
        knows = {
            "seed": SEED,
            **times,
            "record.bursts": "20%",
            "leaf.sharing.history": second["leaf.sharing.history"],
        }
        assert apart(changed("smartbuf", both | knows), second) == {}
        assert second["leaf.sharing.history"].startswith(str(folder))


def test_numbers_of_bursts_are_those_that_their_names_say():
    """By path, as `bursts.numbers` makes them: errors are of the last threshold of a burst."""
    paths = {
        metric.name: metric.path
        for figure in smartbuf.FIGURES
        for metric in figure.metrics
        if getattr(metric, "path", "").startswith("bursts.")
    }
    assert paths == {
        "mean error": "bursts.mean_error",
        "its mean error": "bursts.mean_error_first",
        "largest error": "bursts.largest_error",
        "most that a burst may hold": "bursts.most_threshold",
        "most that a burst holds": "bursts.most_peak",
        "most that a burst wants": "bursts.most_demand",
        "bursts at all leaves": "bursts.count",
        "queries that meet a burst": "bursts.collisions",
        "share of bursts with another close by": "bursts.close",
    }
