"""What PRED's sketches of the number of flows cost: their count against the truth."""

from collections.abc import Callable, Mapping

from spillway.reproduce.draw import Lines, Panel
from spillway.reproduce.figure import Figure, Scale, Scheme, along
from spillway.reproduce.metric import Number
from spillway.reproduce.point import Computed

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
    # With no bits but those of the place, flows at one place have one hash.
    "hashes of 8 bits, 2^8 places": {"counter": "hashes", "places": 256, "hash_bits": 8},
}
SCHEMES = tuple(Scheme(name) for name in _SKETCHES)
FLOWS = (1, 2, 5, 10, 16, 32, 64, 100, 200, 500, 1_000)
PACKETS = (1, 2, 4, 8)
COUNTED = {
    packets: Number(
        f"counted_{packets}",
        f"flows counted over flows, {packets} packet{'s' * (packets > 1)} each",
        "N counted / N",
    )
    for packets in PACKETS
}


def point(
    report: Callable[[None], object], *, flows: int, scheme: str, seed: int
) -> Mapping[str, float]:
    """N counted over N after one period, for each number of packets per flow."""
    from spillway import _core

    report(None)
    keys = {"qla": False, **_SKETCHES[scheme]}
    counts = {packets: _core.counted_flows(keys, flows, packets, seed) for packets in PACKETS}
    return {f"counted_{packets}": counted / flows for packets, counted in counts.items()}


FIGURE = Figure(
    name="pred/sketches",
    title="What sketches count",
    source="PRED (NSDI 2025), section 4.1, appendices B and C.1",
    about="One period, flows with random numbers, their packets in random order. Bitmaps: two "
    "flows at one place are one, however many packets they have. Hashes (Algorithm 1): flows at "
    "one place with different hashes push each other out, and each is counted again when it comes "
    "back (position conflicts); flows with the same hash are one (hash conflicts). With 32 bits "
    "only the former happen, with 8 bits for 2^8 places only the latter.",
    measure=Computed(f"{__name__}:point"),
    points=along("flows", FLOWS, label="{} flows", tick="{}"),
    schemes=SCHEMES,
    scales={
        "quick": Scale(tuple(range(1, 11))),
        "full": Scale(tuple(range(1, 41))),
    },
    plot=Lines(
        tuple(
            Panel(metric, f"{packets} packet{'s' * (packets > 1)} of each flow")
            for packets, metric in COUNTED.items()
        ),
        "flows",
        "flows (N)",
    ),
    is_of_paper=False,
)
