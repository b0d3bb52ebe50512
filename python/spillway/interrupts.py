"""Ctrl-C, and SIGTERM, where they must not cut something short."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""What a terminal sends, and what batch systems, containers and `kill` send."""


def ends_as_ctrl_c() -> None:
    """From now on SIGTERM is as Ctrl-C, unless it is ignored."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def deferred() -> Iterator[None]:
    """What happens within it is not interrupted: signals take effect at its end.

    They reach only the main thread, so in others nothing needs to be done.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    mine = {number: handler for number, handler in before.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread() or not mine:
        yield
        return
    received: list[tuple[int, FrameType | None]] = []
    for each in mine:
        signal.signal(each, lambda *given: received.append(given))
    try:
        yield
    finally:
        for each, handler in mine.items():
            signal.signal(each, handler)
        if received:
            number, frame = received[-1]
            mine[signal.Signals(number)](number, frame)
