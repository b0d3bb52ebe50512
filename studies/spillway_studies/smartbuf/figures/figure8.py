"""Figure 8: the prediction for a burst, and what it would have taken."""

from collections.abc import Callable

import numpy as np

from spillway.base.quantities import quantity
from spillway.run.run import run
from spillway.scenario.scenario import Scenario
from spillway_studies.claims import (
    AtMost,
    Claim,
    Computed,
    Figure,
    Lines,
    Number,
    Over,
    Panel,
    Plain,
    Scale,
    Scheme,
    Table,
    Within,
    along,
    basis,
)
from spillway_studies.smartbuf.figures import bursts, setup

MEAN = Number("bursts.mean_error", "mean error", "% of the demand", 100)
LARGEST = Number("bursts.largest_error", "largest error", "% of the demand", 100, "largest")

_IV_E = "section IV-E, Figure 8"


def _claims(scheme: Scheme) -> tuple[Claim, ...]:
    return (
        Claim(
            "The error is 6% on average",
            "abstract",
            Plain(MEAN, scheme.name),
            Within(6),
            Over(take="mean"),
            scheme.name,
        ),
        Claim(
            "The error is at most 9%",
            _IV_E,
            Plain(LARGEST, scheme.name),
            AtMost(9),
            Over(take="each"),
            scheme.name,
        ),
    )


_SCHEMES = (setup.SMARTBUF, setup.DEMANDS)
_CLAIMS = tuple(claim for scheme in _SCHEMES for claim in _claims(scheme))
_PLOT = Lines(
    (
        Panel(MEAN, "(a) mean error", is_log=True),
        Panel(LARGEST, "(b) largest error", is_log=True),
    ),
    "load",
    "load of the uplinks",
)

FIGURE = Figure(
    name="smartbuf/figure8",
    title="What is predicted for a burst, and what it would have taken",
    source="Smartbuf (IWQoS 2021), Figure 8, section IV-E",
    about="The prediction is a port's last threshold before the burst's end. What it would have "
    "taken is the most of a queue beside the port's that loses nothing, in the same run: what "
    "comes to both is the same. " + setup.ABOUT,
    measure=setup.BURSTS,
    points=setup.LOADS,
    schemes=_SCHEMES,
    scales=setup.HEADLINES,
    plot=_PLOT,
    claims=_CLAIMS,
)


@basis.results(1, on=basis.EVERYTHING)
def beside_unbounded(
    report: Callable[[object], object],
    *,
    load: float,
    scheme: str,
    seed: int,
    warmup: str,
    duration: str,
) -> dict[str, float | None]:
    """The errors of predictions, with the demands of a second run with infinite buffers.

    A burst of the first run is compared with the burst of the second run, at the same port, that it
    overlaps for the longest time. A burst that overlaps none is left out, and counted.
    """
    (chosen,) = (each for each in _SCHEMES if each.name == scheme)
    scenario = Scenario.load(setup.SCENARIO).set(
        *setup.at_load(load).assignments,
        f"seed={seed}",
        f"warmup={warmup}",
        f"duration={duration}",
        "record.drops=false",
    )
    above = int(quantity("4MB") / 5)
    predicted = run(scenario.set(*chosen.assignments, f"record.bursts={above}B"), progress=report)
    unbounded = run(
        scenario.set(
            f"{setup.LEAF}=cs",
            "switch.spine.sharing=cs",
            "switch.leaf.buffer=unlimited",
            "switch.spine.buffer=unlimited",
            f"record.bursts={above}B",
        ),
        progress=report,
    )
    first = bursts.at_leaves(predicted.bursts, quantity(warmup))
    second = bursts.at_leaves(unbounded.bursts, 0)
    demand = _matched(first, second)
    last = bursts.threshold(first, "last")
    known = ~np.isnan(demand)
    return {
        **bursts.errors(last[known], demand[known]),
        "bursts.count": float(len(known)),
        "bursts.unmatched": float((~known).sum()),
    }


def _matched(first: Table, second: Table) -> np.ndarray:
    """For each burst of the first run, the demand of the burst that it overlaps the longest."""
    at_port: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for row in second.to_pylist():
        span = (row["start_ps"], row["end_ps"], row["demand_bytes"])
        at_port.setdefault((row["switch"], row["port"]), []).append(span)
    demands = []
    for row in first.to_pylist():
        longest, demand = 0, float("nan")
        for start, end, bytes_wanted in at_port.get((row["switch"], row["port"]), []):
            overlap = min(end, row["end_ps"]) - max(start, row["start_ps"])
            if overlap > longest:
                longest, demand = overlap, float(bytes_wanted)
        demands.append(demand)
    return np.array(demands)


SECOND_RUN = Figure(
    name="smartbuf/figure8-unbounded",
    title="The same beside a second run with endless memory",
    source="Smartbuf (IWQoS 2021), Figure 8, section IV-E",
    about="What a burst would have taken is what it takes in another run with endless memory, as "
    "in the text. Since senders react to what is lost, the runs drift apart: a burst is compared "
    "with that at the same port which it overlaps for the longest time. " + setup.ABOUT,
    measure=Computed("spillway_studies.smartbuf.figures.figure8:beside_unbounded"),
    points=along("load", (0.2, 0.4, 0.6, 0.8, 0.9), label="load {:.0%}", tick="{:.0%}"),
    schemes=_SCHEMES,
    scales={
        "quick": Scale((1, 2, 3), parameters={"warmup": "20ms", "duration": "60ms"}),
        "full": Scale((1, 2, 3), parameters={"warmup": "200ms", "duration": "1s"}),
    },
    plot=_PLOT,
    claims=_CLAIMS,
    is_of_paper=False,
)
