"""The differences between the authors' program and the text, one by one and all together."""

from dataclasses import replace

from spillway_studies.claims import Figure, Over, Run, along, choice, product
from spillway_studies.credence.figures import choices, figure8, setup
from spillway_studies.credence.figures.choices import AS_IT_IS, claims_of, setting
from spillway_studies.credence.figures.schemes import ABM, ABOUT, CREDENCE, DT, LQD
from spillway_studies.references import abm_program

_ABM = replace(ABM, assignments=(*ABM.assignments, *abm_program.ALL))
_CREDENCE_OF_PROGRAM = ("switch.sharing.thresholds=code",)

# Those that `credence/choices` does not have; it has the windows, slow start, K and the racks.
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
    choice("reductions spread over a round trip", "transport.reduction=proportional-ns3"),
    choice("websearch shakes hands", "traffic.websearch.handshake=true"),
)
_AT = (setting("load 40%, burst 50%"),)
_ABOUT = "What the program does otherwise than the text: "

ONE_BY_ONE = Figure(
    name="credence/differences",
    title="The authors' program, one difference at a time",
    source="inet-tub/ns3-datacenter, examples/Credence, beside Credence (NSDI 2024), section 4.1",
    about=f"{_ABOUT}each alone, all else being as in the scenario. {ABOUT}",
    measure=setup.RUN,
    points=product(_AT, DIFFERENCES),
    schemes=(DT, ABM, LQD, CREDENCE),
    scales=setup.SCALES,
    plot=choices.PLOT,
    claims=claims_of(DIFFERENCES, _AT, (*choices.EVERYWHERE, choices.long_flows(0.1202))),
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
    about=f"{_ABOUT}all at once (`credence-code`), ABM's and Credence's own among them. {ABOUT}",
    measure=Run("credence-code"),
    points=_POINTS,
    schemes=(
        DT,
        _ABM,
        LQD,
        replace(CREDENCE, assignments=(*CREDENCE.assignments, *_CREDENCE_OF_PROGRAM)),
    ),
    plot=None,
    claims=tuple(
        replace(claim, says=f"{claim.says} ({point.label})", over=Over(point.values))
        for point in _POINTS
        for claim in (
            *choices.EVERYWHERE,
            choices.long_flows(_LONG[float(point.values["load"])]),
        )
    ),
)

POWERTCP = replace(
    figure8.FIGURE,
    name="credence/figure8-program",
    title="Bursts of incast, under PowerTCP and ABM as in the authors' program",
    source="inet-tub/ns3-datacenter, examples/Credence, beside Credence (NSDI 2024), Figure 8",
    about="PowerTCP aims at 95% of a port's rate and takes its current for at least half of it; "
    f"ABM adds up how full queues are. All else is as in Figure 8. {ABOUT}",
    measure=replace(
        setup.POWERTCP, assignments=("transport.eta=0.95", "transport.least_current=0.5")
    ),
    schemes=(DT, _ABM, LQD, CREDENCE),
    is_of_paper=False,
)
