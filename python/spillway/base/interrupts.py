"""Ctrl-C, and SIGTERM, where they must not cut something short."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The signals of a terminal, and of batch systems, containers and `kill`."""


def ends_as_ctrl_c() -> None:
    """From now on SIGTERM acts as Ctrl-C does, unless the process ignores SIGTERM."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def noted(note: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """A context in which Ctrl-C and SIGTERM call `note` and do nothing else.

    They reach only the main thread, so in others nothing needs to be done.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    mine = {number: handler for number, handler in before.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread():
        mine = {}
    for number in mine:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in mine.items():
            signal.signal(number, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """A context that is not interrupted: signals take effect at its end."""
    received: list[tuple[int, FrameType | None]] = []
    try:
        with noted(lambda *given: received.append(given)):
            yield
    finally:
        if received:
            number, frame = received[-1]
            handler = signal.getsignal(number)
            if callable(handler):
                handler(number, frame)
