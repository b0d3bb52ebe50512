"""Readings of the algorithm, its parameters, and its entries: Figures 5 to 7."""

from collections.abc import Iterable
from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    AtMost,
    Claim,
    Figure,
    Lines,
    Near,
    NoGain,
    Number,
    Over,
    Panel,
    Plain,
    Point,
    Reduction,
    Scheme,
    Variants,
)
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.setup import LEAF

# Details of the algorithm that the paper leaves open: each is read in another way -----------------


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


# Figure 5: the number of neighbours over which the mean is taken ----------------------------------


_FIGURE_5 = "section IV-C, Figure 5"

NEIGHBOURS = Figure(
    name="smartbuf/figure5",
    title="Of how many neighbours the mean is taken",
    source="Smartbuf (IWQoS 2021), Figure 5, section IV-C",
    about='"A high load case": 80%. Two readings of the algorithm. ' + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=with_each("K", "k", (1, 2, 3, 5, 10, 30)),
    scales=setup.SCALES,
    plot=PLOT,
    claims=of_both(
        (
            Claim(
                "K = 3 is better than 1",
                _FIGURE_5,
                Reduction(setup.SHORT, new="K = 3", old="K = 1"),
                Apart(),
            ),
            Claim(
                "K = 10 is hardly better than 3",
                _FIGURE_5,
                Reduction(setup.SHORT, new="K = 10", old="K = 3"),
                NoGain(),
            ),
        )
    ),
)


# Figure 6: what counts as a burst (sigma), and when it ends (beta) --------------------------------


_IV_C = "section IV-C"

SIGMA = Figure(
    name="smartbuf/figure6",
    title="What counts as a burst",
    source="Smartbuf (IWQoS 2021), Figure 6, section IV-C",
    about="A port that holds more than the buffer over sigma is in a burst. Two readings of the "
    "algorithm. " + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=with_each("sigma", "sigma", (1.25, 2.5, 3.75, 5.0, 10.0, 20.0)),
    scales=setup.SCALES,
    plot=PLOT,
    claims=of_both(
        (
            Claim(
                "Larger sigma is better: 5 than 1.25",
                _IV_C + ", Figure 6",
                Reduction(setup.SHORT, new="sigma = 5", old="sigma = 1.25"),
                Apart(),
            ),
            Claim(
                "From 2.5 to 5 it is as good",
                _IV_C + ", Figure 6",
                Reduction(setup.SHORT, new="sigma = 5", old="sigma = 2.5"),
                Alike(),
            ),
            Claim(
                "Above 5 there is little to gain",
                _IV_C + ", Figure 6",
                Reduction(setup.SHORT, new="sigma = 20", old="sigma = 5"),
                NoGain(),
            ),
            Claim(
                "Smaller sigma needs fewer entries",
                _IV_C + ", Figure 6",
                Reduction(ENTRIES, new="sigma = 2.5", old="sigma = 10"),
                Apart(),
            ),
        )
    ),
)

BETA = Figure(
    name="smartbuf/beta",
    title="When a burst is over",
    source="Smartbuf (IWQoS 2021), section IV-C, of which it shows no figure",
    about="Below beta of its maximum a burst is over. Load 80%, two readings of the algorithm. "
    + setup.ABOUT,
    measure=RUN,
    points=READINGS,
    schemes=with_each("beta", "beta", (0.01, 0.1, 0.19, 0.2, 0.35, 0.5, 0.7, 0.9)),
    scales=setup.SCALES,
    plot=PLOT,
    claims=of_both(
        (
            *(
                Claim(
                    f"{beta:g} needs fewer entries than 0.9",
                    _IV_C,
                    Reduction(ENTRIES, new=f"beta = {beta:g}", old="beta = 0.9"),
                    Near(0.44),
                )
                for beta in (0.2, 0.5)
            ),
            Claim(
                "0.2 does as 0.5",
                _IV_C,
                Reduction(setup.SHORT, new="beta = 0.2", old="beta = 0.5"),
                Alike(),
            ),
            *(
                Claim(
                    f"0.5 has a shorter tail than {beta:g}",
                    _IV_C,
                    Reduction(setup.SHORT, new="beta = 0.5", old=f"beta = {beta:g}"),
                    Near(0.09),
                )
                for beta in (0.01, 0.1, 0.19)
            ),
        )
    ),
    is_of_paper=False,
)


# Figure 7: the number of entries ------------------------------------------------------------------


BURSTS = Number("bursts.count", "bursts at all leaves", "bursts")
LARGEST = replace(ENTRIES, over_seeds="largest")


def _few_entries(scheme: Scheme) -> tuple[Claim, ...]:
    says = (
        ("At the highest load there are fewer than 35 entries", 34, 0.9),
        ("At 20% load there are fewer than 20 entries", 19, 0.2),
        ("At 40% load there are fewer than 20 entries", 19, 0.4),
    )
    return tuple(
        Claim(
            text,
            "section IV-D, Figure 7",
            Plain(LARGEST, scheme.name),
            AtMost(most),
            Over({"load": load}),
            scheme.name,
        )
        for text, most, load in says
    )


NUMBER_OF_ENTRIES = Figure(
    name="smartbuf/figure7",
    title="How many entries a switch has",
    source="Smartbuf (IWQoS 2021), Figure 7, section IV-D",
    about="The most of any leaf. Entries are as many as bursts of different gradients, and are "
    "kept for a second: so they grow with the time that is simulated, until then. What holds after "
    "60 ms (quick) may not hold after a second (full). " + setup.ABOUT,
    measure=setup.BURSTS,
    points=setup.LOADS,
    schemes=(setup.SMARTBUF, setup.DEMANDS),
    scales=setup.SCALES,
    plot=Lines(
        (Panel(LARGEST, "(a) the most entries of a leaf"), Panel(BURSTS, "(b) bursts")),
        "load",
        "load of the uplinks",
    ),
    claims=(*_few_entries(setup.SMARTBUF), *_few_entries(setup.DEMANDS)),
)
