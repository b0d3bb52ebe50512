"""What PRED's sketches of the number of flows cost: their count against the truth."""

from collections.abc import Callable, Mapping

from spillway.base import core
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

_SKETCHES: dict[str, dict[str, str | int]] = {
    **{
        f"bitmap, {places:,} places": {
            "counter": "bitmap",
            "places": places,
            "count_max": max(places, 255),
        }
        for places in (60, 120, 240, 4_096)
    },
    **{
        f"hashes, 2^{bits} places": {"counter": "hashes", "places": 2**bits, "hash_bits": 32}
        for bits in (4, 6, 8, 10)
    },
    # With no bits but those of the place, flows at one place have one hash, in all periods.
    "hashes of 8 bits, 2^8 places": {"counter": "hashes", "places": 256, "hash_bits": 8},
}
SCHEMES = tuple(Scheme(name) for name in _SKETCHES)
FLOWS = (1, 2, 5, 10, 16, 32, 64, 100, 200, 500, 1_000)
PACKETS = (1, 2, 4, 8)
PERIODS = 100
"""After so many, hashes of earlier periods are in the table."""


def _each(packets: int) -> str:
    return f"{packets} packet{'s' * (packets > 1)} of each flow"


FIRST = Number(
    "first", f"flows counted over flows in the first period, {_each(1)}", "N counted / N"
)
COUNTED = {
    packets: Number(
        f"counted_{packets}",
        f"flows counted over flows in period {PERIODS}, {_each(packets)}",
        "N counted / N",
    )
    for packets in PACKETS
}


@basis.results(1, on=("aqm.pred",))
def point(
    report: Callable[[None], object], *, flows: int, scheme: str, seed: int
) -> Mapping[str, float]:
    """N counted over N in the first period, and later for each number of packets per flow."""
    report(None)
    keys = _SKETCHES[scheme]
    counts = {"first": core.counted_flows(keys, flows, 1, seed)} | {
        f"counted_{packets}": core.counted_flows(keys, flows, packets, seed, PERIODS)
        for packets in PACKETS
    }
    return {name: counted / flows for name, counted in counts.items()}


FIGURE = Figure(
    name="pred/sketches",
    title="What sketches count",
    source="PRED (NSDI 2025), section 4.1, appendices B and C.1",
    about=f"Flows with random numbers send through {PERIODS} periods, their packets in random "
    "order. Bitmaps: two flows at one place are one, however many packets they have. Hashes "
    "(Algorithm 1): flows at one place with different hashes push each other out, and each is "
    "counted again when it comes back (position conflicts); flows with the same hash are one, and "
    "so are a flow and one of an earlier period (hash conflicts). With 32 bits only the former "
    "happen, with 8 bits for 2^8 places only the latter.",
    measure=Computed(f"{__name__}:point"),
    points=along("flows", FLOWS, label="{} flows", tick="{}"),
    schemes=SCHEMES,
    scales={
        "quick": Scale(tuple(range(1, 11))),
        "full": Scale(tuple(range(1, 41))),
    },
    plot=Lines(
        (
            *(Panel(metric, _each(packets)) for packets, metric in COUNTED.items()),
            Panel(FIRST, f"{_each(1)}, the first period"),
        ),
        "flows",
        "flows (N)",
    ),
    is_of_paper=False,
)
