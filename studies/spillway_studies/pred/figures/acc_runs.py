"""The runs of Figures 16 and 17: PRED, and agents of ACC that explore more or less."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from spillway.learning.acc.variant import utility
from spillway.result.result import Result
from spillway.run.run import run
from spillway.scenario.scenario import Scenario
from spillway_studies.claims import Number, Point, Scheme, along, basis, product, samples
from spillway_studies.pred.figures import star

TRAINING, OTHER = "the trace of training", "other traces"
TRAINED_ON = 1
"""The seed of the trace on which agents were trained."""
APART = 200
"""Other traces have seeds from here on, which no agent has seen."""
MORE, HALF, BURSTS = "80% of the line", "90%, half of it small", "bursts of all senders"
"""Other readings of the traffic, which no agent was trained on."""


def _bursts(name: str, sizes: str, load: float) -> str:
    """At random times all senders begin a message at once."""
    return (
        f'{{ name = "{name}", kind = "incast", receivers = [0], senders = "any", fan_in = 18, '
        f'sizes = "{sizes}", load = {load:g}, load_of = "receiver", jitter = "0us" }}'
    )


_TRAFFIC: Mapping[str, tuple[str, ...]] = {
    MORE: ("traffic.large.load=0.7",),
    HALF: ("traffic.small.load=0.45", "traffic.large.load=0.45"),
    BURSTS: (
        f"traffic=[{_bursts('small', '3KB..6KB', 0.1)}, {_bursts('large', '30KB..600KB', 0.5)}]",
    ),
}

PRED = Scheme("PRED", style=3)
PRED_80 = Scheme(star.PRED_80.name, style=star.PRED_80.style, exploratory=star.PRED_80.exploratory)
ACC = Scheme("ACC", style=0)
ACC_OTHER = Scheme("ACC, trained on other traffic", style=1)
MYOPIC = Scheme("ACC, myopic", style=5)
UNTRAINED = Scheme("ACC, untrained", style=8)
OWN = Scheme("ACC, of its own paper", style=6)
FIXED = Scheme("the best setting that stays", style=2)

_AQMS = {
    PRED.name: '{ kind = "pred", preset = "paper" }',
    PRED_80.name: '{ kind = "pred", preset = "paper", t_fcs = "100us", t_qla = "400us" }',
    FIXED.name: '{ kind = "red", min = "3000B", max = "30000B", max_probability = 0.95, '
    'not_ect = "pass" }',
}
"""By scheme. The best setting of the table is that which `spillway acc best-action` found."""
_AGENTS = {
    ACC.name: "pred-same",
    ACC_OTHER.name: "pred-other",
    MYOPIC.name: "pred-myopic",
    UNTRAINED.name: "pred-untrained",
    OWN.name: "acc-same",
}
_ALONE = frozenset({MYOPIC.name, OWN.name})
"""The schemes with only one agent, which runs with all seeds share."""
SCHEMES = (PRED, PRED_80, ACC, ACC_OTHER, MYOPIC, UNTRAINED, OWN, FIXED)

EXPLORES = (0.0, 0.01, 0.05)
TOLD = 0.01
"""The exploration for which claims count, and of runs with other traffic; the text has none."""


def _points(traces: tuple[str, ...], explores: tuple[float, ...]) -> tuple[Point, ...]:
    return product(
        along("trace", traces),
        along("exploration", explores, label="exploration {:.0%}", tick="{:.0%}"),
    )


POINTS = (*_points((TRAINING, OTHER), EXPLORES), *_points((MORE, HALF, BURSTS), (TOLD,)))

MEDIAN = Number("fct.p50", "median completion time of flows under 100 KB", "ms")
TAIL = Number("fct.p99", "p99 completion time of flows under 100 KB", "ms")
QUEUE = Number("queue.mean", "mean queue", "packets")
QUEUE_95 = Number("queue.p95", "95th percentile of the queue", "packets")
QUEUE_99 = Number("queue.p99", "99th percentile of the queue", "packets")
GOODPUT = Number("goodput", "throughput", "Gbps")
UTILITY = Number("utility", "mean utility of 200 us", "utility")

SHARES = tuple(share / 200 for share in range(1, 201))
"""The shares whose quantiles are kept."""
SHOWN_MS = (100.0, 120.0)
"""What Figure 17 shows: the text's spike is near 110 ms."""
_STEP_US = 10
_UTILITY_US = 200
_ON_WIRE = 1500 / 1448
_LINE_GBPS = 10.0
_SHORT = 100_000


@basis.results(1, on=basis.EVERYTHING, files=("agents/*.safetensors",))
def point(
    report: Callable[[object], object],
    *,
    trace: str,
    exploration: float,
    scheme: str,
    seed: int,
    duration: str,
) -> Mapping[str, float]:
    """Numbers of a run. The seed is that of the training, and of the trace if that is another."""
    aqm = _AQMS.get(scheme)
    if aqm is None:
        model = json.dumps(str(agent(_AGENTS[scheme], 1 if scheme in _ALONE else seed)))
        aqm = f'{{ kind = "acc", model = {model}, exploration = {exploration} }}'
    scenario = Scenario.load("acc-incast").set(
        f"switch.aqm={aqm}",
        f"seed={TRAINED_ON if trace == TRAINING else APART + seed}",
        f"duration={duration}",
        *_TRAFFIC.get(trace, ()),
        "record.drops=false",
        f"record.queue_interval={_STEP_US}us",
        "record.empty_queues=true",
        f"record.aqm_interval={_STEP_US}us",
    )
    return numbers(run(scenario, progress=report))


def agent(name: str, number: int) -> Path:
    """The file of an agent: a way of training, and the number of the training.

    `make rl` made them; each has its command in it.
    """
    return Path(__file__).parent / "agents" / f"{name}-{number}.safetensors"


def numbers(result: Result) -> dict[str, float]:
    """Completion times of short flows, the queue while traffic begins, and both over time."""
    flows = result.flows
    fct = flows["fct_ps"].to_numpy()[flows["size_bytes"].to_numpy() < _SHORT] / 1e9
    time, held = star.queue(result)
    fct_ms = np.quantile(fct, SHARES, method="inverted_cdf")
    queue = np.quantile(held, SHARES, method="inverted_cdf")
    begin, end = (1000 * ms for ms in SHOWN_MS)
    shown = star.thinned(time, held, begin, end, _STEP_US)
    # The utility is linear in what is sent, but not in the queue.
    each = _UTILITY_US // _STEP_US
    means = held[: len(held) // each * each].reshape(-1, each).mean(axis=1) * star.PACKET
    goodput = result.summary["goodput_gbps"]["all"]
    busy = goodput * _ON_WIRE / _LINE_GBPS
    return {
        "fct.p50": float(np.quantile(fct, 0.5, method="inverted_cdf")),
        "fct.p99": float(np.quantile(fct, 0.99, method="inverted_cdf")),
        "queue.mean": float(held.mean()),
        "queue.p95": float(np.quantile(held, 0.95, method="inverted_cdf")),
        "queue.p99": float(np.quantile(held, 0.99, method="inverted_cdf")),
        "goodput": goodput,
        "utility": float(np.mean([utility(busy, mean) for mean in means])),
        **samples.series(
            {"fct": fct_ms.tolist(), "waiting": queue.tolist(), "queue": shown}, _STEP_US
        ),
    }
