"""The slotted model of buffer sharing theory, with the exact offline optimum.

Time has slots. In each slot, packets of one size arrive for N ports, one after the other, and are
admitted to a shared buffer of B packets or lost; then every non-empty queue sends one packet. The
policies are those of the packet simulator.

    >>> from spillway import slotted
    >>> arrivals = slotted.Arrivals.of_slots(2, [[0], [], [], [0, 0], [1, 0]])
    >>> slotted.optimum(arrivals, buffer=2)
    4
    >>> slotted.run("lqd", arrivals, buffer=2).transmitted
    4
    >>> slotted.run("dt", arrivals, buffer=2, alpha=1).drops
    {'over_threshold': 1}

The model is that of V. Addanki, M. Pacut, S. Schmid, "Credence", NSDI 2024, appendix A.
"""

from spillway.theory.slotted.arrivals import Arrivals
from spillway.theory.slotted.credence import figure14, lemma1, table1
from spillway.theory.slotted.model import (
    Outcome,
    PredictionError,
    flipped,
    optimum,
    prediction_error,
    run,
)
from spillway.theory.slotted.worst import Found, search

__all__ = [
    "Arrivals",
    "Found",
    "Outcome",
    "PredictionError",
    "figure14",
    "flipped",
    "lemma1",
    "optimum",
    "prediction_error",
    "run",
    "search",
    "table1",
]
