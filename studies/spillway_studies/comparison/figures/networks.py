"""Every sharing policy in the networks of Credence, CBM and Smartbuf."""

from spillway_studies.claims.axes import Point, Scale, Scheme
from spillway_studies.claims.figure import Figure
from spillway_studies.comparison.figures.setup import (
    ABOUT,
    TIERS,
    TOLD,
    TRAINED,
    Numbers,
    run_of,
    schemes,
)

SEEDS = (1, 2, 3, 4, 5)
TRAINED_HERE = "credence, trained here"
LEAF = "switch.leaf.sharing"


def _network(name: str, learns_ms: int, every: tuple[Scheme, ...], about: str) -> Figure:
    """250 ms of a scenario, after the time that Smartbuf needs to learn."""

    def scale(learns_ms: int, measured_ms: int, seeds: tuple[int, ...]) -> Scale:
        times = (f"warmup={learns_ms}ms", f"duration={learns_ms + measured_ms}ms")
        return Scale(seeds, times, TRAINED)

    full = scale(learns_ms, 250, SEEDS)
    return Figure(
        name=f"comparison/{name}",
        title=f"All sharing policies in the network of {about}",
        source=f"none: the scenario {name}",
        about=ABOUT,
        measure=Numbers(run_of(name)),
        points=(Point({"network": name}, labels={"network": about}),),
        schemes=every,
        scales={
            "quick": scale(learns_ms // 5, 50, SEEDS[:3]),
            "page": full,
            "full": full,
        },
        tells=TOLD,
    )


FIGURES = (
    _network("credence", 500, (*schemes(), TIERS), "Credence"),
    _network("cbm", 500, schemes(), "CBM"),
    # There the spines use DT, and the leaves the policy in question. `smartbuf/learning` shows that
    # Smartbuf learns for that long. In the other two networks the mean prediction of 100 ms is
    # within 2% of that of the previous 100 ms after 400 and 500 ms.
    _network(
        "smartbuf",
        600,
        (
            *schemes(LEAF, ack_queues=False),
            Scheme(TRAINED_HERE, (f"{LEAF}=credence", f"{LEAF}.model=smartbuf"), style=15),
        ),
        "Smartbuf",
    ),
)
