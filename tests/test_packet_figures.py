"""Figures of packet-level runs: what they ask of the scenarios that come along."""

import numpy as np
import pytest

import spillway
from spillway.reproduce import catalogue, harness
from spillway.reproduce.point import Run

PACKET_LEVEL = [figure for figure in catalogue.every() if isinstance(figure.measure, Run)]


@pytest.mark.parametrize("figure", PACKET_LEVEL, ids=[figure.name for figure in PACKET_LEVEL])
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_point_is_a_scenario(figure, scale):
    cells = len(figure.points) * len(figure.schemes) * len(figure.scales[scale].seeds)
    (own,) = harness.plan([figure], scale).keys
    assert len(own) == cells


def test_in_cbm_s_network_every_protocol_has_hosts_and_a_queue_of_its_own():
    result = spillway.run(
        "cbm", set=["duration=3ms", "record.queue_interval=20us", "switch.sharing=cbm"]
    )
    flows = {name: np.array(result.flows[name].to_pylist()) for name in ("class", "src", "dst")}
    for section, first, last in (("cubic", 0, 15), ("dctcp", 16, 23), ("incast", 24, 31)):
        chosen = flows["class"] == section
        ends = np.array([flows["src"][chosen], flows["dst"][chosen]])
        assert ends.shape[1] > 5
        assert ((ends % 32 >= first) & (ends % 32 <= last)).all()
        assert (ends[0] // 32 != ends[1] // 32).all()
    assert result.summary["marks"] > 0
    assert set(result.queues["queue"].to_pylist()) >= {1, 2, 3}
