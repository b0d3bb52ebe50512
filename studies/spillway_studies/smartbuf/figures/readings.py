"""Details of the algorithm that the paper leaves open: each is read in another way."""

from collections.abc import Iterable
from dataclasses import replace

from spillway_studies.claims import Claim, Figure, Number, Over, Point, Scheme, Variants
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.setup import LEAF

_LOST = ("record=admitted+dropped",)


def _reading(name: str, *parameters: str) -> Point:
    sets = tuple(f"{LEAF}.{parameter}" for parameter in parameters)
    return Point({"reading": name}, sets, {"reading": name})


TEXT = _reading("the text")
DEMANDS = replace(_reading("demands", *setup.LEARN_DEMANDS), exploratory=setup.DEMANDS.exploratory)
READINGS = (TEXT, DEMANDS)
"""The text's reading, and the one that loses least. Other figures vary parameters of these."""

ENTRIES = Number("sharing_counts.leaf.most_entries", "most entries of a leaf", "entries")
"""The most entries that a switch has had at a time."""

RUN = replace(setup.BURSTS, assignments=(*setup.HIGH.assignments, *setup.BURSTS.assignments))
"""At high load."""

PLOT = Variants((setup.SHORT, setup.LONG, setup.DROPS, ENTRIES), "reading")


def with_each(name: str, key: str, values: Iterable[float]) -> tuple[Scheme, ...]:
    """Smartbuf with each of these values of a parameter."""
    return tuple(
        Scheme(f"{name} = {value:g}", (*setup.SMARTBUF.assignments, f"{LEAF}.{key}={value}"), place)
        for place, value in enumerate(values)
    )


def of_both(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Each claim applied to both readings."""
    return tuple(
        replace(claim, over=Over(reading.values), variant=reading.label)
        for reading in READINGS
        for claim in claims
    )


FIGURE = Figure(
    name="smartbuf/readings",
    title="Smartbuf's algorithm, read in all its ways",
    source="Smartbuf (IWQoS 2021), Algorithm 1 and section III",
    about="Load 80%. Of one thing at a time the text is read another way; last all that help, "
    "together. " + setup.ABOUT,
    measure=RUN,
    points=(
        TEXT,
        _reading("key at detection", "key=at-detection"),
        _reading("key at the peak", "key=peak"),
        _reading("what was lost counts", *_LOST),
        _reading("that, key at detection", *_LOST, "key=at-detection"),
        _reading("keys of 10% of the rate", "key_quantum=0.1"),
        _reading("keys of the rate", "key_quantum=1.0"),
        _reading("no smoothing", "smoothing=0.0"),
        _reading("smoothing 15/16", "smoothing=0.9375"),
        _reading("entries for 10 ms", "max_age=10ms"),
        _reading("nothing predicted for 20 ms", "learning_period=20ms"),
        _reading("as printed", "variant=printed"),
        DEMANDS,
    ),
    schemes=(setup.SMARTBUF,),
    scales=setup.SCALES,
    plot=PLOT,
    is_of_paper=False,
)
