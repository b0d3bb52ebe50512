"""Figures 7 and 10 with other models: from leaves' drops, one per switch, with two features."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.run.run import run
from spillway.tasks.run import Report
from spillway_studies.claims import Figure, Scale, Scheme, basis
from spillway_studies.credence.figures import figure7, figure10, setup
from spillway_studies.credence.figures.setup import CREDENCE, LQD

if TYPE_CHECKING:
    from spillway.learning.oracle import Model
    from spillway.learning.oracle.trace import Trace

# Traces of LQD's drops under the paper's training scenario, each recorded once --------------------


MORE_QUERIES = ("traffic.incast.queries_per_host_per_s=20",)
"""Ten times as many queries as in the paper: then leaves drop as much as spines do."""

_LOCK_OF_TRACES = threading.Lock()
TRACES: dict[tuple[int, str, int, tuple[str, ...]], Trace] = {}
"""Recorded traces, by seed, duration, sampling and traffic."""


def wait(report: Report, lock: threading.Lock) -> None:
    """Acquires a lock, and can be interrupted while it waits."""
    while not lock.acquire(timeout=0.1):
        report(None)


def traced(
    report: Report, seed: int, duration: str, one_in: int, traffic: tuple[str, ...] = ()
) -> Trace:
    """A trace under the paper's training scenario, with other traffic if it is given."""
    wait(report, _LOCK_OF_TRACES)
    try:
        key = (seed, duration, one_in, traffic)
        if key not in TRACES:
            TRACES[key] = _recorded(report, *key)
        return TRACES[key]
    finally:
        _LOCK_OF_TRACES.release()


def _recorded(
    report: Report, seed: int, duration: str, one_in: int, traffic: tuple[str, ...]
) -> Trace:
    from spillway.learning.oracle.default import find
    from spillway.learning.oracle.trace import load

    sampling = f"record.oracle_trace_sample={one_in}"
    recipe = find("default")
    settings = (*recipe.settings, f"duration={duration}", sampling, *traffic)
    with TemporaryDirectory(prefix="spillway-traces-") as folder:
        place = Path(folder, "run")
        run(recipe.scenario, seed=seed, set=settings, out=place, progress=report)
        return load(place)


# Models -------------------------------------------------------------------------------------------


SEED = 1001
"""The seed of training data, far from those of the runs."""

_ASKS = ("switch.sharing=credence", "switch.sharing.oracle=forest")
TIERS = Scheme("a model for each tier, ten times the queries", _ASKS, style=0)
SWITCHES = Scheme("a model for each switch", _ASKS, style=1)
TWO = Scheme("two features", _ASKS, style=4)
SCHEMES = (LQD, CREDENCE, TIERS, SWITCHES, TWO)


_MAKE: Mapping[str, Callable[[Any, Trace], Mapping[str, Model]]] = {
    "tiers": lambda oracle, trace: {
        tier: oracle.train([trace.at(tier)], split="none").model for tier in trace.tiers
    },
    "switches": lambda oracle, trace: {
        name: each.model for name, each in oracle.train_each([trace], split="none").items()
    },
    "two features": lambda oracle, trace: dict.fromkeys(
        trace.tiers,
        oracle.train([trace], split="none", features=("queue", "occupancy")).model,
    ),
}
"""How `spillway.learning.oracle` makes models of a trace, by the name of a switch or tier."""


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def tiers(report: Report, *, duration: str, one_in: int) -> tuple[str, ...]:
    """Leaves use a model trained on leaves' drops, spines one trained on spines' drops."""
    return _made(report, "tiers", duration, one_in, MORE_QUERIES)


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def switches(report: Report, *, duration: str, one_in: int) -> tuple[str, ...]:
    """Every switch uses a model trained on its own drops, as in the authors' program."""
    return _made(report, "switches", duration, one_in)


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def two_features(report: Report, *, duration: str, one_in: int) -> tuple[str, ...]:
    """All use one forest with only queue and occupancy as features, as in section 4.1."""
    return _made(report, "two features", duration, one_in)


_LOCK = threading.Lock()
_FOLDERS: dict[tuple[str, str, int], TemporaryDirectory[str]] = {}
"""Folders of models, by what they were trained on; removed when the process ends."""


def _made(
    report: Report, what: str, duration: str, one_in: int, traffic: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Trains models, once, and returns their folder."""
    from spillway.learning import oracle

    wait(report, _LOCK)
    try:
        key = (what, duration, one_in)
        if key not in _FOLDERS:
            models = _MAKE[what](oracle, traced(report, SEED, duration, one_in, traffic))
            folder = TemporaryDirectory(prefix="spillway-models-")
            atexit.register(folder.cleanup)
            for name, model in models.items():
                model.save(Path(folder.name, f"{name}.safetensors"))
            _FOLDERS[key] = folder
        return (f"switch.sharing.model={_FOLDERS[key].name}",)
    finally:
        _LOCK.release()


_RUN = replace(
    setup.RUN,
    prepare={
        scheme.name: f"{__name__}:{function.__name__}"
        for scheme, function in ((TIERS, tiers), (SWITCHES, switches), (TWO, two_features))
    },
)
_TRAINED = {"quick": "250ms", "page": "250ms", "full": "1s"}
_SCALES = {
    name: Scale(scale.seeds, scale.assignments, {"duration": _TRAINED[name], "one_in": 50})
    for name, scale in setup.OTHERS.items()
}
_ABOUT = (
    "The bundled model, and three that are trained first, on LQD under websearch at 80% "
    "and bursts of 75%, one packet in 50 of those that were not dropped, four trees of depth four: "
    "one for each tier, with ten times the queries per second, so that leaves have drops to learn "
    "from; one for each switch, as the authors have; one that looks at queue and occupancy alone."
)

BURSTS = Figure(
    name="credence/models",
    title="Bursts of incast, under other models",
    source="Credence (NSDI 2024), Figure 7, section 4.1 on predictions",
    about=_ABOUT,
    measure=_RUN,
    points=setup.BURSTS,
    schemes=SCHEMES,
    scales=_SCALES,
    plot=figure7.FIGURE.plot,
    is_of_paper=False,
)

FLIPS = replace(
    BURSTS,
    name="credence/models-flips",
    title="Flipped predictions, under other models",
    source="Credence (NSDI 2024), Figure 10, section 4.1 on predictions",
    points=tuple(
        replace(point, of_scheme={scheme.name: sets for scheme in SCHEMES[1:]})
        for point in figure10.POINTS
        for sets in point.of_scheme.values()
    ),
    plot=figure10.FIGURE.plot,
)
