"""Choices that the paper leaves open: each is changed once, to see which verdicts flip."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Claim,
    Figure,
    Near,
    Over,
    Point,
    Reduction,
    Share,
    Variants,
    choice,
    product,
)
from spillway_studies.credence.figures import setup
from spillway_studies.credence.figures.schemes import ABM, ABOUT, ALL, CREDENCE, DT, LQD
from spillway_studies.references import abm_program

_C, _D, _A, _L = CREDENCE.name, DT.name, ABM.name, LQD.name


AS_IT_IS = "as in the scenario"
CHOICES = (
    choice(AS_IT_IS),
    choice("K = 10 packets", "switch.aqm.threshold=10pkt"),
    choice("min RTO 1 ms", "transport.min_rto=1ms"),
    choice("websearch begins with 22 packets", "traffic.websearch.initial_window=22pkt"),
    choice("incast begins with 10 packets", "traffic.incast.initial_window=10pkt"),
    choice("no slow start", "transport.slow_start=false"),
    # One BDP is 31,500 bytes; a packet has 1,448.
    choice("first RTT 2 packets shorter", "transport.first_rtt_bytes=28604B"),
    choice("first RTT 2 packets longer", "transport.first_rtt_bytes=34396B"),
    choice("incast from one other rack", "traffic.incast.senders=one-other-rack"),
    choice("incast from all other racks", "traffic.incast.senders=other-racks"),
    choice("websearch to the next rack", "traffic.websearch.destinations=next-rack"),
    choice("Credence's thresholds as in its program", of={_C: ("switch.sharing.thresholds=code",)}),
    choice(
        "ABM as in its program",
        of={_A: abm_program.ALL},
    ),
    choice("of that, congestion by fractions", of={_A: abm_program.FRACTIONS}),
    choice("of that, drain rates over intervals", of={_A: abm_program.INTERVALS}),
    choice("of that, first packets scaled, alpha 1024", of={_A: abm_program.FIRST_PACKETS}),
)


def setting(name: str, *assignments: str) -> Point:
    """A setting at which choices are tested."""
    return Point({"setting": name}, assignments, {"setting": name})


_LOAD_40 = (
    setting("load 40%, burst 50%"),
    setting("load 40%, burst 100%", "traffic.incast.burst=100%"),
)
_LOAD_80 = (setting("load 80%, burst 50%", "traffic.websearch.load=0.8"),)

EVERYWHERE = (
    Claim(
        "Incast flows finish sooner than under DT",
        "section 4.2 on burst absorption",
        Reduction(setup.INCAST, new=_C, old=_D),
        Near(0.95),
    ),
    Claim(
        "Incast flows finish sooner than under ABM",
        "section 4.2 on burst absorption",
        Reduction(setup.INCAST, new=_C, old=_A),
        Near(0.9692),
    ),
    Claim(
        "Incast flows do as under LQD",
        "section 4.2 on burst absorption",
        Reduction(setup.INCAST, new=_C, old=_L),
        Alike(),
    ),
    Claim(
        "Short flows do as under ABM",
        "section 4, answer to Q2",
        Reduction(setup.SHORT, new=_C, old=_A),
        Alike(),
    ),
    Claim(
        "DT fills less of the buffer",
        "section 4.2 on buffer resources",
        Reduction(setup.OCCUPANCY_P9999, new=_D, old=_C),
        Near(0.0377),
    ),
    Claim(
        "ABM fills less of the buffer",
        "section 4.2 on buffer resources",
        Reduction(setup.OCCUPANCY_P9999, new=_A, old=_C),
        Near(0.1868),
    ),
)


def long_flows(number: float) -> Claim:
    """The claim about long flows: how much slower they are under ABM."""
    return Claim(
        "Long flows finish sooner than under ABM",
        "section 4.2 on long flows",
        Reduction(setup.LONG, new=_C, old=_A),
        Near(number),
    )


def claims_of(
    choices: tuple[Point, ...], settings: tuple[Point, ...], claims: tuple[Claim, ...]
) -> tuple[Claim, ...]:
    """Every claim at every setting, choice by choice."""
    return tuple(
        replace(
            claim,
            says=f"{claim.says} ({setting.values['setting']})",
            over=Over({**choice.values, **setting.values}),
            variant=str(choice.values["choice"]),
        )
        for choice in choices
        for setting in settings
        for claim in claims
    )


_DECISIONS = ("safeguard", "threshold", "oracle_accepts", "oracle_drops", "buffer_full")
SHARES = tuple(
    Share(part, _DECISIONS, "sharing_counts", name)
    for part, name in (
        ("safeguard", "safeguard"),
        ("threshold", "threshold"),
        ("oracle_accepts", "oracle accepts"),
        ("oracle_drops", "oracle drops"),
    )
)
"""Which part of Credence decided about packets, in percent of all but acks."""

PLOT = Variants((setup.INCAST, setup.SHORT, setup.LONG), "choice", CREDENCE.name, SHARES)
_ABOUT = (
    "Each choice is made another way, all others being as in the scenario. A claim flips if its "
    f'verdict differs from that of "{AS_IT_IS}". {ABOUT}'
)

AT_LOAD_40 = Figure(
    name="credence/choices",
    title="What the paper leaves open, with websearch at 40%",
    source="Credence (NSDI 2024), what section 4.1 does not say",
    about=_ABOUT,
    measure=setup.RUN,
    points=product(_LOAD_40, CHOICES),
    schemes=ALL,
    scales=setup.SCALES,
    plot=PLOT,
    claims=claims_of(CHOICES, _LOAD_40, (*EVERYWHERE, long_flows(0.1202))),
    is_of_paper=False,
)
AT_LOAD_80 = replace(
    AT_LOAD_40,
    name="credence/choices-load80",
    title="What the paper leaves open, with websearch at 80%",
    points=product(_LOAD_80, CHOICES),
    claims=claims_of(CHOICES, _LOAD_80, (*EVERYWHERE, long_flows(0.4934))),
)
