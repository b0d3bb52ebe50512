"""What other distributions add, by their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GET_STUDIES = "pip install 'spillway[papers]', or in a clone: pip install ./studies"


def loaded(group: str, warn: Callable[[str], object], taken: Iterable[str] = ()) -> dict[str, Any]:
    """What the entry points of a group name, None where that cannot be loaded; it is told of.

    Of several with one name that of the first distribution counts, and none whose name is taken.
    """
    found: dict[str, Any] = dict.fromkeys(taken)
    for entry in sorted(entry_points(group=group), key=_distribution):
        what = f"{entry.name} ({group}) of {_distribution(entry)}"
        if entry.name in found:
            warn(f"{what} is left out: that name is taken")
            continue
        found[entry.name] = None
        try:
            found[entry.name] = entry.load()
        except Exception as error:
            warn(f"{what} cannot be loaded: {type(error).__name__}: {error}")
    return found


def _distribution(entry: EntryPoint) -> str:
    return "an unknown distribution" if entry.dist is None else entry.dist.name
