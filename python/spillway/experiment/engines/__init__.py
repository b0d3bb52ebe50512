"""Engines, which start workers that compute the missing runs of an experiment.

An engine starts workers, and looks after them until no run is missing. Each worker claims runs that
nobody else has claimed. Only results show what is done, whatever becomes of a worker.

    slurm   job arrays of Slurm
    ray     tasks of a Ray cluster, also where its nodes do not share a disk
"""

from __future__ import annotations

from collections.abc import Callable, Collection

Left = Callable[[], Collection[str]]
"""Returns the keys without a result yet; every call looks again."""
Told = Callable[[str], object]
"""Called with a line for people, when something happens that they may want to know."""


def untold(_: str) -> None:
    """Ignores a line that nobody wants to know."""


def last_lines(text: str, most: int = 8) -> str:
    """The end of a worker's output: what it says of why it has ended."""
    return "\n".join(text.strip().splitlines()[-most:])
