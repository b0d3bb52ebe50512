"""Figures 3 and 4: two bursts that any drop-tail algorithm treats badly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from spillway_studies.claims import (
    Computed,
    Figure,
    Lines,
    Number,
    Panel,
    Scale,
    Scheme,
    along,
    basis,
)

if TYPE_CHECKING:
    from spillway.theory.slotted import Arrivals

_POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "DT": ("dt", {"alpha": 0.5}),
    "Complete Sharing": ("cs", {}),
    "Harmonic": ("harmonic", {}),
    "FollowLQD": ("followlqd", {}),
    "LQD": ("lqd", {}),
    "Credence, perfect predictions": ("credence", {}),
    "Blind trust, perfect predictions": ("blind-trust", {}),
}
SCHEMES = tuple(
    Scheme(name, style=style) for name, style in zip(_POLICIES, (0, 5, 4, 6, 2, 3, 1), strict=True)
)
ALONE, FOLLOWED = "a lone burst", "four bursts, then short ones"

RATIO = Number("ratio", "throughput of the optimum over that of the algorithm", "OPT / ALG")


def arrivals(example: str, ports: int, buffer: int, rounds: int) -> Arrivals:
    """One of the paper's two examples, repeated.

    A single burst has B packets for one port, and the next one comes when all of them can have been
    sent. In the other example four bursts of B packets come at once, for four ports in turn. One
    slot later a short burst of B / 2 (N - 4) packets comes for every other port, again in turn. The
    next round begins when a full buffer, spread evenly over all ports, can have been sent.
    """
    from spillway.theory.slotted import Arrivals

    slots: list[list[int]] = []
    for _ in range(rounds):
        if example == ALONE:
            slots += [[0] * buffer, *([] for _ in range(buffer - 1))]
        else:
            short = buffer // (2 * (ports - 4))
            quiet = buffer // ports - 1
            slots += [[0, 1, 2, 3] * buffer, [*range(4, ports)] * short]
            slots += [[] for _ in range(quiet)]
    return Arrivals.of_slots(ports, slots)


@basis.results(1, on=("slotted", "sharing."))
def point(
    report: Callable[[None], object],
    *,
    example: str,
    scheme: str,
    seed: int,
    ports: int,
    buffer: int,
    rounds: int,
) -> Mapping[str, float]:
    """OPT / ALG for one algorithm. Nothing is random, so all seeds give the same."""
    from spillway.theory.slotted.model import measure

    report(None)
    policy, keys = _POLICIES[scheme]
    made = arrivals(example, int(ports), int(buffer), int(rounds))
    found = measure(policy, made, buffer=int(buffer), seed=seed, keys=keys)
    return {
        "ratio": found.ratio,
        "sent": found.outcome.transmitted,
        "optimum": found.optimum,
    }


FIGURE = Figure(
    name="credence/figure3",
    title="Bursts that are dropped too early, or admitted too readily",
    source="Credence (NSDI 2024), Figures 3 and 4, section 2.2",
    about="The slotted model, 8 ports, 64 packets, 100 rounds: a burst of the buffer's size for "
    "one port while nothing else comes, and four of them at once, before short ones for all other "
    "ports, which together fill half the buffer. The paper draws both and gives no number. Alpha "
    "of DT is 0.5.",
    measure=Computed(f"{__name__}:point"),
    points=along("example", (ALONE, FOLLOWED)),
    schemes=SCHEMES,
    scales={
        scale: Scale((1,), parameters={"ports": 8, "buffer": 64, "rounds": 100})
        for scale in ("quick", "full")
    },
    plot=Lines(
        (Panel(RATIO, "The optimum against each"),), "example", "what comes", is_joined=False
    ),
)
