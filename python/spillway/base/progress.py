"""The progress of runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from rich.console import Console


class Progress(NamedTuple):
    """The state of a run."""

    simulated_ps: int
    """The simulated time."""
    duration_ps: int
    """Flows start before this."""
    stop_ps: int
    """The run ends here at the latest."""
    events: int
    """Events handled."""
    packet_hops: int
    """Packets that started transmission on any link."""
    flows_started: int
    """Flows started."""
    flows_completed: int
    """Flows whose last byte has arrived."""

    @property
    def fraction(self) -> float:
        """The part of the run that is done, as far as it is known before the last flow's end."""
        return min(self.simulated_ps / self.duration_ps, 1.0)


Report = Callable[[Progress], object]

Follow = Callable[[str, float], tuple[Report, Callable[[], None]]]
"""Called when a run begins, with its label and its share of all work, from 0 to 1. It returns a
function to call during the run, and one to call at its end.
"""

_MOST_KNOWN = 0.99
"""The part that is shown as done while flows go on after the duration: it is not known how long."""
_LINE_S = 10.0
"""The interval of progress lines if there is no terminal."""


def shares(costs: Sequence[float | None]) -> list[float]:
    """The share of each piece of work in the total; an unknown cost counts as the others' average.

    >>> shares([1.0, None, 3.0]), shares([None, None]), shares([0.0])
    ([0.16666666666666666, 0.3333333333333333, 0.5], [0.5, 0.5], [1.0])
    """
    known = [cost for cost in costs if cost is not None]
    mean = sum(known) / len(known) if known else 0.0
    if not mean:
        return [1.0 / len(costs) for _ in costs]
    filled = [mean if cost is None else cost for cost in costs]
    return [cost / sum(filled) for cost in filled]


class ProgressBar:
    """The progress of several runs: a bar on a terminal, elsewhere a line now and then."""

    def __init__(
        self, console: Console, runs: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from rich import progress

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=28),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[detail]}", style="dim", markup=False),
            progress.TextColumn("{task.fields[left]}", style="cyan", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._console = console
        self._clock = clock
        self._runs = runs
        self._over = 0
        self._done = 0.0
        self._begin = clock()
        self._lock = threading.RLock()
        self._last_line = clock()
        self._total = None
        if runs > 1:
            self._total = self._bar.add_task(f"{runs} runs", total=1.0, detail="", left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def follow(self, label: str, share: float = 1.0) -> tuple[Report, Callable[[], None]]:
        """Shows a run that begins. Returns what to call during it, and at its end."""
        task = _Task(self, label, share)
        return task.report, task.end

    def finished(self, label: str) -> None:
        """Prints a line about a run that is over; on a terminal the bar has shown it."""
        with self._lock:
            self._over += 1
            line = f"{self._over} of {self._runs}: {label}"
            self._print(line, self._left() if self._over < self._runs else "")

    def _advance(self, by: float, what: str, *, is_known: bool = True) -> None:
        """Notes that more work is done.

        `what` describes the state of a single run, of which it may not be known how long it takes.
        """
        with self._lock:
            self._done = min(self._done + by, 1.0)
            left = self._left()
            if self._total is not None:
                what, is_known = f"all {self._runs} runs", True
                self._bar.update(self._total, completed=self._done, left=left)
            if self._clock() - self._last_line >= _LINE_S:
                done = f": {100 * self._done:.0f}% done" if is_known else ""
                self._print(f"{what}{done}", left)

    def _left(self) -> str:
        return _time_left(self._clock() - self._begin, self._done)

    def _print(self, line: str, left: str) -> None:
        self._last_line = self._clock()
        if not self._console.is_terminal:
            line = f"{line}, {left}" if left else line
            self._console.print(line, style="dim", soft_wrap=True)


def _time_left(spent_s: float, done: float) -> str:
    """The time left when this fraction is done; empty if nothing can be said."""
    if not 0.0 < done < _MOST_KNOWN:
        return ""
    return f"about {duration(spent_s / done * (1.0 - done))} left"


class _Task:
    """One run's line."""

    def __init__(self, bar: ProgressBar, label: str, share: float) -> None:
        self._all = bar
        self._bar = bar._bar
        self._clock = bar._clock
        self._label = label
        self._share = share
        self._line = self._bar.add_task(label, total=1.0, detail="", left="")
        self._begin = self._clock()
        self._before = (self._clock(), 0)
        self._fraction = 0.0

    def report(self, progress: Progress) -> None:
        """Shows where the run stands."""
        now = self._clock()
        (then, events) = self._before
        rate = (progress.events - events) / max(now - then, 1e-9)
        self._before = (now, progress.events)
        simulated = f"{progress.simulated_ps * 1e-9:.4g} of {progress.duration_ps * 1e-9:.4g} ms"
        is_known = progress.simulated_ps < progress.duration_ps
        if not is_known:
            left = progress.flows_started - progress.flows_completed
            simulated = (
                f"{progress.simulated_ps * 1e-9:.4g} ms, {left} flows left, "
                f"{progress.stop_ps * 1e-9:.4g} ms at most"
            )
        fraction = min(progress.fraction, _MOST_KNOWN)
        self._bar.update(
            self._line,
            completed=fraction,
            detail=f"{simulated}  {rate * 1e-6:.1f} M events/s",
            left=_time_left(now - self._begin, fraction),
        )
        self._advance(fraction, f"{self._label}, {simulated}", is_known=is_known)

    def end(self) -> None:
        """Removes the line."""
        self._bar.remove_task(self._line)
        self._advance(1.0, self._label)

    def _advance(self, fraction: float, what: str, *, is_known: bool = True) -> None:
        by = (fraction - self._fraction) * self._share
        self._all._advance(by, what, is_known=is_known)
        self._fraction = fraction


def duration(seconds: float) -> str:
    """A duration for people.

    >>> duration(8.2), duration(150), duration(4000)
    ('8 s', '2.5 min', '1.1 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
