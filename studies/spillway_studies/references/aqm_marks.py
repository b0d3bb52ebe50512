"""The marks of ns-3's queue discs and ours, of the same packets at the same times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway_studies.references.aqm_discs import Disc
from spillway_studies.references.aqm_files import read_trace
from spillway_studies.references.bounds import Judged, Verdict, off
from spillway_studies.references.kinds import Booleans

SEEDS = 200
"""Replays of a disc that marks at random."""
_DEVIATIONS = 2.576
"""Half the width of a normal distribution's middle 99%, in standard deviations."""
_PACKET = 1500
"""A packet's bytes, as the disc counts them."""


@dataclass(frozen=True)
class Marks:
    """The marks of the packets of a trace, the reference's and ours at the same times."""

    disc: str
    senders: int
    packets: int
    reference: int
    ours: float
    """For a disc that marks at random, the mean over seeds."""
    differ: int | None
    """The number of packets marked on one side only; None for a disc that marks at random."""
    interval: tuple[float, float] | None
    """Where 99% of our own numbers of marks lie, for a disc that marks at random."""

    @property
    def verdict(self) -> Verdict:
        """Whether all packets agree, or the number of marks is one that could be ours."""
        if self.interval is None:
            return Verdict.outside if self.differ else Verdict.near
        low, high = self.interval
        return Verdict.near if low <= self.reference <= high else Verdict.outside

    @property
    def judged(self) -> Judged:
        """The marks as bounds count them."""
        name = f"marks {self.disc} n{self.senders}"
        if self.interval is None:
            return name, f"{self.differ:,} of {self.packets:,} packets", self.verdict
        return name, off(self.ours, self.reference), self.verdict

    @property
    def document(self) -> dict[str, Any]:
        """The marks as JSON."""
        return {"verdict": self.verdict} | vars(self) | {"random": self.interval is not None}


def replay(disc: Disc, name: str, senders: int, file: Path) -> Marks:
    """Replays a trace."""
    trace = read_trace(file)
    there = trace.marked
    keys = {key: value for key, value in disc.aqm.items() if key != "kind"}

    def replayed(seed: int) -> Booleans:
        try:
            marks = core.replayed_marks(
                disc.aqm["kind"],
                keys,
                trace.joined_ps,
                trace.left_ps,
                trace.found,
                trace.remaining,
                _PACKET,
                seed,
            )
        except ScenarioError as error:
            raise ScenarioError(f"{file}: {error}", error.hint) from error
        return np.asarray(marks).astype(bool)

    counts = len(there), int(there.sum())
    if not disc.is_random:
        here = replayed(1)
        return Marks(name, senders, *counts, int(here.sum()), int((here != there).sum()), None)
    drawn = np.array([replayed(seed).sum() for seed in range(1, SEEDS + 1)], dtype=float)
    mean = float(drawn.mean())
    half = _DEVIATIONS * float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / SEEDS)
    return Marks(name, senders, *counts, mean, None, (mean - half, mean + half))
