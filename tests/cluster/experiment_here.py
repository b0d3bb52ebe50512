"""One experiment that several engines compute, and what it comes to."""

from __future__ import annotations

import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import spillway
from spillway.experiment.experiment import Experiment
from support import TINY, without_cost

SEEDS = "1..12"
VARY = "switch.sharing=dt,lqd"
DURATION = "duration=200ms"
"""Some tenth of a second for each run."""


def asked(out: Path | None, **more: Any) -> Experiment:
    """It, not run yet."""
    return spillway.experiment(TINY, vary=VARY, seeds=SEEDS, set=DURATION, out=out, **more)


def bits(experiment: Experiment) -> list[dict[str, Any]]:
    """What its runs have come to."""
    assert not experiment.missing()
    return [without_cost(run) for _, runs in experiment.results for _, run in runs.summaries()]


def workers(out: Path) -> list[int]:
    """The processes that are at work on it, or on a node's copy of it."""
    copy = os.fsencode(Path(tempfile.gettempdir(), "spillway-"))
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (place / "cmdline").read_bytes().split(b"\0")
            on_copy = any(
                part.startswith(copy) and part.endswith(os.fsencode(out.name)) for part in line
            )
            if b"work" in line and (os.fsencode(out) in line or on_copy):
                found.append(int(place.name))
    return found


def kill_one(out: Path) -> bool:
    """Kills a worker, if there is one."""
    for process in workers(out)[:1]:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            return True
    return False


def claims(out: Path) -> list[str]:
    """What is claimed."""
    return [file.name for file in (out / "results" / "claims").iterdir()]
