"""Figure 9: round-trip times, under ABM and Credence."""

from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Excess,
    Figure,
    Lines,
    Near,
    Over,
    Point,
    Reduction,
    Within,
)
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.setup import ABM, ABOUT, CREDENCE


def _point(link_delay_us: int) -> Point:
    # Eight links, there and back; the base RTT also contains a full packet of 1500 bytes.
    rtt_us = 8 * link_delay_us
    return Point(
        {"rtt_us": rtt_us},
        (f"topology.link_delay={link_delay_us}us", f"topology.base_rtt={rtt_us + 1.2:g}us"),
        {"rtt_us": f"RTT {rtt_us} us"},
        {"rtt_us": f"{rtt_us} us"},
    )


_C, _A = CREDENCE.name, ABM.name
_LOWEST, _HIGHEST = Over({"rtt_us": 8}), Over({"rtt_us": 64})

CLAIMS = (
    # "97.73% worse" is read like all of the paper's percentages: as what Credence takes off.
    Claim(
        "At an RTT of 8 us, incast flows finish sooner than under ABM",
        "section 4.2 on RTT, Figure 9(a)",
        Reduction(setup.INCAST, new=_C, old=_A),
        Near(0.9773),
        _LOWEST,
    ),
    Claim(
        "The same, taken literally: ABM's are so much longer",
        "section 4.2 on RTT, Figure 9(a)",
        Excess(setup.INCAST, new=_A, old=_C),
        Within(0.9773),
        _LOWEST,
        is_again=True,
    ),
    Claim(
        "At the highest RTT, incast flows do as under ABM",
        "section 4.2 on RTT, caption of Figure 9",
        Reduction(setup.INCAST, new=_C, old=_A),
        Alike(),
        _HIGHEST,
    ),
    Claim(
        "Short flows do as under ABM",
        "section 4.2 on RTT, Figure 9(b)",
        Reduction(setup.SHORT, new=_C, old=_A),
        Alike(),
        Over(take="each"),
    ),
    Claim(
        "At an RTT of 8 us, long flows finish sooner than under ABM",
        "section 4.2 on RTT, Figure 9(c)",
        Reduction(setup.LONG, new=_C, old=_A),
        Apart(),
        _LOWEST,
    ),
    *(
        Claim(
            "At an RTT of 8 us, ABM fills less of the buffer",
            f"{place}, Figure 9(d)",
            Reduction(metric, new=_A, old=_C),
            Apart(),
            _LOWEST,
            is_again=metric is setup.OCCUPANCY_P99,
        )
        for metric, place in (
            (setup.OCCUPANCY_P9999, "section 4.2 on RTT"),
            (setup.OCCUPANCY_P99, "section 4.2 on RTT, percentile of section 4.1"),
        )
    ),
)

FIGURE = Figure(
    name="credence/figure9",
    title="Round-trip times, under ABM and Credence",
    source="Credence (NSDI 2024), Figure 9, section 4.2",
    about="The text gives neither load nor burst: 40% and 50% are taken, those of Figure 10 and of "
    "the authors' program, as are links of 1, 2, 3, 4 and 8 us. " + ABOUT,
    measure=setup.RUN,
    points=tuple(_point(delay) for delay in (1, 2, 3, 4, 8)),
    schemes=(ABM, CREDENCE),
    scales=setup.OTHERS,
    plot=Lines(setup.PANELS, "rtt_us", "RTT without a packet's transmission"),
    claims=CLAIMS,
)
