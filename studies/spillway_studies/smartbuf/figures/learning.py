"""How long Smartbuf learns: until its predictions no longer change."""

import math
import tomllib
from collections.abc import Sequence

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway_studies.claims import Figure, Number, OverTime, Run, Scale, TimePanel, basis, samples
from spillway_studies.smartbuf.figures import bursts, setup

WINDOW_MS = 100
WITHIN = 0.02


@basis.results(1)
def numbers(result: Result) -> dict[str, float | None]:
    """The mean prediction in each window, in KB, and the time from which it is stable.

    It is the mean of the last thresholds of the bursts that ended in the window.
    """
    ended = bursts.at_leaves(result.bursts, 0)
    end = ended["end_ps"].to_numpy() / 1e9
    last = bursts.threshold(ended, "last") / 1000
    means = []
    for window in range(quantity(tomllib.loads(result.scenario)["duration"]) // 10**9 // WINDOW_MS):
        of_window = last[(end >= window * WINDOW_MS) & (end < (window + 1) * WINDOW_MS)]
        means.append(float(of_window.mean()) if len(of_window) else math.nan)
    return {
        **samples.series({"prediction": means}, 1000 * WINDOW_MS),
        "learning.ms": settled(means),
    }


def settled(means: Sequence[float]) -> float | None:
    """The end of the first window whose mean is within 2% of the previous window's."""
    for window in range(1, len(means)):
        if abs(means[window] / means[window - 1] - 1) <= WITHIN:
            return (window + 1) * WINDOW_MS
    return None


FIGURE = Figure(
    name="smartbuf/learning",
    title="How long Smartbuf learns",
    source="Smartbuf (IWQoS 2021), section III-B, which names a learning phase and no time",
    about="Load 80%. The mean prediction (the last threshold of a burst) in each 100 ms, until it "
    "is within 2% of that of the 100 ms before. One long run of each reading.",
    measure=Run(
        setup.SCENARIO,
        (*setup.HIGH.assignments, "record.bursts=20%"),
        also="spillway_studies.smartbuf.figures.learning:numbers",
    ),
    points=(setup.HIGH,),
    schemes=(setup.SMARTBUF, setup.DEMANDS),
    scales={
        "quick": Scale((1,), ("duration=600ms", "record.drops=false")),
        "full": Scale((1,), ("duration=2s", "stop=3s", "record.drops=false")),
    },
    plot=OverTime(
        (TimePanel("mean prediction", "KB", (("prediction", "last thresholds of bursts"),)),),
        (Number("learning.ms", "until predictions rest", "ms"),),
    ),
    is_of_paper=False,
)
