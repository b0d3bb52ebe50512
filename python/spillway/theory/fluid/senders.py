"""Senders by their names, and the state in which nothing changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from spillway.base.arguments import check_known
from spillway.base.errors import ScenarioError
from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.dcqcn import Dcqcn
from spillway.theory.fluid.windows import CUTS, Dctcp, Tcp

__all__ = ["CUTS", "SENDERS", "FixedPoint", "Sender", "fixed_point", "sender"]


Sender: TypeAlias = Dctcp | Tcp | Dcqcn
"""The equations of N equal flows and the queue."""

SENDERS: dict[str, str] = {
    "dctcp": "PRED (NSDI 2025), equations (2)-(4)",
    "tcp": "Misra, Gong, Towsley (SIGCOMM 2000), with RED's probability of the queue itself",
    "dcqcn": "Zhu et al. (SIGCOMM 2015), section 5",
}
"""The senders, and where their equations are from."""


def sender(
    kind: str = "dctcp", cuts: str = "paper", *, g: float = 0.0625, whole_packets: bool = False
) -> Sender:
    """The sender of this kind.

    Args:
        kind: Whose equations: "dctcp", "tcp" or "dcqcn".
        cuts: How often marks cut a window: "paper", as published; "per-mark", "per-window" or
            "held". DCQCN has its own way only.
        g: The weight of a new sample in DCTCP's alpha, above 0, at most 1.
        whole_packets: Whether a flow has half a packet less in flight than its window, because it
            sends whole packets.

    Raises:
        ScenarioError: A name is not known, `g` is out of its range, or DCQCN is given what it has
            not.
    """
    check_known("sender", kind, SENDERS)
    check_known("cuts", cuts, CUTS)
    if not 0 < g <= 1:
        raise ScenarioError(f"g: {g!r} is not valid; expected a number above 0, at most 1")
    if kind == "dcqcn":
        if cuts != "paper" or whole_packets:
            hint = "its cuts are by time, not by windows"
            raise ScenarioError("dcqcn has neither cuts to choose nor whole packets", hint)
        return Dcqcn()
    if kind == "tcp":
        return Tcp(cuts, whole_packets)
    return Dctcp(cuts, whole_packets, g)


@dataclass(frozen=True)
class FixedPoint:
    """The steady state of a model."""

    queue: float
    """Packets that wait."""
    window: float
    """Packets of a flow in flight, or what its rate amounts to."""
    probability: float
    """The marking probability."""
    rtt_us: float
    """The round-trip time."""


def fixed_point(model: Sender, at: Bottleneck) -> FixedPoint:
    """Solves for the steady state by finding a root, without following the equations in time.

    For DCTCP as published it is the root of (q - min)^2 (q + C d) = 2 N / lambda^2 (equation 8),
    unless the root's probability is above 1. All packets are then marked and windows are 2 packets.
    """
    state = model.fixed_point(at)
    queue = state[-1]
    rtt = at.rtt_s(queue)
    window = state[0] if model.columns[0] == "window" else state[0] * rtt
    return FixedPoint(queue, window, at.probability(queue), rtt * 1e6)
