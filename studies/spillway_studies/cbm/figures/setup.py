"""The common parts of the figures: the network, the schemes, the percentiles."""

from dataclasses import replace

from spillway_studies.cbm.figures.wastage import FREE_WHEN_LOST
from spillway_studies.claims import Number, Panel, Run, Scale, Scheme, Tail
from spillway_studies.claims.samples import SECTION

RUN = Run("cbm", ("record.drops=true",), also="spillway_studies.cbm.figures.wastage:numbers")
"""The network and traffic of section 3; the scenario's file says what is not in the text."""


def run(*assignments: str) -> Run:
    """The same with further assignments."""
    return replace(RUN, assignments=(*RUN.assignments, *assignments))


UNCONTROLLED = (
    'traffic.incast={name="incast", kind="incast", places="24..31", priority=3, '
    'queries_per_host_per_s=8, burst="30%", fan_in=8, senders="next-rack", '
    'transport="timely", min_rate="10Gbps"}'
)
"""Incast at the line's rate: TIMELY's least rate leaves it nothing to control."""

STRICT = ("switch.scheduling=strict",)
"""Queues in the order of their numbers: acks, Cubic, DCTCP, theta-PowerTCP."""

# The text gives no alpha. Half for data and 64 for first round trips are ABM's; its program has 1
# for the queue of acks.
DT = Scheme("DT", ("switch.sharing=dt", "switch.sharing.alpha=[1, 0.5]"), style=0)
ABM = Scheme(
    "ABM",
    (
        "switch.sharing=abm",
        "switch.sharing.alpha=[1, 0.5]",
        "switch.sharing.alpha_first_rtt=64",
    ),
    style=1,
)
CBM = Scheme("CBM", ("switch.sharing=cbm", "switch.sharing.alpha=0.5"), style=3)
PER_PORT = Scheme(
    "CBM, B of a port",
    ("switch.sharing=cbm", "switch.sharing.alpha=0.5", "switch.sharing.buffer_of=port"),
    style=4,
)
ALL = (DT, ABM, CBM, PER_PORT)

CUBIC = Tail(SECTION + "cubic", 0.99)
DCTCP = Tail(SECTION + "dctcp", 0.99)
INCAST = Tail(SECTION + "incast", 0.99)
OCCUPANCY = Number("buffer_occupancy.p99", "buffer occupancy p99", "% of the buffer", 100)

PANELS = (
    Panel(CUBIC, "(a) Cubic, p99", is_log=True),
    Panel(DCTCP, "(b) DCTCP, p99", is_log=True),
    Panel(INCAST, "(c) theta-PowerTCP, p99", is_log=True),
    Panel(OCCUPANCY, "(d) leaf buffers, p99"),
    Panel(FREE_WHEN_LOST, "(e) free when a byte is lost"),
)

# 512 queries per second are expected: 460 in 0.9 s.
SCALES = {
    "quick": Scale((1, 2, 3), ("duration=300ms",)),
    "full": Scale((1, 2, 3, 4, 5), ("duration=3s",)),
}
HEADLINES = SCALES | {"page": SCALES["full"]}
"""The scales of figures that the abstract rests on."""

ABOUT = (
    "The text names no percentile: the 99th is that of the like figure of ABM, by the same "
    "authors. Nor alpha, nor the incast: choices, in the scenario's file."
)
