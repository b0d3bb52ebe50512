"""Figure 4: long flows at one port while an incast comes to another."""

from dataclasses import replace

import numpy as np

from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Claim,
    Excess,
    Figure,
    Number,
    Over,
    OverTime,
    Plain,
    Point,
    Scale,
    TimePanel,
    Within,
    basis,
    samples,
)
from spillway_studies.smartbuf.figures import setup

_STEP_US = 100
_QUERY_US, _QUERIES = 20_000, 6
_FIRST_US = 10_000
_BEFORE_US, _SHOWN_US = 2_000, 14_000

_TRAFFIC = (
    'traffic=[{ name = "flows", kind = "persistent", senders = [2, 3], receiver = 0 }, '
    '{ name = "incast", kind = "incast", receivers = [1], '
    f'start = "{_FIRST_US}us", interval = "{_QUERY_US}us", queries = {_QUERIES}, '
    'fan_in = 340, sizes = "14480B", senders = "other-racks" }]'
)
"""Two long flows share a line, so that it has a queue. They stay in their rack, so that only the
leaf's buffer is shared with the incast, which is of ten packets from each of 340 hosts: 4.9 MB,
more than the buffer holds.
"""

LEAST = Number("flows.least_gbps", "least throughput in a millisecond", "Gbps")
MEAN = Number("flows.mean_gbps", "throughput beside the incast", "Gbps")
SHARE = Number("flows.least_share", "least share of the buffer, of that before the incast")
LOST = Number("flows.lost_packets", "packets that the long flows lose", "packets")


@basis.results(1)
def numbers(result: Result) -> dict[str, float]:
    """Throughputs of the long flows during the last incast; earlier ones taught Smartbuf."""
    begin = _FIRST_US + (_QUERIES - 1) * _QUERY_US - _BEFORE_US
    places = _SHOWN_US // _STEP_US

    def binned(time_ps: object, values: object) -> np.ndarray:
        place = (np.asarray(time_ps) // 10**6 - begin) // _STEP_US
        is_shown = (place >= 0) & (place < places)
        return np.bincount(place[is_shown], np.asarray(values, float)[is_shown], minlength=places)

    windows = result.windows
    gbps = binned(windows["time_ps"].to_numpy(), windows["rate_bps"].to_numpy() / 1e9)
    held = {}
    classes = result.port_classes
    names = np.array(classes["class"].to_pylist())
    for name in ("flows", "incast"):
        own = classes.filter(names == name)
        held[name] = binned(own["time_ps"].to_numpy(), own["bytes"].to_numpy() / 1e6)
    beside = slice(_BEFORE_US // _STEP_US, None)
    before = held["flows"][: _BEFORE_US // _STEP_US]
    in_ms = gbps[beside].reshape(-1, 1000 // _STEP_US).mean(axis=1)
    drops = result.drops
    is_own = np.isin(drops["flow_id"].to_numpy(), (0, 1))
    late = drops["time_ps"].to_numpy() >= (begin + _BEFORE_US) * 10**6
    shown = {"gbps": gbps.tolist(), **{name: each.tolist() for name, each in held.items()}}
    return {
        # Rounded, so that equal throughputs are equal numbers, however they were summed up.
        "flows.least_gbps": round(float(in_ms.min()), 6),
        "flows.mean_gbps": round(float(in_ms.mean()), 6),
        "flows.least_share": float(held["flows"][beside].min() / before.mean()),
        "flows.lost_packets": float((is_own & late).sum()),
        **samples.series(shown, _STEP_US),
    }


_SCHEMES = (setup.DT, setup.EDT, setup.SMARTBUF, setup.DEMANDS)
_SECTION = "section IV-B, Figure 4"
_NOT_SHOWN = "the metric: the figure has throughputs"
_DURATION_US = _FIRST_US + _QUERIES * _QUERY_US

FIGURE = Figure(
    name="smartbuf/figure4",
    title="Long flows at one port, an incast at another",
    source="Smartbuf (IWQoS 2021), Figure 4, section IV-B",
    about="Two flows share a line of 10 Gbps, since one alone has no queue; every 20 ms 340 hosts "
    "send ten packets each to another host of the rack. Shown is the sixth time: Smartbuf has "
    "learned from five. The text says nothing of these numbers.",
    measure=replace(
        setup.RUN,
        assignments=(
            _TRAFFIC,
            f"duration={_DURATION_US}us",
            f"stop={_DURATION_US}us",
            "record.windows=[0, 1]",
            f"record.window_interval={_STEP_US}us",
            f"record.port_interval={_STEP_US}us",
            "record.port_switch=0",
        ),
        also="spillway_studies.smartbuf.figures.figure4:numbers",
    ),
    points=(Point({"incast": "4.9 MB"}, (), {"incast": "an incast of 4.9 MB"}),),
    schemes=_SCHEMES,
    scales={"quick": Scale((1, 2, 3)), "full": Scale((1, 2, 3, 4, 5))},
    plot=OverTime(
        (
            TimePanel("throughput", "Gbps", (("gbps", "the long flows"),)),
            TimePanel("buffer", "MB", (("flows", "the long flows"), ("incast", "the incast"))),
        ),
        (LEAST, MEAN, SHARE, LOST),
    ),
    claims=(
        *(
            claim
            for scheme in (setup.SMARTBUF, setup.DEMANDS)
            for claim in (
                Claim(
                    "The long flows' least throughput is above that under EDT",
                    _SECTION,
                    Excess(LEAST, new=scheme.name, old=setup.EDT.name),
                    Apart(0.05),
                    Over(),
                    scheme.name,
                ),
                Claim(
                    "The long flows' least share of the buffer is above that under EDT",
                    _SECTION,
                    Excess(SHARE, new=scheme.name, old=setup.EDT.name),
                    Apart(0.05),
                    Over(),
                    scheme.name,
                    exploratory=_NOT_SHOWN,
                ),
                Claim(
                    "Beside the incast the long flows have a line's payload, 9.65 Gbps",
                    _SECTION,
                    Plain(MEAN, scheme.name),
                    Within(9.65, 0.05),
                    Over(),
                    scheme.name,
                ),
            )
        ),
        Claim(
            "Under EDT the long flows lose packets",
            _SECTION,
            Plain(LOST, setup.EDT.name),
            Apart(),
            exploratory=_NOT_SHOWN,
        ),
    ),
)
