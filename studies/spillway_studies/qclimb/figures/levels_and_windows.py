"""Why all flows take longer than under pFabric with data mining's sizes: levels and windows."""

from __future__ import annotations

import itertools

from spillway_studies.claims import Figure, Point, Variants, choice, product
from spillway_studies.qclimb.figures import gains, setup
from spillway_studies.qclimb.figures.setup import DATAMINING, QCLIMB

_LEVELS = setup.ladder(round(2e6 * 350 ** (k / 6)) for k in range(7))
"""From 2 MB to 700 MB by equal factors: seven thresholds among the sizes of long flows."""

_CHANGES = {
    "long flows in levels": (f"transport.tagging.thresholds={_LEVELS}",),
    "timeouts from 200 ms on": ("transport.initial_rto=200ms", "transport.min_rto=200ms"),
    "no marks": ("switch.aqm=none", "switch.buffer=unlimited"),
}
"""What is done differently, by QCLIMB alone. Without marks buffers must hold all."""


def _with(names: tuple[str, ...]) -> Point:
    """The point with these changes."""
    sets = tuple(text for name in names for text in _CHANGES[name])
    return choice(", ".join(names) or "as in the other figures", of={QCLIMB.name: sets})


CHOICES = tuple(
    _with(names) for count in range(4) for names in itertools.combinations(_CHANGES, count)
)
"""All combinations; the first is what the scenario has."""

FIGURE = Figure(
    name="qclimb/levels-and-windows",
    title="What keeps long flows from pFabric's times? Data mining, 8 hosts of 25 Gbps",
    source="QCLIMB (NSDI 2024), abstract",
    about="QCLIMB with other thresholds, timeouts and marks; pFabric's runs stay the same. "
    + setup.ABOUT,
    measure=setup.TESTBED,
    points=product(
        (DATAMINING.at(0.8, 200, settled=True, tagged=(QCLIMB.name,)),),
        CHOICES,
    ),
    schemes=(QCLIMB, setup.PFABRIC),
    scales=setup.SCALES,
    plot=Variants((setup.ALL_MEAN, setup.LONG_MEAN, setup.SHORT_MEAN, setup.SHORT), "choice"),
    claims=gains.near_pfabric_by_choice(CHOICES),
    is_of_paper=False,
    told_by="anything",
)
