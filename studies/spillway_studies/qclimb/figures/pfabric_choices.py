"""How much the distance to pFabric hangs on pFabric's own keys."""

from __future__ import annotations

from spillway_studies.claims import Figure, Variants, choice, product
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import PFABRIC, QCLIMB, WEBSEARCH

_LOADS = (0.6, 0.8)


def _own(*assignments: str) -> dict[str, tuple[str, ...]]:
    """What only pFabric has otherwise."""
    return {PFABRIC.name: assignments}


CHOICES = (
    choice("as in the other figures"),
    choice("timeout six round trips", of=_own("transport.rto=6rtt")),
    choice("timeout ten round trips", of=_own("transport.rto=10rtt")),
    choice("timeout 2 ms, the others' least", of=_own("transport.rto=2ms")),
    choice("windows of one BDP at most", of=_own("transport.max_window=1bdp")),
    choice(
        "windows of two BDPs from the beginning",
        of=_own("transport.initial_window=2bdp", "transport.max_window=2bdp"),
    ),
    choice("ports of one BDP", of=_own("switch.sharing={kind='pfabric',limit='1bdp'}")),
    choice("ports of four BDPs", of=_own("switch.sharing={kind='pfabric',limit='4bdp'}")),
    choice("NICs of one BDP", of=_own("nic.queue_limit=128KB")),
    choice("NICs that hold all", of=_own("nic.queue_limit=unlimited")),
    choice("remaining size is what is unsent", of=_own("transport.remaining=unsent")),
    choice("senders know what has arrived", of=_own("transport.knows_receiver=true")),
    choice("no probes", of=_own("transport.probe_after=0")),
    choice(
        "timeout ten round trips, NICs that hold all",
        of=_own("transport.rto=10rtt", "nic.queue_limit=unlimited"),
    ),
)
"""The first is what the scenario and `setup.PFABRIC` have."""


FIGURE = Figure(
    name="qclimb/pfabric-choices",
    title="How near is pFabric, with other keys of its own? Web search, 8 hosts of 25 Gbps",
    source="QCLIMB (NSDI 2024), abstract",
    about="A row for each key of pFabric that is set otherwise; QCLIMB's runs stay the same. "
    + setup.ABOUT,
    measure=setup.TESTBED,
    points=product(
        (WEBSEARCH.at(load, 200, settled=True, tagged=(QCLIMB.name,)) for load in _LOADS),
        CHOICES,
    ),
    schemes=(QCLIMB, PFABRIC),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT_MEAN, setup.ALL_MEAN, setup.LONG_MEAN, setup.SHORT), "choice"),
    claims=gains.near_pfabric_by_choice(CHOICES),
    is_of_paper=False,
    told_by="anything",
)
