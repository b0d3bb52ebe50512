"""What trials of QLA tell of the slope, by their length."""

import tomllib
from dataclasses import replace

import numpy as np

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway_studies.claims import Figure, Lines, Number, Panel, Point, Scheme, basis
from spillway_studies.pred.figures import figure15, star

_BASE_RTT_US = 41.2
"""The base RTT of the star; the text's trials last 5 of them."""
_LENGTHS = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
_BEGIN, _COUNT = 5, 10
"""The decisions that are looked at under endless flows: after the flows' beginning, and before
lambda has gone far.
"""

GAIN = Number("trials.gain", "mean utility of marking more, less that of marking less", "1/1000")
SPREAD = Number("trials.spread", "standard deviation of one comparison", "1/1000")
UP = Number("trials.up", "decisions to mark more", "%")
DOWN = Number("trials.down", "decisions to mark less", "%")
LAST_LAMBDA = Number("trials.lambda", "lambda of the last trial", "per 100 KB")
LAST_MIN = Number("trials.min", "min of the last trial", "packets")


@basis.results(1)
def early(result: Result) -> dict[str, float]:
    """The first decisions once the flows have begun."""
    return _told(result, slice(_BEGIN, _BEGIN + _COUNT))


@basis.results(1)
def all_(result: Result) -> dict[str, float]:
    """All decisions."""
    return _told(result, slice(None))


def _told(result: Result, decisions: slice) -> dict[str, float]:
    """What the comparisons of these decisions say, and where the run ends.

    The AQM is sampled twice in a trial, so that every second sample lies in the middle of one, and
    has the utility of the trial before.
    """
    half_us = quantity(tomllib.loads(result.scenario)["record"]["aqm_interval"]) / 1e6
    time, utility = star.column(result, "utility")
    is_middle = np.rint(time / half_us) % 2 == 1
    utility = utility[is_middle]
    cycles = utility[: len(utility) // 4 * 4].reshape(-1, 4)[decisions]
    first, second = cycles[:, 0] - cycles[:, 1], cycles[:, 3] - cycles[:, 2]
    return {
        "trials.gain": 1000 * float((first + second).mean() / 2),
        "trials.spread": 1000 * float(np.concatenate((first, second)).std()),
        "trials.up": 100 * float(((first > 0) & (second > 0)).mean()),
        "trials.down": 100 * float(((first < 0) & (second < 0)).mean()),
        "trials.lambda": float(star.column(result, "lambda")[1][-1]),
        "trials.min": float(star.column(result, "min_bytes")[1][-1] / star.PACKET),
    }


def _length(round_trips: float) -> Point:
    us = round_trips * _BASE_RTT_US
    sets = (f"switch.aqm.t_qla={us:g}us", f"record.aqm_interval={us / 2:g}us")
    words = {"length": f"trials of {round_trips:g} base RTTs"}
    return Point({"length": round_trips}, sets, words, {"length": f"{round_trips:g}"})


def _endless(flows: int, style: int) -> Scheme:
    sets = (*star.PRED.assignments, star.traffic(star.section("flows", flows)))
    return Scheme(f"{flows} endless flows", sets, style=style)


_WITHOUT_ECN = (
    "transport=newreno",
    "transport.ecn=false",
    "transport.recovery.cut_once=false",
    "transport.handshake=true",
    "switch.queue_limit=100pkt",
)


def _web(load: float, style: int, about: str = "", *assignments: str) -> Scheme:
    sets = (*star.PRED.assignments, star.web_search(load), *assignments)
    return Scheme(f"web search, {load:.0%}{about}", sets, style=style)


_EARLY_MS = 4 * (_BEGIN + _COUNT + 1) * max(_LENGTHS) * _BASE_RTT_US / 1000
_FEW, _MANY = (1, 2, 3, 4, 5), tuple(range(1, 21))

FIGURE = Figure(
    name="pred/trials",
    title="Whether trials tell the better slope",
    source="PRED (NSDI 2025), section 4.2, of which it shows no figure",
    about=f"Endless flows in a star, 10 Gbps, 10 us for each link: a base RTT of {_BASE_RTT_US} "
    f"us. Of every run the decisions {_BEGIN + 1} to {_BEGIN + _COUNT} are told. They begin with a "
    "lambda of 0.1 and a queue above 15 packets, so marking more is better.",
    measure=star.run("trials:early", *star.network(24)),
    points=tuple(_length(length) for length in _LENGTHS),
    schemes=tuple(_endless(flows, style) for style, flows in enumerate((2, 8, 24))),
    scales={
        "quick": star.lasting(0, _EARLY_MS, _FEW),
        "full": star.lasting(0, _EARLY_MS, _MANY),
    },
    plot=Lines(
        (
            Panel(GAIN, "utility of marking more", is_close=True),
            Panel(SPREAD, "spread of a comparison"),
            Panel(UP, "steps up"),
            Panel(DOWN, "steps down"),
        ),
        "length",
        "length of a trial in base RTTs",
    ),
    is_of_paper=False,
    told_by="anything",
)

LOADED = replace(
    FIGURE,
    name="pred/trials-web",
    title="What trials tell while flows come and go",
    about=f"Web search in a star of {figure15.SENDERS} senders, 10 Gbps, 10 us for each link: a "
    f"base RTT of {_BASE_RTT_US} us. All decisions of a run are told, and lambda and min of its "
    "last trial. Without ECN senders are those of NewReno, and a queue has 100 packets at most: "
    "what QLA sets changes nothing there.",
    measure=star.run("trials:all_", *star.network(figure15.SENDERS)),
    schemes=(
        _web(0.3, 0),
        _web(0.9, 1),
        _web(0.3, 2, ", without ECN", *_WITHOUT_ECN),
    ),
    scales={"quick": star.lasting(0, 3_000, _FEW), "full": star.lasting(0, 6_000, _MANY)},
    plot=Lines(
        (
            Panel(GAIN, "utility of marking more", is_close=True),
            Panel(SPREAD, "spread of a comparison"),
            Panel(UP, "steps up"),
            Panel(DOWN, "steps down"),
            Panel(LAST_LAMBDA, "lambda of the last trial"),
            Panel(LAST_MIN, "min of the last trial"),
        ),
        "length",
        "length of a trial in base RTTs",
    ),
)
