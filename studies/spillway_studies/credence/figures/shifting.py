"""Forests while traffic shifts: one that stays, and ones that switches teach during the run."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from spillway.run.run import run
from spillway.tasks.run import Report
from spillway_studies.claims import (
    Computed,
    Figure,
    Lines,
    Number,
    Panel,
    Point,
    Scale,
    Scheme,
    basis,
)
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.models import wait

if TYPE_CHECKING:
    from spillway.learning.oracle import Model, Scores
    from spillway.result.result import Result

PARTS = {"web search": "websearch", "data mining": "datamining", "storage": "alibaba-storage"}
"""The traffic of one third of the run after the other, and its sizes of flows."""
OTHER = 1000
"""The difference between the seed of a run and that of the trace that its forest is trained on."""

CREDENCE = ("switch.sharing=credence",)
STATIC = Scheme("Credence, bundled forest", CREDENCE, style=3)
OWN = Scheme("Credence, trained on the first traffic", CREDENCE, style=4)
TRUST = Scheme(
    "Credence, bundled forest, trust", (*CREDENCE, "switch.sharing.trust=regret"), style=5
)
NONE = Scheme(
    "Credence, no drop predicted", (*CREDENCE, "switch.sharing.oracle=always-accept"), style=6
)
ONLINE_50 = Scheme("Credence, online, 50 ms", CREDENCE, style=7)
ONLINE_25 = Scheme("Credence, online, 25 ms", CREDENCE, style=8)
EVERY = {ONLINE_50.name: "50ms", ONLINE_25.name: "25ms"}
SCHEMES = (setup.DT, setup.LQD, STATIC, OWN, TRUST, NONE, ONLINE_50, ONLINE_25)

SCENARIO = "credence"
COUNTED = ("recall", "precision")


def traffic(part_ms: int, last_ms: int, count: int = len(PARTS)) -> tuple[str, ...]:
    """The first parts, each at 80% of the uplinks, with incast as in the paper's training."""
    begins = [f"{place * part_ms}ms" for place in range(count + 1)]
    parts = [
        f'{{ name = "{sizes}", kind = "poisson", sizes = "{sizes}", load = 0.8, '
        f'load_of = "uplink", destinations = "other-rack", start = "{begin}", stop = "{end}" }}'
        for sizes, begin, end in zip(PARTS.values(), begins, begins[1:], strict=False)
    ]
    incast = (
        '{ name = "incast", kind = "incast", queries_per_host_per_s = 2, burst = "75%", '
        'fan_in = 16, senders = "next-rack", initial_window = "flow" }'
    )
    return (
        f"traffic=[{', '.join([*parts, incast])}]",
        f"duration={begins[-1]}",
        f"stop={last_ms}ms",
    )


# Runs, each made once for all parts ---------------------------------------------------------------


_LOCK = threading.Lock()
_LOCKS: dict[tuple[Any, ...], threading.Lock] = {}
_FOUND: dict[tuple[Any, ...], list[dict[str, float | None]]] = {}


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def point(
    report: Report, *, part: int, scheme: str, seed: int, part_ms: int, last_ms: int, one_in: int
) -> Mapping[str, float | None]:
    """What a scheme comes to in a part of the traffic."""
    key = (scheme, seed, part_ms, last_ms, one_in)
    with _LOCK:
        lock = _LOCKS.setdefault(key, threading.Lock())
    wait(report, lock)
    try:
        if key not in _FOUND:
            _FOUND[key] = _parts(report, *key)
        return _FOUND[key][part - 1]
    finally:
        lock.release()


