"""The fluid model of congestion-controlled flows under RED, beside the packet simulator.

N flows with infinite data share one link. Their windows, and the queue, are numbers that change
smoothly; the queue decides with which probability a packet is marked, and a round trip later
windows react.

    >>> from spillway import fluid
    >>> bottleneck = fluid.Bottleneck(flows=10, slope=40.0, min_packets=20.0, packet_bytes=1250,
    ...                               delay_us=50.0)
    >>> point = fluid.fixed_point(fluid.sender("dctcp", "paper"), bottleneck)
    >>> round(point.queue, 6), round(point.window, 6), round(point.probability, 6)
    (30.0, 8.0, 0.5)

The model is that of "PRED: Performance-oriented Random Early Detection for Consistently Stable
Performance in Datacenters", NSDI 2025, appendix A. See docs/fluid.md.
"""

from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.packets import Packets, Point, compare, measure, scenario
from spillway.theory.fluid.solution import (
    SENDERS,
    FixedPoint,
    Trajectory,
    fixed_point,
    sender,
    trajectory,
)
from spillway.theory.fluid.windows import CUTS

__all__ = [
    "CUTS",
    "SENDERS",
    "Bottleneck",
    "FixedPoint",
    "Packets",
    "Point",
    "Trajectory",
    "compare",
    "fixed_point",
    "measure",
    "scenario",
    "sender",
    "trajectory",
]
