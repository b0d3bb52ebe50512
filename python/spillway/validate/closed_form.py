"""How long a flow takes that meets no other, in ABM's program.

Between hosts of different leaves there are 4 links of 10 Gbps and 10 us. The request for a
connection and the answer take 58 bytes on each of them; then come an ack of 54 bytes and the data,
in frames of up to 1454 bytes for 1400 of payload, back to back, as many as a first flight may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_NS_PER_BYTE = 0.8
_WAY_NS = 4 * 10_000
_LINKS = 4
_SYN, _ACK, _HEADER, _PAYLOAD = 58, 54, 54, 1400

LARGEST = 65_535
"""Payload of a first flight: the window of the other end, as long as it has not been scaled."""

SHORTER_HERE_NS = _NS_PER_BYTE * (2 * _LINKS * (_SYN - _ACK) + _ACK)
"""Our handshake has 54 bytes for 58, and our first data is the ack."""


def uncontended_ns(payload: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """From the request for a connection until the last byte arrives, up to `LARGEST`."""
    import numpy as np

    packets = -(-payload // _PAYLOAD)
    last = payload - (packets - 1) * _PAYLOAD + _HEADER
    full = _PAYLOAD + _HEADER
    # The last frame follows those before it over the first link and waits behind the one before it
    # on the others, as long as it is shorter.
    data = np.where(packets > 1, (packets - 1 + _LINKS - 1) * full + last, _LINKS * last)
    return 3 * _WAY_NS + _NS_PER_BYTE * (2 * _LINKS * _SYN + _ACK + data)
