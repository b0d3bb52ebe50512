"""Table 1: how much worse than the optimum each algorithm can be."""

from collections.abc import Callable, Mapping
from typing import Any

from spillway_studies.claims import (
    AtLeast,
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
    along,
    basis,
)

RATIO = Number(
    "worst",
    "worst ratio of the optimum's throughput to the algorithm's",
    "OPT / ALG",
    over_seeds="largest",
)
_AT = {"ports": 16}

_NAMES = (
    "Complete Sharing",
    "Dynamic Thresholds",
    "Harmonic",
    "LQD (push-out)",
    "FollowLQD",
    "Credence, perfect predictions",
    "Credence, all flipped",
)
SCHEMES = tuple(
    Scheme(name, style=style) for name, style in zip(_NAMES, (5, 0, 4, 2, 6, 3, 1), strict=True)
)


@basis.results(1, on=("slotted", "sharing."))
def point(
    report: Callable[[None], object],
    *,
    ports: int,
    scheme: str,
    seed: int,
    packets_per_port: int,
    seeds: int,
) -> Mapping[str, Any]:
    """The worst ratio of one algorithm over constructions and random arrivals."""
    from spillway.theory.slotted import table1

    found = table1(
        ports=int(ports),
        buffer=packets_per_port * int(ports),
        seeds=seeds,
        first_seed=1 + (seed - 1) * seeds,
        algorithms=(scheme,),
        follow=lambda _done, _of: report(None),
    )
    (row,) = found["rows"]
    return {"worst": row["worst"], "bound": row["at"]}


def _bound(scheme: str, number: float, of: str) -> Claim:
    return Claim(
        f"{scheme}: at most {of}",
        "Table 1, with N = 16",
        Plain(RATIO, scheme),
        AtMost(number),
        Over(_AT),
    )


CLAIMS = (
    _bound("Complete Sharing", 17.0, "N + 1"),
    _bound("Harmonic", 4.7726, "ln N + 2"),
    _bound("LQD (push-out)", 1.707, "1.707"),
    _bound("Credence, perfect predictions", 1.707, "1.707"),
    _bound("Credence, all flipped", 16.0, "N"),
    Claim(
        "FollowLQD: at least (N + 1) / 2",
        "Observation 1, with N = 16",
        Plain(RATIO, "FollowLQD"),
        AtLeast(8.5),
        Over(_AT),
    ),
)

FIGURE = Figure(
    name="credence/table1",
    title="The worst case found for every algorithm",
    source="Credence (NSDI 2024), Table 1, Observation 1",
    about="The slotted model, at most N arrivals in a slot, B = 16 N (64 N at full scale): "
    "constructions against every algorithm and random arrivals. What is found is a bound from "
    "below: a claim of an upper bound can only be refuted. A bound that is reached in the limit of "
    "long sequences and large buffers is not reached here. Dynamic Thresholds' O(N) is no number; "
    "its alpha is 0.5.",
    measure=Computed(f"{__name__}:point"),
    points=along("ports", (4, 8, 16, 32), label="N = {}", tick="{}"),
    schemes=SCHEMES,
    scales={
        "quick": Scale((1, 2, 3), parameters={"packets_per_port": 16, "seeds": 1}),
        "full": Scale((1, 2, 3), parameters={"packets_per_port": 64, "seeds": 3}),
    },
    plot=Lines((Panel(RATIO, "Worst ratio found", is_log=True),), "ports", "ports, N"),
    claims=CLAIMS,
)
