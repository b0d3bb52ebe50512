"""What the paper leaves open, and what the authors' program does otherwise."""

from dataclasses import replace
from functools import partial

from spillway_studies.claims import (
    Alike,
    Claim,
    Figure,
    Near,
    Over,
    Point,
    Reduction,
    Run,
    Share,
    Variants,
    along,
    choice,
    product,
)
from spillway_studies.credence.figures import figure7, setup
from spillway_studies.credence.figures.setup import ABM, ABOUT, ALL, CREDENCE, DT, LQD
from spillway_studies.references import abm_program

# Choices: each is changed once, to see which verdicts flip ----------------------------------------


_C, _D, _A, _L = CREDENCE.name, DT.name, ABM.name, LQD.name


AS_IT_IS = "as in the scenario"
CHOICES = (
    choice(AS_IT_IS),
    choice("K = 10 packets", "switch.aqm.threshold=10pkt"),
    choice("min RTO 1 ms", "transport.recovery.min_rto=1ms"),
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

setting = partial(choice, axis="setting")
"""A setting at which choices are tested."""

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


# The differences between the authors' program and the text, one by one and all together -----------


_ABM_OF_PROGRAM = replace(ABM, assignments=(*ABM.assignments, *abm_program.ALL))
_CREDENCE_OF_PROGRAM = ("switch.sharing.thresholds=code",)

# The differences that `credence/choices` lacks; it has the windows, slow start, K and the racks.
DIFFERENCES = (
    choice(AS_IT_IS),
    choice(
        "K = 10 packets, marking from there on",
        "switch.aqm.threshold=10pkt",
        "switch.aqm.at_threshold=mark",
    ),
    choice(
        "segments of 1400 bytes, headers of 66",
        "transport.mss=1400B",
        "transport.header=66B",
        "transport.ack_size=66B",
        "switch.uncounted_bytes=34B",
    ),
    choice("base RTT 24 us", "topology.base_rtt=24us"),
    choice("spines' buffers as large as leaves'", "switch.spine.buffer=1024000B"),
    choice("one hash for all switches", "routing.hash_seeds=same"),
    choice("no limit on what hosts queue", "transport.host_backlog=unlimited"),
    choice("windows down to one packet", "transport.min_window=1pkt"),
    choice("reductions spread over a round trip", "transport.recovery.reduction=proportional-ns3"),
    choice("websearch shakes hands", "traffic.websearch.handshake=true"),
)
_AT = (setting("load 40%, burst 50%"),)
_PROGRAM = "What the program does otherwise than the text: "

ONE_BY_ONE = Figure(
    name="credence/differences",
    title="The authors' program, one difference at a time",
    source="inet-tub/ns3-datacenter, examples/Credence, beside Credence (NSDI 2024), section 4.1",
    about=f"{_PROGRAM}each alone, all else being as in the scenario. {ABOUT}",
    measure=setup.RUN,
    points=product(_AT, DIFFERENCES),
    schemes=(DT, ABM, LQD, CREDENCE),
    scales=setup.SCALES,
    plot=PLOT,
    claims=claims_of(DIFFERENCES, _AT, (*EVERYWHERE, long_flows(0.1202))),
    is_of_paper=False,
)

_POINTS = product(
    along("load", (0.4, 0.8), "traffic.websearch.load={}", label="load {:.0%}"),
    along("burst_percent", (50.0, 100.0), "traffic.incast.burst={:g}%", label="burst {:g}%"),
)
# Long flows compared with ABM: the text gives a number at 80% load, and the mean over bursts.
_LONG = {0.4: 0.1202, 0.8: 0.4934}

ALL_AT_ONCE = replace(
    ONE_BY_ONE,
    name="credence/program",
    title="The authors' program, all differences at once",
    about=f"{_PROGRAM}all at once (`credence-code`), ABM's and Credence's own among them. {ABOUT}",
    measure=Run("credence-code"),
    points=_POINTS,
    schemes=(
        DT,
        _ABM_OF_PROGRAM,
        LQD,
        replace(CREDENCE, assignments=(*CREDENCE.assignments, *_CREDENCE_OF_PROGRAM)),
    ),
    plot=None,
    claims=tuple(
        replace(claim, says=f"{claim.says} ({point.label})", over=Over(point.values))
        for point in _POINTS
        for claim in (
            *EVERYWHERE,
            long_flows(_LONG[float(point.values["load"])]),
        )
    ),
)

POWERTCP = replace(
    figure7.POWERTCP,
    name="credence/figure8-program",
    title="Bursts of incast, under PowerTCP and ABM as in the authors' program",
    source="inet-tub/ns3-datacenter, examples/Credence, beside Credence (NSDI 2024), Figure 8",
    about="PowerTCP aims at 95% of a port's rate and takes its current for at least half of it; "
    f"ABM adds up how full queues are. All else is as in Figure 8. {ABOUT}",
    measure=replace(
        setup.POWERTCP, assignments=("transport.eta=0.95", "transport.least_current=0.5")
    ),
    schemes=(DT, _ABM_OF_PROGRAM, LQD, CREDENCE),
    is_of_paper=False,
)
