"""Figure 5: of how many neighbours the mean is taken."""

from dataclasses import replace

from spillway.reproduce.claim import Claim, Over, Reduction
from spillway.reproduce.figure import Figure, Point, Scheme
from spillway.reproduce.smartbuf import setup
from spillway.reproduce.smartbuf.readings import PLOT, READINGS, RUN
from spillway.reproduce.verdict import Apart, NoGain

SOURCE = "Smartbuf (IWQoS 2021), Figure 5, section IV-C"


def _k(k: int, place: int) -> Scheme:
    return Scheme(f"K = {k}", (*setup.SMARTBUF.assignments, f"{setup.LEAF}.k={k}"), place)


SCHEMES = tuple(_k(k, place) for place, k in enumerate((1, 2, 3, 5, 10, 30)))

_IV_C = "section IV-C, Figure 5"


def _claims(reading: Point) -> tuple[Claim, ...]:
    over = Over(reading.values)
    claims = (
        Claim(
            "K = 3 is better than 1",
            _IV_C,
            Reduction(setup.SHORT, new="K = 3", old="K = 1"),
            Apart(),
            over,
        ),
        Claim(
            "K = 10 is hardly better than 3",
            _IV_C,
            Reduction(setup.SHORT, new="K = 10", old="K = 3"),
            NoGain(),
            over,
        ),
    )
    return tuple(replace(claim, variant=reading.label) for claim in claims)


FIGURE = Figure(
    name="smartbuf/figure5",
    title="Of how many neighbours the mean is taken",
    source=SOURCE,
    about='"A high load case": 80%. Two readings of the algorithm. ' + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=SCHEMES,
    scales=setup.SCALES,
    plot=PLOT,
    claims=tuple(claim for reading in READINGS for claim in _claims(reading)),
)