def _parts(
    report: Report, scheme: str, seed: int, part_ms: int, last_ms: int, one_in: int
) -> list[dict[str, float | None]]:
    """The numbers of every part."""
    from spillway.learning import oracle
    from spillway.learning.oracle.trace import load

    (chosen,) = (each for each in SCHEMES if each.name == scheme)
    sets = (*traffic(part_ms, last_ms), *chosen.assignments, "record.drops=false")
    traced = ("record.oracle_trace=true", f"record.oracle_trace_sample={one_in}")
    with TemporaryDirectory(prefix="spillway-shifting-") as name:
        folder = Path(name)
        if chosen.name in EVERY:
            found = oracle.online(
                SCENARIO,
                every=EVERY[chosen.name],
                out=folder / "online",
                sample=one_in,
                seed=seed,
                set=sets,
                follow=lambda _label, _share: (report, lambda: None),
            )
            of_parts: list[list[Scores]] = [[] for _ in PARTS]
            for window in found.windows:
                of_parts[window.begin_ps // (part_ms * 10**9)].append(window.scores)
            return _numbers(found.result, part_ms, [_sum(scores) for scores in of_parts])
        model: Model | None = None
        if chosen in (STATIC, TRUST):
            model = oracle.Model.load("default")
        if chosen == OWN:
            model = _first(report, folder, seed + OTHER, part_ms, last_ms, one_in)
            model.save(folder / "own.safetensors")
            sets = (*sets, f"switch.sharing.model={folder / 'own.safetensors'}")
        more = traced if model is not None else ()
        result = run(SCENARIO, seed=seed, set=(*sets, *more), out=folder / "run", progress=report)
        if model is None:
            return _numbers(result, part_ms, [None] * len(PARTS))
        trace = load(folder / "run")
        at = _part(trace.time_ps, part_ms)
        judged = [oracle.evaluate(model, trace.where(at == n)) for n in range(len(PARTS))]
        return _numbers(result, part_ms, judged)


def _first(
    report: Report, folder: Path, seed: int, part_ms: int, last_ms: int, one_in: int
) -> Model:
    """A forest trained on what LQD drops in the first part, with another seed."""
    from spillway.learning import oracle
    from spillway.learning.oracle.trace import load

    sets = (*traffic(part_ms, last_ms, 1), *setup.LQD.assignments)
    traced = ("record.oracle_trace=true", f"record.oracle_trace_sample={one_in}")
    more = ("record.drops=false", *traced)
    run(SCENARIO, seed=seed, set=(*sets, *more), out=folder / "first", progress=report)
    return oracle.train([load(folder / "first")], split="none").model


def _part(time_ps: Any, part_ms: int) -> Any:
    """The numbers of the parts in which times lie."""
    return time_ps // np.uint64(part_ms * 10**9)


def _sum(scores: list[Scores]) -> Scores:
    """The scores of several windows together."""
    from spillway.learning.oracle import Scores

    cells = ("true_positives", "false_positives", "true_negatives", "false_negatives")
    tp, fp, tn, fn = (sum(getattr(each, cell) for each in scores) for cell in cells)
    return Scores(tp, fp, tn, fn, scores[0].ports)


def _numbers(
    result: Result, part_ms: int, scores: list[Scores] | list[None]
) -> list[dict[str, float | None]]:
    """The numbers of the flows that start in each part, and of the forests in use."""
    flows = result.flows
    start, timeouts = (flows[name].to_numpy() for name in ("start_ps", "timeouts"))
    slowdown = flows["slowdown"].to_numpy(zero_copy_only=False)
    is_incast = np.array(flows["class"].to_pylist()) == "incast"
    late, part = timeouts > 0, _part(start, part_ms)
    found = []
    for number, of_part in enumerate(scores):
        own = part == number
        on_time = slowdown[own & ~late & ~np.isnan(slowdown)]
        numbers: dict[str, float | None] = {
            "timeouts": float(late[own].mean()),
            "incast_timeouts": float(late[own & is_incast].mean()),
            "on_time": float(on_time.mean()),
            "flows": float(own.sum()),
        }
        if of_part is not None:
            numbers |= {score: getattr(of_part, score) for score in COUNTED}
        found.append(numbers)
    return found


# The figure ---------------------------------------------------------------------------------------


TIMEOUTS = Number("timeouts", "flows with a timeout", "% of all", 100)
INCAST = Number("incast_timeouts", "incast flows with a timeout", "% of these", 100)
ON_TIME = Number("on_time", "mean slowdown of flows without a timeout", "slowdown")
RECALL = Number("recall", "recall", "")
PRECISION = Number("precision", "precision", "")

_WHOLE = Scale((1, 2, 3), parameters={"part_ms": 100, "last_ms": 400, "one_in": 50})

FIGURE = Figure(
    name="credence/shifting",
    title="Traffic that shifts from web search to data mining to storage",
    source="not in the paper",
    about="Each traffic offers 80% of the uplinks for a third of the run, beside bursts of 75% of "
    "the buffer. Flows count where they start. The bundled forest was trained on web search and "
    "the same bursts, for a second; the next one on the first third of an LQD run with another "
    "seed. Online forests are trained by the switches on the last window; the first is the bundled "
    "one. Recall and precision are those of the forest in use, on all arrivals, against the "
    "virtual LQD.",
    measure=Computed(f"{__name__}:point"),
    points=tuple(
        Point({"part": number}, (), {"part": name}, {"part": name})
        for number, name in enumerate(PARTS, 1)
    ),
    schemes=SCHEMES,
    scales={
        "quick": Scale((1,), parameters={"part_ms": 50, "last_ms": 200, "one_in": 50}),
        "page": _WHOLE,
        "full": _WHOLE,
    },
    plot=Lines(
        tuple(
            Panel(metric, metric.name) for metric in (TIMEOUTS, INCAST, ON_TIME, RECALL, PRECISION)
        ),
        "part",
        "traffic",
        columns=3,
    ),
    is_of_paper=False,
    told_by="anything",
)
