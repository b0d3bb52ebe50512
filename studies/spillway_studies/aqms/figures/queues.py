"""MQ-ECN beside ECN where a round robin serves three queues."""

from __future__ import annotations

from spillway_studies.aqms.figures.networks import scales
from spillway_studies.aqms.figures.setup import ABOUT, LEAF_SPINE, REACTING, TOLD, scheme
from spillway_studies.claims.axes import Point
from spillway_studies.claims.figure import Figure

QUEUES = 3
"""Queues of data, of equal weights; acks have one of their own."""


def _point(load: float) -> Point:
    """A third of the load for every queue."""
    sections = ", ".join(
        f'{{ name = "queue{number}", kind = "poisson", sizes = "websearch", '
        f'load = {load / QUEUES:g}, load_of = "host", destinations = "other-rack", '
        f"priority = {number} }}"
        for number in range(1, QUEUES + 1)
    )
    words, tick = {"load": f"load {load:.0%}"}, {"load": f"{load:.0%}"}
    return Point({"load": load}, (f"traffic=[{sections}]",), words, tick)


AQMS = {
    "ecn": LEAF_SPINE.aqms["ecn"],
    # A queue that has the line to itself is marked from the same K on.
    "mq-ecn": (f"rtt={LEAF_SPINE.wait_us:g}us", "not_ect=pass"),
}

FIGURE = Figure(
    name="aqms/queues",
    title="MQ-ECN and ECN with three queues under a round robin",
    source=f"none: the scenario {LEAF_SPINE.scenario}",
    about=ABOUT,
    measure=LEAF_SPINE.numbers(
        f"switch.queues_per_port={QUEUES + 1}",
        "switch.ack_queue=0",
        "switch.data_queue=1",
        "switch.scheduling=dwrr",
    ),
    points=(_point(0.6), _point(0.8)),
    schemes=tuple(
        scheme(transport, aqm, *parameters)
        for transport in REACTING
        for aqm, parameters in AQMS.items()
    ),
    scales=scales("duration=5ms", "duration=50ms", "duration=365ms"),
    told_by="marks",
    tells=TOLD,
)
