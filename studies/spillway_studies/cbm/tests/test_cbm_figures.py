"""The network of CBM's figures, and what they count in it."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import spillway
from spillway_studies.cbm.figures import wastage


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


WASTED = """
[topology]
leaves = 2
spines = 1
links_per_pair = 1
hosts_per_leaf = 3
host_rate = "10Gbps"
fabric_rate = "40Gbps"
[switch]
buffer = "1KB/port/Gbps"
[switch.spine]
buffer = "10KB"
"""


def lost(*rows):
    """A result of which only this is known: switch, bytes lost, bytes held."""
    names, size, held = zip(*rows, strict=True) if rows else ((), (), ())
    drops = {
        "switch": pa.array(names, pa.string()).dictionary_encode(),
        "size_bytes": pa.array(size, pa.int64()),
        "occupancy_bytes": pa.array(held, pa.int64()),
    }
    return SimpleNamespace(scenario=WASTED, drops=pa.table(drops))


def test_what_is_free_when_a_byte_is_lost():
    # A leaf has 3 ports of 10 and 1 of 40 Gbps: 70,000 bytes. Half of them were free when 1000 were
    # lost, a tenth when 500 were, and nothing at the spine: (500 + 50 + 0) / 2000.
    rows = (("leaf1", 1000, 35_000), ("leaf0", 500, 63_000), ("spine0", 500, 10_000))
    assert wastage.numbers(lost(*rows)) == {"free_when_lost": pytest.approx(0.275)}
    # A host has no buffer to share.
    with_host = lost(*rows, ("host4", 900, 2_000))
    assert wastage.numbers(with_host) == {"free_when_lost": pytest.approx(0.275)}
    assert wastage.numbers(lost()) == {"free_when_lost": None}


def test_complete_sharing_wastes_less_than_a_packet_and_others_more():
    def free(policy):
        result = spillway.run(
            "cbm",
            set=["duration=6ms", "stop=7ms", "record.drops=true", f"switch.sharing={policy}"],
        )
        return wastage.numbers(result)["free_when_lost"]

    # A spine has 768,000 bytes, a packet 1500.
    assert 0 <= free("cs") <= 1500 / 768_000
    assert free("cbm") > 0.1 and free("dt") > 0.1
