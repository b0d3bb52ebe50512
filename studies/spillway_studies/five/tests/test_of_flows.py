"""FB by PRED's count of flows, by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from spillway_studies.five.of_flows import FbOfFlows

US = 1_000_000


class Bench:
    """Two ports with two queues each; 10,000 bytes are free. Periods last 100 us."""

    def __init__(self, **parameters: Any) -> None:
        self.policy = FbOfFlows(alpha=1.0, **parameters)
        self.policy.start(SimpleNamespace(ports=2, queues_per_port=2, base_rtt_ps=80 * US))
        self.waiting = [0] * 4
        self.buffer = SimpleNamespace(
            free=10_000,
            bytes=lambda queue: 1_000 * self.waiting[queue],
            packets=lambda queue: self.waiting[queue],
            port_of=lambda queue: queue // 2,
            class_of=lambda queue: queue % 2,
        )

    def arrive(self, us: int, queue: int, flow: int, is_control: bool = False) -> bool:
        """A packet of 1,000 bytes; whether it was admitted."""
        arrival = SimpleNamespace(
            now_ps=us * US,
            queue=queue,
            queue_class=queue % 2,
            size=1_000,
            flow=flow,
            is_control=is_control,
        )
        if not self.policy.admit(arrival, self.buffer):
            return False
        self.waiting[queue] += 1
        self.policy.on_enqueue(arrival, self.buffer)
        return True

    def leave(self, queue: int) -> None:
        """A packet is sent."""
        self.waiting[queue] -= 1
        self.policy.on_dequeue(0, queue, 1_000, self.buffer)

    def limit(self, queue: int) -> int:
        """T of a queue now."""
        arrival = SimpleNamespace(queue=queue, queue_class=queue % 2)
        return self.policy.threshold(arrival, self.buffer)


def test_ports_where_flows_meet_share_what_one_could_have():
    bench = Bench()
    for flow in (1, 1, 2):
        assert bench.arrive(0, 1, flow)
    assert bench.limit(1) == 10_000, "one of them, at port 0"
    bench.arrive(0, 3, 3)
    assert bench.limit(3) == 10_000, "a single flow at port 1"
    bench.arrive(0, 3, 4)
    assert (bench.limit(1), bench.limit(3)) == (5_000, 5_000)
    assert bench.limit(0) == 10_000, "nothing of this queue class waits"
    assert bench.arrive(0, 1, 1) and bench.arrive(0, 1, 1), "5,000 bytes"
    assert not bench.arrive(0, 1, 1)
    # Nothing waits at port 1 any more.
    bench.leave(3), bench.leave(3)
    assert bench.limit(1) == 10_000


def test_flows_of_a_port_share_what_one_could_have():
    bench = Bench(n="flows")
    assert bench.limit(1) == 10_000
    for flow in (1, 2, 3):
        bench.arrive(50, 1, flow)
    bench.arrive(50, 0, 9, is_control=True)
    assert (bench.limit(0), bench.limit(1), bench.limit(3)) == (3_333, 3_333, 10_000)
    # The last period counts as well, until the next but one.
    bench.arrive(150, 1, 1)
    assert bench.limit(1) == 3_333
    bench.arrive(250, 1, 1)
    assert bench.limit(1) == 10_000
    bench.arrive(950, 1, 4)
    assert bench.limit(1) == 10_000, "the last one is long ago"


@pytest.mark.parametrize("parameters", [{}, {"n": "flows"}])
def test_a_packet_that_is_refused_counts(parameters):
    bench = Bench(**parameters)
    bench.buffer.free = 0
    assert not bench.arrive(0, 1, 1) and not bench.arrive(0, 1, 2)
    bench.buffer.free = 10_000
    bench.arrive(0, 1, 1)
    assert bench.limit(1) == (5_000 if parameters else 10_000)
