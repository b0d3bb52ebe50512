"""How much a spine's buffer matters: theta-PowerTCP's answers are lost there.

By the text a spine has 9.6 KB per port and Gbps, 768 KB. In ABM's public program the spine's ports
to the leaves are charged to the leaf's pool, as if the spine had 3.84 MB.
"""

from dataclasses import replace

from spillway_studies.cbm.figures import setup
from spillway_studies.cbm.figures.setup import ABM, ABOUT, CBM, DT, INCAST
from spillway_studies.claims import Figure, Point, Scale, Variants, WithTimeout
from spillway_studies.claims.samples import SECTION

BUFFERS = ("768KB", "3.84MB")


def _point(load: float, buffer: str) -> Point:
    where = f"Cubic at {load:.0%}, spines of {buffer}"
    sets = (f"traffic.cubic.load={load}", f"switch.spine.buffer={buffer}")
    return Point({"where": where}, sets, {"where": where})


FIGURE = Figure(
    name="cbm/spines",
    title="Spines with the text's buffer and with that of ABM's program",
    source="CBM (CoNEXT-SW 2024), section 3; the buffer of ABM's program",
    about=ABOUT,
    measure=setup.RUN,
    points=tuple(_point(load, buffer) for buffer in BUFFERS for load in (0.3, 0.4)),
    schemes=(DT, ABM, CBM),
    scales={
        "quick": Scale((1, 2, 3), ("duration=450ms",)),
        "full": setup.SCALES["full"],
    },
    plot=Variants((WithTimeout(SECTION + "incast"), INCAST, replace(INCAST, p=0.999)), "where"),
    is_of_paper=False,
)
