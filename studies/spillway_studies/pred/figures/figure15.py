"""Figure 15: the queue over time under each scheme."""

from dataclasses import replace

from spillway.result.result import Result
from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Figure,
    Near,
    Plain,
    Reduction,
    Scheme,
    Within,
    along,
    basis,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.star import (
    AMPLITUDE,
    CODEL,
    DEVIATION,
    ECN,
    ECN_SHARP,
    FCS,
    FLOWS,
    GOODPUT,
    LAMBDA,
    LEAST,
    MEAN,
    PRED,
    PRED_80,
    QLA,
    TAIL,
)

SENDERS = 16
CHANGING = (
    star.section("long", 4),
    star.section(
        "burst", "2..12", sizes="100KB..1MB", interval="5ms", start="2ms", queries=100_000
    ),
)
"""Endless flows, and every 5 ms some that end: N changes all the time, the line is always busy."""
LASTING = (star.section("long", SENDERS),)

_STEP_US, _SHOWN_MS = 20, 40
_SECTION = "section 6.3.2, Figure 15"
_STATIC = (ECN, ECN_SHARP, CODEL)


@basis.results(1)
def shown(result: Result) -> dict[str, float]:
    """The numbers of the queue, and the queue itself over 40 ms from the end of the warm-up."""
    begin = star.warmup_us(result)
    return star.numbers(result) | star.over_time(result, begin, begin + 1000 * _SHOWN_MS, _STEP_US)


RUN = star.run("figure15:shown", *star.network(SENDERS), star.traffic(*CHANGING))
SCALES = {"quick": star.lasting(20, 220, (1, 2, 3)), "full": star.lasting(100, 1100)}


def claims(pred: Scheme, *, with_others: bool) -> tuple[Claim, ...]:
    """The paper's claims about PRED, applied to this reading of it."""
    about = (
        Claim("PRED keeps 15 packets queued", _SECTION, Plain(MEAN, pred.name), Within(15)),
        *(
            Claim(
                f"PRED's queue is 40% below that of {scheme.name}: 15 packets, not 25",
                _SECTION,
                Reduction(MEAN, new=pred.name, old=scheme.name),
                Near(0.4),
            )
            for scheme in _STATIC
        ),
        Claim(
            "PRED's queue is below that of FCS alone",
            _SECTION,
            Reduction(MEAN, new=pred.name, old=FCS.name),
            Apart(),
        ),
        *(
            Claim(
                f"PRED's queue varies less than that of {scheme.name}",
                _SECTION,
                Reduction(DEVIATION, new=pred.name, old=scheme.name),
                Apart(),
            )
            for scheme in (*_STATIC, QLA)
        ),
        Claim(
            "PRED uses the line as ECN does",
            _SECTION,
            Reduction(GOODPUT, new=pred.name, old=ECN.name),
            Alike(0.01),
        ),
    )
    others = (
        Claim("FCS alone keeps 23 packets queued", _SECTION, Plain(MEAN, FCS.name), Within(23)),
        *(
            Claim(
                f"{scheme.name} keeps 25 packets queued",
                _SECTION,
                Plain(MEAN, scheme.name),
                Within(25),
            )
            for scheme in _STATIC
        ),
    )
    return tuple(
        replace(claim, variant=pred.name, is_again=not with_others)
        for claim in (*about, *(others if with_others else ()))
    )


CLAIMS = (*claims(PRED, with_others=True), *claims(PRED_80, with_others=False))

FIGURE = Figure(
    name="pred/figure15",
    title="The queue over time",
    source="PRED (NSDI 2025), Figure 15, section 6.3.2",
    about="16 senders, 10 Gbps, 10 us for each link. The text says that the number of flows "
    "changes all the time: here 4 endless flows, and every 5 ms 2 to 12 of 100 KB to 1 MB, so that "
    "the line is always busy. With the traffic of section 6.3.1 it is `pred/figure15-poisson`. "
    "The text's 66% are (25 - 15) / 15: 15 is 40% below 25. " + star.ABOUT,
    measure=RUN,
    points=along("senders", (SENDERS,), label="{} senders"),
    schemes=(ECN, ECN_SHARP, CODEL, FCS, QLA, PRED, PRED_80),
    scales=SCALES,
    plot=star.Overlaid(
        (
            star.Series(
                "(a)",
                "packets",
                "queue",
                (ECN.name, ECN_SHARP.name, CODEL.name, PRED.name, PRED_80.name),
            ),
            star.Series("(b)", "packets", "queue", (FCS.name, QLA.name, PRED.name, PRED_80.name)),
        ),
        (MEAN, DEVIATION, AMPLITUDE, TAIL, GOODPUT, LAMBDA, LEAST, FLOWS),
    ),
    claims=CLAIMS,
    told_by="anything",
)

POISSON = replace(
    FIGURE,
    name="pred/figure15-poisson",
    title="The queue over time, with web search at 90%",
    about="As `pred/figure15`, but with the traffic of section 6.3.1, whose settings are called "
    "similar: web search as a Poisson process, 90% of the line. The queue is empty at times, and "
    "those count. " + star.ABOUT,
    measure=star.run("figure15:shown", *star.network(SENDERS), star.web_search(0.9)),
    scales={"quick": SCALES["quick"], "full": star.lasting(100, 5_100)},
)
