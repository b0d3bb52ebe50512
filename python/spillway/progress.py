"""How far a run has come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rich.console import Console


class Progress(NamedTuple):
    """Where a run stands."""

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
        """The part of the run that is done, as far as can be told before the last flow's end."""
        return min(self.simulated_ps / self.duration_ps, 1.0)


Report = Callable[[Progress], object]


class ProgressBar:
    """A bar on a terminal for several runs at once; nothing elsewhere."""

    def __init__(self, console: Console, runs: int) -> None:
        from rich import progress

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=28),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[detail]}", style="dim", markup=False),
            progress.TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._runs = runs
        self._total = None
        if runs > 1:
            self._total = self._bar.add_task(f"{runs} runs", total=runs, detail="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def follow(self, label: str) -> tuple[Report, Callable[[], None]]:
        """Shows a run that begins: returns what to call as it goes on, and at its end."""
        task = _Task(self, label)
        return task.report, task.end


class _Task:
    """One run's line."""

    def __init__(self, bar: ProgressBar, label: str) -> None:
        self._bar = bar._bar
        self._overall = bar._total
        self._line = self._bar.add_task(label, total=1.0, detail="")
        self._before = (time.monotonic(), 0)
        self._fraction = 0.0

    def report(self, progress: Progress) -> None:
        """Shows where the run stands."""
        now = time.monotonic()
        (then, events) = self._before
        rate = (progress.events - events) / max(now - then, 1e-9)
        self._before = (now, progress.events)
        simulated = f"{progress.simulated_ps * 1e-9:.4g} of {progress.duration_ps * 1e-9:.4g} ms"
        if progress.simulated_ps >= progress.duration_ps:
            left = progress.flows_started - progress.flows_completed
            simulated = f"{progress.simulated_ps * 1e-9:.4g} ms, {left} flows left"
        detail = f"{simulated}  {rate * 1e-6:.1f} M events/s"
        self._bar.update(self._line, completed=progress.fraction, detail=detail)
        self._advance(progress.fraction)

    def end(self) -> None:
        """Takes the line away."""
        self._bar.remove_task(self._line)
        self._advance(1.0)

    def _advance(self, fraction: float) -> None:
        if self._overall is not None:
            self._bar.advance(self._overall, fraction - self._fraction)
        self._fraction = fraction


class Countdown:
    """How many of several pieces of work are done, and about how long the others take."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._clock = clock
        self._begin = clock()
        self._done = 0
        self._lock = threading.Lock()

    def advance(self, label: str) -> str:
        """Counts a piece that is done, and says where things stand."""
        with self._lock:
            self._done += 1
            elapsed = self._clock() - self._begin
            seconds = elapsed / self._done * (self._total - self._done)
        left = f", about {duration(seconds)} left" if self._done < self._total else ""
        return f"{self._done} of {self._total}: {label}{left}"


def duration(seconds: float) -> str:
    """A duration for people.

    >>> duration(8.2), duration(150), duration(4000)
    ('8 s', '2.5 min', '1.1 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
