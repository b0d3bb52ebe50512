"""Every AQM under every transport in three networks, at two loads each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spillway_studies.aqms.figures.setup import ABOUT, CREDENCE, LEAF_SPINE, PRED, TOLD, Network
from spillway_studies.claims.axes import Point, Scale, along
from spillway_studies.claims.figure import Figure
from spillway_studies.pred.figures.setup import WEBSEARCH

MESSAGES = replace(WEBSEARCH, flows=2_000)
"""As in PRED's figures, but a fifth of their flows."""


def scales(
    quick: str, page: str, full: str, seeds: tuple[int, ...] = (1, 2, 3)
) -> dict[str, Scale]:
    """How much is run; the seeds are the page's."""
    return {
        "quick": Scale((1, 2), (quick,)),
        "page": Scale(seeds, (page,)),
        "full": Scale((1, 2, 3), (full,)),
    }


def _network(
    name: str, network: Network, points: tuple[Point, ...], sizes: Mapping[str, Scale]
) -> Figure:
    return Figure(
        name=f"aqms/{name}",
        title=f"All AQMs under transports that react to marks: {name}",
        source=f"none: the scenario {network.scenario}",
        about=ABOUT,
        measure=network.numbers(),
        points=points,
        schemes=network.schemes,
        scales=sizes,
        told_by="marks",
        tells=TOLD,
    )


def _loads(*values: float) -> tuple[Point, ...]:
    sets = "traffic.websearch.load={}"
    return along("load", values, sets, label="load {:.0%}", tick="{:.0%}")


# The text's load has a second. At 80% that would take as long as all other runs together.
FIGURES = (
    _network(
        "credence",
        CREDENCE,
        _loads(0.4),
        scales("duration=20ms", "duration=1s", "duration=1s", seeds=(1, 2)),
    ),
    _network(
        "credence-80",
        CREDENCE,
        _loads(0.8),
        scales("duration=10ms", "duration=100ms", "duration=1s"),
    ),
    _network(
        "leaf-spine-128",
        LEAF_SPINE,
        _loads(0.6, 0.8),
        scales("duration=5ms", "duration=50ms", "duration=365ms"),
    ),
    _network(
        "pred",
        PRED,
        (MESSAGES.at(0.5), MESSAGES.at(0.9)),
        scales(
            "traffic.messages.flows=400",
            "traffic.messages.flows=2000",
            "traffic.messages.flows=2000",
        ),
    ),
)
