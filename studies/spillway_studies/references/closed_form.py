"""The duration of a flow that meets no other, in ABM's program.

Between hosts of different leaves there are 4 links of 10 Gbps and 10 us. The request for a
connection and its answer take 58 bytes on each of them. Then come an ack of 54 bytes and the data,
back to back, in frames of up to 1454 bytes for 1400 of payload, as many as fit a first flight.
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
"""The largest payload of a first flight: the receiver's window before it is scaled."""

SHORTER_HERE_NS = _NS_PER_BYTE * (2 * _LINKS * (_SYN - _ACK) + _ACK)
"""Our handshake has 54 bytes instead of 58, and our first data serves as its last ack."""


def uncontended_ns(payload: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """From the request for a connection to the arrival of the last byte, up to `LARGEST`."""
    import numpy as np

    packets = -(-payload // _PAYLOAD)
    last = payload - (packets - 1) * _PAYLOAD + _HEADER
    full = _PAYLOAD + _HEADER
    # The last frame follows the others on the first link. On the other links it waits for the one
    # before it, being shorter.
    data = np.where(packets > 1, (packets - 1 + _LINKS - 1) * full + last, _LINKS * last)
    return 3 * _WAY_NS + _NS_PER_BYTE * (2 * _LINKS * _SYN + _ACK + data)
