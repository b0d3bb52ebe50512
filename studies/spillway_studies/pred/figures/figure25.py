"""Figure 25: how many flows PRED counts, by the period of the count."""

import numpy as np

from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Claim,
    Figure,
    Number,
    Plain,
    Reduction,
    Within,
    along,
    basis,
)
from spillway_studies.pred.figures import star

FLOWS = 18
_RTT_US = 80
_BURST_MS, _END_MS = 10, 20
_SECTION = "appendix D.5, Figure 25"

ALONE = Number("counted.alone", "flows counted, 18 there", "flows")
BOTH = Number("counted.both", "flows counted, 36 there", "flows")
RESET = Number("counted.reset_us", "until the count is that of 18 again", "us")


@basis.results(1)
def numbers(result: Result) -> dict[str, float | None]:
    """The mean count before the burst and while it lasts, and how long it stays high after it."""
    time, counted = star.column(result, "flows")
    flows = result.flows
    is_burst = np.array(flows["class"].to_pylist()) == "burst"
    start = flows["start_ps"].to_numpy()[is_burst]
    done = np.sort(start + flows["fct_ps"].fill_null(2**62).to_numpy()[is_burst]) / 1e6
    warmup = star.warmup_us(result)
    alone = counted[(time >= warmup) & (time < 1000 * _BURST_MS)]
    # A handshake and two round trips later all flows have packets on their way.
    both = counted[(time >= start.max() / 1e6 + 4 * _RTT_US) & (time < done[0])]
    before, after = float(alone.mean()), (time >= done[-1])
    low = time[after & (counted <= before + FLOWS / 4)]
    return {
        "counted.alone": before,
        "counted.both": float(both.mean()) if len(both) else None,
        "counted.reset_us": float(low[0] - done[-1]) if len(low) else None,
        **star.over_time(result, 1000 * (_BURST_MS - 2), 1000 * (_BURST_MS + 6), 10),
    }


def _period(times: float) -> str:
    return f"T = {times:g} RTT"


_TIMES = (0.25, 0.5, 1.0, 1.25, 2.0, 5.0)
_SCHEMES = tuple(
    star.aqm(_period(times), "pred", f"t_fcs={times * _RTT_US:g}us", style=place)
    for place, times in enumerate(_TIMES)
)

FIGURE = Figure(
    name="pred/figure25",
    title="The flows that PRED counts, by the period of the count",
    source="PRED (NSDI 2025), Figure 25, appendix D.5",
    about="18 endless flows; at 10 ms 18 more of 300 KB each begin together. 10 Gbps, 20 us for "
    "each link: the text's round trip of 80 us. A bitmap of 120 places holds 17 of 18 flows and "
    "31 of 36, on average.",
    measure=star.run(
        "figure25:numbers",
        *star.network(2 * FLOWS, "20us"),
        star.traffic(
            star.section("long", FLOWS),
            star.section("burst", FLOWS, sizes="300KB", start=f"{_BURST_MS}ms", jitter="10us"),
        ),
    ),
    points=along("flows", (FLOWS,), label="{} flows, and as many more"),
    schemes=_SCHEMES,
    scales={
        name: star.lasting(5, _END_MS, seeds)
        for name, seeds in (("quick", (1, 2, 3)), ("full", (1, 2, 3, 4, 5)))
    },
    plot=star.Overlaid(
        (star.Series("flows counted", "flows", "flows"), star.Series("queue", "packets", "queue")),
        (ALONE, BOTH, RESET),
        begin_ms=_BURST_MS - 2,
    ),
    claims=(
        *(
            Claim(
                f"With {_period(times)} the {there} flows are not counted right",
                _SECTION,
                Reduction(metric, new=_period(times), old=_period(1.25)),
                Apart(0.1),
            )
            for times in (0.25, 0.5)
            for there, metric in ((18, ALONE), (36, BOTH))
        ),
        *(
            Claim(
                f"With {_period(times)} {there} flows are counted as {there}",
                _SECTION,
                Plain(metric, _period(times)),
                Within(there),
            )
            for times in (1.25, 2.0, 5.0)
            for there, metric in ((18, ALONE), (36, BOTH))
        ),
        Claim(
            "A longer period forgets later",
            _SECTION,
            Reduction(RESET, new=_period(1.25), old=_period(5.0)),
            Apart(),
        ),
    ),
    told_by="anything",
)
