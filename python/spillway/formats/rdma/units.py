"""Quantities as the public RDMA simulator writes them, and as a scenario does."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

_NUMBER = r"(\d{1,25}(?:\.\d{0,25})?(?:e[+-]?\d{1,2})?)"
_RATE = re.compile(_NUMBER + r"\s*([kKMGT]?)(i?)(b|B)(?:ps|/s)", re.ASCII)
_TIME = re.compile(_NUMBER + r"\s*(ps|ns|us|ms|s)?", re.ASCII)
_WHOLE = re.compile(r"\d{1,25}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d{1,25}\.?\d{0,25}|\.\d{1,25})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_MOST_SHOWN = 60
_STEPS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, None: 10**12}


def whole_of(text: str) -> int | None:
    """The whole number in a text; None if the text is no whole number of at least 0.

    >>> whole_of("12"), whole_of("1_000"), whole_of("-1"), whole_of("9" * 5_000)
    (12, None, None, None)
    """
    return int(text) if _WHOLE.fullmatch(text) else None


def decimal_of(text: str) -> float | None:
    """The number in a text; None if the text is no number, or too large for a float.

    >>> decimal_of("2.5"), decimal_of("-1e3"), decimal_of("1_000"), decimal_of("1e999")
    (2.5, -1000.0, None, None)
    """
    value = float(text) if _DECIMAL.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def shown(text: str) -> str:
    r"""A file's text as messages show it: not too long, with invisible characters escaped.

    >>> print(shown("a\x01b"), shown("9" * 5_000)[55:])
    a\x01b 99999...
    """
    short = text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in short)


def rate_of(text: str) -> int | None:
    """A rate in bits per second; None if the text is no rate. `b` means bits, `B` bytes.

    >>> rate_of("100Gbps"), rate_of("20.0Mb/s"), rate_of("1MBps"), rate_of("1KiB/s"), rate_of("4G")
    (100000000000, 20000000, 8000000, 8192, None)
    """
    match = _RATE.fullmatch(text)
    if match is None:
        return None
    number, step, binary, unit = match.groups()
    bits = Decimal(number) * (1024 if binary else 1000) ** _STEPS[step]
    return int(bits * (8 if unit == "B" else 1))


def time_ps_of(text: str) -> int | None:
    """A time in picoseconds; None if the text is no time. Without a unit it is in seconds.

    >>> time_ps_of("1000ns"), time_ps_of("0.001ms"), time_ps_of("2"), time_ps_of("1h")
    (1000000, 1000000, 2000000000000, None)
    """
    match = _TIME.fullmatch(text)
    return None if match is None else int(Decimal(match[1]) * _PS[match[2]])


def whole_ns(seconds: str) -> int:
    """Seconds in decimals as the simulator reads them: a binary fraction, cut to nanoseconds.

    >>> whole_ns("2.001"), whole_ns("2.000000577")
    (2000999999, 2000000576)
    """
    value = decimal_of(seconds)
    if value is None:
        raise ValueError(f"{shown(seconds)} is no time")
    return int(Decimal(value) * 10**9)


def rate_text(bps: int) -> str:
    """A rate as a scenario has it, in its largest unit.

    >>> rate_text(20_000_000), rate_text(100 * 10**9), rate_text(1_001)
    ('20Mbps', '100Gbps', '1001bps')
    """
    return _text(bps, {"Gbps": 10**9, "Mbps": 10**6, "Kbps": 10**3, "bps": 1})


def time_text(ns: int) -> str:
    """A time as a scenario has it, in its largest unit.

    >>> time_text(2 * 10**9), time_text(8_240), time_text(0)
    ('2s', '8240ns', '0s')
    """
    return _text(ns, {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1})


def size_text(size: int) -> str:
    """A size as a scenario has it, in its largest unit.

    >>> size_text(8 << 20), size_text(400_000), size_text(1_001)
    ('8MiB', '400KB', '1001B')
    """
    return _text(size, {"MiB": 1 << 20, "MB": 10**6, "KB": 10**3, "B": 1})


def _text(value: int, units: Mapping[str, int]) -> str:
    return next(f"{value // unit}{name}" for name, unit in units.items() if value % unit == 0)
