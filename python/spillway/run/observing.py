"""Looks at a run that halts: the arrays that `Simulation.observe` returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from spillway.base.arguments import check_text, items
from spillway.base.errors import ScenarioError

if TYPE_CHECKING:
    import numpy as np

    from spillway.base.core import Simulation

Signals: TypeAlias = str | Iterable[str]
"""Names of signals; one, or several."""
Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64] | np.dtype[np.float64]]"
"""Whole numbers, or means and slowdowns."""


def names_of(signals: Signals) -> list[str]:
    """The names, each once.

    >>> names_of("fct_ps"), names_of(["fct_ps", "flows_started", "fct_ps"])
    (['fct_ps'], ['fct_ps', 'flows_started'])
    """
    if isinstance(signals, str):
        signals = [signals]
    hint = 'for one: "switch.leaf.queue_bytes"; `spillway list signals` shows all'
    names = list(items(signals, "names of signals", hint))
    for name in names:
        if not isinstance(name, str):
            raise ScenarioError(f"{name!r} is no name of a signal", hint)
        if not name.isascii():
            check_text(name)
    return list(dict.fromkeys(names))


def look(simulation: Simulation, signals: Signals) -> dict[str, Array]:
    """What signals tell, by their names, as arrays that cannot be written to."""
    import numpy as np

    names = names_of(signals)
    told = zip(names, simulation.observe(names), strict=True)
    return {name: np.asarray(column).reshape(shape) for name, (column, shape) in told}
