"""The duration of a flow that meets no other in ABM's program, and the flows compared with it.

Between hosts of different leaves there are 4 links of 10 Gbps and 10 us. The request for a
connection and its answer take 58 bytes on each of them. Then come an ack of 54 bytes and the data,
back to back, in frames of up to 1454 bytes for 1400 of payload, as many as fit a first flight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spillway_studies.references.abm_flows import Flows
from spillway_studies.references.kinds import Floats, Whole

_NS_PER_BYTE = 0.8
_WAY_NS = 4 * 10_000
_LINKS = 4
_SYN, _ACK, _HEADER, _PAYLOAD = 58, 54, 54, 1400

LARGEST = 65_535
"""The largest payload of a first flight: the receiver's window before it is scaled."""

SHORTER_HERE_NS = _NS_PER_BYTE * (2 * _LINKS * (_SYN - _ACK) + _ACK)
"""Our handshake has 54 bytes instead of 58, and our first data serves as its last ack."""

UNCONTENDED_NS = (20, 100)
"""How close a flow is to the closed form if it has met no other flow, in ns."""


def uncontended_ns(payload: Whole) -> Floats:
    """From the request for a connection to the arrival of the last byte, up to `LARGEST`."""
    packets = -(-payload // _PAYLOAD)
    last = payload - (packets - 1) * _PAYLOAD + _HEADER
    full = _PAYLOAD + _HEADER
    # The last frame follows the others on the first link. On the other links it waits for the one
    # before it, being shorter.
    data = np.where(packets > 1, (packets - 1 + _LINKS - 1) * full + last, _LINKS * last)
    return 3 * _WAY_NS + _NS_PER_BYTE * (2 * _LINKS * _SYN + _ACK + data)


@dataclass(frozen=True)
class Uncontended:
    """Flows compared with the closed form for flows that meet no others."""

    flows: int
    """The number of flows small enough for it."""
    reference_within_ns: dict[int, int]
    """The number of the reference's flows within each distance of it, in nanoseconds."""
    ours_within_ns: dict[int, int]
    ours_exactly: int
    """The number of our flows that it gives to the picosecond."""
    both: int
    """The number of flows within the wider distance on both sides."""
    residual_ns: tuple[float | None, float | None]
    """The median difference within the wider distance: the reference's and ours."""


def uncontended(reference: Flows, ours: Flows) -> Uncontended:
    """Compares the flows of the background that fit a first flight."""
    fits = ~reference.is_incast & (reference.payload <= LARGEST)
    expected = uncontended_ns(reference.payload[fits])
    there = reference.fct_ns[fits] - expected
    here = ours.fct_ns[fits] - (expected - SHORTER_HERE_NS)
    within = {bound: [abs(each) <= bound for each in (there, here)] for bound in UNCONTENDED_NS}
    wide = within[max(UNCONTENDED_NS)]

    def median(values: Floats) -> float | None:
        return float(np.median(values)) if len(values) else None

    return Uncontended(
        int(fits.sum()),
        {bound: int(close.sum()) for bound, (close, _) in within.items()},
        {bound: int(close.sum()) for bound, (_, close) in within.items()},
        int((abs(here) < 1e-3).sum()),
        int((wide[0] & wide[1]).sum()),
        (median(there[wide[0]]), median(here[wide[1]])),
    )
