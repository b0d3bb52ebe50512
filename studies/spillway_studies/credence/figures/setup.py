"""The common parts of the paper's packet-level figures."""

from spillway_studies.claims import Number, Panel, Run, Scale, Scheme, Tail, along

# The schemes that the paper compares, as it configures them (section 4.1, "Configuration") --------


# Alpha 0.5 for DT and ABM, and 64 for packets of the first round trip under ABM, are the paper's.
# DT's 64 for the queue of acks is from the authors' program. ABM's acks have the alpha of first
# packets too, because they belong to no flow that could have left its first round trip.
DT = Scheme("DT", ("switch.sharing=dt", "switch.sharing.alpha=[64, 0.5]"), style=0)
ABM = Scheme(
    "ABM",
    (
        "switch.sharing=abm",
        "switch.sharing.alpha=[64, 0.5]",
        "switch.sharing.alpha_first_rtt=64",
    ),
    style=1,
)
LQD = Scheme("LQD", ("switch.sharing=lqd",), style=2)
# The paper trains a forest with websearch at 80% and bursts of 75%, as the default model was
# trained. Its authors have published none.
CREDENCE = Scheme(
    "Credence",
    ("switch.sharing=credence", "switch.sharing.oracle=forest", "switch.sharing.model=default"),
    style=3,
)
ABOUT = "Credence consults the bundled forest, of four trees of depth four."

ALL = (DT, ABM, LQD, CREDENCE)


# Networks, points, scales, metrics ----------------------------------------------------------------


RUN = Run("credence")
"""The network and traffic of section 4.1; the scenario's file says what is not in the text."""

POWERTCP = Run("credence-powertcp")
"""The same with the other transport of section 4.1."""

LOADS = along(
    "load",
    (0.2, 0.4, 0.6, 0.8),
    "traffic.websearch.load={}",
    label="load {:.0%}",
    tick="{:.0%}",
)
BURSTS = along(
    "burst_percent",
    (12.5, 25.0, 37.5, 50.0, 62.5, 75.0, 87.5, 100.0),
    "traffic.incast.burst={:g}%",
    label="burst {:g}%",
    tick="{:g}%",
)

# 512 queries per second are expected: 260 in 0.51 s. The paper does not say how long flows arrive;
# 3 s is from its program.
SCALES = {
    "quick": Scale((1, 2, 3), ("duration=170ms", "record.drops=false")),
    "full": Scale((1, 2, 3, 4, 5), ("duration=3s", "record.drops=false")),
}
HEADLINES = SCALES | {"page": SCALES["full"]}
"""The scales of figures that the abstract rests on."""
OTHERS = SCALES | {"page": Scale((1, 2, 3), ("duration=1s", "record.drops=false"))}

INCAST = Tail("incast", 0.95)
SHORT = Tail("short", 0.95)
LONG = Tail("long", 0.95)
OCCUPANCY_P99 = Number("buffer_occupancy.p99", "buffer occupancy p99", "% of the buffer", 100)
OCCUPANCY_P9999 = Number(
    "buffer_occupancy.p99_99", "buffer occupancy p99.99", "% of the buffer", 100
)
OCCUPANCY_MAX = Number("buffer_occupancy.max", "buffer occupancy, most", "% of the buffer", 100)

PANELS = (
    Panel(INCAST, "(a) incast flows, p95", is_log=True),
    Panel(SHORT, "(b) short flows, p95"),
    Panel(LONG, "(c) long flows, p95"),
    Panel(OCCUPANCY_P9999, "(d) leaf buffers, p99.99"),
)
"""The four panels of Figures 6 to 10."""
