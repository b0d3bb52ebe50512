"""Quantities as scenarios write them, such as "25.2us"."""

import math
import re
from fractions import Fraction

_UNITS = {
    **{unit: ("bytes", 1000**power) for power, unit in enumerate(["B", "KB", "MB", "GB"])},
    **{unit: ("bytes", 1024**power) for power, unit in enumerate(["KiB", "MiB", "GiB"], 1)},
    **{unit: ("ps", 1000**power) for power, unit in enumerate(["ps", "ns", "us", "ms", "s"])},
    "pkt": ("packets", 1),
    **{unit: ("bps", 1000**n) for n, unit in enumerate(["bps", "Kbps", "Mbps", "Gbps", "Tbps"])},
}
_QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9_]+)?) ?([A-Za-z]+)")


def exact(text: str) -> tuple[str, Fraction] | None:
    """What a text counts, and how many; None if it is no quantity.

    >>> exact("25.2us"), exact("0.2MB") == exact("200KB"), exact("5rtt")
    (('ps', Fraction(25200000, 1)), True, None)
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in _UNITS:
        return None
    unit, factor = _UNITS[match[2]]
    return unit, Fraction(match[1]) * factor


def quantity(text: str) -> int:
    """A size or time in a resolved scenario, in bytes or picoseconds, rounded up.

    >>> quantity("25.2us"), quantity("1.5KiB")
    (25200000, 1536)
    """
    found = exact(text)
    assert found is not None, f"{text} is no size or time"
    return math.ceil(found[1])
