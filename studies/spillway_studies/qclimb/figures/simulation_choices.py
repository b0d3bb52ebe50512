"""What the slides leave open of the simulated network: each is made another way, once."""

from __future__ import annotations

from spillway_studies.claims import Figure, Variants, choice, product
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.choices import MARKING_NICS
from spillway_studies.qclimb.figures.setup import PFABRIC, PIAS, QCLIMB, WEBSEARCH

_TAGGED = (PIAS.name, QCLIMB.name)


def _tagged(*assignments: str) -> dict[str, tuple[str, ...]]:
    """What PIAS and QCLIMB have otherwise. pFabric has buffers, NICs and windows of its own."""
    return dict.fromkeys(_TAGGED, assignments)


CHOICES = (
    choice("as in the scenario"),
    choice(
        "12 leaves, 5 spines",
        *("topology.leaves=12", "topology.hosts_per_leaf=12", "topology.spines=5"),
    ),
    choice("buffers of 4 MB", of=_tagged("switch.buffer=4MB")),
    choice("buffers of 64 MB", of=_tagged("switch.buffer=64MB")),
    choice(
        "links of 250 ns",
        *("topology.link_delay=250ns", "topology.base_rtt=2.9us"),
        of={PFABRIC.name: ("nic.queue_limit=29KB",)},
    ),
    choice("first window 10 packets", of=_tagged("transport.initial_window=10pkt")),
    choice("NICs mark at 65 packets and hold 240", of=_tagged(*MARKING_NICS)),
    choice(
        "pFabric: all ports have two BDPs of hosts' lines",
        of={PFABRIC.name: ("switch.sharing={kind='pfabric',limit='89KB'}",)},
    ),
    choice(
        "pFabric: windows of one BDP at most", of={PFABRIC.name: ("transport.max_window=1bdp",)}
    ),
    choice("pFabric: timeout ten round trips", of={PFABRIC.name: ("transport.rto=10rtt",)}),
)

FIGURE = Figure(
    name="qclimb/simulation-choices",
    title="What the slides leave open of the simulated network: web search at 80%",
    source="QCLIMB (NSDI 2024), slides",
    about="144 hosts, leaf-spine, 40 and 100 Gbps; a row for each choice that is made another way. "
    + setup.ABOUT,
    measure=setup.SIMULATION,
    points=product((WEBSEARCH.at(0.8, 3_600, spines=True, settled=True, tagged=_TAGGED),), CHOICES),
    schemes=(PIAS, QCLIMB, PFABRIC),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.LONG_MEAN, setup.SHORT), "choice"),
    claims=(
        *gains.below_at_each(
            {"Small flows' mean": setup.SHORT_MEAN, "Small flows' tail": setup.SHORT},
            "slide 26, simulation",
            (point.values for point in CHOICES),
        ),
        *gains.below_at_each(
            {"Small flows' mean": setup.SHORT_MEAN, "All flows' mean": setup.ALL_MEAN},
            *("abstract", (point.values for point in CHOICES), PFABRIC.name),
        ),
    ),
    is_of_paper=False,
    told_by="anything",
)
