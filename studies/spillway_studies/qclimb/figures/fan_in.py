"""Queries: several hosts answer one at once, while web search is on its way."""

from __future__ import annotations

from dataclasses import replace

from spillway_studies.claims import (
    Claim,
    Excess,
    Figure,
    Lines,
    MeanTime,
    Number,
    Panel,
    Point,
    Within,
    along,
    product,
)
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import PERFECT, PFABRIC, PIAS, QCLIMB, WEBSEARCH

FAN_INS = (8, 16, 32, 64, 128)
"""How many of the 144 hosts answer a query."""
QUERY = "1MB"
"""All answers to a query together, so that the load is the same at every fan-in."""
_BOUND = "bound = { kind = 'uniform', least = 0.8 }"
_TRAFFIC = (
    "traffic=[{ name = 'websearch', kind = 'poisson', sizes = 'websearch-pfabric', load = 0.6, "
    f"destinations = 'uniform', {_BOUND} }}, "
    f"{{ name = 'queries', kind = 'incast', burst = '{QUERY}', fan_in = 8, load = 0.02, "
    f"senders = 'any', {_BOUND} }}]"
)
"""The scenario's web search, and queries of 2% of the uplinks: 180 in a run."""

_TAGGED = (PIAS.name, QCLIMB.name, PERFECT.name)
_BACKGROUND = WEBSEARCH.at(0.6, 3_600, spines=True, tagged=_TAGGED)
_NO_BOUNDS = Point({}, of_scheme={PFABRIC.name: ("traffic.queries.bound=none",)})
_POINTS = product(
    (_BACKGROUND,),
    (_NO_BOUNDS,),
    along("fan_in", FAN_INS, "traffic.queries.fan_in={}", label="{} answers", tick="{}"),
)
_SMALL = Point(
    {},
    of_scheme=dict.fromkeys(
        _TAGGED,
        ("switch.sharing=sp", "switch.leaf.buffer=7200KB", "switch.spine.buffer=3240KB"),
    ),
)
"""240 packets of 1,500 bytes for each of 20 and 9 ports, as in PIAS's program."""

MEAN = Number("query_us.mean", "queries' mean completion time", "ms", 1e-3)
_TAIL = Number("query_us.p95", "queries' p95 completion time", "ms", 1e-3)


_TIMES = (
    (MEAN, "(a) queries, mean"),
    (_TAIL, "(b) queries, p95"),
    (MeanTime("incast"), "(c) single answers, mean"),
)
_SHORT = Panel(setup.SHORT_MEAN, "(d) web search's short flows, mean")
_AXIS = "answers to a query, 1 MB in all"


_SOURCE = "not in the paper"
_CLAIMS = (
    *(
        claim
        for other in (PIAS.name, PFABRIC.name)
        for claim in gains.below_at_each(
            {"Queries' mean": MEAN}, _SOURCE, ({"fan_in": fan_in} for fan_in in FAN_INS), other
        )
    ),
    Claim(
        "Queries' mean is near that of perfect bounds, over fan-ins",
        _SOURCE,
        Excess(MEAN, QCLIMB.name, PERFECT.name),
        Within(0.03, within=1.0),
    ),
    gains.below(
        "The mean of web search's short flows is below PIAS's, over fan-ins",
        _SOURCE,
        setup.SHORT_MEAN,
    ),
)

_ABOUT = (
    "144 hosts, leaf-spine, 40 and 100 Gbps. Web search fills 60% of the uplinks, queries 2%: "
    f"so many other hosts answer at once, {QUERY} in all. "
)

_SHARED = Figure(
    name="qclimb/fan-in",
    title="Queries that more and more hosts answer at once",
    source=_SOURCE,
    about=_ABOUT + setup.ABOUT,
    measure=replace(setup.SIMULATION, assignments=(*setup.SIMULATION.assignments, _TRAFFIC)),
    points=_POINTS,
    schemes=(PIAS, QCLIMB, PERFECT, PFABRIC),
    scales=setup.SCALES,
    plot=Lines((*(Panel(metric, title) for metric, title in _TIMES), _SHORT), "fan_in", _AXIS),
    claims=_CLAIMS,
    is_of_paper=False,
    told_by="anything",
)

FIGURES = (
    _SHARED,
    replace(
        _SHARED,
        name="qclimb/fan-in-small-buffers",
        title="The same queries with 240 packets for each port",
        about=_ABOUT + "Each port has 240 packets, but pFabric's its own two BDPs. " + setup.ABOUT,
        points=product(_POINTS, (_SMALL,)),
        plot=Lines(
            (
                *(Panel(metric, title, is_log=True) for metric, title in _TIMES),
                _SHORT,
                Panel(setup.FOUND, "(e) sent again, found lost"),
                Panel(setup.REPAIRS, "(f) sent again after timeouts"),
            ),
            "fan_in",
            _AXIS,
        ),
    ),
)
