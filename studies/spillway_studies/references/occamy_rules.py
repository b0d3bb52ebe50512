"""Times on lines, as the program behind Occamy's reference has them."""

from __future__ import annotations

UNCOUNTED = 1
"""Bytes that packets have on the line but not in the buffer."""


def line_ps(size: int, bits_per_second: int) -> int:
    """How long a packet of so many counted bytes takes on a line.

    At 10 Gbps this is 0.8 ns for each byte, in whole nanoseconds. The reference rounds them to the
    nearest. The simulator cuts them to the greatest below, and the uncounted byte makes up for it:
    both agree unless the size has the remainder 3 by 5.
    """
    return ((size + UNCOUNTED) * 8 * 10**12 // bits_per_second - 1) // 1_000 * 1_000


def is_rounded_alike(size: int) -> bool:
    """Whether `line_ps` is what the reference has, at 10 Gbps."""
    return size % 5 != 3
