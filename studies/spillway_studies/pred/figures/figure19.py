"""Figure 19: PRED beside HPCC."""

from dataclasses import replace

import numpy as np

from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Between,
    Claim,
    Figure,
    Number,
    Plain,
    Reduction,
    Scheme,
    Within,
    along,
    basis,
    samples,
)
from spillway_studies.pred.figures import star

_MORE_MS, _END_MS, _STEP_US = 20, 40, 20
_SETTLED_MS = 5
"""How long after flows begin a queue counts as that of many round trips later."""
_SECTION = "section 6.3.5, Figure 19"

HPCC = Scheme("HPCC", ('transport={ kind = "hpcc" }', "switch.aqm=none"), style=0)
PRED = star.PRED

BEFORE = Number("queue.before", "mean queue with 2 flows", "packets")
AFTER = Number("queue.after", "mean queue with 8 flows", "packets")
PEAK = Number("queue.peak", "longest queue as 6 flows begin", "packets")
USED = Number("line.used", "share of the line in use", "% of the line", 100)


@basis.results(1)
def numbers(result: Result) -> dict[str, float]:
    """Means of the queue before and after the second flows begin, its peak, and the line's use."""
    time, held = star.queue(result)

    def during(begin_ms: float, end_ms: float) -> np.ndarray:
        return held[(time >= 1000 * begin_ms) & (time < 1000 * end_ms)]

    links = result.links
    names = np.array(links["link"].to_pylist())
    own = links.filter(names == f"leaf0-host{star.RECEIVER}")
    used, until = own["utilisation"].to_numpy(), own["time_ps"].to_numpy() / 1e6
    shown = star.over_time(result, 0, 1000 * _END_MS, _STEP_US)
    gbps = star.thinned(until, 100 * used, 0, 1000 * _END_MS, _STEP_US)
    return {
        "queue.before": float(during(_SETTLED_MS, _MORE_MS).mean()),
        "queue.after": float(during(_MORE_MS + _SETTLED_MS, _END_MS).mean()),
        "queue.peak": float(during(_MORE_MS, _MORE_MS + _SETTLED_MS).max()),
        "line.used": float(used[until > 1000 * _SETTLED_MS].mean()),
        **shown,
        **samples.series({"gbps": gbps}, _STEP_US),
    }


def _claims(pred: Scheme) -> tuple[Claim, ...]:
    """The paper's claims about PRED, applied to this reading of it."""
    claims = (
        Claim("PRED uses the whole line", _SECTION, Plain(USED, pred.name), Within(100, 0.01)),
        *(
            Claim(
                f"HPCC's queue is nearly empty with {count} flows, a tenth of PRED's or less",
                _SECTION,
                Reduction(metric, new=HPCC.name, old=pred.name),
                Apart(0.9),
            )
            for count, metric in ((2, BEFORE), (8, AFTER))
        ),
        *(
            Claim(
                f"PRED has 15 to 20 packets queued with {count} flows",
                _SECTION,
                Plain(metric, pred.name),
                Between(15, 20),
            )
            for count, metric in ((2, BEFORE), (8, AFTER))
        ),
        Claim(
            "PRED's queue rises less than HPCC's as 6 flows begin",
            _SECTION,
            Reduction(PEAK, new=pred.name, old=HPCC.name),
            Apart(),
        ),
    )
    return tuple(replace(claim, variant=pred.name, is_again=pred is not PRED) for claim in claims)


FIGURE = Figure(
    name="pred/figure19",
    title="PRED beside HPCC",
    source="PRED (NSDI 2025), Figure 19, section 6.3.5",
    about="20 senders, 100 Gbps, 1 us for each link; 2 endless flows, from 20 ms on 6 more. "
    "HPCC's packets carry 42 bytes of telemetry. " + star.ABOUT,
    measure=star.run(
        "figure19:numbers",
        *star.network(20, "1us", "100Gbps"),
        f"record.link_interval={_STEP_US}us",
        star.traffic(
            star.section("first", 2, jitter="10us"),
            star.section("second", 6, jitter="10us", start=f"{_MORE_MS}ms"),
        ),
    ),
    points=along("senders", (20,), label="{} senders"),
    schemes=(HPCC, PRED, star.PRED_80),
    scales={
        name: star.lasting(0, _END_MS, seeds)
        for name, seeds in (("quick", (1, 2, 3)), ("full", (1, 2, 3, 4, 5)))
    },
    plot=star.Overlaid(
        (
            star.Series("queue", "packets", "queue"),
            star.Series("throughput", "Gbps", "gbps"),
        ),
        (BEFORE, AFTER, PEAK, USED),
    ),
    claims=(
        Claim("HPCC uses 93% of the line", _SECTION, Plain(USED, HPCC.name), Within(93, 0.02)),
        *(claim for scheme in (PRED, star.PRED_80) for claim in _claims(scheme)),
    ),
    told_by="anything",
)
