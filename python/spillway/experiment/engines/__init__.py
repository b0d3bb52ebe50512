"""Where workers run that compute what is left of a list of runs.

An engine starts workers, each of which claims what nobody has, and looks after them until nothing
is left. What is done is told by the results alone, whatever becomes of a worker.

    slurm   job arrays of Slurm
    ray     tasks of a Ray cluster, also where its nodes do not share a disk
"""

from __future__ import annotations

from collections.abc import Callable, Collection

Left = Callable[[], Collection[str]]
"""The keys of what has no result yet; looks anew at every call."""
Told = Callable[[str], object]
"""Called with a line for people, when something happens that they may want to know."""


def untold(_: str) -> None:
    """Nobody wants to know."""


def last_lines(text: str, most: int = 8) -> str:
    """The end of a worker's output: what it says of why it has ended."""
    return "\n".join(text.strip().splitlines()[-most:])
