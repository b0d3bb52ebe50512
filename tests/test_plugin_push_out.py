"""Which packets plug-ins push out, and what becomes of them if the arrival is refused."""

from __future__ import annotations

from typing import Literal

import pytest

import spillway
from spillway.plugins import Arrival, Buffer, Drop, PushOut, Sharing

# Ten packets of 1000 bytes come before the first one has been sent. It passes, three more fill the
# buffer.
SIZE, HEADER = 1_000, 40
LINE = {"switch": "leaf", "delay": "0us"}
SCENARIO = {
    "name": "ten",
    "duration": "1ms",
    "topology": {
        "kind": "graph",
        "clocks": "exact",
        "switch": [{"name": "leaf"}],
        "host": [
            LINE | {"name": "sender", "rate": "1Tbps"},
            LINE | {"name": "receiver", "rate": "8Gbps"},
        ],
        "link": [],
    },
    "switch": {"buffer": "3KB", "aqm": "none"},
    "transport": {
        "kind": "udp",
        "mss": f"{SIZE - HEADER}B",
        "header": f"{HEADER}B",
        "rate": "1Tbps",
    },
    "traffic": [{"name": "packets", "kind": "flows", "file": "flows.csv"}],
}


class OneOut(Sharing):
    """Pushes out one packet, and admits the arrival in its place or refuses it all the same."""

    id = "one-out"
    which: Literal["last", "first"] = "last"
    then: Literal["admits", "refuses"] = "admits"

    def start(self, switch):
        self.has_pushed = False

    def admit(self, arrival: Arrival, buffer: Buffer):
        if self.has_pushed:
            self.has_pushed = False
            return True if self.then == "admits" else Drop("buffer_full")
        if arrival.size <= buffer.free:
            return True
        self.has_pushed = True
        return PushOut(arrival.queue, first=self.which == "first")


class OneLost(OneOut):
    """As `OneOut`, for good."""

    id = "one-lost"
    loses_victims = True


@pytest.mark.parametrize(
    ("plugin", "keys", "lost"),
    [
        (OneOut, {"which": "last"}, [3, 4, 5, 6, 7, 8]),
        (OneOut, {"which": "first"}, [1, 2, 3, 4, 5, 6]),
        # Packet 1 returns each time.
        (OneOut, {"which": "first", "then": "refuses"}, [4, 5, 6, 7, 8, 9]),
        # There is room again for packets 5, 7 and 9.
        (OneLost, {"which": "first", "then": "refuses"}, [1, 2, 3, 4, 6, 8]),
        (OneLost, {"which": "first"}, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_which_packets_are_lost(tmp_path, plugin, keys, lost):
    size = 10 * (SIZE - HEADER)
    (tmp_path / "flows.csv").write_text(f"src,dst,size_bytes,start_ps\n0,1,{size},0\n")
    switch = SCENARIO["switch"] | {"sharing": {"kind": plugin.id, **keys}}
    scenario = spillway.Scenario(SCENARIO | {"switch": switch}, tmp_path, plugins=[plugin])
    drops = spillway.run(scenario).drops
    assert sorted(seq // (SIZE - HEADER) for seq in drops["seq"].to_pylist()) == lost


def test_a_packet_is_pushed_out_for_one_reason():
    assert repr(PushOut(3)) == "PushOut(3)"
    first, worst = PushOut(3, first=True), PushOut(3, worst=True)
    assert (first.first, first.worst, repr(first)) == (True, False, "PushOut(3, first=True)")
    assert (worst.first, worst.worst, repr(worst)) == (False, True, "PushOut(3, worst=True)")
    with pytest.raises(ValueError, match="either the worst packet or the first one"):
        PushOut(3, worst=True, first=True)
