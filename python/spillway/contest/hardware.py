"""The state that policies keep in a switch's hardware, and who is on the front of three goals.

A policy's cost says what it keeps for every queue, port, waiting packet, and once (`spillway list
sharing --json`, and of protection `spillway list protection --json`). Here it is counted in bits
for one switch, so that policies can be compared. What is told in words, such as a link between
packets, is not counted: the number is then a lower bound.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from spillway.base import core

PORTS, QUEUES, BUFFER, PACKET = 32, 8, 16_000_000, 1500
"""The switch: ports, queues of each, bytes of buffer, and of a packet in it."""
COUNTER_BITS = math.ceil(math.log2(BUFFER))
"""A counter counts bytes of the buffer."""
TIME_BITS = 32
"""A point in time, as 4 seconds in nanoseconds."""
_TIMES = {"queue": PORTS * QUEUES, "port": PORTS, "switch": 1, "packet": BUFFER // PACKET}
"""How often a switch has what state is kept for."""


@dataclass(frozen=True)
class State:
    """The state of a policy in that switch."""

    bits: int
    more: str
    """What is not counted; the bits are a lower bound if there is anything."""

    @property
    def most(self) -> float:
        """An upper bound of the bits."""
        return math.inf if self.more else self.bits


def states(factor: str) -> dict[str, State]:
    """The state of each kind of a factor, as far as the catalogue has it."""
    kinds = json.loads(core.catalogue()).get(factor, ())
    nothing = {"none": State(0, "")} if factor == "protection" else {}
    return nothing | {each["id"]: _state(each["state"]) for each in kinds if "state" in each}


def _state(parts: Sequence[dict[str, object]]) -> State:
    bits, more = 0, []
    for part in parts:
        of = str(part["of"])
        each = (
            COUNTER_BITS * int(str(part["counters"]))
            + TIME_BITS * int(str(part["times"]))
            + int(str(part["bits"]))
        )
        bits += each * _TIMES.get(of, 0)
        if of not in _TIMES:
            more.append(f"for each {of} {each} bits" if each else f"for each {of}")
        if part["more"]:
            more.append(f"for each {of} {part['more']}" if of != "switch" else str(part["more"]))
    return State(bits, "; ".join(more))


def front(
    tails: Sequence[float], goodputs: Sequence[float], states: Sequence[State | None]
) -> list[bool]:
    """Which levels are on the front of tail (less), goodput (more) and state (less).

    A level is off it if another one is at least as good in all three, and better in one. A state
    that is only known from below beats none; one that is not known at all compares with none.

    >>> front([1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [State(8, ""), State(8, ""), State(0, "")])
    [True, False, True]
    """

    def beats(one: int, other: int) -> bool:
        own, beside = states[one], states[other]
        if own == beside:
            saved = 0.0
        elif own is None or beside is None:
            return False
        else:
            saved = beside.bits - own.most
        gains = (tails[other] - tails[one], goodputs[one] - goodputs[other], saved)
        return min(gains) >= 0 and max(gains) > 0

    every = range(len(tails))
    return [not any(beats(one, other) for one in every if one != other) for other in every]
