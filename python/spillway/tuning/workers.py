"""Several workers on one study: each shows that it is alive, and tries again what dead ones left.

No clocks are compared: a worker counts up, and the others watch whether the count moves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from optuna import Study, Trial
from optuna.trial import FrozenTrial, TrialState

BEAT_S = 15.0
"""How often a worker shows that it is alive."""
STALE_S = 120.0
"""The time without a sign of life after which a trial is tried again."""
BEAT = "beat"


class Beats:
    """Counts up in the trials of this worker, in a thread of its own."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._trials: dict[int, Trial] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def add(self, trial: Trial) -> None:
        """Shows from now on that a trial is under way."""
        with self._lock:
            self._trials[trial.number] = trial
            trial.set_user_attr(BEAT, 1)

    def remove(self, trial: Trial) -> None:
        """Stops doing so."""
        with self._lock:
            self._trials.pop(trial.number, None)

    def end(self) -> None:
        """Ends the thread."""
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        count = 1
        while not self._over.wait(BEAT_S):
            count += 1
            # The storage may be reachable next time. If it is not, the search itself fails.
            with self._lock, suppress(Exception):
                for trial in self._trials.values():
                    trial.set_user_attr(BEAT, count)


class OtherWorkers:
    """What this worker has seen of the trials of others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[int, tuple[Any, float]] = {}

    def stale(self, running: Sequence[FrozenTrial]) -> list[FrozenTrial]:
        """Trials of other workers whose count has not advanced for too long."""
        now = self._clock()
        found = []
        for trial in running:
            beat = trial.user_attrs.get(BEAT)
            count, since = self._seen.get(trial.number, (None, now))
            if trial.number not in self._seen or count != beat:
                self._seen[trial.number] = beat, now
            elif now - since >= STALE_S:
                found.append(trial)
        return found

    def try_again(self, study: Study, running: Sequence[FrozenTrial]) -> bool:
        """Hands trials of dead workers to whoever asks next. Returns whether there were any."""
        stale = self.stale(running)
        for trial in stale:
            self.again(study, trial.number, trial.params, trial.user_attrs.get("begun", 0))
        return bool(stale)

    def again(self, study: Study, number: int, values: Mapping[str, Any], begun: int = 0) -> None:
        """Ends a trial, and puts one with the same values in its place."""
        try:
            study.tell(number, state=TrialState.FAIL)
        except ValueError:
            # Another worker was faster, or the trial's own worker has noted the outcome after all.
            return
        study.enqueue_trial(dict(values), user_attrs={"begun": begun, "again": number})
