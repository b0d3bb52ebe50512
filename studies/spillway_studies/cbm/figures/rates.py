"""Whether CBM needs to know drain rates: the same traffic, with queues drained differently.

The paper has no such experiment. It says that drain rates, which ABM measures, depend on the
scheduler, and that CBM does not depend on them.
"""

from spillway_studies.cbm.figures import setup
from spillway_studies.cbm.figures.setup import ABM, ABOUT, CBM, CUBIC, DCTCP, DT, INCAST
from spillway_studies.cbm.figures.wastage import FREE_WHEN_LOST
from spillway_studies.claims import Claim, Excess, Figure, NoGain, Over, Point, Variants


def _drained(name: str, *assignments: str) -> Point:
    return Point({"drained": name}, assignments, {"drained": name})


TWO_SPINES = ("topology.spines=2", "topology.fabric_rate=40Gbps")

WAYS = (
    _drained("in turns, by packets"),
    _drained("strict, Cubic first", *setup.STRICT),
    _drained(
        "strict, theta-PowerTCP first",
        *setup.STRICT,
        "traffic.incast.priority=1",
        "traffic.cubic.priority=3",
    ),
    # The queues of acks, Cubic, DCTCP and theta-PowerTCP.
    _drained("DWRR 4:2:1", 'switch.scheduling={kind="dwrr", weights=[1, 4, 2, 1]}'),
    # A leaf has the same uplink rate as before, on 2 ports instead of 8. A spine then has four
    # times the total rate and, with 9.6 KB per Gbps, four times the buffer; or the buffer that it
    # had.
    _drained("ports of 10 and of 40 Gbps", *TWO_SPINES),
    _drained("the same, spines of 768 KB", *TWO_SPINES, "switch.spine.buffer=768KB"),
)

FIGURE = Figure(
    name="cbm/rates",
    title="Ports that drain their queues in other ways",
    source="CBM (CoNEXT-SW 2024), section 2, which says so and shows nothing",
    about="Cubic at 30% of the uplinks. " + ABOUT,
    measure=setup.run("traffic.cubic.load=0.3"),
    points=WAYS,
    schemes=(DT, ABM, CBM),
    scales=setup.SCALES,
    plot=Variants((CUBIC, DCTCP, INCAST, FREE_WHEN_LOST), "drained"),
    claims=tuple(
        Claim(
            f"However queues are drained, {whose} flows take no longer than under ABM, which "
            "measures how fast they do",
            "sections 1 and 2: dequeue rate-agnostic",
            Excess(metric, new=CBM.name, old=ABM.name),
            NoGain(),
            Over(take="each"),
        )
        for whose, metric in (
            ("Cubic's", CUBIC),
            ("DCTCP's", DCTCP),
            ("theta-PowerTCP's", INCAST),
        )
    ),
    is_of_paper=False,
)
